#include "routing/shape.hpp"
#include "routing/sql_parser.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::routing {

namespace {

// ? stands for a string, # for a number, @ for a list of numbers.
constexpr std::string_view templates[] = {
    "SELECT ?",
    "SELECT * FROM t WHERE a = ? AND b < #",
    "SELECT * FROM t WHERE a IN (@) AND b LIKE ?",
    "SELECT * FROM t WHERE a IN (@) FOR UPDATE",
    "SELECT id FROM items ORDER BY e <-> ? LIMIT #",
    "SELECT id FROM items WHERE p < # ORDER BY e <-> ?::vector, id LIMIT # OFFSET #",
    "SELECT id, e <-> ? FROM items ORDER BY # LIMIT #",
    "SELECT current_setting(?)",
    "SELECT set_config(?, ?, false)",
    "SELECT set_config(?, ?, true), f(@)",
    "SELECT nextval(?)",
    "SELECT f(@), g(?, #)",
    "SELECT ARRAY[@], (@)",
    "WITH u AS (UPDATE t SET a = ? RETURNING id) SELECT * FROM u WHERE id = #",
    "INSERT INTO t VALUES (#, ?), (#, ?)",
    "EXPLAIN (ANALYZE #) DELETE FROM t WHERE a = #",
    "EXPLAIN (ANALYZE ?, COSTS #) SELECT * FROM t",
    "SET a.b = ?",
    "SET a.b = #",
    "SET search_path TO ?, ?",
    "SET transaction_read_only = #",
    "PREPARE TRANSACTION ?",
    "COPY t TO ?",
    "SELECT #; SET a.b = #; SELECT ?",
};

class literals {
public:
    std::string fill(std::string_view form) {
        std::string sql;
        for (const char c : form) {
            switch (c) {
            case '?': sql += string(); break;
            case '#': sql += number(); break;
            case '@': sql += list(); break;
            default: sql += c; break;
            }
        }
        return sql;
    }

private:
    std::size_t below(std::size_t n) { return random_() % n; }

    std::string string() {
        constexpr const char* choices[] = {
            "'a.b'",
            "'transaction_read_only'",
            "'true'",
            "'off'",
            "'[1,2,3]'",
            "$$it's$$",
            "'it''s'",
            "E'\\'; --'",
            "'pg_temp'",
            "''",
        };
        return choices[below(std::size(choices))];
    }

    std::string number() {
        constexpr const char* choices[] = {"0", "1", "2", "10", "4711"};
        return choices[below(std::size(choices))];
    }

    std::string list() {
        auto text = number();
        for (auto more = below(4); more > 0; --more) {
            text += ", " + number();
        }
        return text;
    }

    std::mt19937 random_{99};
};

// What a router may rely on, as text; settings only where they hold for the whole shape.
std::string summary(const traits& value) {
    auto text = std::to_string(static_cast<int>(value.kind)) + " " +
                std::to_string(static_cast<int>(value.reason)) + " " +
                std::to_string(static_cast<int>(value.pin)) + " " +
                std::to_string(value.statements) + " " +
                std::to_string(value.is_vector_search ? 1 : 0) + value.search.column + " " +
                std::to_string(value.mode.read_only.has_value() ? *value.mode.read_only : 2);
    for (const auto& f : value.functions) {
        text += " " + f.schema + "." + f.name;
    }
    for (const auto& s : value.settings) {
        text += value.settings_from_text ? " from text" : " " + s.name + "=" + s.value;
    }
    return text;
}

}  // namespace

TEST_SUITE_BEGIN("routing.shape_traits");

TEST_CASE("Texts of one shape have the same traits") {
    std::unordered_map<std::string, std::string> seen;
    literals values;
    std::size_t met_again = 0;
    for (int round = 0; round < 200; ++round) {
        for (const auto form : templates) {
            const auto sql = values.fill(form);
            const auto parsed_text = parse(sql);
            if (parsed_text.value.kind == statement_kind::unparsed) {
                continue;  // never cached
            }
            const auto [entry, fresh] =
                seen.try_emplace(to_string(scan(sql)), summary(parsed_text.value));
            met_again += fresh ? 0 : 1;
            CAPTURE(sql);
            CHECK(summary(parsed_text.value) == entry->second);
        }
    }
    CHECK(met_again > 3'000);
    CHECK(seen.size() < 400);
}

TEST_SUITE_END();

}  // namespace weir::routing
