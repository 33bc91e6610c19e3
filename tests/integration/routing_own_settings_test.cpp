// SET, RESET and SHOW of pgweir's own settings: they follow their session's transactions, decide
// where its reads go, and no server ever hears of them.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/traffic.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weir::integration {
namespace {

const std::string consistency = "pgweir.consistency";
const std::string target = "pgweir.target";

// "n1 n2 n3" as far as they have run something: the primary is n1.
std::string servers_of(const proxy_process& proxy, pq_connection& by, const std::string& sql) {
    const auto before = served(proxy, "");
    for (int i = 0; i < 6; ++i) {
        CHECK(by.try_query(sql).code().empty());
    }
    bool primary = false;
    bool replica = false;
    for (const auto& [name, count] : difference(before, served(proxy, ""))) {
        (name == "n1" ? primary : replica) = true;
    }
    return std::string(primary ? "primary" : "") + (replica ? "replica" : "");
}

// A proxy without rules: plain reads are strong, vector searches go to replicas.
struct own_fixture {
    own_fixture() : proxy(cluster::shared(), prepared()), client(proxy.at(), as()) {
        wait_for_routing(proxy, cluster::shared(), "routed_own_set");
    }

    static proxy_options prepared() {
        make_items(cluster::shared(), "routed_own_set", 10);
        return {};
    }

    static login as() { return login_as(cluster::shared()); }

    // Where a read of this session goes.
    [[nodiscard]] std::string reads(pq_connection& by) const {
        return servers_of(proxy, by, "select count(*) from routed_own_set");
    }

    [[nodiscard]] std::string searches(pq_connection& by) const {
        return servers_of(proxy, by, search("routed_own_set"));
    }

    proxy_process proxy;
    pq_connection client;
};

// What the servers have written to their logs since it was made.
class log_tail {
public:
    explicit log_tail(const cluster& servers) : servers_(servers) {
        for (const auto& node : servers.nodes()) {
            from_.push_back(run_command("stat -c %s '" + node.log + "'"));
        }
    }

    [[nodiscard]] std::string text() const {
        std::string all;
        for (std::size_t i = 0; i < from_.size(); ++i) {
            const auto& log = servers_.nodes()[i].log;
            all += run_command("tail -c +$((1 + " + from_[i] + ")) '" + log + "'");
        }
        return all;
    }

private:
    const cluster& servers_;
    std::vector<std::string> from_;
};

}  // namespace

TEST_SUITE_BEGIN("integration.routing_own_settings");

TEST_CASE_FIXTURE(own_fixture, "SET decides where reads go until it is reset") {
    CHECK(reads(client) == "primary");
    CHECK(searches(client) == "replica");
    client.query("SET pgweir.consistency = 'eventual'");
    CHECK(shown(client, consistency) == "eventual");
    CHECK(reads(client) == "replica");
    client.query("SET pgweir.consistency TO strong");
    CHECK(reads(client) == "primary");
    CHECK(searches(client) == "primary");
    client.query("SET pgweir.consistency = 'bounded:30s'; ");
    CHECK(shown(client, consistency) == "bounded:30s");
    CHECK(reads(client) == "replica");
    client.query("RESET pgweir.consistency");
    CHECK(shown(client, consistency).empty());
    CHECK(reads(client) == "primary");

    client.query("SET SESSION pgweir.target = replica");
    CHECK(reads(client) == "replica");
    client.query("SET pgweir.target = 'primary'");
    CHECK(searches(client) == "primary");
    client.query("SET pgweir.target TO DEFAULT");
    CHECK(searches(client) == "replica");

    client.query("SET pgweir.target = replica");
    client.query("SET pgweir.consistency = eventual");
    client.query("RESET ALL");
    CHECK(shown(client, target).empty());
    CHECK(reads(client) == "primary");
    client.query("SET pgweir.target = replica");
    client.query("DISCARD ALL");
    CHECK(shown(client, target).empty());
    CHECK(reads(client) == "primary");
}

TEST_CASE_FIXTURE(own_fixture, "a setting belongs to its session alone") {
    pq_connection other(proxy.at(), as());
    client.query("SET pgweir.consistency = 'eventual'");
    CHECK(shown(other, consistency).empty());
    CHECK(reads(other) == "primary");
    CHECK(reads(client) == "replica");
}

TEST_CASE_FIXTURE(own_fixture, "a setting waits for its answer before the next read is routed") {
    wire_client by(proxy.at(), as());
    const std::string read = "select count(*) from routed_own_set";
    const double primary = routed(proxy, "primary", "rule");
    const double replica = routed(proxy, "replica");
    const auto answers = by.ask(
        script()
            .query("SET pgweir.target = 'replicas'")
            .query(read)
            .query("SET pgweir.target = 'primary'")
            .query(read)
            .extended("RESET pgweir.target")
            .extended("SET pgweir.consistency = eventual")
            .extended(read),
        7
    );
    CHECK(
        kinds(answers) ==
        "C Z(I) T D C Z(I) C Z(I) T D C Z(I) 1 2 n C Z(I) 1 2 n C Z(I) 1 2 T D C Z(I)"
    );
    CHECK(routed(proxy, "primary", "rule") == primary + 1);
    CHECK(routed(proxy, "replica") == replica + 2);
}

TEST_CASE_FIXTURE(own_fixture, "a setting sends nothing to a replica that the catalog doubts") {
    client.query(
        "create sequence if not exists routed_own_seq;"
        "create or replace function routed_own_next() returns bigint language plpgsql stable as"
        " $$ begin return nextval('routed_own_seq'); end $$"
    );
    cluster::shared().catch_up();
    pq_connection by(proxy.at(), as());  // which has written nothing
    by.query("SET pgweir.target = 'replicas'");
    CHECK(reads(by) == "replica");
    CHECK(servers_of(proxy, by, "select routed_own_next()") == "primary");
    pq_connection other(proxy.at(), as());
    CHECK(code_of(other, "/* pgweir: target=replicas */ select routed_own_next()") == "25006");
}

TEST_CASE_FIXTURE(own_fixture, "a hint counts before the setting and both before the rules") {
    client.query("SET pgweir.consistency = 'eventual'");
    CHECK(
        servers_of(
            proxy,
            client,
            "/* pgweir: consistency=strong */ select count(*) from routed_own_set"
        ) == "primary"
    );
    CHECK(
        servers_of(
            proxy,
            client,
            "/* pgweir: target=primary */ select count(*) from routed_own_set"
        ) == "primary"
    );
    CHECK(reads(client) == "replica");
    client.query("SET pgweir.consistency = strong");
    CHECK(
        servers_of(
            proxy,
            client,
            "/* pgweir: target=replicas */ select count(*) from routed_own_set"
        ) == "replica"
    );
    // What a token stands for is not known here, so it is the primary that has seen it.
    CHECK(
        servers_of(proxy, client, "/* pgweir: token=x */" + search("routed_own_set")) == "primary"
    );
}

TEST_CASE_FIXTURE(own_fixture, "transactions and savepoints take values back") {
    const auto run = [&](const std::vector<std::string>& texts) {
        for (const auto& text : texts) {
            static_cast<void>(client.try_query(text));
        }
    };
    const auto now = [&] { return shown(client, target); };
    run({"SET pgweir.target = 'primary'", "BEGIN", "SET pgweir.target = replica"});
    CHECK(now() == "replica");
    run({"ROLLBACK"});
    CHECK(now() == "primary");
    run({"BEGIN", "SET pgweir.target = replica", "COMMIT"});
    CHECK(now() == "replica");
    run({"BEGIN", "RESET pgweir.target", "ROLLBACK"});
    CHECK(now() == "replica");
    run({"BEGIN", "SAVEPOINT a", "SET pgweir.target = 'primary'", "ROLLBACK TO a", "COMMIT"});
    CHECK(now() == "replica");
    run({"BEGIN", "SET LOCAL pgweir.target = 'primary'"});
    CHECK(now() == "primary");
    run({"COMMIT"});
    CHECK(now() == "replica");
    run({"BEGIN", "SET LOCAL pgweir.target TO DEFAULT"});
    CHECK(now().empty());
    run({"ROLLBACK"});
    CHECK(now() == "replica");
    run({"BEGIN", "SET pgweir.target = 'primary'", "select 1/0", "COMMIT"});
    CHECK(now() == "replica");
    run({"BEGIN", "SAVEPOINT a", "SET LOCAL pgweir.target = 'primary'", "RELEASE a"});
    CHECK(now() == "primary");
    run({"COMMIT"});
    CHECK(now() == "replica");
    // A transaction counts as a write, which the replicas have to catch up with.
    CHECK(wait_until([&] { return code_of(client, "select 1").empty(); }));
    CHECK(reads(client) == "replica");
}

TEST_CASE_FIXTURE(own_fixture, "what cannot be is an error and changes nothing") {
    client.query("SET pgweir.target = replica");
    const auto code = [&](const std::string& sql) { return code_of(client, sql); };
    CHECK(code("SET pgweir.target = 'somewhere'") == "22023");
    CHECK(code("SET pgweir.consistency = 'bounded:2'") == "22023");
    CHECK(code("SET pgweir.consistency = 'session'") == "22023");
    CHECK(code("SET pgweir.token = 'abc'") == "0A000");
    CHECK(code("RESET pgweir.token") == "0A000");
    CHECK(code("SHOW pgweir.token") == "0A000");
    CHECK(client.try_query("SHOW pgweir.token", {}).code() == "0A000");
    CHECK(code("SET LOCAL pgweir.target = 3") == "22023");
    CHECK(code("SET pgweir.colour = red") == "42704");
    CHECK(code("SHOW pgweir.colour") == "42704");
    CHECK(code("RESET pgweir.colour") == "42704");
    CHECK(code("SET pgweir.target FROM CURRENT") == "0A000");
    CHECK(code("SET pgweir.target = 'primary'; SELECT 1") == "0A000");
    CHECK(code("select set_config('pgweir.target', 'primary', false)") == "0A000");
    CHECK(
        client.try_query("select set_config('PGweir.target', $1, true)", {"x"}).code() == "0A000"
    );
    CHECK(shown(client, target) == "replica");
    const auto error = client.try_query("SET pgweir.target = 'somewhere'");
    CHECK(
        error.message().find("invalid value for parameter \"pgweir.target\": \"somewhere\"") !=
        std::string::npos
    );
    CHECK(error.message().find("primary, replicas and") != std::string::npos);
    CHECK(
        client.try_query("SHOW pgweir.targets").message().find("pgweir.target\"") !=
        std::string::npos
    );

    client.query("BEGIN");
    CHECK(code("SET pgweir.target = 'somewhere'") == "22023");
    CHECK(code("select 1") == "25P02");
    CHECK(code("SET pgweir.target = 'primary'") == "25P02");
    CHECK(code("SET pgweir.target = 'somewhere'") == "25P02");
    CHECK(code("SHOW pgweir.target") == "25P02");
    CHECK(client.try_query("SET pgweir.target = 'primary'", {}).code() == "25P02");
    client.query("ROLLBACK");
    CHECK(shown(client, target) == "replica");
}

TEST_CASE_FIXTURE(own_fixture, "values may come with the connection") {
    auto with = as();
    with.options = "options='-c pgweir.consistency=eventual -c work_mem=5MB'";
    {
        pq_connection one(proxy.at(), with);
        CHECK(shown(one, consistency) == "eventual");
        CHECK(shown(one, "work_mem") == "5MB");
        CHECK(reads(one) == "replica");
        one.query("SET pgweir.consistency = strong");
        CHECK(reads(one) == "primary");
        for (const auto* reset : {"RESET pgweir.consistency", "RESET ALL", "DISCARD ALL"}) {
            one.query("SET pgweir.consistency = strong");
            one.query(reset);
            CHECK(shown(one, consistency) == "eventual");
        }
        // DISCARD counts as a write, which the replicas have to catch up with.
        CHECK(wait_until([&] { return reads(one) == "replica"; }));
    }
    with.options = "options='--pgweir.target=nowhere'";
    const auto refused = pq_connection::try_connect(proxy.at(), with);
    CHECK_FALSE(refused.ok());
    CHECK(
        refused.error().find("invalid value for parameter \"pgweir.target\": \"nowhere\"") !=
        std::string::npos
    );
    with.options = "options='-c pgweir.token=1'";
    CHECK(
        pq_connection::try_connect(proxy.at(), with).error().find("not available") !=
        std::string::npos
    );
}

TEST_CASE_FIXTURE(own_fixture, "no server ever hears of them") {
    auto& servers = cluster::shared();
    const log_tail log(servers);
    auto by = superuser(servers);
    by.query("ALTER SYSTEM SET log_statement = 'all'");
    by.query("select pg_reload_conf()");
    CHECK(wait_until([&] { return by.value("show log_statement") == "all"; }));
    auto with = as();
    with.options = "options='-c pgweir.consistency=strong'";
    {
        pq_connection one(proxy.at(), with);
        one.query("SET pgweir.target = 'primary'");
        one.query("SET LOCAL pgweir.target = 'primary'", {});
        one.query("RESET pgweir.target", {});
        static_cast<void>(one.try_query("SET pgweir.target = 'nowhere'"));
        static_cast<void>(one.try_query("select set_config('pgweir.target', 'x', false)"));
        CHECK(one.value("select current_setting('pg' || 'weir.consistency', true) is null") == "t");
        CHECK(one.value("select 'the end of the test'") == "the end of the test");
    }
    by.query("ALTER SYSTEM RESET log_statement");
    by.query("select pg_reload_conf()");
    CHECK(wait_until([&] { return log.text().find("the end of the test") != std::string::npos; }));
    const auto text = log.text();
    CHECK(text.find("weir.nothing TO DEFAULT") != std::string::npos);
    CHECK(text.find("SET pgweir") == std::string::npos);
    CHECK(text.find("LOCAL pgweir") == std::string::npos);
    CHECK(text.find("'pgweir.") == std::string::npos);
    CHECK(text.find("\"pgweir\".") == std::string::npos);
}

TEST_SUITE_END();

}  // namespace weir::integration
