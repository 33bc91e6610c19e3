// What a statement is, as far as its syntax tells. A value; computed once per shape, kept in the
// trait cache. What the catalog says about the functions and relations it names is judged later
// (routing/catalog.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::routing {

enum class statement_kind : std::uint8_t {
    empty,
    read,  // SELECT, VALUES, TABLE, plain EXPLAIN of one
    write,
    ddl,
    begin,
    commit,  // COMMIT, END, COMMIT PREPARED
    rollback,
    savepoint,
    release,
    rollback_to,
    prepare_transaction,
    set_transaction,
    set,
    reset,
    show,
    prepare,
    execute,
    deallocate,
    discard,
    listen,
    unlisten,
    notify,
    declare_cursor,
    fetch,
    close_cursor,
    copy_in,
    copy_out,
    lock,
    explain,  // EXPLAIN that executes (ANALYZE) or explains something that is not a read
    call,
    do_block,
    other,
    unparsed,  // the parser refused it, or it was not parsed at all
};

// Why a statement needs the primary, by syntax alone. Printed by SHOW ROUTE and counted by metrics.
enum class primary_reason : std::uint8_t {
    none,
    writes,
    modifying_cte,
    row_lock,
    select_into,
    ddl,
    transaction,
    session_state,
    cursor,
    copy,
    table_lock,
    explain_analyze,
    notification,
    procedure,
    prepared_by_sql,
    node_dependent,  // SHOW transaction_read_only and other answers that depend on the server
    temporary,
    several_kinds,  // a Query of several statements that are not all reads
    unparsed,
    other,
};

// One change of a setting that the statement makes when it succeeds.
enum class setting_action : std::uint8_t {
    set,        // SET name TO …, set_config(name, constant or parameter, false)
    set_local,  // SET LOCAL, set_config(…, true): ends with the transaction
    reset,      // RESET name, SET name TO DEFAULT
    reset_all,  // RESET ALL
};

struct setting_effect {
    setting_action action = setting_action::set;
    std::string name;  // lower case; "role" and "session_authorization" for those statements
    // For set: the value as it would stand behind "SET name TO ", already quoted: `'50ms'`,
    // `"$user", public`. Of the text that was parsed: where traits::settings_from_text is true,
    // other texts of the shape differ in it.
    std::string value;
    std::uint16_t parameter =
        0;  // set_config(name, $n, false): n; the value comes from the Bind message
};

enum class isolation_level : std::uint8_t {
    unset,
    read_uncommitted,
    read_committed,
    repeatable_read,
    serializable
};

// Options of BEGIN, START TRANSACTION and SET TRANSACTION; unset where the statement does not name
// them.
struct transaction_mode {
    isolation_level isolation = isolation_level::unset;
    std::optional<bool> read_only;
    std::optional<bool> deferrable;
    bool imports_snapshot = false;  // SET TRANSACTION SNAPSHOT
    friend bool operator==(const transaction_mode&, const transaction_mode&) = default;
};

// What a session may be left with that cannot be replayed on another server.
enum class pin_reason : std::uint8_t {
    none,
    temporary_table,
    advisory_lock,
    hold_cursor,
    load,
    listen,
    prepared_by_sql,
    setting_unknown,  // a setting changed by something that cannot be replayed
    unparsed,
    function,  // CALL, DO or an unlisted function may have left anything behind
    large_statement,
    session_mode,
};

struct relation_name {
    std::string schema;  // empty: by search_path
    std::string name;
    friend bool operator==(const relation_name&, const relation_name&) = default;
};

using function_name = relation_name;

// ORDER BY column <operator> query LIMIT k, pgvector or VectorChord.
struct vector_search {
    relation_name table;
    std::string column;
    std::string operator_name;  // "<->", "<=>", "<#>", "<+>", "<~>", "<%>"
    std::int64_t k = -1;  // -1: no constant limit (parameter or none); of the text that was parsed
    std::uint16_t parameter = 0;  // $n that holds the query vector; 0: literal or expression
};

// SET, RESET or SHOW of a setting of pgweir's own (own_setting.hpp), which no server knows.
enum class own_action : std::uint8_t {
    none,
    set,
    set_default,  // SET … TO DEFAULT
    reset,
    show,
    misplaced,  // among other statements, or FROM CURRENT: it cannot be kept from the server
};

struct own_statement {
    own_action action = own_action::none;
    bool local = false;  // SET LOCAL
    std::string name;    // lower case, with its prefix
    std::string value;   // of set; its own text, not SQL

    [[nodiscard]] bool changes() const noexcept {
        return action == own_action::set || action == own_action::set_default ||
               action == own_action::reset;
    }
};

struct traits {
    statement_kind kind = statement_kind::unparsed;  // of the only statement, or of the "heaviest"
    primary_reason reason = primary_reason::unparsed;  // none: syntax allows a replica
    std::uint16_t statements = 1;
    bool is_vector_search = false;
    bool ends_transaction = false;  // some statement is COMMIT or ROLLBACK
    bool begins_transaction = false;
    bool chains_transaction = false;  // COMMIT or ROLLBACK AND CHAIN: ends one and begins the next
    // The settings come from literals that the shape does not count, as in SELECT set_config('a',
    // 'b', false). Whoever takes these traits from a cache must call read_settings (sql_parser.hpp)
    // with the text at hand instead.
    bool settings_from_text = false;
    bool discards_all = false;     // DISCARD ALL
    bool deallocates_all = false;  // DEALLOCATE ALL or DISCARD ALL (DISCARD PLANS keeps them)
    pin_reason pin = pin_reason::none;
    transaction_mode mode;                 // of the last statement that names any
    std::vector<relation_name> relations;  // without CTE names, each once
    std::vector<function_name>
        functions;  // each once, lower case as parsed; operators and casts apart
    std::vector<std::string> operators;    // operator names used, each once
    std::vector<std::string> types;        // type names cast to, each once, "schema.name" or "name"
    std::vector<setting_effect> settings;  // in order
    std::vector<std::string> savepoints;   // name of SAVEPOINT, RELEASE or ROLLBACK TO, in order
    vector_search search;                  // valid if is_vector_search
    own_statement own;                     // none of `settings` then

    [[nodiscard]] bool replica_by_syntax() const noexcept { return reason == primary_reason::none; }
};

}  // namespace weir::routing
