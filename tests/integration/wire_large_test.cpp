// Large messages and long pipelines cost the proxy no more memory than its buffers.
#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

namespace weir::integration {
namespace {

constexpr std::size_t mib = 1U << 20U;
constexpr std::size_t growth = 48 * mib;  // buffers, what is owed in a pipeline, the allocator

proxy_options pool_of(unsigned size) {
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: " + std::to_string(size) + "}";
    return options;
}

// Memory of the proxy over a test; the address sanitizer keeps what is freed.
class memory_watch {
public:
    explicit memory_watch(const proxy_process& proxy) : proxy_(proxy) {
        proxy.reset_peak();
        before_ = proxy.resident_bytes();
    }

    void check() const {
#ifndef __SANITIZE_ADDRESS__
        CHECK(proxy_.peak_bytes() < before_ + growth);
#endif
    }

private:
    const proxy_process& proxy_;
    std::size_t before_ = 0;
};

struct drained {
    std::size_t bytes = 0;
    std::string tail;  // the last bytes

    friend bool operator==(const drained&, const drained&) = default;
};

// Reads without keeping, until the last bytes are a ReadyForQuery and a CommandComplete of the tag.
drained drain(const wire_client& client, const std::string& tag) {
    const auto end = tag + std::string("\0Z\0\0\0\5I", 7);
    const auto until = std::chrono::steady_clock::now() + 3 * patience;
    drained all;
    while (all.tail != end) {
        const auto piece = read_some(client.socket(), mib, until);
        if (piece.empty()) {
            throw std::runtime_error("closed after " + std::to_string(all.bytes) + " bytes");
        }
        all.bytes += piece.size();
        all.tail += piece;
        all.tail.erase(0, all.tail.size() - std::min(all.tail.size(), end.size()));
    }
    return all;
}

std::string repeated(std::size_t count, char letter) {
    return std::string(count, letter);
}

std::string row_of(const messages& came) {
    for (const auto& each : came) {
        if (each.type == 'D') {
            return each.column(0).value_or("");
        }
    }
    return details(came);
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_large");

TEST_CASE("a hundred megabytes of rows stream through") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));

    struct {
        const char* sql;
        const char* tag;
    } const cases[] = {
        {"select repeat('x', 1000) from generate_series(1, 100000)", "SELECT 100000"},
        {"select repeat('x', 100000000)", "SELECT 1"},
        {"copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout",
         "COPY 100000"},
    };

    for (const auto& each : cases) {
        const std::string sql = each.sql;
        const std::string tag = each.tag;
        CAPTURE(sql);
        wire_client direct(servers.primary().at, login_as(servers));
        direct.send(script().query(sql));
        const auto expected = drain(direct, tag);
        wire_client client(proxy.at(), login_as(servers));
        const memory_watch memory(proxy);
        client.send(script().query(sql));
        CHECK(drain(client, tag) == expected);
        memory.check();
        CHECK(client.value("select 1") == "1");
    }
}

TEST_CASE("a client that does not read costs no memory and stops nobody else") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(2));
    wire_client slow(proxy.at(), login_as(servers));
    wire_client other(proxy.at(), login_as(servers));
    CHECK(other.value("select 1") == "1");
    const memory_watch memory(proxy);
    slow.send(script().query("select repeat('x', 1000) from generate_series(1, 100000)"));
    for (int i = 0; i < 200; ++i) {
        REQUIRE(other.value("select " + std::to_string(i)) == std::to_string(i));
    }
    std::size_t seen = 0;
    CHECK(wait_until([&] {  // until the server has been stopped by the full buffers
        const auto before =
            std::exchange(seen, static_cast<std::size_t>(proxy.metric("pgweir_bytes_total")));
        std::this_thread::sleep_for(100ms);
        return before == seen;
    }));
    memory.check();
    CHECK(drain(slow, "SELECT 100000").bytes > 100'000'000);
    memory.check();
    CHECK(slow.value("select 1") == "1");
}

TEST_CASE("a query of twenty megabytes is only a query") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    const std::string much = repeated(20'000'000, 'x');
    const memory_watch memory(proxy);
    CHECK(client.value("select length('" + much + "')") == "20000000");
    CHECK(row_of(client.ask(script().extended("select length('" + much + "')"))) == "20000000");
    memory.check();
    CHECK(client.value("select 2") == "2");
    wire_client other(proxy.at(), login_as(servers));
    client.close();  // the large Parse may tie it to its server
    CHECK(other.value("select 3") == "3");
}

TEST_CASE("a parameter of twenty megabytes is only a parameter") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    wire_client other(proxy.at(), login_as(servers));
    const std::string much = repeated(20'000'000, 'x');
    const std::string text = "select length($1::text)";
    CHECK(kinds(client.ask(script().parse("named", text).sync())) == "1 Z(I)");
    const memory_watch memory(proxy);
    CHECK(row_of(client.ask(script().extended(text, {much}))) == "20000000");
    CHECK(row_of(client.ask(script().bind("", "named", {much}).execute().sync())) == "20000000");
    memory.check();
    SUBCASE("of a statement nobody knows") {
        const auto came = client.ask(script().bind("", "none", {much}).execute().sync());
        CHECK(kinds(came) == "E(26000) Z(I)");
    }
    SUBCASE("behind an error") {
        const auto came =
            client.ask(script().parse("", "selec").bind("", "named", {much}).execute().sync());
        CHECK(kinds(came) == "E(42601) Z(I)");
    }
    SUBCASE("when the error has been seen") {
        client.send(script().parse("", "selec").flush());
        CHECK(client.read().kind() == "E(42601)");
        const auto came = client.ask(
            script().bind("", "named", {much}).query("select '" + much + "'").copy_data(much).sync()
        );
        CHECK(kinds(came) == "Z(I)");
    }
    CHECK(client.value("select 2") == "2");
    CHECK(other.value("select 3") == "3");
}

TEST_CASE("a copy of a hundred megabytes streams through") {
    auto& servers = cluster::shared();
    pq_connection direct(servers.primary().at, login_as(servers));
    direct.query("create unlogged table if not exists wire_large (a text)");
    direct.query("truncate wire_large");
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    const memory_watch memory(proxy);
    client.send(script().query("copy wire_large from stdin"));
    script piece;
    for (int i = 0; i < 1000; ++i) {
        piece.copy_data(std::string(999, 'x') + "\n");
    }
    for (int i = 0; i < 50; ++i) {
        client.send(piece);
    }
    // And messages that are larger than any buffer.
    const std::string rows = repeated(24'999'999, 'y') + "\n";
    client.send(script().copy_data(rows).copy_data(rows).copy_done());
    CHECK(kinds(client.read_ready()) == "G C Z(I)");
    memory.check();
    CHECK(
        direct.value("select count(*) || '/' || sum(length(a)) from wire_large") == "50002/99949998"
    );
    direct.query("truncate wire_large");
}

TEST_CASE("a hundred thousand statements in a pipeline nobody reads") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    const memory_watch memory(proxy);
    const int count = 100'000;
    script all;
    for (int i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        i % 2 == 0 ? all.query("select " + number)
                   : all.parse("", "select $1::text").bind("", "", {number}).execute().sync();
    }
    // Writes as long as anything is taken, and only then begins to read.
    std::string_view left = all.bytes();
    pollfd one{client.socket().get(), POLLOUT, 0};
    while (!left.empty() && poll(&one, 1, 1000) > 0) {
        const auto sent =
            send(client.socket().get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        REQUIRE((sent > 0 || errno == EAGAIN));
        left.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    memory.check();
    std::jthread rest([&client, left] { client.send(left); });
    for (int i = 0; i < count; ++i) {
        const auto came = client.read_ready();
        REQUIRE(kinds(came) == (i % 2 == 0 ? "T D C Z(I)" : "1 2 D C Z(I)"));
        REQUIRE(came[came.size() - 3].column(0) == std::to_string(i));
    }
    memory.check();
    CHECK(client.read_quiet(50ms).empty());
}

TEST_SUITE_END();

}  // namespace weir::integration
