#include "routing/sql_parser.hpp"

#include "routing/lexer.hpp"
#include "routing/sql_classify.hpp"
#include "routing/sql_depth.hpp"
#include "routing/sql_tree.hpp"
#include "routing/sql_walk.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace weir::routing {

namespace {

// Of the statements of one text the kind that says most about it comes first.
statement_kind heavier(statement_kind a, statement_kind b) noexcept {
    using enum statement_kind;
    constexpr std::array order = {
        unparsed,   ddl,          write,
        call,       do_block,     copy_in,
        lock,       execute,      prepare,
        deallocate, listen,       unlisten,
        notify,     discard,      declare_cursor,
        fetch,      close_cursor, copy_out,
        explain,    other,        set,
        reset,      begin,        prepare_transaction,
        commit,     rollback,     savepoint,
        release,    rollback_to,  set_transaction,
        show,       read,         empty,
    };
    const auto* const at_a = std::find(order.begin(), order.end(), a);
    const auto* const at_b = std::find(order.begin(), order.end(), b);
    return at_a <= at_b ? a : b;
}

traits empty_traits() {
    traits value;
    value.kind = statement_kind::empty;
    value.reason = primary_reason::none;
    value.statements = 0;
    return value;
}

traits traits_of(const PgQuery__ParseResult& tree) {
    auto value = empty_traits();
    for (std::size_t i = 0; i < tree.n_stmts; ++i) {
        if (tree.stmts[i]->stmt == nullptr) {
            continue;
        }
        const auto one = classify(*tree.stmts[i]->stmt, value);
        value.kind = heavier(value.kind, one.kind);
        value.reason = weightier(value.reason, one.reason);
        value.pin = weightier(value.pin, one.pin);
        if (value.statements < std::numeric_limits<std::uint16_t>::max()) {
            ++value.statements;
        }
    }
    if (value.statements > 1) {
        value.is_vector_search = false;
        value.search = {};
        if (value.own.action != own_action::none) {
            value.own.action = own_action::misplaced;
        }
        if (value.reason != primary_reason::none) {
            value.reason = primary_reason::several_kinds;
        }
    }
    return value;
}

// What the words of a text that nobody parsed say about the state it may leave behind.
class word_pins {
public:
    word_pins(std::string_view sql, bool standard_conforming_strings)
        : sql_(sql), lexer_(sql, standard_conforming_strings) {}

    pin_reason run() {
        bool at_start = true;
        for (auto t = lexer_.next(); t.kind != token_kind::end; t = lexer_.next()) {
            const auto text = t.in(sql_);
            if (t.kind == token_kind::mark && text == ";") {
                at_start = true;
                continue;
            }
            if (t.kind == token_kind::word) {
                pin_ = weightier(pin_, by_word(text, at_start));
            }
            at_start = false;
        }
        return pin_;
    }

private:
    static pin_reason by_word(std::string_view word, bool at_start) noexcept {
        if (at_start) {
            if (same_word(word, "prepare") || same_word(word, "execute")) {
                return pin_reason::prepared_by_sql;
            }
            if (same_word(word, "listen")) {
                return pin_reason::listen;
            }
            if (same_word(word, "load")) {
                return pin_reason::load;
            }
            if (same_word(word, "set") || same_word(word, "reset")) {
                return pin_reason::setting_unknown;
            }
        }
        if (same_word(word, "temp") || same_word(word, "temporary") || same_word(word, "pg_temp")) {
            return pin_reason::temporary_table;
        }
        if (same_word(word, "set_config")) {
            return pin_reason::setting_unknown;
        }
        return same_word(word, "hold") ? pin_reason::hold_cursor : pin_reason::none;
    }

    std::string_view sql_;
    lexer lexer_;
    pin_reason pin_ = pin_reason::unparsed;
};

parsed refuse(std::string_view sql, std::string error) {
    return {unparsed_traits(sql), std::move(error)};
}

}  // namespace

parsed parse(std::string_view sql) {
    if (sql.find('\0') != std::string_view::npos) {
        return refuse(sql, "text with a zero byte");
    }
    if (nesting_bound(sql) > max_nesting) {
        return refuse(sql, "nested too deeply");
    }
    auto [tree, error] = parse_tree(std::string(sql));
    if (!tree) {
        return refuse(sql, std::move(error));
    }
    return {traits_of(*tree), {}};
}

traits unparsed_traits(std::string_view sql) {
    traits value;
    // How the server reads its strings is not known here, so what either reading hints at counts.
    value.pin = weightier(word_pins(sql, true).run(), word_pins(sql, false).run());
    return value;
}

std::vector<setting_effect> read_settings(std::string_view sql) {
    return parse(sql).value.settings;
}

}  // namespace weir::routing
