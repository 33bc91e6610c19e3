#include "config/substitute.hpp"

#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace weir::config {

namespace {

const environment known =
    test::variables({{"NAME", "value"}, {"EMPTY", ""}, {"NESTED", "${NAME}"}});

}  // namespace

TEST_SUITE_BEGIN("config.substitute");

TEST_CASE("variables are replaced anywhere and once") {
    struct row {
        std::string_view raw;
        std::string_view text;
    };

    constexpr row rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"${NAME}", "value"},
        {"a${NAME}b${NAME}c", "avaluebvaluec"},
        {"[${EMPTY}]", "[]"},
        {"${NESTED}", "${NAME}"},
        {"$${NAME}", "${NAME}"},
        {"$$${NAME}", "$${NAME}"},
        {"${NAME}$${NAME}", "value${NAME}"},
        {"$${", "${"},
        {"cost $5 and $NAME", "cost $5 and $NAME"},
        {"end$", "end$"},
    };
    for (const auto& r : rows) {
        CAPTURE(r.raw);
        const auto found = expand(r.raw, known, false);
        CHECK(found.problem.empty());
        CHECK(found.text == r.text);
    }
}

TEST_CASE("a missing or malformed variable is a problem") {
    const std::string malformed =
        "has a '${' without a variable's name and '}' ('$${' stands for '${' itself)";
    CHECK(
        expand("x${MISSING}", known, false).problem ==
        "names the environment variable 'MISSING', which is not set"
    );
    CHECK(
        expand("${MISSING}", known, true).problem ==
        "names the environment variable 'MISSING', which is not set"
    );
    CHECK(
        expand("x${MISSING}", known, true).problem ==
        "names an environment variable that is not set"
    );
    for (const std::string_view raw :
         {"${", "${NAME", "${}", "${1X}", "${A B}", "${A-B}", "${${NAME}}"}) {
        CAPTURE(raw);
        CHECK(expand(raw, known, false).problem == malformed);
        CHECK(expand(raw, known, false).text.empty());
    }
}

TEST_CASE("a secret may come from a file next to the configuration") {
    const std::string data = WEIR_CONFIG_DATA;
    CHECK(read_secret("file:password", known, data).text == "from a file");
    CHECK(read_secret("file:" + data + "/password", known, "/").text == "from a file");
    CHECK(read_secret("${NAME}", known, data).text == "value");
    CHECK(read_secret("my file:password", known, data).text == "my file:password");
    CHECK(
        read_secret("file:missing", known, "folder").problem ==
        "names the file 'folder/missing', which does not exist"
    );
    CHECK(
        read_secret("file:run", known, data).problem ==
        "names the file '" + data + "/run', which does not exist"
    );
    CHECK(
        read_secret("file:run/.gitkeep", known, data).problem ==
        "names the file '" + data + "/run/.gitkeep', which is empty or not text"
    );
}

TEST_SUITE_END();

}  // namespace weir::config
