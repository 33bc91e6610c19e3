// Rows of the real server's WAL become the changes they are.
#include "tests/migration/capture_tools.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

using test::captured;
using test::captured_plan;
using test::captured_table;
using test::filled;
using test::texts;

namespace {

constexpr std::size_t usual = 1536;

std::string insert(int id, const std::string& e = filled(0.5, usual)) {
    return "INSERT INTO captured VALUES (" + std::to_string(id) + ", 17, 'one', " + e + ")";
}

}  // namespace

TEST_SUITE_BEGIN("migration.capture");

TEST_CASE("B134 an update of another column leaves a TOASTed embedding unknown") {
    captured at(captured_table(usual), captured_plan(usual));
    at.run(insert(1));
    CHECK(at.seen() == texts{"insert 1 e=0.5x1536 17 one"});
    at.run("UPDATE captured SET title = 'two'");
    CHECK(at.seen() == texts{"update 1 e=? 17 two"});
    at.run("UPDATE captured SET e = " + filled(0.25, usual));
    CHECK(at.seen() == texts{"update 1 e=0.25x1536 17 two"});
    at.run("UPDATE captured SET e = NULL");
    CHECK(at.seen() == texts{"update 1 e=NULL 17 two"});
    at.run("UPDATE captured SET title = 'three'");
    CHECK(at.seen() == texts{"update 1 e=NULL 17 three"});
    at.run(
        "BEGIN; UPDATE captured SET e = " + filled(2, usual) +
        "; UPDATE captured SET title = 'four'; COMMIT"
    );
    CHECK(at.seen() == texts{"update 1 e=2x1536 17 three", "update 1 e=? 17 four"});
    at.run(insert(2) + "; UPDATE captured SET title = 'both' WHERE id = 2");
    CHECK(at.seen() == texts{"insert 2 e=0.5x1536 17 one", "update 2 e=? 17 both"});
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete 1", "delete 2"});
}

TEST_CASE("B134 a short embedding and a long title are known or not each for itself") {
    captured at(captured_table(3), captured_plan(3));
    at.run(
        "ALTER TABLE captured ALTER title SET STORAGE EXTERNAL;"
        "INSERT INTO captured VALUES (1, 17, repeat('x', 5000), '[1,2,3]')"
    );
    CHECK(at.seen().size() == 1);
    at.run("UPDATE captured SET org = 18");
    CHECK(at.seen() == texts{"update 1 e=[1,2,3] 18 ?"});
}

TEST_CASE("B135 with a full replica identity the old tuple gives the embedding") {
    captured at(captured_table(usual), captured_plan(usual));
    at.run("ALTER TABLE captured REPLICA IDENTITY FULL");
    at.run(insert(1));
    CHECK(at.seen() == texts{"insert 1 e=0.5x1536 17 one"});
    at.run("UPDATE captured SET title = 'two'");
    CHECK(at.seen() == texts{"update 1 e=0.5x1536 17 two old=1 was=17"});
    at.run("UPDATE captured SET org = 18, id = 5");
    CHECK(at.seen() == texts{"update 5 e=0.5x1536 18 two old=1 was=17"});
    at.run("UPDATE captured SET e = NULL");
    CHECK(at.seen() == texts{"update 5 e=NULL 18 two old=5 was=18"});
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete 5 was=18"});
}

TEST_CASE("B137 a change of key brings the old key and not the vector") {
    captured at(captured_table(usual), captured_plan(usual));
    at.run(insert(1) + ';' + insert(2, filled(3, usual)));
    CHECK(at.seen().size() == 2);
    at.run("UPDATE captured SET id = id + 1000 WHERE id = 1");
    CHECK(at.seen() == texts{"update 1001 e=? 17 one old=1"});
    at.run(
        "BEGIN; UPDATE captured SET id = 0 WHERE id = 2;"
        "UPDATE captured SET id = 2 WHERE id = 1001; UPDATE captured SET id = 1001 WHERE id = 0;"
        "COMMIT"
    );
    CHECK(
        at.seen() ==
        texts{
            "update 0 e=? 17 one old=2",
            "update 2 e=? 17 one old=1001",
            "update 1001 e=? 17 one old=0"}
    );
    at.run(
        "BEGIN; UPDATE captured SET id = 7 WHERE id = 2; DELETE FROM captured WHERE id = 7; COMMIT"
    );
    CHECK(at.seen() == texts{"update 7 e=? 17 one old=2", "delete 7"});
}

TEST_CASE("B137 a change of tenant brings the old one where the identity holds it") {
    captured at(
        captured_table(3) +
            "; CREATE UNIQUE INDEX captured_identity ON captured (id, org);"
            "ALTER TABLE captured ALTER org SET NOT NULL;"
            "ALTER TABLE captured REPLICA IDENTITY USING INDEX captured_identity",
        captured_plan(3)
    );
    at.run("INSERT INTO captured VALUES (1, 17, 'one', '[1,2,3]')");
    at.run("UPDATE captured SET title = 'two'");
    at.run("UPDATE captured SET org = 18");
    at.run("DELETE FROM captured");
    CHECK(
        at.seen() ==
        texts{
            "insert 1 e=[1,2,3] 17 one",
            "update 1 e=[1,2,3] 17 two",
            "update 1 e=[1,2,3] 18 two old=1 was=17",
            "delete 1 was=18"}
    );
}

TEST_CASE("B148 NULL embeddings come and go") {
    captured at(captured_table(3), captured_plan(3));
    at.run("INSERT INTO captured VALUES (1, NULL, NULL, NULL)");
    at.run("UPDATE captured SET e = '[1,2,3]'");
    at.run("UPDATE captured SET e = NULL");
    CHECK(
        at.seen() ==
        texts{
            "insert 1 e=NULL NULL NULL",
            "update 1 e=[1,2,3] NULL NULL",
            "update 1 e=NULL NULL NULL"}
    );
}

TEST_CASE("halfvec and composite keys of uuid and text are read") {
    auto what = captured_plan(4);
    what.layout.half = true;
    what.layout.key = {
        {.name = "name", .kind = value_kind::text, .type = "text"},
        {.name = "id", .kind = value_kind::uuid, .type = "uuid"}};
    captured at(
        "CREATE TABLE captured (id uuid, org int, name text, title text, e halfvec(4),"
        " PRIMARY KEY (id, name))",
        what
    );
    at.run(
        "INSERT INTO captured VALUES"
        " ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 17, 'ä,b', 'one', '[0.1,-2,65504,6e-8]')"
    );
    const std::string both = "(ä,b,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11)";
    CHECK(at.seen() == texts{"insert " + both + " e=[0.0999756,-2,65504,5.96046e-08] 17 one"});
    at.run("UPDATE captured SET name = 'c'");
    CHECK(
        at.seen() ==
        texts{
            "update (c,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11)"
            " e=[0.0999756,-2,65504,5.96046e-08] 17 one old=" +
            both}
    );
    at.run("DELETE FROM captured");
    CHECK(at.seen() == texts{"delete (c,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11)"});
}

TEST_CASE("a long text key that a change of key leaves alone is known") {
    auto what = captured_plan(3);
    what.layout.key = {
        {.name = "title", .kind = value_kind::text, .type = "text"},
        {.name = "id", .kind = value_kind::integer, .type = "bigint"}};
    what.layout.attributes.pop_back();
    captured at(
        "CREATE TABLE captured (id bigint, org int, title text, e vector(3),"
        " PRIMARY KEY (title, id))",
        what
    );
    // Compressible for the index, and too long to stay in the row.
    at.run(
        "ALTER TABLE captured ALTER title SET STORAGE EXTERNAL;"
        "INSERT INTO captured VALUES (1, 17, repeat('k', 2600), '[1,2,3]')"
    );
    const std::string name(2600, 'k');
    CHECK(at.seen() == texts{"insert (" + name + ",1) e=[1,2,3] 17"});
    at.run("UPDATE captured SET id = 2");
    CHECK(at.seen() == texts{"update (" + name + ",2) e=[1,2,3] 17 old=(" + name + ",1)"});
    at.run("UPDATE captured SET org = 18");
    CHECK(at.seen() == texts{"update (" + name + ",2) e=[1,2,3] 18 old=(" + name + ",2)"});
}

TEST_SUITE_END();

}  // namespace weir::migration
