// `capture: outbox` on the real server.
#include "tests/migration/outbox_tools.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

using test::captured_plan;
using test::captured_table;
using test::filled;
using test::outboxed;
using test::texts;

namespace {

std::string one_row(int id, int org = 17) {
    return "INSERT INTO captured (id, org, title, e) VALUES (" + std::to_string(id) + ", " +
           std::to_string(org) + ", 'one', '[1,2,3]')";
}

std::vector<std::uint64_t> ids_of(const std::vector<change>& all) {
    std::vector<std::uint64_t> ids;
    ids.reserve(all.size());
    for (const auto& each : all) {
        ids.push_back(each.version.lsn);
    }
    return ids;
}

}  // namespace

TEST_SUITE_BEGIN("migration.outbox");

TEST_CASE("the outbox brings rows with their embeddings") {
    outboxed at(captured_table(1536), captured_plan(1536), {.timeline = 4});
    at.run("INSERT INTO captured VALUES (1, 17, 'one', " + filled(0.5, 1536) + ")");
    const auto made = at.changes();
    CHECK(test::described(made) == texts{"update 1 e=0.5x1536 17 one"});
    CHECK((made.front().version == version{4, 1, 0}));
    at.run("UPDATE captured SET title = 'two'");
    CHECK(at.seen() == texts{"update 1 e=0.5x1536 17 two was=17"});
    at.run("UPDATE captured SET e = NULL");
    CHECK(at.seen() == texts{"update 1 e=NULL 17 two was=17"});
    at.run("UPDATE captured SET id = 9");
    CHECK(at.seen() == texts{"delete 1 was=17", "update 9 e=NULL 17 two"});
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete 9 was=17"});
    CHECK(at.seen().empty());
    CHECK(at.waiting() == "0");
}

TEST_CASE("the outbox tells each old tenant") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run(one_row(1));
    at.run("UPDATE captured SET org = 18");
    at.run("UPDATE captured SET org = 19");
    CHECK(
        at.seen() ==
        texts{
            "update 1 e=[1,2,3] 19 one",
            "update 1 e=[1,2,3] 19 one was=17",
            "update 1 e=[1,2,3] 19 one was=18"}
    );
}

TEST_CASE("the outbox shows what is there now and not what was meanwhile") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run(one_row(1));
    at.run("UPDATE captured SET title = 'two'");
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete 1", "delete 1 was=17", "delete 1 was=17"});
    at.run("BEGIN;" + one_row(1) + ';' + one_row(2, 18) + "; COMMIT");
    CHECK(at.seen().size() == 2);
    at.run(
        "BEGIN; UPDATE captured SET id = 0 WHERE id = 1; UPDATE captured SET id = 1 WHERE id = 2;"
        "UPDATE captured SET id = 2 WHERE id = 0; COMMIT"
    );
    CHECK(
        at.seen() ==
        texts{
            "update 1 e=[1,2,3] 18 one was=17",
            "delete 0",
            "update 2 e=[1,2,3] 17 one was=18",
            "update 1 e=[1,2,3] 18 one",
            "delete 0 was=17",
            "update 2 e=[1,2,3] 17 one"}
    );
}

TEST_CASE("an older transaction that is open holds the outbox back and nothing is missed") {
    outboxed at(captured_table(3), captured_plan(3));
    auto other = test::capture_session();
    other.query("BEGIN;" + one_row(1));
    at.run(one_row(2));
    CHECK(at.seen().empty());
    other.query("COMMIT");
    const auto made = at.changes();
    CHECK(test::described(made) == texts{"update 1 e=[1,2,3] 17 one", "update 2 e=[1,2,3] 17 one"});
    CHECK(ids_of(made) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a row with a lower id that comes to light later is not missed") {
    outboxed at(captured_table(3), captured_plan(3));
    auto older = test::capture_session();
    older.query("BEGIN; SELECT pg_current_xact_id()");
    auto younger = test::capture_session();
    younger.query("BEGIN;" + one_row(1));
    older.query(one_row(2) + "; COMMIT");
    const auto first = at.changes();
    CHECK(test::described(first) == texts{"update 2 e=[1,2,3] 17 one"});
    CHECK(ids_of(first) == std::vector<std::uint64_t>{2});
    younger.query("COMMIT");
    const auto second = at.changes();
    CHECK(test::described(second) == texts{"update 1 e=[1,2,3] 17 one"});
    CHECK(ids_of(second) == std::vector<std::uint64_t>{1});
    CHECK(at.seen().empty());
    CHECK(at.waiting() == "0");
}

TEST_CASE("a row that was inserted after a TRUNCATE never comes before it") {
    outboxed at(captured_table(3), captured_plan(3));
    auto first = test::capture_session();
    first.query("BEGIN; SELECT pg_current_xact_id()");
    auto open = test::capture_session();
    open.query("BEGIN; SELECT pg_current_xact_id()");
    at.run("TRUNCATE captured");
    first.query(one_row(9) + "; COMMIT");
    CHECK(at.seen().empty());
    open.query("COMMIT");
    CHECK(at.seen() == texts{"empty", "update 9 e=[1,2,3] 17 one"});
}

TEST_CASE("what is rolled back never reaches the outbox") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run("BEGIN;" + one_row(1) + "; ROLLBACK");
    at.run("BEGIN;" + one_row(2) + "; SAVEPOINT a; TRUNCATE captured; ROLLBACK TO a; COMMIT");
    CHECK(at.seen() == texts{"update 2 e=[1,2,3] 17 one"});
}

TEST_CASE("what is not confirmed stays in the outbox and is read again") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run(one_row(1) + ';' + one_row(2));
    CHECK(at.changes(true).size() == 2);
    CHECK(at.changes(true).empty());
    at.reopen();
    const auto again = at.changes();
    CHECK(ids_of(again) == std::vector<std::uint64_t>{1, 2});
    CHECK(at.seen().empty());
    CHECK(at.waiting() == "0");
}

TEST_CASE("the outbox is read in bounded batches and waits for what is not confirmed") {
    outboxed at(captured_table(3), captured_plan(3), {.batch = 3, .most_unconfirmed = 2});
    at.run("INSERT INTO captured SELECT n, 17, 'one', '[1,2,3]' FROM generate_series(1, 8) n");
    auto& source = at.source();
    std::vector<std::uint64_t> ends;
    unsigned rows = 0;
    const auto read_all = [&] {
        for (;;) {
            auto event = source.next(std::chrono::steady_clock::now());
            if (const auto* end = std::get_if<transaction_end>(&event)) {
                ends.push_back(end->position);
            } else if (std::holds_alternative<change>(event)) {
                ++rows;
            } else {
                return std::holds_alternative<nothing>(event);
            }
        }
    };
    CHECK(read_all());
    CHECK(rows == 6);
    CHECK(ends == std::vector<std::uint64_t>{3, 6});
    source.confirm(3, false);
    static_cast<void>(read_all());
    CHECK(rows == 8);
    CHECK(at.waiting() == "5");
    source.confirm(ends.back(), false);
    static_cast<void>(read_all());
    CHECK(at.waiting() == "0");
}

TEST_CASE("positions of the outbox begin above the one that is given") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run(one_row(1));
    outbox_source source(at.what());
    REQUIRE_FALSE(source.open(test::capture_address(), 500));
    const auto until = [] { return std::chrono::steady_clock::now() + integration::patience; };
    CHECK(std::holds_alternative<change>(source.next(until())));
    CHECK(std::get<transaction_end>(source.next(until())).position == 501);
}

TEST_CASE("an outbox begins where it is told and says so") {
    outboxed at(captured_table(3), captured_plan(3));
    CHECK(first_outbox_id(at.admin(), at.what()).id == 1);
    CHECK_FALSE(install_outbox(at.admin(), at.what(), 0x16B374D849));
    CHECK(first_outbox_id(at.admin(), at.what()).id == 1);  // it is there already
    CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
    const auto none = first_outbox_id(at.admin(), at.what());
    CHECK_FALSE(none.id.has_value());
    CHECK_FALSE(none.error.has_value());
    CHECK_FALSE(install_outbox(at.admin(), at.what(), 0x16B374D849));
    CHECK(first_outbox_id(at.admin(), at.what()).id == 0x16B374D849);
    at.reopen();
    at.run(one_row(1) + ';' + one_row(2));
    CHECK(ids_of(at.changes()) == std::vector<std::uint64_t>{0x16B374D849, 0x16B374D84A});
}

TEST_CASE("anybody who may write fills the outbox and replicated writes do too") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run("GRANT INSERT, UPDATE, SELECT, TRUNCATE ON captured TO app2");
    auto app = integration::pq_connection(
        integration::cluster::shared().primary().at,
        integration::login_as(integration::cluster::shared(), "app2")
    );
    app.query("SET search_path = nowhere; INSERT INTO public.captured VALUES (1, 17, 'one', NULL)");
    at.run(
        "SET session_replication_role = replica;" + one_row(2) + "; TRUNCATE captured;" + one_row(3)
    );
    at.run("RESET session_replication_role");
    CHECK(at.seen() == texts{"delete 1", "delete 2", "empty", "update 3 e=[1,2,3] 17 one"});
    CHECK_FALSE(app.try_query("SELECT * FROM pgweir.outbox_captured").ok());
}

TEST_CASE("B138 the outbox of a partitioned table knows partitions and their TRUNCATE") {
    auto what = captured_plan(3);
    what.layout.key.push_back({.name = "org", .kind = value_kind::integer, .type = "integer"});
    what.tenant_in_key = 1;
    what.partitioned = true;
    outboxed at(
        "CREATE TABLE captured (id bigint, org int, title text, e vector(3), PRIMARY KEY (id, org))"
        " PARTITION BY LIST (org);"
        "CREATE TABLE captured_1 PARTITION OF captured FOR VALUES IN (1);"
        "CREATE TABLE captured_2 PARTITION OF captured FOR VALUES IN (2)",
        what
    );
    const auto first = at.value("SELECT 'captured_1'::regclass::oid");
    const auto second = at.value("SELECT 'captured_2'::regclass::oid");
    at.run(one_row(1, 1) + ';' + one_row(2, 2));
    const auto made = at.changes();
    CHECK(
        test::described(made) ==
        texts{"update (1,1) e=[1,2,3] 1 one", "update (2,2) e=[1,2,3] 2 one"}
    );
    CHECK(std::to_string(std::get<row_written>(made[1].what).row.part) == second);
    at.run("UPDATE captured SET org = 2 WHERE id = 1");
    CHECK(at.seen() == texts{"delete (1,1) was=1", "update (1,2) e=[1,2,3] 2 one"});
    at.run("TRUNCATE captured_1");
    CHECK(at.seen() == texts{"empty " + first});
    at.run("CREATE TABLE captured_3 PARTITION OF captured FOR VALUES IN (3)");
    at.run(one_row(1, 3));
    CHECK(at.seen() == texts{"update (1,3) e=[1,2,3] 3 one"});
    at.install();
    at.run("TRUNCATE captured_3");
    CHECK(at.seen() == texts{"empty " + at.value("SELECT 'captured_3'::regclass::oid")});
    at.run("TRUNCATE captured");
    const auto all = at.seen();
    CHECK(std::count(all.begin(), all.end(), "empty") == 1);
}

TEST_CASE("keys of every kind go through the outbox unchanged") {
    auto what = captured_plan(3);
    what.layout.key = {
        {.name = "a", .kind = value_kind::text, .type = "text"},
        {.name = "b", .kind = value_kind::uuid, .type = "uuid"},
        {.name = "c", .kind = value_kind::timestamp, .type = "timestamp with time zone"},
        {.name = "d", .kind = value_kind::numeric, .type = "numeric(10,2)"},
        {.name = "f", .kind = value_kind::text, .type = "character(5)"},
        {.name = "g", .kind = value_kind::integer, .type = "smallint"},
        {.name = "h", .kind = value_kind::real, .type = "real"},
        {.name = "k", .kind = value_kind::date, .type = "date"},
        {.name = "l", .kind = value_kind::boolean, .type = "boolean"},
        {.name = "odd \"name\"", .kind = value_kind::text, .type = "character varying(20)"}};
    outboxed at(
        "CREATE TABLE captured (id int, org int, title text, e vector(3), a text, b uuid,"
        " c timestamptz, d numeric(10,2), f char(5), g smallint, h real, k date, l boolean,"
        " \"odd \"\"name\"\"\" varchar(20),"
        " PRIMARY KEY (a, b, c, d, f, g, h, k, l, \"odd \"\"name\"\"\"))",
        what
    );
    at.run("SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'German'; SET extra_float_digits = -5"
    );
    at.run(
        "INSERT INTO captured VALUES (1, 17, 'one', '[1,2,3]', 'it''s {\"a\",\\}',"
        " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2024-02-29 12:34:56.789+00', 1.5, 'ab', -7, 0.1,"
        " '2024-02-29', true, '')"
    );
    const std::string both =
        "(it's {\"a\",\\},a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,1709210096789000,1.50,ab   ,-7,"
        "0.10000000149011612,1709164800000000,true,)";
    CHECK(at.seen() == texts{"update " + both + " e=[1,2,3] 17 one"});
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete " + both + " was=17"});
}

TEST_CASE("a wider key column later is no trouble for the outbox") {
    auto what = captured_plan(3);
    what.layout.key = {
        {.name = "id", .kind = value_kind::integer, .type = "integer"},
        {.name = "name", .kind = value_kind::text, .type = "character varying"}};
    outboxed at(
        "CREATE TABLE captured (id int, name varchar(3), org int, title text, e vector(3),"
        " PRIMARY KEY (id, name))",
        what
    );
    at.run("ALTER TABLE captured ALTER id TYPE bigint, ALTER name TYPE varchar(50)");
    at.what().layout.key[0].type = "bigint";  // as a plan made anew has it
    at.run("INSERT INTO captured VALUES (5000000000, 'longer', 17, 'one', '[1,2,3]')");
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete (5000000000,longer)", "delete (5000000000,longer) was=17"});
}

TEST_CASE("an outbox is removed without a trace and installed twice without harm") {
    outboxed at(captured_table(3), captured_plan(3));
    at.run("BEGIN;" + one_row(1));
    at.install();  // the writer does not keep it waiting
    at.run("COMMIT");
    CHECK(at.seen() == texts{"update 1 e=[1,2,3] 17 one"});
    CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
    at.run(one_row(2));
    const char* const left =
        "SELECT (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'captured'::regclass)"
        " + (SELECT count(*) FROM pg_class WHERE relnamespace = 'pgweir'::regnamespace)"
        " + (SELECT count(*) FROM pg_proc WHERE pronamespace = 'pgweir'::regnamespace)";
    CHECK(at.value(left) == "0");
    CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
    const auto event = at.source().next(std::chrono::steady_clock::now());
    CHECK(std::get<sql_error>(event).sqlstate == "42P01");
}

TEST_CASE("an outbox is removed after its table and from partitions that were detached") {
    const char* const left =
        "SELECT (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'pgweir%')"
        " + (SELECT count(*) FROM pg_class WHERE relnamespace = 'pgweir'::regnamespace)"
        " + (SELECT count(*) FROM pg_proc WHERE pronamespace = 'pgweir'::regnamespace)";
    {
        outboxed at(captured_table(3), captured_plan(3));
        at.run("DROP TABLE captured");
        CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
        CHECK(at.value(left) == "0");
    }
    auto what = captured_plan(3);
    what.partitioned = true;
    outboxed at(
        "CREATE TABLE captured (id bigint PRIMARY KEY, org int, title text, e vector(3))"
        " PARTITION BY RANGE (id);"
        "CREATE TABLE captured_1 PARTITION OF captured FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE captured_2 PARTITION OF captured FOR VALUES FROM (10) TO (20)",
        what
    );
    at.run("ALTER TABLE captured DETACH PARTITION captured_1");
    CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
    CHECK(at.value(left) == "0");
    at.run("TRUNCATE captured_1; DROP TABLE captured_1");
}

TEST_CASE("an outbox is not installed on a table that is locked for long") {
    outboxed at(captured_table(3), captured_plan(3));
    CHECK_FALSE(remove_outbox(at.admin(), at.what().name));
    at.run("BEGIN; LOCK TABLE captured IN ROW EXCLUSIVE MODE");
    const auto error = install_outbox(at.admin(), at.what());
    REQUIRE(error);
    CHECK(error->sqlstate == "55P03");
    at.run("COMMIT");
    at.install();
}

TEST_SUITE_END();

}  // namespace weir::migration
