// SET, RESET and SHOW of pgweir's own settings: what comes back is what PostgreSQL sends for a
// setting of its own.
#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace weir::integration {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

struct own_proxy {
    static login as() { return login_as(cluster::shared()); }

    proxy_process proxy{cluster::shared()};
};

// The same with a setting of PostgreSQL's, directly.
struct own_dialogue : own_proxy {
    void same(const std::function<script(const std::string&)>& make, std::size_t ready = 1) {
        const auto expected = direct.ask(make(other), ready);
        const auto got = through.ask(make("pgweir.target"), ready);
        CHECK(details(got) == replaced(details(expected), other, "pgweir.target"));
    }

    void same_text(const std::string& before, const std::string& after) {
        CAPTURE(before);
        CAPTURE(after);
        same([&](const std::string& name) { return script().query(before + name + after); });
        same([&](const std::string& name) { return script().extended(before + name + after); });
        same([&](const std::string& name) {
            return script()
                .parse("s", before + name + after)
                .describe_statement("s")
                .bind("p", "s", {}, value_format::binary)
                .describe_portal("p")
                .execute("p", 1)
                .close_portal("p")
                .close_statement("s")
                .sync();
        });
    }

    const std::string other = "pgwaar.target";  // as long as the name of ours
    wire_client direct{cluster::shared().primary().at, as()};
    wire_client through{proxy.at(), as()};
};

}  // namespace

TEST_SUITE_BEGIN("integration.wire_own_settings");

TEST_CASE_FIXTURE(own_dialogue, "the messages are those of any other setting") {
    same_text("SET ", " = 'replicas'");
    same_text("SHOW ", "");
    same_text("SET SESSION ", " TO 'primary'");
    same_text("SHOW ", "");
    same_text("SET LOCAL ", " = 'replicas'");  // warns
    same_text("SHOW ", "");
    same_text("SET ", " TO DEFAULT");
    same_text("SHOW ", "");
    same_text("RESET ", "");
    same([](const std::string&) { return script().query("begin"); });
    same_text("SET LOCAL ", " = 'replicas'");
    same_text("SHOW ", "");
    same([](const std::string&) { return script().query("savepoint a"); });
    same_text("SET ", " = 'primary'");
    same([](const std::string&) { return script().query("rollback to a"); });
    same_text("SHOW ", "");
    same([](const std::string&) { return script().query("select 1/0"); });
    same_text("SET ", " = 'primary'");
    same_text("RESET ", "");
    same_text("SHOW ", "");
    same([](const std::string&) { return script().query("rollback"); });
    same_text("SHOW ", "");
}

TEST_CASE_FIXTURE(own_dialogue, "in a pipeline they come and go with its transaction") {
    const auto whole = [](const std::string& last) {
        return [last](const std::string& name) {
            return script()
                .parse("", "SET " + name + " = 'primary'")
                .bind("", "")
                .execute()
                .parse("", "SHOW " + name)
                .bind("", "")
                .execute()
                .parse("", last)
                .bind("", "")
                .execute()
                .sync()
                .query("SHOW " + name);
        };
    };
    same_text("SET ", " = 'replicas'");
    same(whole("select 1/0"), 2);
    same(whole("select 1"), 2);
    same_text("RESET ", "");
    same(
        [](const std::string& name) {
            return script()
                .query("begin")
                .query("SET LOCAL " + name + " = 'primary'")
                .query("SHOW " + name)
                .query("commit")
                .query("SHOW " + name);
        },
        5
    );
}

TEST_CASE_FIXTURE(own_proxy, "a wrong value fails where PostgreSQL finds it") {
    wire_client direct(cluster::shared().primary().at, as());
    wire_client through(proxy.at(), as());
    const auto same = [&](const std::function<script(const std::string&)>& make) {
        const auto expected = direct.ask(make("bytea_output"));
        CHECK(kinds(through.ask(make("pgweir.target"))) == kinds(expected));
    };
    const auto wrong = [&] {
        same([](const std::string& name) { return script().query("SET " + name + " = 'x'"); });
        same([](const std::string& name) { return script().extended("SET " + name + " = 'x'"); });
        same([](const std::string& name) {
            return script()
                .parse("s", "SET " + name + " = 'x'")
                .bind("", "s")
                .execute()
                .extended("select 1");
        });
        same([](const std::string&) { return script().close_statement("s").sync(); });
        CHECK(
            kinds(through.ask(script().extended("SHOW pgweir.nothing"))) ==
            kinds(direct.ask(script().extended("SHOW no_such_setting")))
        );
        CHECK(
            kinds(through.ask(script().query("RESET pgweir.nothing"))) ==
            kinds(direct.ask(script().query("RESET no_such_setting")))
        );
    };
    wrong();
    same([](const std::string&) { return script().query("begin"); });
    wrong();
    wrong();
    same([](const std::string&) { return script().query("rollback"); });
}

TEST_CASE_FIXTURE(own_proxy, "a prepared SHOW tells the value of now and a prepared SET sets") {
    wire_client by(proxy.at(), as());
    const auto run = [&](const char* name) {
        const auto answer = by.ask(script().bind("", name).execute().sync());
        return answer.size() > 1 && answer[1].type == 'D' ? answer[1].column(0).value_or("null")
                                                          : kinds(answer);
    };
    CHECK(
        kinds(by.ask(script()
                         .parse("show", "SHOW pgweir.target")
                         .parse("set", "SET pgweir.target = replica")
                         .parse("reset", "RESET pgweir.target")
                         .sync())) == "1 1 1 Z(I)"
    );
    for (int i = 0; i < 2; ++i) {
        CHECK(run("show").empty());
        CHECK(run("set") == "2 C Z(I)");
        CHECK(run("show") == "replica");
        CHECK(run("reset") == "2 C Z(I)");
    }
}

TEST_SUITE_END();

}  // namespace weir::integration
