#include "config/document.hpp"

#include "config/error.hpp"

#include <doctest/doctest.h>

namespace weir::config {

namespace {

std::string error_of(std::string_view yaml) {
    const auto parsed = parse_document(yaml, "t.yaml");
    REQUIRE(parsed.errors.size() == 1);
    return to_string(parsed.errors.front());
}

}  // namespace

TEST_SUITE_BEGIN("config.document");

TEST_CASE("values and keys know their places in block and flow style") {
    const auto parsed = parse_document("a: 1\nb:\n  - x\n  - {c: 'y', d: }\n", "t.yaml");
    REQUIRE(parsed.errors.empty());
    const auto& root = parsed.root;
    REQUIRE(root.kind == node_kind::map);
    REQUIRE(root.children.size() == 2);
    CHECK(root.children[0].key == "a");
    CHECK(root.children[0].key_at == place{1, 1});
    CHECK(root.children[0].text == "1");
    CHECK(root.children[0].at == place{1, 4});
    const auto& list = root.children[1];
    REQUIRE(list.kind == node_kind::list);
    REQUIRE(list.children.size() == 2);
    CHECK(list.children[0].at == place{3, 5});
    const auto& flow = list.children[1];
    CHECK(flow.at == place{4, 5});
    REQUIRE(flow.children.size() == 2);
    CHECK(flow.children[0].text == "y");
    CHECK(flow.children[0].at == place{4, 9});
    CHECK(flow.children[1].key_at == place{4, 14});
    CHECK(flow.children[1].kind == node_kind::null);
}

TEST_CASE("duplicate keys are kept for the reader to see") {
    const auto parsed = parse_document("a: 1\na: 2\n", "t.yaml");
    REQUIRE(parsed.root.children.size() == 2);
    CHECK(parsed.root.children[1].text == "2");
    CHECK(parsed.root.children[1].key_at == place{2, 1});
}

TEST_CASE("an alias stands for a copy") {
    const auto parsed = parse_document("a: &x {c: 1}\nb: *x\n", "t.yaml");
    REQUIRE(parsed.errors.empty());
    REQUIRE(parsed.root.children.size() == 2);
    CHECK(parsed.root.children[1].key == "b");
    REQUIRE(parsed.root.children[1].children.size() == 1);
    CHECK(parsed.root.children[1].children[0].text == "1");
}

TEST_CASE("an empty text is nothing") {
    CHECK(parse_document("", "t.yaml").root.kind == node_kind::null);
    CHECK(parse_document("# only a comment\n", "t.yaml").errors.empty());
}

TEST_CASE("bad syntax is one error with its place and quotes nothing") {
    CHECK(error_of("a: [1, 2\n") == "t.yaml:2:1: invalid YAML: end of sequence flow not found");
    CHECK(error_of("a: 1\n b: 2\n") == "t.yaml:2:3: invalid YAML: illegal map value");
    CHECK(error_of("a: \"x\\q\"\n") == "t.yaml:1:8: invalid YAML: unknown escape character");
    CHECK(
        error_of("a: *hunter2\n") ==
        "t.yaml:1:4: invalid YAML: the referenced anchor is not defined"
    );
    CHECK(
        error_of("a: !hunter2 x\n") ==
        "t.yaml:1:4: invalid YAML: a YAML tag is not supported; quote a text that starts with '!'"
    );
    CHECK(
        error_of("a: 1\n---\nb: 2\n") ==
        "t.yaml:3:1: invalid YAML: a second YAML document starts here; expected one"
    );
    CHECK(error_of("? [a]\n: 1\n") == "t.yaml:1:3: invalid YAML: a key is a list; expected text");
    CHECK(
        error_of("a: &x [*x]\n") ==
        "t.yaml:1:8: invalid YAML: an alias stands inside its own anchor"
    );
}

TEST_CASE("neither depth nor repetition can exhaust the machine") {
    CHECK(parse_document(std::string(100000, '['), "t.yaml").errors.size() == 1);
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const auto last = "*a" + std::to_string(i - 1);
        const auto name = "a" + std::to_string(i);
        bomb += name + ": &" + name + " [";
        for (int j = 0; j < 9; ++j) {
            bomb += last + ", ";
        }
        bomb += last + "]\n";
    }
    CHECK(error_of(bomb).ends_with("invalid YAML: more than 100000 values"));
}

TEST_SUITE_END();

}  // namespace weir::config
