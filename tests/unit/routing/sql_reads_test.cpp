#include "classification.hpp"

namespace weir::routing {

TEST_SUITE_BEGIN("routing.sql_reads");

TEST_CASE("Plain queries are reads that any server may answer") {
    constexpr classified cases[] = {
        {"", "empty none"},
        {" ; ; ", "empty none"},
        {"-- nothing", "empty none"},
        {"SELECT 1", "read none"},
        {"select 1;", "read none"},
        {"(((SELECT 1)))", "read none"},
        {"VALUES (1), (2)", "read none"},
        {"TABLE t", "read none"},
        {"SELECT * FROM t WHERE a = $1", "read none"},
        {"SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1", "read none"},
        {"WITH a AS (SELECT 1) SELECT * FROM a", "read none"},
        {"WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
         "read none"},
        {"SELECT count(*) FILTER (WHERE a) OVER w FROM t WINDOW w AS (ORDER BY b)", "read none"},
        {"SELECT a FROM t GROUP BY GROUPING SETS ((a), ())", "read none"},
        {"SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM u WHERE u.a = t.a) x ON true",
         "read none"},
        {"SELECT * FROM t TABLESAMPLE bernoulli (1)", "read none"},
        {"SELECT * FROM generate_series(1, 3)", "read none"},
        {"SELECT CASE a WHEN 1 THEN 2 ELSE 3 END FROM t", "read none"},
        {"SELECT 'insert into t'", "read none"},
        {"SELECT \"update\" FROM \"delete\"", "read none"},
        {"SELECT now(), current_user, CURRENT_TIMESTAMP", "read none"},
        {"SELECT id FROM t ORDER BY e <-> '[1,2,3]' LIMIT 5", "read none"},
        {"SELECT current_setting('app.tenant'), current_setting('search_path')", "read none"},
        {"SELECT * FROM information_schema.tables", "read none"},
        {"SELECT relname FROM pg_class", "read none"},
        {"SELECT * FROM pg_stats", "read none"},
        {"SELECT 1; SELECT 2", "read none"},
        {"EXPLAIN SELECT 1", "read none"},
        {"EXPLAIN (COSTS off, FORMAT json) SELECT * FROM t", "read none"},
        {"EXPLAIN (ANALYZE off) SELECT * FROM t", "read none"},
        {"EXPLAIN ANALYZE SELECT * FROM t", "explain none"},
        {"EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM t", "explain none"},
        {"COPY t TO STDOUT", "copy_out none"},
        {"COPY t (a, b) TO STDOUT WITH (FORMAT csv)", "copy_out none"},
        {"COPY (SELECT * FROM t) TO STDOUT", "copy_out none"},
        {"SELECT mine.nextval('s')", "read none"},
        {"SELECT mine.pg_notify('a', 'b')", "read none"},
    };
    check_classes(cases);
}

TEST_CASE("B111 locking reads go to the primary") {
    constexpr classified cases[] = {
        {"SELECT * FROM t FOR UPDATE", "read row_lock"},
        {"SELECT * FROM t FOR NO KEY UPDATE", "read row_lock"},
        {"SELECT * FROM t FOR SHARE", "read row_lock"},
        {"SELECT * FROM t FOR KEY SHARE", "read row_lock"},
        {"SELECT * FROM t FOR UPDATE NOWAIT", "read row_lock"},
        {"SELECT * FROM t FOR NO KEY UPDATE OF t SKIP LOCKED", "read row_lock"},
        {"SELECT * FROM t a, u b FOR UPDATE OF a FOR SHARE OF b", "read row_lock"},
        {"SELECT * FROM (SELECT * FROM t FOR UPDATE) s", "read row_lock"},
        {"SELECT 1 WHERE EXISTS (SELECT 1 FROM t FOR SHARE)", "read row_lock"},
        {"SELECT (SELECT a FROM t LIMIT 1 FOR UPDATE)", "read row_lock"},
        {"WITH a AS (SELECT * FROM t FOR KEY SHARE) SELECT * FROM a", "read row_lock"},
        {"(SELECT * FROM t FOR UPDATE) UNION ALL SELECT * FROM u", "read row_lock"},
        {"/* c */ ( SELECT * \n FROM t\nFOR\nUPDATE )", "read row_lock"},
        {"EXPLAIN ANALYZE SELECT * FROM t FOR UPDATE", "explain row_lock"},
        {"COPY (SELECT * FROM t FOR SHARE) TO STDOUT", "copy_out copy"},
        {"LOCK TABLE t", "lock table_lock"},
        {"LOCK t, u IN ACCESS SHARE MODE NOWAIT", "lock table_lock"},
        {"CREATE VIEW v AS SELECT * FROM t FOR UPDATE", "ddl ddl"},
    };
    check_classes(cases);
}

TEST_CASE("B111 what the parser does not know goes to the primary") {
    constexpr classified cases[] = {
        {"SELECT * FROM t FOR UPDATE SOMEHOW", "unparsed unparsed unparsed"},
        {"SELECT 1; FROBNICATE t", "unparsed unparsed unparsed"},
        {"no sql at all", "unparsed unparsed unparsed"},
        {"SELECT 'a", "unparsed unparsed unparsed"},
        {"SELECT (1", "unparsed unparsed unparsed"},
        {"PREPARE a NEWLY AS SELECT 1", "unparsed unparsed prepared_by_sql"},
        {"SELECT 1; listen a NEWLY", "unparsed unparsed listen"},
        {"LOAD NEWLY 'x'", "unparsed unparsed load"},
        {"CREATE NEWLY TEMPORARY TABLE t (a int)", "unparsed unparsed temporary_table"},
        {"CREATE NEWLY TABLE pg_temp.t (a int)", "unparsed unparsed temporary_table"},
        {"DECLARE c CURSOR NEWLY WITH HOLD FOR SELECT 1", "unparsed unparsed hold_cursor"},
        {"SELECT NEWLY 'temp' 'listen'", "unparsed unparsed unparsed"},
    };
    check_classes(cases);
    CHECK(parse("SELECT (1").error == "syntax error at end of input");
    CHECK(parse("SELECT 1").error.empty());
}

TEST_CASE("B112 functions that write or lock go to the primary by name") {
    constexpr classified cases[] = {
        {"SELECT nextval('s')", "write writes"},
        {"SELECT pg_catalog.nextval('s')", "write writes"},
        {"SELECT NEXTVAL('s'::regclass)", "write writes"},
        {"SELECT * FROM t WHERE a = nextval('s')", "write writes"},
        {"SELECT * FROM nextval('s')", "write writes"},
        {"SELECT a FROM t ORDER BY nextval('s')", "write writes"},
        {"SELECT 1 LIMIT (SELECT nextval('s'))", "write writes"},
        {"VALUES (nextval('s'))", "write writes"},
        {"SELECT setval('s', 1)", "write writes"},
        {"SELECT lo_create(1)", "write writes"},
        {"SELECT lo_unlink(1)", "write writes"},
        {"SELECT lowrite(1, 'a')", "write writes"},
        {"SELECT pg_notify('c', '')", "write notification"},
        {"SELECT pg_create_restore_point('x')", "write writes"},
        {"SELECT pg_logical_emit_message(true, 'a', 'b')", "write writes"},
        {"SELECT txid_current()", "read node_dependent"},
        {"SELECT pg_current_xact_id()", "read node_dependent"},
        {"SELECT pg_advisory_lock(1)", "read session_state advisory_lock"},
        {"SELECT pg_advisory_lock_shared(1, 2)", "read session_state advisory_lock"},
        {"SELECT pg_try_advisory_lock(1)", "read session_state advisory_lock"},
        {"SELECT pg_try_advisory_lock_shared(1)", "read session_state advisory_lock"},
        {"SELECT pg_advisory_unlock(1)", "read session_state"},
        {"SELECT pg_advisory_unlock_all()", "read session_state"},
        {"SELECT pg_advisory_xact_lock(1)", "read other"},
        {"SELECT pg_try_advisory_xact_lock_shared(1)", "read other"},
        {"SELECT * FROM t WHERE pg_try_advisory_lock(id)", "read session_state advisory_lock"},
        {"INSERT INTO t SELECT pg_advisory_lock(1)", "write writes advisory_lock"},
        {"SELECT setseed(0.5)", "read session_state function"},
        {"EXPLAIN SELECT nextval('s')", "explain writes"},
        {"EXPLAIN ANALYZE SELECT nextval('s')", "explain explain_analyze"},
    };
    check_classes(cases);
}

TEST_CASE("B112 functions of users are named for the catalog to judge") {
    const auto value =
        parse("SELECT my_write_fn(), s.Other(1) FROM my_write_fn() f, lateral g(f.a)").value;
    CHECK(value.reason == primary_reason::none);
    CHECK(
        value.functions ==
        std::vector<function_name>{{"", "my_write_fn"}, {"s", "other"}, {"", "g"}}
    );
}

TEST_CASE("Answers that depend on the server come from the primary") {
    constexpr classified cases[] = {
        {"SHOW transaction_read_only", "show node_dependent"},
        {"SHOW in_hot_standby", "show node_dependent"},
        {"SHOW ALL", "show node_dependent"},
        {"SHOW TIME ZONE", "show node_dependent"},
        {"SELECT pg_is_in_recovery()", "read node_dependent"},
        {"SELECT * FROM pg_stat_activity", "read node_dependent"},
        {"SELECT * FROM pg_catalog.pg_stat_replication", "read node_dependent"},
        {"SELECT * FROM public.pg_stat_statements", "read node_dependent"},
        {"SELECT * FROM pg_statio_user_tables", "read node_dependent"},
        {"SELECT count(*) FROM pg_locks", "read node_dependent"},
        {"SELECT setting FROM pg_settings WHERE name = 'port'", "read node_dependent"},
        {"SELECT * FROM pg_prepared_xacts", "read node_dependent"},
        {"SELECT * FROM pg_replication_slots", "read node_dependent"},
        {"SELECT inet_server_addr(), inet_server_port()", "read node_dependent"},
        {"SELECT currval('s')", "read node_dependent"},
        {"SELECT lastval()", "read node_dependent"},
        {"SELECT pg_export_snapshot()", "read node_dependent"},
        {"SELECT pg_last_wal_replay_lsn()", "read node_dependent"},
        {"SELECT pg_current_wal_lsn()", "read node_dependent"},
        {"SELECT pg_postmaster_start_time()", "read node_dependent"},
        {"SELECT pg_backend_pid()", "read node_dependent"},
        {"SELECT pg_read_file('a')", "read node_dependent"},
        {"SELECT current_setting('transaction_read_only')", "read node_dependent"},
        {"SELECT current_setting('in_hot_standby', true)", "read node_dependent"},
        {"SELECT current_setting('DATA_directory')", "read node_dependent"},
        {"SELECT current_setting($1)", "read node_dependent"},
        {"SELECT current_setting('a' || '.b')", "read node_dependent"},
        {"SELECT * FROM t WHERE 1 < (SELECT count(*) FROM pg_locks)", "read node_dependent"},
        {"COPY (SELECT * FROM pg_stat_activity) TO STDOUT", "copy_out copy"},
        {"SELECT * FROM mine.pg_locks", "read none"},
        {"WITH pg_locks AS (SELECT 1) SELECT * FROM pg_locks", "read none"},
        {"SELECT * FROM pg_temp.t", "read temporary"},
        {"SELECT * FROM pg_temp_3.t", "read temporary"},
        {"SELECT pg_temp.f()", "read temporary"},
    };
    check_classes(cases);
}

TEST_CASE("Queries of several statements are reads only if all of them are") {
    constexpr classified cases[] = {
        {"SELECT 1; INSERT INTO t VALUES (1)", "write several_kinds"},
        {"INSERT INTO t VALUES (1); SELECT 1", "write several_kinds"},
        {"SELECT 1; SELECT 2; SELECT * FROM t FOR UPDATE", "read several_kinds"},
        {"BEGIN; SELECT 1; COMMIT", "begin several_kinds"},
        {"SET a = 1; SELECT 1", "set several_kinds"},
        {"SELECT 1; CREATE TEMP TABLE t (a int)", "ddl several_kinds temporary_table"},
        {"SELECT pg_advisory_lock(1); SELECT 1", "read several_kinds advisory_lock"},
        {"SELECT 1; LISTEN a", "listen several_kinds listen"},
        {"SELECT 1;;; SELECT 2;", "read none"},
    };
    check_classes(cases);
    CHECK(parse("SELECT 1; ; SELECT 2;").value.statements == 2);
    CHECK(parse("").value.statements == 0);
    CHECK(parse("SELECT 1").value.statements == 1);
}

TEST_SUITE_END();

}  // namespace weir::routing
