#include "routing/setting_text.hpp"

#include "classification.hpp"

namespace weir::routing {

namespace {

// The effects of a text, one a line: "set name value", "local name value", "reset name",
// "reset_all".
std::string effects_of(const std::vector<setting_effect>& settings) {
    std::string text;
    for (const auto& s : settings) {
        text += text.empty() ? "" : "\n";
        switch (s.action) {
        case setting_action::set: text += "set "; break;
        case setting_action::set_local: text += "local "; break;
        case setting_action::reset: text += "reset "; break;
        case setting_action::reset_all: text += "reset_all"; break;
        }
        text += s.name + (s.value.empty() ? "" : " " + s.value);
        text += s.parameter == 0 ? "" : " $" + std::to_string(s.parameter);
    }
    return text;
}

struct effect_case {
    const char* sql;
    const char* expected;
};

void check_effects(std::span<const effect_case> cases) {
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(effects_of(parse(c.sql).value.settings) == std::string(c.expected));
    }
}

}  // namespace

TEST_SUITE_BEGIN("routing.session_effects");

TEST_CASE("SET gives its value as SQL that means the same again") {
    constexpr effect_case cases[] = {
        {"SET statement_timeout = '50ms'", "set statement_timeout '50ms'"},
        {"SET statement_timeout TO 50", "set statement_timeout 50"},
        {"SET SESSION work_mem TO '1MB'", "set work_mem '1MB'"},
        {"SET Enable_SeqScan = OFF", "set enable_seqscan 'off'"},
        {"SET enable_seqscan = false", "set enable_seqscan 'false'"},
        {"SET geqo_selection_bias = 1.75", "set geqo_selection_bias 1.75"},
        {"SET a.b = -5", "set a.b -5"},
        {"SET a.b = -0.5", "set a.b -0.5"},
        {"SET a.b = 0", "set a.b 0"},
        {"SET app.name = 'it''s'", "set app.name 'it''s'"},
        {"SET app.name = 'a\\b'", "set app.name E'a\\\\b'"},
        {"SET app.name = E'a\\nb'", "set app.name 'a\nb'"},
        {"SET app.name = $$x'y$$", "set app.name 'x''y'"},
        {"SET search_path TO a, \"B c\", 'x,y', \"$user\"",
         "set search_path 'a', 'B c', 'x,y', '$user'"},
        {"SET SCHEMA 'a'", "set search_path 'a'"},
        {"SET DateStyle TO ISO, MDY", "set datestyle 'iso', 'mdy'"},
        {"SET NAMES 'UTF8'", "set client_encoding 'UTF8'"},
        {"SET NAMES", "reset client_encoding"},
        {"SET TIME ZONE 'Europe/Berlin'", "set timezone 'Europe/Berlin'"},
        {"SET TIME ZONE -8", "set timezone -8"},
        {"SET TIME ZONE 5.5", "set timezone 5.5"},
        {"SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE", "set timezone 'INTERVAL ''-08:00'''"},
        {"SET TIME ZONE LOCAL", "reset timezone"},
        {"SET TIME ZONE DEFAULT", "reset timezone"},
        {"SET LOCAL TIME ZONE DEFAULT", "local timezone DEFAULT"},
        {"SET XML OPTION DOCUMENT", "set xmloption 'DOCUMENT'"},
    };
    check_effects(cases);
}

TEST_CASE("Roles defaults and resets are effects like any other") {
    constexpr effect_case cases[] = {
        {"SET ROLE joe", "set role 'joe'"},
        {"SET ROLE \"Joe\"", "set role 'Joe'"},
        {"SET ROLE NONE", "set role 'none'"},
        {"SET LOCAL ROLE joe", "local role 'joe'"},
        {"RESET ROLE", "reset role"},
        {"SET SESSION AUTHORIZATION joe", "set session_authorization 'joe'\nset role 'none'"},
        {"SET SESSION AUTHORIZATION DEFAULT", "reset session_authorization\nset role 'none'"},
        {"RESET SESSION AUTHORIZATION", "reset session_authorization\nset role 'none'"},
        {"SET LOCAL SESSION AUTHORIZATION joe",
         "local session_authorization 'joe'\nlocal role 'none'"},
        {"SET LOCAL hnsw.ef_search = 400", "local hnsw.ef_search 400"},
        {"SET a.b TO DEFAULT", "reset a.b"},
        {"SET LOCAL a.b TO DEFAULT", "local a.b DEFAULT"},
        {"RESET a.b", "reset a.b"},
        {"RESET ALL", "reset_all"},
        {"RESET TIME ZONE", "reset timezone"},
        {"DISCARD ALL", "reset session_authorization\nset role 'none'\nreset_all"},
        {"DISCARD PLANS", ""},
        {"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, NOT "
         "DEFERRABLE",
         "set default_transaction_isolation 'serializable'\nset default_transaction_read_only '1'\n"
         "set default_transaction_deferrable '0'"},
        {"SET default_transaction_read_only = on", "set default_transaction_read_only 'on'"},
        {"SET a.b = 1; SET LOCAL a.b = 2; RESET a.b", "set a.b 1\nlocal a.b 2\nreset a.b"},
        {"SET pgweir.consistency = 'eventual'", ""},
    };
    check_effects(cases);
    CHECK(class_of("SET a.b = 1") == "set session_state");
    CHECK(class_of("SET a.b TO DEFAULT") == "set session_state");
    CHECK(class_of("RESET a.b") == "reset session_state");
    CHECK(class_of("RESET ALL") == "reset session_state");
}

TEST_CASE("A change that cannot be told pins the session") {
    constexpr classified cases[] = {
        {"SET a.b FROM CURRENT", "set session_state setting_unknown"},
        {"SET LOCAL a.b FROM CURRENT", "set session_state"},
        {"SET TIME ZONE INTERVAL '8' HOUR", "set session_state setting_unknown"},
        {"SET search_path TO pg_temp, public", "set session_state temporary_table"},
        {"SET search_path TO public, pg_temp", "set session_state"},
        {"SELECT set_config('a.b', c, false) FROM t", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c' || 'd', false)", "read session_state setting_unknown"},
        {"SELECT set_config($1, $2, false)", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c', $1)", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c', 't')", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c', false) WHERE false", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c', false) LIMIT 0", "read session_state setting_unknown"},
        {"SELECT * FROM set_config('a.b', 'c', false)", "read session_state setting_unknown"},
        {"SELECT upper(set_config('a.b', 'c', false))", "read session_state setting_unknown"},
        {"SELECT set_config('a.b', 'c', false) UNION SELECT ''",
         "read session_state setting_unknown"},
        {"WITH x AS (SELECT set_config('a.b', 'c', false)) SELECT 1",
         "read session_state setting_unknown"},
        {"INSERT INTO t SELECT set_config('a.b', 'c', false)", "write writes setting_unknown"},
        {"SELECT set_config('a.b', c, true) FROM t", "read session_state"},
        {"SELECT mine.set_config('a.b', c, false) FROM t", "read none"},
    };
    check_classes(cases);
}

TEST_CASE("set_config of constants and parameters is as good as SET") {
    constexpr effect_case cases[] = {
        {"SELECT set_config('a.b', 'c', false)", "set a.b 'c'"},
        {"SELECT pg_catalog.set_config('A.B', 'c', true)", "local a.b 'c'"},
        {"SELECT set_config('a.b', $1, false)", "set a.b $1"},
        {"SELECT set_config('a.b', $2::text, true)", "local a.b $2"},
        {"SELECT set_config('a.b', NULL, false)", "reset a.b"},
        {"SELECT set_config('a.b', NULL, true)", "local a.b DEFAULT"},
        {"SELECT set_config('search_path', 'a, \"B c\" ,D', false)",
         "set search_path 'a', 'B c', 'd'"},
        {"SELECT set_config('search_path', '', false)", "set search_path ''"},
        {"SELECT set_config('role', $1, true), set_config('a.b', 'x', false), now()",
         "local role $1\nset a.b 'x'"},
        {"SELECT set_config('transaction_read_only', 'off', false)",
         "local transaction_read_only 'off'"},
        {"SELECT set_config('session_authorization', $1, false)",
         "set session_authorization $1\nset role 'none'"},
    };
    check_effects(cases);
    CHECK(class_of("SELECT set_config('a.b', 'c', false)") == "read session_state");
    CHECK(parse("SELECT set_config('a.b', 'c', false)").value.settings_from_text);
    CHECK_FALSE(parse("SET a.b = 'c'").value.settings_from_text);
    CHECK(effects_of(read_settings("SELECT set_config('x.y', 'z', false)")) == "set x.y 'z'");
}

TEST_CASE("B114 transaction_read_only in any spelling belongs to the transaction and the primary") {
    struct mode_case {
        const char* sql;
        std::optional<bool> read_only;
    };

    const mode_case cases[] = {
        {"SET transaction_read_only = 0", false},
        {"SET transaction_read_only = off", false},
        {"SET transaction_read_only = false", false},
        {"SET transaction_read_only = 'off'", false},
        {"SET transaction_read_only = no", false},
        {"SET transaction_read_only = 'n'", false},
        {"SET transaction_read_only = 1", true},
        {"SET transaction_read_only TO on", true},
        {"SET LOCAL transaction_read_only = yes", true},
        {"SET transaction_read_only TO DEFAULT", std::nullopt},
        {"RESET transaction_read_only", std::nullopt},
        {"SET TRANSACTION READ WRITE", false},
        {"SET TRANSACTION READ ONLY", true},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        const auto value = parse(c.sql).value;
        CHECK(class_of(c.sql) == "set_transaction transaction");
        CHECK(value.mode.read_only == c.read_only);
        CHECK(value.settings.empty());
    }
}

TEST_CASE("Options of a transaction are told") {
    const auto mode = [](const char* sql) { return parse(sql).value.mode; };
    using enum isolation_level;
    CHECK(mode("BEGIN") == transaction_mode{});
    CHECK(mode("BEGIN READ ONLY") == transaction_mode{unset, true, std::nullopt, false});
    CHECK(
        mode("START TRANSACTION READ WRITE") == transaction_mode{unset, false, std::nullopt, false}
    );
    CHECK(
        mode("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE") ==
        transaction_mode{serializable, true, true, false}
    );
    CHECK(
        mode("BEGIN ISOLATION LEVEL REPEATABLE READ, NOT DEFERRABLE") ==
        transaction_mode{repeatable_read, std::nullopt, false, false}
    );
    CHECK(mode("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").isolation == read_committed);
    CHECK(mode("SET transaction_isolation = 'serializable'").isolation == serializable);
    CHECK(mode("BEGIN ISOLATION LEVEL READ UNCOMMITTED").isolation == read_uncommitted);
    CHECK(mode("SET TRANSACTION SNAPSHOT '1-1'").imports_snapshot);
    CHECK(class_of("SET TRANSACTION SNAPSHOT '1-1'") == "set_transaction node_dependent");
}

TEST_CASE("Begin and end of transactions and their savepoints are told") {
    const auto value = [](const char* sql) { return parse(sql).value; };
    CHECK(value("BEGIN").begins_transaction);
    CHECK_FALSE(value("BEGIN").ends_transaction);
    CHECK(value("COMMIT").ends_transaction);
    CHECK_FALSE(value("COMMIT").chains_transaction);
    CHECK(value("COMMIT AND CHAIN").chains_transaction);
    CHECK(value("ROLLBACK AND CHAIN").chains_transaction);
    CHECK_FALSE(value("COMMIT AND NO CHAIN").chains_transaction);
    CHECK(value("PREPARE TRANSACTION 'x'").ends_transaction);
    CHECK_FALSE(value("COMMIT PREPARED 'x'").ends_transaction);
    CHECK_FALSE(value("ROLLBACK TO a").ends_transaction);
    CHECK(value("BEGIN; SELECT 1; COMMIT").begins_transaction);
    CHECK(value("BEGIN; SELECT 1; COMMIT").ends_transaction);
    CHECK(
        value("SAVEPOINT a; SAVEPOINT \"B\"; RELEASE a; ROLLBACK TO \"B\"").savepoints ==
        std::vector<std::string>{"a", "B", "a", "B"}
    );
}

TEST_CASE("A setting's text becomes the right value whatever is in it") {
    CHECK(setting_value("work_mem", "1MB") == "'1MB'");
    CHECK(setting_value("app.x", "it's") == "'it''s'");
    CHECK(setting_value("app.x", "a, b") == "'a, b'");
    CHECK(setting_value("search_path", "\"$user\", public") == "'$user', 'public'");
    CHECK(setting_value("search_path", " A ,\"b\"\"c\" , d") == "'a', 'b\"c', 'd'");
    CHECK(setting_value("search_path", "") == "''");
    CHECK(setting_value("search_path", "\"\"") == "''");
    // Not a list of names: as it is, for the server to refuse.
    CHECK(setting_value("search_path", "a,") == "'a,'");
    CHECK(setting_value("search_path", "a b") == "'a b'");
    CHECK(setting_value("search_path", "\"a") == "'\"a'");
    CHECK(quote_literal("") == "''");
    CHECK(quote_literal("a\\'b") == "E'a\\\\''b'");
}

TEST_SUITE_END();

}  // namespace weir::routing
