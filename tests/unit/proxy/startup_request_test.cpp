#include "proxy/client/startup_request.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::proxy::client {
namespace {

using parameters = std::vector<std::pair<std::string_view, std::string_view>>;

protocol::startup_message message(parameters given) {
    protocol::startup_message made;
    made.parameters = std::move(given);
    return made;
}

TEST_SUITE_BEGIN("proxy.startup_request");

TEST_CASE("B57 settings come from options and from the packet in PostgreSQL's order") {
    const auto read = read_startup_settings(message({
        {"user", "ann"},
        {"Search_Path", "b"},
        {"options", "-c search_path=a --work-mem=1MB -cApp.Tenant=7"},
        {"database", "app"},
        {"application_name", "psql"},
    }));
    REQUIRE(read.has_value());
    const startup_settings expected{
        {"search_path", "a"},
        {"work_mem", "1MB"},
        {"app.tenant", "7"},
        {"search_path", "b"},
        {"application_name", "psql"}};
    CHECK(*read == expected);
}

TEST_CASE("protocol options and the log-in itself are no settings") {
    const auto read = read_startup_settings(message({
        {"user", "ann"},
        {"database", "app"},
        {"replication", "off"},
        {"_pq_.something", "1"},
        {"options", ""},
    }));
    REQUIRE(read.has_value());
    CHECK(read->empty());
}

TEST_CASE("B57 options that cannot be read give an error that names them") {
    const auto read = read_startup_settings(message({{"user", "ann"}, {"options", "-c a=1 -X"}}));
    REQUIRE(read.has_error());
    CHECK(read.error().level == protocol::severity::fatal);
    CHECK(read.error().message.find("-X") != std::string::npos);
}

TEST_CASE("settings of pgweir's own are checked when they come") {
    const auto read = read_startup_settings(message({
        {"user", "ann"},
        {"options", "-c PGweir.target=replica --pgweir.consistency=bounded:2s"},
    }));
    REQUIRE(read.has_value());
    const startup_settings expected{
        {"pgweir.target", "replica"},
        {"pgweir.consistency", "bounded:2s"}};
    CHECK(*read == expected);
    const auto bad = read_startup_settings(message({{"pgweir.target", "nowhere"}}));
    REQUIRE(bad.has_error());
    CHECK(bad.error().level == protocol::severity::fatal);
    CHECK(bad.error().code == protocol::sqlstates::invalid_parameter_value);
    CHECK(bad.error().message == "invalid value for parameter \"pgweir.target\": \"nowhere\"");
    const auto unknown = read_startup_settings(message({{"options", "-c pgweir.colour=red"}}));
    REQUIRE(unknown.has_error());
    CHECK(unknown.error().code == protocol::sqlstates::undefined_object);
}

TEST_CASE("what cannot be the name of a parameter is refused as PostgreSQL does") {
    for (const char* const name : {"a;b", "a b", "1a", "a.", ".a", "a..b", "a.1b", "a\"b", "$a"}) {
        CAPTURE(name);
        CHECK_FALSE(is_setting_name(name));
        const auto read = read_startup_settings(message({{"user", "ann"}, {name, "1"}}));
        REQUIRE(read.has_error());
        CHECK(read.error().code == protocol::sqlstates::undefined_object);
        CHECK(
            read.error().message ==
            "unrecognized configuration parameter \"" + std::string(name) + "\""
        );
    }
    CHECK_FALSE(is_setting_name(""));
}

TEST_CASE("names of parameters may have digits dollars and dots inside") {
    for (const char* const name :
         {"a", "_a", "a1", "a$b", "a.b", "a.b.c1", "\xc3\xa4.b", "DateStyle"}) {
        CAPTURE(name);
        CHECK(is_setting_name(name));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::client
