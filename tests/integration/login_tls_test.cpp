// TLS on either side: who may connect how, and whose certificate is believed.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.login_tls");

namespace {

proxy_options towards_clients(const cluster& servers, const std::string& mode) {
    auto options = one_server("{size: 2}");
    const auto& files = servers.certificates();
    options.listen = "tls: {mode: " + mode + ", certificate: \"" + files.certificate +
                     "\", key: \"" + files.key + "\"}";
    return options;
}

proxy_options towards_servers(const std::string& tls) {
    auto options = one_server("{size: 2}");
    options.cluster_lines = {"tls: " + tls, "failover: {wait: 300ms}"};
    return options;
}

pq_connection connect(const proxy_process& proxy, const cluster& servers, const std::string& how) {
    auto as = login_as(servers);
    as.options = how;
    return pq_connection::try_connect(proxy.at(), as);
}

// Is the server's own end of the client's statement encrypted?
std::string server_tls(const proxy_process& proxy, const cluster& servers) {
    pq_connection client(proxy.at(), login_as(servers));
    return client.value("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
}

// Does a new client get an answer?
bool serves(const proxy_process& proxy, const cluster& servers) {
    auto client = pq_connection::try_connect(proxy.at(), login_as(servers));
    return client.ok() && client.try_query("select 1").ok();
}

void check_wrong_authority(const std::string& mode) {
    CAPTURE(mode);
    auto& servers = cluster::shared();
    const auto believing = [&](const std::string& ca) {
        return towards_servers("{mode: " + mode + ", ca: \"" + ca + "\"}");
    };
    proxy_process proxy(servers, believing(servers.certificates().ca));
    proxy.reload(believing(servers.certificates().wrong_ca));
    REQUIRE(wait_until([&] {
        return proxy.log().find("certificate verify failed") != std::string::npos;
    }));
    REQUIRE(wait_until([&] { return !serves(proxy, servers); }));
    proxy.reload(believing(servers.certificates().ca));
    REQUIRE(wait_until([&] { return serves(proxy, servers); }));
    CHECK(server_tls(proxy, servers) == "t");
}

}  // namespace

TEST_CASE("clients choose TLS or not where it is preferred") {
    auto& servers = cluster::shared();
    const auto& files = servers.certificates();
    REQUIRE_FALSE(files.ca.empty());
    proxy_process proxy(servers, towards_clients(servers, "prefer"));
    for (const auto& each : std::vector<std::pair<std::string, bool>>{
             {"sslmode=disable", false},
             {"sslmode=allow", false},
             {"sslmode=prefer", true},
             {"sslmode=require", true},
             {"sslmode=verify-ca sslrootcert=" + files.ca, true},
             {"sslmode=verify-full sslrootcert=" + files.ca, true}}) {
        const auto& how = each.first;
        CAPTURE(how);
        auto client = connect(proxy, servers, how);
        REQUIRE_MESSAGE(client.ok(), client.error());
        CHECK((PQsslInUse(client.get()) == 1) == each.second);
        CHECK(client.value("select 1") == "1");
        CHECK(
            client.query("select $1::text", {std::string(100000, 'x')}).at(0, 0).size() == 100000
        );
    }
    const auto wrong = connect(proxy, servers, "sslmode=verify-ca sslrootcert=" + files.wrong_ca);
    CHECK_FALSE(wrong.ok());
    CHECK(wrong.error().find("certificate verify failed") != std::string::npos);
}

TEST_CASE("where TLS is required the others are refused with a hint") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, towards_clients(servers, "require"));
    const auto plain = connect(proxy, servers, "sslmode=disable");
    CHECK_FALSE(plain.ok());
    CHECK(plain.error().find("TLS is required") != std::string::npos);
    CHECK(plain.error().find("sslmode=require") != std::string::npos);
    auto encrypted = connect(proxy, servers, "sslmode=require");
    REQUIRE_MESSAGE(encrypted.ok(), encrypted.error());
    CHECK(encrypted.value("select 1") == "1");
}

TEST_CASE("without a certificate TLS is not offered") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    CHECK_FALSE(connect(proxy, servers, "sslmode=require").ok());
    auto plain = connect(proxy, servers, "sslmode=prefer");
    REQUIRE(plain.ok());
    CHECK(PQsslInUse(plain.get()) == 0);
}

TEST_CASE("a cancel works over TLS") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, towards_clients(servers, "require"));
    auto client = connect(proxy, servers, "sslmode=require");
    start(client, "select pg_sleep(60)");
    auto direct = superuser(servers);
    REQUIRE(wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where usename = 'app' and "
                   "state = 'active'"
               ) == "1";
    }));
    cancel(client);
    CHECK(receive(client).code() == "57014");
    CHECK(client.value("select 1") == "1");
}

TEST_CASE("servers are reached in the mode that is configured") {
    auto& servers = cluster::shared();
    const auto ca = ", ca: \"" + servers.certificates().ca + "\"}";
    for (const auto& each : std::vector<std::pair<std::string, std::string>>{
             {"{mode: disable}", "f"},
             {"{mode: allow}", "f"},
             {"{mode: prefer}", "t"},
             {"{mode: require}", "t"},
             {"{mode: verify-ca" + ca, "t"},
             {"{mode: verify-full" + ca, "t"}}) {
        const auto& encrypted = each.second;
        CAPTURE(each.first);
        proxy_process proxy(servers, towards_servers(each.first));
        CHECK(server_tls(proxy, servers) == encrypted);
        // The monitor's connection is one like any other.
        CHECK(
            superuser(servers).value("select bool_or(ssl) from pg_stat_ssl join pg_stat_activity "
                                     "using (pid) where usename = 'pgweir'") == encrypted
        );
    }
}

TEST_CASE("a server with a certificate of the wrong authority is not believed") {
    check_wrong_authority("verify-ca");
    check_wrong_authority("verify-full");
}

TEST_CASE("TLS on both sides carries what TCP carries") {
    auto& servers = cluster::shared();
    auto options = towards_clients(servers, "require");
    options.cluster_lines = {"tls: {mode: require}"};
    options.workers = 2;
    proxy_process proxy(servers, options);
    auto client = connect(proxy, servers, "sslmode=require");
    REQUIRE_MESSAGE(client.ok(), client.error());
    CHECK(client.query("select repeat('x', 5000000)").at(0, 0).size() == 5000000);
    CHECK(client.query("select g from generate_series(1, 100000) g").rows() == 100000);
    CHECK(client.query("select length($1)", {std::string(3000000, 'y')}).at(0, 0) == "3000000");
}

TEST_SUITE_END();

}  // namespace weir::integration
