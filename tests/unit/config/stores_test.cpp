#include "config/print.hpp"
#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

namespace weir::config {

namespace {

struct row {
    std::string_view name;
    std::string_view yaml;
    std::string_view errors;
};

void check(const row& r) {
    CAPTURE(r.name);
    CHECK(test::errors_of(test::complete(r.yaml)) == r.errors);
}

}  // namespace

TEST_SUITE_BEGIN("config.stores");

TEST_CASE("each type of store is read") {
    const auto loaded = load(
        test::complete("stores:\n"
                       "  t: {type: turbopuffer, url: \"https://eu.example\", api_key: "
                       "\"${K}\", gzip: true, connect_timeout: 1s, request_timeout: 5s}\n"
                       "  q: {type: qdrant, url: \"http://[::1]:6333/base\", "
                       "max_in_flight: 3}\n"
                       "  c: {type: chroma, url: \"http://127.0.0.1:8000\"}\n"
                       "  p: {type: postgres, host: db, port: 5433, database: v, user: u, "
                       "password: hunter2, tls: require}\n"),
        "t.yaml",
        test::variables({{"K", "hunter3"}})
    );
    REQUIRE(print_errors(loaded.errors) == "");
    const auto& stores = loaded.value->stores;
    REQUIRE(stores.size() == 4);
    CHECK(stores[0].name == "t");
    CHECK(stores[0].type == store_type::turbopuffer);
    CHECK(stores[0].url == "https://eu.example");
    CHECK(stores[0].api_key == "hunter3");
    CHECK(stores[0].gzip);
    CHECK(stores[0].connect_timeout == 1s);
    CHECK(stores[0].request_timeout == 5s);
    CHECK(stores[0].max_in_flight == 0);
    CHECK(stores[1].type == store_type::qdrant);
    CHECK(stores[1].url == "http://[::1]:6333/base");
    CHECK(stores[1].max_in_flight == 3);
    CHECK(stores[2].type == store_type::chroma);
    CHECK(stores[2].api_key.empty());
    CHECK(stores[3].type == store_type::postgres);
    CHECK(stores[3].host == "db");
    CHECK(stores[3].port == 5433);
    CHECK(stores[3].database == "v");
    CHECK(stores[3].user == "u");
    CHECK(stores[3].password == "hunter2");
    CHECK(stores[3].tls == tls_mode::require);
    for (const auto& shown : rows_of(*loaded.value)) {
        CHECK(shown.value.find("hunter") == std::string::npos);
    }
}

TEST_CASE("what a type of store needs and what it has no use for") {
    constexpr row rows[] = {
        {"no type",
         "stores: {a: {url: \"http://h\"}}",
         "t.yaml:3:13: stores.a.type is missing; expected turbopuffer, qdrant, chroma or "
         "postgres\n"},
        {"unknown type",
         "stores: {a: {type: quadrant, url: \"http://h\"}}",
         "t.yaml:3:20: stores.a.type is 'quadrant'; expected turbopuffer, qdrant, chroma or "
         "postgres; did you mean 'qdrant'?\n"},
        {"no URL",
         "stores: {a: {type: chroma}}",
         "t.yaml:3:10: stores.a.url is missing; a store of type chroma needs it\n"},
        {"no key",
         "stores: {a: {type: turbopuffer, url: \"https://h\"}}",
         "t.yaml:3:10: stores.a.api_key is missing; a store of type turbopuffer needs it\n"},
        {"URL for postgres",
         "stores: {a: {type: postgres, url: \"http://h\", host: h, database: d, user: u}}",
         "t.yaml:3:35: stores.a.url is nothing for a store of type postgres; expected host and "
         "database\n"},
        {"postgres with nothing",
         "stores: {a: {type: postgres}}",
         "t.yaml:3:10: stores.a.host is missing; a store of type postgres needs it\n"},
        {"host and TLS for chroma",
         "stores: {a: {type: chroma, url: \"http://h\", host: h, tls: require}}",
         "t.yaml:3:51: stores.a.host is nothing for a store of type chroma; expected url and "
         "api_key\n"
         "t.yaml:3:59: stores.a.tls is nothing for a store of type chroma; expected a url with "
         "https://\n"},
        {"verification without ca",
         "stores: {a: {type: postgres, host: h, database: d, user: u, tls: verify-full}}",
         "t.yaml:3:66: stores.a.tls verify-full needs to know whom to trust; expected ca\n"},
        {"missing ca",
         "stores: {a: {type: chroma, url: \"https://h\", ca: nowhere.pem}}",
         "t.yaml:3:50: stores.a.ca: the file 'nowhere.pem' does not exist; expected a PEM file\n"},
        {"limits",
         "stores: {a: {type: chroma, url: \"https://h\", max_in_flight: 65}}",
         "t.yaml:3:61: stores.a.max_in_flight is '65'; expected auto or a whole number from 1 to "
         "64\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("addresses that are none") {
    for (const std::string_view url :
         {"ftp://h",
          "h:80",
          "http://",
          "http:///x",
          "http://h:0",
          "http://h:x",
          "http://u:p@h",
          "http://h?x=1",
          "http://h#x",
          "http://a b"}) {
        CAPTURE(url);
        const auto yaml = "stores: {a: {type: chroma, url: \"" + std::string(url) + "\"}}";
        CHECK(
            test::errors_of(test::complete(yaml)) ==
            "t.yaml:3:33: stores.a.url is no address of a server; expected http:// or https://, a "
            "host, and perhaps a port and a path\n"
        );
    }
}

TEST_SUITE_END();

}  // namespace weir::config
