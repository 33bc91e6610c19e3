#include "routing/judgement.hpp"

#include "routing/glob.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace weir::routing {

namespace {

constexpr int deepest_body = 32;
constexpr int most_steps = 10000;  // views that join views twice would multiply

// Volatile, but they leave nothing behind and ask nothing of the server that a replica would answer
// wrongly.
constexpr auto harmless = std::to_array<std::string_view>({
    "random",
    "random_normal",
    "clock_timestamp",
    "timeofday",
    "gen_random_uuid",
    "gen_random_bytes",
    "uuidv4",
    "uuidv7",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v4",
    "pg_sleep",
    "pg_sleep_for",
    "pg_sleep_until",
});

// Declared stable, and still to be answered by the primary: they assign a transaction id, tell
// about this server or this connection, or run the text of a query.
constexpr auto stable_for_primary = std::to_array<std::string_view>({
    "txid_current",
    "txid_current_if_assigned",
    "txid_current_snapshot",
    "pg_current_xact_id",
    "pg_current_xact_id_if_assigned",
    "pg_current_snapshot",
    "pg_backend_pid",
    "pg_conf_load_time",
    "pg_postmaster_start_time",
    "pg_listening_channels",
    "pg_my_temp_schema",
    "pg_is_other_temp_schema",
    "pg_cursor",
    "pg_prepared_statement",
    "pg_show_all_settings",
    "pg_config",
    "pg_available_extensions",
    "pg_available_extension_versions",
    "pg_available_wal_summaries",
    "pg_extension_update_paths",
    "pg_get_replication_slots",
    "pg_get_publication_tables",
    "pg_tablespace_location",
    "inet_server_addr",
    "inet_server_port",
    "inet_client_addr",
    "inet_client_port",
    "version",
    "table_to_xml",
    "table_to_xml_and_xmlschema",
    "schema_to_xml",
    "schema_to_xml_and_xmlschema",
    "database_to_xml",
    "database_to_xml_and_xmlschema",
});

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool depends_on_node(std::string_view name) {
    return name.starts_with("pg_stat_get_") || is_one_of(stable_for_primary, name);
}

std::string print(std::string_view schema, std::string_view name) {
    std::string text(schema);
    if (!schema.empty()) {
        text += '.';
    }
    text += name;
    return text;
}

judgement because(judgement_reason reason, std::string_view schema, std::string_view name) {
    return {reason, print(schema, name)};
}

// "schema.name" or "name". Operators hold no dot, and type names with one are not worth a closer
// look.
relation_name split(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) {
        return {"", std::string(text)};
    }
    return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

// One statement with all that it pulls in. The first objection ends the walk.
class walk {
public:
    walk(const catalog& known, const function_list& safe) : known_(known), safe_(safe) {}

    judgement statement(const traits& s, int depth) const {
        if (++steps_ > most_steps) {
            return because(judgement_reason::too_deep, "", "");
        }
        judgement result = each(s.functions, [&](const function_name& f) { return function(f); });
        if (result.safe()) {
            result = each(s.operators, [&](const std::string& o) { return operation(o); });
        }
        if (result.safe()) {
            result = each(s.types, [&](const std::string& t) { return type(split(t), depth); });
        }
        if (result.safe()) {
            result = each(s.relations, [&](const relation_name& r) { return relation(r, depth); });
        }
        return result;
    }

    judgement unasked() const {
        return each(known_.implicit_casts, [&](const function_name& f) {
            return safe_.contains(f.schema, f.name)
                       ? judgement{}
                       : because(judgement_reason::unsafe_cast, f.schema, f.name);
        });
    }

private:
    template <class Items, class Judge>
    static judgement each(const Items& items, Judge&& judge_one) {
        for (const auto& item : items) {
            if (judgement result = judge_one(item); !result.safe()) {
                return result;
            }
        }
        return {};
    }

    // Every object of that name, in the schema if one is given; none at all is an objection of its
    // own.
    template <class Entry, class Judge>
    static judgement each_named(
        const by_name<Entry>& map,
        const relation_name& wanted,
        judgement_reason unknown,
        Judge&& judge_one
    ) {
        const auto found = map.find(wanted.name);
        bool any = false;
        if (found != map.end()) {
            for (const Entry& entry : found->second) {
                if (!wanted.schema.empty() && wanted.schema != entry.schema) {
                    continue;
                }
                any = true;
                if (judgement result = judge_one(entry); !result.safe()) {
                    return result;
                }
            }
        }
        return any ? judgement{} : because(unknown, wanted.schema, wanted.name);
    }

    judgement_reason reason_for(const catalog_function& f) const {
        if (safe_.contains(f.schema, f.name)) {
            return judgement_reason::safe;
        }
        if (f.from == origin::user) {
            return judgement_reason::user_function;
        }
        if (depends_on_node(f.name)) {
            return judgement_reason::node_dependent;
        }
        return f.changes == volatility::changing && !is_one_of(harmless, f.name)
                   ? judgement_reason::volatile_function
                   : judgement_reason::safe;
    }

    judgement function(const function_name& wanted) const {
        return each_named(
            known_.functions,
            wanted,
            judgement_reason::unknown_function,
            [&](const catalog_function& f) {
                const auto reason = reason_for(f);
                return reason == judgement_reason::safe ? judgement{}
                                                        : because(reason, f.schema, f.name);
            }
        );
    }

    judgement operation(std::string_view text) const {
        // The parser's names for what becomes two comparisons.
        if (text.find("BETWEEN") != std::string_view::npos) {
            const judgement result = operation(">=");
            return result.safe() ? operation("<=") : result;
        }
        return each_named(
            known_.operators,
            split(text),
            judgement_reason::unknown_operator,
            [&](const catalog_operator& o) {
                return reason_for(o.function) == judgement_reason::safe
                           ? judgement{}
                           : because(judgement_reason::unsafe_operator, o.schema, text);
            }
        );
    }

    judgement type(const relation_name& wanted, int depth) const {
        if (depth > deepest_body) {
            return because(judgement_reason::too_deep, wanted.schema, wanted.name);
        }
        return each_named(
            known_.types,
            wanted,
            judgement_reason::unknown_type,
            [&](const catalog_type& t) { return one_type(t, wanted, depth); }
        );
    }

    judgement one_type(const catalog_type& t, const relation_name& wanted, int depth) const {
        if (t.custom) {
            return because(judgement_reason::custom_type, t.schema, wanted.name);
        }
        for (const function_name& cast : t.casts) {
            if (!safe_.contains(cast.schema, cast.name)) {
                return because(judgement_reason::unsafe_cast, cast.schema, cast.name);
            }
        }
        judgement result = bodies(t.checks, t.schema, wanted.name, depth);
        if (result.safe() && !t.base.name.empty()) {
            result = type(t.base, depth + 1);
        }
        return result;
    }

    judgement bodies(
        const std::vector<body_ptr>& texts,
        std::string_view schema,
        std::string_view name,
        int depth
    ) const {
        for (const body_ptr& body : texts) {
            if (!body->replica_by_syntax()) {
                return because(judgement_reason::body, schema, name);
            }
            if (judgement result = statement(*body, depth + 1); !result.safe()) {
                return result;
            }
        }
        return {};
    }

    judgement relation(const relation_name& wanted, int depth) const {
        if (depth > deepest_body) {
            return because(judgement_reason::too_deep, wanted.schema, wanted.name);
        }
        return each_named(
            known_.relations,
            wanted,
            judgement_reason::unknown_relation,
            [&](const catalog_relation& r) { return one_relation(r, wanted.name, depth); }
        );
    }

    static judgement_reason by_kind(const catalog_relation& r) {
        if (r.kind == 'f') {
            return judgement_reason::foreign_table;
        }
        if (r.kind == 'S') {
            return judgement_reason::sequence;
        }
        if (r.persistence != 'p') {
            return judgement_reason::not_replicated;
        }
        return r.custom ? judgement_reason::custom_type : judgement_reason::safe;
    }

    judgement one_relation(const catalog_relation& r, std::string_view name, int depth) const {
        if (const auto reason = by_kind(r); reason != judgement_reason::safe) {
            return because(reason, r.schema, name);
        }
        for (const function_name& f : r.row_functions) {
            if (!safe_.contains(f.schema, f.name)) {
                return because(judgement_reason::user_function, f.schema, f.name);
            }
        }
        if (r.kind == 'v' && r.bodies.empty()) {
            return because(judgement_reason::body, r.schema, name);
        }
        judgement result = bodies(r.bodies, r.schema, name, depth);
        if (result.safe()) {
            result =
                each(r.children, [&](const relation_name& c) { return relation(c, depth + 1); });
        }
        return result;
    }

    const catalog& known_;
    const function_list& safe_;
    mutable int steps_ = 0;
};

}  // namespace

std::string_view name_of(judgement_reason reason) {
    switch (reason) {
    case judgement_reason::safe: return "safe";
    case judgement_reason::no_catalog: return "catalog not read yet";
    case judgement_reason::unknown_function: return "unknown function";
    case judgement_reason::volatile_function: return "volatile function";
    case judgement_reason::user_function: return "user-defined function, not listed as safe";
    case judgement_reason::node_dependent: return "function that depends on the server";
    case judgement_reason::unknown_relation: return "unknown relation";
    case judgement_reason::foreign_table: return "foreign table";
    case judgement_reason::not_replicated: return "unlogged relation";
    case judgement_reason::sequence: return "sequence";
    case judgement_reason::body: return "view, policy or check that needs the primary";
    case judgement_reason::unknown_operator: return "unknown operator";
    case judgement_reason::unsafe_operator: return "operator bound to a function that is not safe";
    case judgement_reason::unknown_type: return "unknown type";
    case judgement_reason::custom_type: return "type with code of its own";
    case judgement_reason::unsafe_cast: return "cast bound to a function that is not safe";
    case judgement_reason::too_deep: return "views nested too deep";
    }
    return "?";
}

bool function_list::contains(std::string_view schema, std::string_view name) const noexcept {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
        return glob_match_name(pattern, schema, name);
    });
}

judgement
judge(const traits& statement, const catalog* known, const function_list& safe_functions) {
    if (known == nullptr) {
        return {judgement_reason::no_catalog, ""};
    }
    const walk walker(*known, safe_functions);
    judgement result = walker.unasked();
    return result.safe() ? walker.statement(statement, 0) : result;
}

judgement_cache::judgement_cache(std::size_t slots)
    : slots_(std::bit_ceil(std::max<std::size_t>(slots, 1))) {}

const judgement& judgement_cache::get(
    const shape& key,
    const traits& statement,
    const catalog_ptr& known,
    const function_list& safe_functions
) {
    if (known != known_) {
        clear();
        known_ = known;
    }
    slot& found = slots_[key.lo & (slots_.size() - 1)];
    if (!found.filled || !found.key.same_as(key)) {
        found.value = judge(statement, known.get(), safe_functions);
        found.key = key;
        found.filled = true;
    }
    return found.value;
}

void judgement_cache::clear() {
    for (slot& s : slots_) {
        s = {};
    }
}

}  // namespace weir::routing
