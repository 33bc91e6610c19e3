#include "proxy/client/rules.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace weir::proxy::client {
namespace {

using config::auth_method;

candidate from_ip(std::string ip) {
    candidate who;
    who.database = "app";
    who.user = "ann";
    who.ip = std::move(ip);
    return who;
}

candidate from_unix() {
    candidate who = from_ip("");
    who.local = true;
    return who;
}

config::auth_rule
rule(std::string database, std::string user, std::string address, auth_method method) {
    config::auth_rule made;
    made.databases = {std::move(database)};
    made.users = {std::move(user)};
    made.address = std::move(address);
    made.method = method;
    return made;
}

TEST_SUITE_BEGIN("proxy.rules");

TEST_CASE("an address fits the networks that hold it") {
    struct {
        const char* rule;
        const char* ip;
        std::optional<bool> fits;
    } const cases[] = {
        {"all", "10.1.2.3", true},
        {"local", "127.0.0.1", false},
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.1.2.128/25", "10.1.2.127", false},
        {"10.1.2.128/25", "10.1.2.128", true},
        {"10.1.2.3/32", "10.1.2.3", true},
        {"10.1.2.3/32", "10.1.2.2", false},
        {"10.1.2.3", "10.1.2.3", true},
        {"10.1.2.3", "10.1.2.4", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "::1", false},
        {"10.1.2.3/8", "10.9.9.9", true},  // bits behind the length do not count
        {"10.0.0.0/8", "::ffff:10.1.2.3", true},
        {"::ffff:0:0/96", "::ffff:10.1.2.3", false},  // it counts as IPv4 only
        {"fd00::/8", "fdff::1", true},
        {"fd00::/8", "fe00::1", false},
        {"fe80::/10", "fe80::1%eth0", true},
        {"::1/128", "::1", true},
        {"::1", "::1", true},
        {"::1/128", "::2", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "127.0.0.1", false},
        {"10.0.0.0/8", "", false},
        {"10.0.0.0/33", "10.0.0.1", std::nullopt},
        {"10.0.0/8", "10.0.0.1", std::nullopt},
        {"example.org", "10.0.0.1", std::nullopt},
        {"", "10.0.0.1", std::nullopt},
    };

    for (const auto& c : cases) {
        CAPTURE(c.rule);
        CAPTURE(c.ip);
        CHECK(address_fits(c.rule, from_ip(c.ip)) == c.fits);
    }
}

TEST_CASE("the Unix socket fits local and all but no network") {
    CHECK(address_fits("all", from_unix()) == true);
    CHECK(address_fits("local", from_unix()) == true);
    CHECK(address_fits("0.0.0.0/0", from_unix()) == false);
    CHECK(address_fits("::/0", from_unix()) == false);
}

TEST_CASE("without rules everybody uses SCRAM") {
    CHECK(find_method({}, from_ip("203.0.113.9")) == auth_method::scram_sha_256);
}

TEST_CASE("the first rule that fits counts and no other") {
    config::authentication from;
    from.rules = {
        rule("app", "bob", "all", auth_method::reject),
        rule("other", "all", "all", auth_method::reject),
        rule("app", "ann", "192.168.0.0/16", auth_method::trust),
        rule("all", "all", "10.0.0.0/8", auth_method::md5),
        rule("all", "all", "10.0.0.0/8", auth_method::trust),
    };
    CHECK(find_method(from, from_ip("192.168.1.1")) == auth_method::trust);
    CHECK(find_method(from, from_ip("10.0.0.1")) == auth_method::md5);
    CHECK(find_method(from, from_ip("203.0.113.9")) == std::nullopt);
    auto bob = from_ip("10.0.0.1");
    bob.user = "bob";
    CHECK(find_method(from, bob) == auth_method::reject);
    auto elsewhere = from_ip("10.0.0.1");
    elsewhere.database = "other";
    CHECK(find_method(from, elsewhere) == auth_method::reject);
}

TEST_CASE("names are compared whole and in their own case") {
    config::authentication from;
    from.rules = {rule("app", "ann", "all", auth_method::trust)};
    for (const char* const other : {"Ann", "an", "anna", ""}) {
        CAPTURE(other);
        auto who = from_ip("10.0.0.1");
        who.user = other;
        CHECK(find_method(from, who) == std::nullopt);
    }
}

TEST_CASE("a rule whose address cannot be read rejects those whom its names fit") {
    config::authentication from;
    from.rules = {
        rule("app", "ann", "10.0.0.0/99", auth_method::trust),
        rule("all", "all", "all", auth_method::trust),
    };
    CHECK(find_method(from, from_ip("10.0.0.1")) == auth_method::reject);
    auto bob = from_ip("10.0.0.1");
    bob.user = "bob";
    CHECK(find_method(from, bob) == auth_method::trust);
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::client
