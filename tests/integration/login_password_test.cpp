// How a client proves who it is: every login for itself, and nobody learns which users there are.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.login_password");

namespace {

proxy_options with_rules(const std::string& rules) {
    auto options = one_server("{size: 2}");
    options.lines = {"authentication: {rules: [" + rules + "]}"};
    return options;
}

// Number of the first Authentication request, as in the protocol: 0 ok, 5 md5, 10 SASL.
int first_request(const messages& came) {
    REQUIRE(!came.empty());
    REQUIRE(came.front().type == 'R');
    return came.front().body[3];
}

login with_password(const cluster& servers, const std::string& user, const std::string& password) {
    auto as = login_as(servers);
    as.user = user;
    as.password = password;
    return as;
}

}  // namespace

TEST_CASE("a wrong password and an unknown user look the same") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    const auto refused = [&](const std::string& user) {
        wire_client client(proxy.at());
        return client.log_in(with_password(servers, user, "wrong"));
    };
    const auto wrong = refused("app");
    const auto unknown = refused("nobody");
    CHECK(kinds(wrong) == "R R E(28P01)");
    CHECK(kinds(unknown) == kinds(wrong));
    CHECK(wrong[0].body == unknown[0].body);
    CHECK(wrong[1].body.size() == unknown[1].body.size());
    CHECK(wrong.back().field('S') == "FATAL");
    CHECK(wrong.back().field('M') == "password authentication failed for user \"app\"");
    CHECK(unknown.back().field('M') == "password authentication failed for user \"nobody\"");
    // The salt of an unknown user is always the same, as a known one's is.
    const auto salt = [](const messages& came) {
        const auto& text = came[1].body;
        const auto at = text.find(",s=");
        return text.substr(at, text.find(",i=") - at);
    };
    CHECK(salt(refused("nobody")) == salt(unknown));
    CHECK(salt(refused("somebody")) != salt(unknown));
}

TEST_CASE("B68 a warm pool lets nobody in") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection warm(proxy.at(), login_as(servers));
    CHECK(warm.value("select 1") == "1");
    for (const std::string password : {"wrong", "", "app-secret ", "APP-SECRET"}) {
        CAPTURE(password);
        wire_client client(proxy.at());
        CHECK(client.log_in(with_password(servers, "app", password)).back().code() == "28P01");
    }
    CHECK(warm.value("select 1") == "1");
}

TEST_CASE("B68 the old password is refused behind a reload that changes it") {
    auto& servers = cluster::shared();
    const auto pool_of_two = one_server("{size: 2}");
    proxy_process proxy(servers, pool_of_two);
    const auto as = login_as(servers, "app2");
    pq_connection before(proxy.at(), as);
    prepare(servers, {"alter role app2 password 'new-secret'"});
    CHECK(before.value("select 1") == "1");
    prepare(servers, {"alter role app2 password '" + servers.password("app2") + "'"});
    CHECK(pq_connection(proxy.at(), as).value("select 1") == "1");
}

TEST_CASE("the md5 method asks for md5 and takes it") {
    auto& servers = cluster::shared();
    proxy_process proxy(
        servers,
        with_rules("{database: all, user: md5user, method: md5}, {database: all, user: all}")
    );
    wire_client good(proxy.at());
    const auto came = good.log_in(login_as(servers, "md5user"));
    CHECK(first_request(came) == 5);
    CHECK(kinds(came).ends_with("Z(I)"));
    CHECK(good.value("select current_user") == "md5user");
    wire_client wrong(proxy.at());
    CHECK(wrong.log_in(with_password(servers, "md5user", "wrong")).back().code() == "28P01");
    wire_client scram(proxy.at());
    CHECK(first_request(scram.log_in(login_as(servers))) == 10);
}

TEST_CASE("a user whose server password is md5 logs in with SCRAM to the proxy") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    wire_client client(proxy.at());
    const auto came = client.log_in(login_as(servers, "md5user"));
    CHECK(first_request(came) == 10);
    CHECK(client.value("select session_user") == "md5user");
}

TEST_CASE("trust on loopback asks for nothing and reject refuses") {
    auto& servers = cluster::shared();
    proxy_process proxy(
        servers,
        with_rules("{database: all, user: app2, method: reject}, "
                   "{database: all, user: all, address: 127.0.0.0/8, method: trust}")
    );
    wire_client trusted(proxy.at());
    const auto came = trusted.log_in(with_password(servers, "app", ""));
    CHECK(first_request(came) == 0);
    CHECK(trusted.value("select current_user") == "app");
    wire_client rejected(proxy.at());
    const auto refused = rejected.log_in(login_as(servers, "app2"));
    CHECK(kinds(refused) == "E(28000)");
    CHECK(refused.back().field('S') == "FATAL");
    // Trust is for the users there are.
    wire_client nobody(proxy.at());
    CHECK(nobody.log_in(with_password(servers, "nobody", "")).back().type == 'E');
}

TEST_CASE("without a rule that fits nobody gets in") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, with_rules("{database: app, user: app}"));
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
    wire_client other(proxy.at());
    const auto refused = other.log_in(login_as(servers, "app2"));
    CHECK(kinds(refused) == "E(28000)");
}

TEST_CASE("a first message that is no startup packet is refused") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    wire_client client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    // A startup packet behind the login is a message of type 0.
    wire_client again(proxy.at(), login_as(servers));
    again.send(script().raw(std::string("\0\0\0\x08\0\x03\0\0", 8)));
    CHECK(kinds(again.read_to_end()) == "E(08P01)");
    CHECK(client.value("select 1") == "1");
}

TEST_SUITE_END();

}  // namespace weir::integration
