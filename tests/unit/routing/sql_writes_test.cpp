#include "classification.hpp"

namespace weir::routing {

TEST_SUITE_BEGIN("routing.sql_writes");

TEST_CASE("Writes go to the primary") {
    constexpr classified cases[] = {
        {"INSERT INTO t VALUES (1)", "write writes"},
        {"INSERT INTO t DEFAULT VALUES RETURNING id", "write writes"},
        {"INSERT INTO t SELECT * FROM u ON CONFLICT DO NOTHING", "write writes"},
        {"UPDATE t SET a = 1", "write writes"},
        {"UPDATE t SET (a, b) = (SELECT 1, 2) FROM u WHERE t.id = u.id", "write writes"},
        {"DELETE FROM t", "write writes"},
        {"DELETE FROM t USING u WHERE t.a = u.a", "write writes"},
        {"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", "write writes"},
        {"TRUNCATE t, u CASCADE", "write writes"},
        {"REFRESH MATERIALIZED VIEW CONCURRENTLY v", "write writes"},
        {"SELECT * INTO x FROM t", "write select_into"},
        {"SELECT * INTO UNLOGGED x FROM t", "write select_into"},
        {"SELECT * INTO TEMP x FROM t", "write select_into temporary_table"},
        {"VACUUM t", "other writes"},
        {"VACUUM (ANALYZE, FULL) t", "other writes"},
        {"ANALYZE", "other writes"},
    };
    check_classes(cases);
}

TEST_CASE("B110 a data-modifying CTE goes to the primary") {
    constexpr classified cases[] = {
        {"WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u", "write modifying_cte"},
        {"WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "write writes"},
        {"WITH x AS (SELECT 1)\n\nUPDATE t SET a = 1", "write writes"},
        {"WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT 1", "write modifying_cte"},
        {"WITH a AS (SELECT 1), b AS (DELETE FROM t RETURNING *) SELECT * FROM a, b",
         "write modifying_cte"},
        {"SELECT * FROM (WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d) s",
         "write modifying_cte"},
        {"SELECT (WITH d AS (DELETE FROM t RETURNING 1) SELECT 1)", "write modifying_cte"},
        {"WITH a AS (WITH b AS (UPDATE t SET a = 1 RETURNING 1) SELECT 1) SELECT 1",
         "write modifying_cte"},
        {"-- read\n/* only */ WITH u AS (\nUPDATE t\nSET a = 1\nRETURNING id)\nSELECT * FROM u",
         "write modifying_cte"},
        {"((WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u))", "write modifying_cte"},
        {"WITH u AS (UPDATE t SET a = 1 RETURNING id) TABLE u", "write modifying_cte"},
        {"WITH u AS (UPDATE t SET a = 1 RETURNING id) VALUES (1)", "write modifying_cte"},
        {"SELECT 1 UNION ALL (WITH u AS (DELETE FROM t RETURNING 1) SELECT 1)",
         "write modifying_cte"},
        {"WITH u AS (UPDATE t SET a = 1 RETURNING *) SELECT * INTO x FROM u",
         "write modifying_cte"},
        {"EXPLAIN ANALYZE WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u",
         "explain explain_analyze"},
        {"EXPLAIN ANALYZE WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
         "explain explain_analyze"},
        {"EXPLAIN WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u",
         "explain modifying_cte"},
        {"PREPARE p AS WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u",
         "prepare prepared_by_sql prepared_by_sql"},
        {"EXECUTE p", "execute prepared_by_sql prepared_by_sql"},
        {"EXPLAIN ANALYZE EXECUTE p", "explain explain_analyze prepared_by_sql"},
        {"COPY (WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d) TO STDOUT", "copy_out copy"},
        {"COPY (DELETE FROM t RETURNING *) TO STDOUT", "copy_out copy"},
        {"DECLARE c CURSOR FOR WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
         "declare_cursor cursor"},
        {"CREATE TABLE x AS WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "ddl ddl"},
    };
    check_classes(cases);
}

TEST_CASE("EXPLAIN executes when ANALYZE is on however it is written") {
    constexpr classified cases[] = {
        {"EXPLAIN ANALYZE INSERT INTO t VALUES (1)", "explain explain_analyze"},
        {"EXPLAIN ANALYZE VERBOSE DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE) DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE true) DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE on) DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE 1) DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE 'true') DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (COSTS off, analyze ON) DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (\"analyze\") DELETE FROM t", "explain explain_analyze"},
        {"EXPLAIN (ANALYZE 0) DELETE FROM t", "explain writes"},
        {"EXPLAIN (ANALYZE off) DELETE FROM t", "explain writes"},
        {"EXPLAIN (ANALYZE false) DELETE FROM t", "explain writes"},
        {"EXPLAIN DELETE FROM t", "explain writes"},
        {"EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", "explain explain_analyze"},
        {"EXPLAIN CREATE TABLE x AS SELECT 1", "explain ddl"},
        {"EXPLAIN DECLARE c CURSOR FOR SELECT 1", "explain cursor"},
        {"EXPLAIN ANALYZE REFRESH MATERIALIZED VIEW v", "explain explain_analyze"},
        {"EXPLAIN SELECT pg_advisory_lock(1)", "read session_state"},
        {"EXPLAIN ANALYZE SELECT pg_advisory_lock(1)", "explain session_state advisory_lock"},
        {"EXPLAIN ANALYZE SELECT set_config('a.b', 'c', false)", "explain session_state"},
    };
    check_classes(cases);
    CHECK(parse("EXPLAIN SELECT set_config('a.b', 'c', false)").value.settings.empty());
    CHECK(parse("EXPLAIN ANALYZE SELECT set_config('a.b', 'c', false)").value.settings.size() == 1);
}

TEST_CASE("COPY goes to the primary if it writes or touches the machine of the server") {
    constexpr classified cases[] = {
        {"COPY t FROM STDIN", "copy_in copy"},
        {"COPY t (a) FROM STDIN WITH (FORMAT binary)", "copy_in copy"},
        {"COPY t FROM '/tmp/a'", "copy_in copy"},
        {"COPY t TO '/tmp/a'", "copy_out copy"},
        {"COPY t TO PROGRAM 'cat'", "copy_out copy"},
        {"COPY (SELECT nextval('s')) TO STDOUT", "copy_out copy"},
        {"COPY (INSERT INTO t VALUES (1) RETURNING a) TO STDOUT", "copy_out copy"},
        {"COPY pg_locks TO STDOUT", "copy_out copy"},
    };
    check_classes(cases);
}

TEST_CASE("Definitions go to the primary and temporary ones pin the session") {
    constexpr classified cases[] = {
        {"CREATE TABLE t (a int)", "ddl ddl"},
        {"CREATE UNLOGGED TABLE t (a int)", "ddl ddl"},
        {"CREATE TABLE t AS SELECT 1", "ddl ddl"},
        {"CREATE MATERIALIZED VIEW v AS SELECT 1", "ddl ddl"},
        {"CREATE TEMP TABLE t (a int)", "ddl temporary temporary_table"},
        {"CREATE TEMPORARY TABLE t (a int) ON COMMIT DROP", "ddl temporary temporary_table"},
        {"CREATE LOCAL TEMP TABLE t (a int)", "ddl temporary temporary_table"},
        {"CREATE GLOBAL TEMPORARY TABLE t (a int)", "ddl temporary temporary_table"},
        {"CREATE TEMP TABLE t AS SELECT 1", "ddl temporary temporary_table"},
        {"CREATE TEMP TABLE t AS EXECUTE p", "ddl temporary temporary_table"},
        {"CREATE TABLE pg_temp.t (a int)", "ddl temporary temporary_table"},
        {"CREATE TEMP VIEW v AS SELECT 1", "ddl temporary temporary_table"},
        {"CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "ddl temporary temporary_table"},
        {"CREATE TEMP SEQUENCE s", "ddl temporary temporary_table"},
        {"CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
         "ddl temporary temporary_table"},
        {"CREATE TYPE pg_temp.p AS (a int)", "ddl temporary temporary_table"},
        {"CREATE INDEX CONCURRENTLY i ON t (a)", "ddl ddl"},
        {"CREATE VIEW v AS SELECT 1", "ddl ddl"},
        {"CREATE SCHEMA s CREATE TABLE t (a int)", "ddl ddl"},
        {"CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END",
         "ddl ddl"},
        {"CREATE EXTENSION vector", "ddl ddl"},
        {"CREATE DATABASE d", "ddl ddl"},
        {"CREATE ROLE r", "ddl ddl"},
        {"ALTER TABLE t ADD COLUMN b int", "ddl ddl"},
        {"ALTER ROLE r SET search_path = a", "ddl ddl"},
        {"ALTER DATABASE d SET work_mem = '1MB'", "ddl ddl"},
        {"ALTER SYSTEM SET work_mem = '1MB'", "other other"},
        {"DROP TABLE t", "ddl ddl"},
        {"GRANT SELECT ON t TO r", "ddl ddl"},
        {"COMMENT ON TABLE t IS 'x'", "ddl ddl"},
        {"REINDEX TABLE t", "ddl ddl"},
        {"CLUSTER t", "ddl ddl"},
        {"CREATE RULE r AS ON INSERT TO t DO ALSO (SELECT 1; SELECT 2)", "ddl ddl"},
        {"IMPORT FOREIGN SCHEMA s FROM SERVER x INTO y", "ddl ddl"},
    };
    check_classes(cases);
    CHECK(parse("ALTER ROLE r SET search_path = a").value.settings.empty());
    CHECK(parse("ALTER SYSTEM SET work_mem = '1MB'").value.settings.empty());
}

TEST_CASE("Statements about the session go to the primary and some pin it") {
    constexpr classified cases[] = {
        {"LISTEN a", "listen notification listen"},
        {"UNLISTEN *", "unlisten notification"},
        {"NOTIFY a, 'x'", "notify notification"},
        {"CALL p(1)", "call procedure function"},
        {"DO $$ BEGIN END $$", "do_block procedure function"},
        {"PREPARE p (int) AS SELECT $1", "prepare prepared_by_sql prepared_by_sql"},
        {"EXECUTE p(1)", "execute prepared_by_sql prepared_by_sql"},
        {"DEALLOCATE p", "deallocate prepared_by_sql"},
        {"DEALLOCATE ALL", "deallocate prepared_by_sql"},
        {"DISCARD ALL", "discard session_state"},
        {"DISCARD PLANS", "discard session_state"},
        {"DISCARD TEMP", "discard session_state"},
        {"LOAD 'auto_explain'", "other session_state load"},
        {"CHECKPOINT", "other other"},
        {"DECLARE c CURSOR FOR SELECT 1", "declare_cursor cursor"},
        {"DECLARE c BINARY SCROLL CURSOR WITHOUT HOLD FOR SELECT 1", "declare_cursor cursor"},
        {"DECLARE c CURSOR WITH HOLD FOR SELECT 1", "declare_cursor cursor hold_cursor"},
        {"FETCH ALL FROM c", "fetch cursor"},
        {"MOVE 3 IN c", "fetch cursor"},
        {"CLOSE c", "close_cursor cursor"},
        {"CLOSE ALL", "close_cursor cursor"},
    };
    check_classes(cases);
    CHECK(parse("DEALLOCATE ALL").value.deallocates_all);
    CHECK_FALSE(parse("DEALLOCATE p").value.deallocates_all);
    CHECK(parse("DISCARD ALL").value.discards_all);
    CHECK(parse("DISCARD ALL").value.deallocates_all);
    CHECK_FALSE(parse("DISCARD PLANS").value.discards_all);
    CHECK_FALSE(parse("DISCARD PLANS").value.deallocates_all);
}

TEST_CASE("Transaction control is told by kind") {
    constexpr classified cases[] = {
        {"BEGIN", "begin transaction"},
        {"START TRANSACTION READ ONLY", "begin transaction"},
        {"COMMIT", "commit transaction"},
        {"END WORK", "commit transaction"},
        {"ROLLBACK", "rollback transaction"},
        {"ABORT", "rollback transaction"},
        {"SAVEPOINT a", "savepoint transaction"},
        {"RELEASE a", "release transaction"},
        {"ROLLBACK TO SAVEPOINT a", "rollback_to transaction"},
        {"PREPARE TRANSACTION 'x'", "prepare_transaction transaction"},
        {"COMMIT PREPARED 'x'", "commit transaction"},
        {"ROLLBACK PREPARED 'x'", "rollback transaction"},
        {"SET CONSTRAINTS ALL DEFERRED", "set_transaction transaction"},
    };
    check_classes(cases);
}

TEST_SUITE_END();

}  // namespace weir::routing
