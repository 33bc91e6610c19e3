// TRUNCATE, partitions and changes of the table's definition in the stream.
#include "tests/migration/capture_tools.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

using test::captured;
using test::captured_plan;
using test::captured_table;
using test::described;
using test::texts;

namespace {

// Partitioned by org, which is part of the key.
plan partitioned_plan() {
    auto what = captured_plan(3);
    what.layout.key.push_back({.name = "org", .kind = value_kind::integer, .type = "integer"});
    what.tenant_in_key = 1;
    what.partitioned = true;
    return what;
}

const char* const partitioned_table =
    "CREATE TABLE captured (id bigint, org int, title text, e vector(3), PRIMARY KEY (id, org))"
    " PARTITION BY LIST (org);"
    "CREATE TABLE captured_1 PARTITION OF captured FOR VALUES IN (1);"
    "CREATE TABLE captured_2 PARTITION OF captured FOR VALUES IN (2)";

std::string one_row(int id, int org, const std::string& e = "'[1,2,3]'") {
    return "INSERT INTO captured (id, org, title, e) VALUES (" + std::to_string(id) + ", " +
           std::to_string(org) + ", 'one', " + e + ")";
}

std::uint32_t oid_of(captured& at, const std::string& name) {
    return static_cast<std::uint32_t>(std::stoul(at.value("SELECT '" + name + "'::regclass::oid")));
}

std::vector<std::uint32_t> parts_of(const std::vector<change>& all) {
    std::vector<std::uint32_t> parts;
    for (const auto& each : all) {
        if (const auto* row = std::get_if<row_written>(&each.what)) {
            parts.push_back(row->row.part);
        }
    }
    return parts;
}

}  // namespace

TEST_SUITE_BEGIN("migration.capture_ddl");

TEST_CASE("B138 TRUNCATE empties what was inserted before it") {
    captured at(captured_table(3), captured_plan(3));
    at.run("INSERT INTO captured SELECT n, 17, 'one', '[1,2,3]' FROM generate_series(1, 20) n");
    CHECK(at.seen().size() == 20);
    at.run("TRUNCATE captured");
    CHECK(at.seen() == texts{"empty"});
    at.run("INSERT INTO captured SELECT n, 17, 'one', '[1,2,3]' FROM generate_series(1, 2) n");
    CHECK(at.seen() == texts{"insert 1 e=[1,2,3] 17 one", "insert 2 e=[1,2,3] 17 one"});
    at.run(
        "BEGIN; DELETE FROM captured WHERE id = 1; TRUNCATE captured;" + one_row(3, 17) + "; COMMIT"
    );
    CHECK(at.seen() == texts{"delete 1", "empty", "insert 3 e=[1,2,3] 17 one"});
}

TEST_CASE("B138 TRUNCATE with CASCADE and RESTART IDENTITY and of a referenced table") {
    captured at(
        "CREATE TABLE other (id int PRIMARY KEY);" + captured_table(3) +
            "; ALTER TABLE captured ADD FOREIGN KEY (org) REFERENCES other;"
            "CREATE TABLE child (id bigint REFERENCES captured)",
        captured_plan(3)
    );
    at.run("TRUNCATE captured, child RESTART IDENTITY CASCADE");
    CHECK(at.seen() == texts{"empty"});
    at.run("TRUNCATE other CASCADE");
    CHECK(at.seen() == texts{"empty"});
    at.run("TRUNCATE child");
    CHECK(at.seen().empty());
}

TEST_CASE("B138 TRUNCATE in a savepoint that is rolled back is not seen") {
    captured at(captured_table(3), captured_plan(3));
    at.run(
        "BEGIN;" + one_row(1, 17) + "; SAVEPOINT a; TRUNCATE captured;" + one_row(2, 17) +
        "; ROLLBACK TO a;" + one_row(3, 17) + "; COMMIT"
    );
    CHECK(at.seen() == texts{"insert 1 e=[1,2,3] 17 one", "insert 3 e=[1,2,3] 17 one"});
}

TEST_CASE("B138 TRUNCATE of a partition names it and of the table all of them") {
    captured at(partitioned_table, partitioned_plan());
    const auto first = oid_of(at, "captured_1");
    const auto second = oid_of(at, "captured_2");
    at.run("TRUNCATE captured_1");
    CHECK(at.seen() == texts{"empty " + std::to_string(first)});
    at.run("TRUNCATE captured");
    CHECK(at.seen() == texts{"empty " + std::to_string(first), "empty " + std::to_string(second)});
}

TEST_CASE("rows of partitions carry their partition and a move is a delete and an insert") {
    captured at(partitioned_table, partitioned_plan());
    const auto first = oid_of(at, "captured_1");
    const auto second = oid_of(at, "captured_2");
    at.run(one_row(1, 1) + ';' + one_row(2, 2));
    const auto made = at.changes();
    CHECK(described(made) == texts{"insert (1,1) e=[1,2,3] 1 one", "insert (2,2) e=[1,2,3] 2 one"});
    CHECK(parts_of(made) == std::vector{first, second});
    at.run("UPDATE captured SET org = 2 WHERE id = 1");
    const auto moved = at.changes();
    CHECK(described(moved) == texts{"delete (1,1) was=1", "insert (1,2) e=[1,2,3] 2 one"});
    CHECK(parts_of(moved) == std::vector{second});
}

TEST_CASE("partitions come and go in mid-stream") {
    captured at(partitioned_table, partitioned_plan());
    at.run("CREATE TABLE captured_3 PARTITION OF captured FOR VALUES IN (3)");
    at.run(one_row(1, 3));
    const auto made = at.changes();
    CHECK(described(made) == texts{"insert (1,3) e=[1,2,3] 3 one"});
    CHECK(parts_of(made) == std::vector{oid_of(at, "captured_3")});
    // With its columns in another order, and one more.
    at.run(
        "CREATE TABLE detached (more int, e vector(3), title text, org int NOT NULL,"
        " id bigint NOT NULL, PRIMARY KEY (id, org)); ALTER TABLE detached DROP more;"
        "ALTER TABLE captured ATTACH PARTITION detached FOR VALUES IN (4)"
    );
    at.run(one_row(2, 4));
    CHECK(at.seen() == texts{"insert (2,4) e=[1,2,3] 4 one"});
    at.run("ALTER TABLE captured DETACH PARTITION detached");
    at.run("UPDATE detached SET title = 'not ours'");
    at.run("DROP TABLE captured_3");
    CHECK(at.seen().empty());
}

TEST_CASE("B144 added and dropped columns that are not ours change nothing") {
    captured at(captured_table(3), captured_plan(3));
    at.run("ALTER TABLE captured ADD extra int NOT NULL DEFAULT 5");
    at.run(one_row(1, 17));
    at.run("ALTER TABLE captured ADD another text DEFAULT 'x', DROP extra");
    at.run(one_row(2, 17));
    at.run(
        "BEGIN;" + one_row(3, 17) + "; ALTER TABLE captured DROP another;" + one_row(4, 17) +
        "; COMMIT"
    );
    at.run("ALTER TABLE captured ALTER title TYPE varchar(100), ALTER org TYPE bigint");
    at.run(one_row(5, 17));
    CHECK(
        at.seen() ==
        texts{
            "insert 1 e=[1,2,3] 17 one",
            "insert 2 e=[1,2,3] 17 one",
            "insert 3 e=[1,2,3] 17 one",
            "insert 4 e=[1,2,3] 17 one",
            "insert 5 e=[1,2,3] 17 one"}
    );
}

TEST_CASE("B144 a renamed column of ours makes rows unusable until it is back") {
    captured at(captured_table(3), captured_plan(3));
    at.run(one_row(1, 17));
    at.run("ALTER TABLE captured RENAME title TO name");
    at.run("UPDATE captured SET name = 'two'");
    at.run("ALTER TABLE captured RENAME name TO title");
    at.run("UPDATE captured SET title = 'three'");
    CHECK(
        at.seen() ==
        texts{
            "insert 1 e=[1,2,3] 17 one",
            "unusable: public.captured: column \"title\" is missing: it was dropped or renamed",
            "update 1 e=[1,2,3] 17 three"}
    );
}

TEST_CASE("B144 another dimension or type of the embedding makes rows unusable") {
    captured at(captured_table(3), captured_plan(3));
    at.run(one_row(1, 17));
    at.run("ALTER TABLE captured ALTER e TYPE vector(2) USING '[1,2]'");
    at.run(one_row(2, 17, "'[4,5]'"));
    at.run("ALTER TABLE captured ALTER e TYPE halfvec(3) USING '[1,2,3]'");
    at.run(one_row(3, 17));
    at.run("ALTER TABLE captured DROP e");
    at.run("DELETE FROM captured WHERE id = 3");
    const std::string column = "unusable: public.captured: column \"e\" ";
    CHECK(
        at.seen() ==
        texts{
            "insert 1 e=[1,2,3] 17 one",
            column + "has 2 dimensions instead of 3",
            column + "has another type than vector",
            column + "is missing: it was dropped or renamed"}
    );
}

TEST_CASE("B144 changes while the reader is down are read with the columns of their time") {
    captured at(captured_table(3), captured_plan(3));
    at.run(one_row(1, 17));
    CHECK(at.seen().size() == 1);
    at.confirm();
    at.go_down();
    at.run(one_row(2, 17));
    at.run("ALTER TABLE captured ADD first int; ALTER TABLE captured RENAME TO captured_now");
    at.run("UPDATE captured_now SET title = 'two' WHERE id = 2");
    at.run("ALTER TABLE captured_now RENAME e TO embedding");
    at.run("DELETE FROM captured_now WHERE id = 1");
    at.come_back();
    CHECK(
        at.seen() ==
        texts{
            "insert 2 e=[1,2,3] 17 one",
            "update 2 e=[1,2,3] 17 two",
            "unusable: public.captured_now: column \"e\" is missing: it was dropped or renamed"}
    );
}

TEST_CASE("a replica identity without the key makes rows unusable") {
    captured at(captured_table(3), captured_plan(3));
    at.run(
        "ALTER TABLE captured ALTER org SET NOT NULL; CREATE UNIQUE INDEX by_org ON captured (org)"
    );
    at.run("ALTER TABLE captured REPLICA IDENTITY USING INDEX by_org");
    at.run(one_row(1, 17));
    CHECK(
        at.seen() ==
        texts{"unusable: public.captured: column \"id\" is not in the replica identity any more"}
    );
}

TEST_CASE("a domain over vector is read and its rows may differ in length") {
    captured at(
        "DROP DOMAIN IF EXISTS public.embedding; CREATE DOMAIN public.embedding AS vector;"
        "CREATE TABLE captured (id bigint PRIMARY KEY, org int, title text, e public.embedding)",
        captured_plan(3)
    );
    at.run(one_row(1, 17));
    at.run(one_row(2, 17, "'[1,2]'"));
    CHECK(at.seen() == texts{"insert 1 e=[1,2,3] 17 one", "insert 2 e=[1,2] 17 one"});
    at.run("DROP TABLE captured; DROP DOMAIN public.embedding");
}

TEST_SUITE_END();

}  // namespace weir::migration
