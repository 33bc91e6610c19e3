#include "tests/integration/support/dialogue.hpp"

#include "tests/integration/support/competitor.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <random>
#include <set>
#include <system_error>

namespace weir::integration {
namespace {

void send_step(
    const wire_client& client,
    const std::string& bytes,
    cutting how,
    std::mt19937& random
) {
    if (how == cutting::bytes) {
        client.send_pieces(bytes, 1);
        return;
    }
    std::set<std::size_t> at;
    if (how == cutting::random && bytes.size() > 1) {
        std::uniform_int_distribution<std::size_t> any(1, bytes.size() - 1);
        for (int i = 0; i < 5; ++i) {
            at.insert(any(random));
        }
    }
    client.send_cut(bytes, {at.begin(), at.end()});
}

messages read_step(wire_client& client, const step& now) {
    if (now.to_end) {
        return client.read_to_end();
    }
    return now.until != 0 ? client.read_to(now.until) : client.read_ready(now.ready);
}

// False: something differs.
bool same(
    const dialogue& what,
    const transcript& direct,
    const cluster& servers,
    const endpoint& to,
    cutting how,
    unsigned seed
) {
    CAPTURE(how);
    CAPTURE(seed);
    try {
        const auto through = play(what, servers, to, how, seed);
        const auto& said = what.same_texts ? through.details : through.kinds;
        const auto& expected = what.same_texts ? direct.details : direct.kinds;
        CHECK(through.kinds == direct.kinds);
        CHECK(said == expected);
        return said == expected;
    } catch (const std::exception& error) {
        FAIL_CHECK(std::string(error.what()));
        return false;
    }
}

void check_one(
    const dialogue& what,
    const transcript& direct,
    const cluster& servers,
    const endpoint& to
) {
    CAPTURE(what.name);
    bool good = same(what, direct, servers, to, cutting::whole, 0);
    for (unsigned seed = 1; good && what.cut && seed <= 3; ++seed) {
        good = same(what, direct, servers, to, cutting::random, seed);
    }
    if (good && what.cut) {
        static_cast<void>(same(what, direct, servers, to, cutting::bytes, 0));
    }
}

void check_pool(
    const std::vector<dialogue>& all,
    const std::vector<transcript>& direct,
    const cluster& servers,
    unsigned pool_size
) {
    CAPTURE(pool_size);
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: " + std::to_string(pool_size) + "}";
    proxy_process proxy(servers, options);
    for (const bool contended : {false, true}) {
        CAPTURE(contended);
        std::unique_ptr<competitor> others;
        if (contended) {
            others = std::make_unique<competitor>(proxy.at(), login_as(servers), pool_size);
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            check_one(all[i], direct[i], servers, proxy.at());
        }
    }
    CHECK(wait_until([&] { return proxy.idle(); }));
}

}  // namespace

transcript
play(const dialogue& what, const cluster& servers, const endpoint& to, cutting how, unsigned seed) {
    pq_connection direct(servers.primary().at, login_as(servers));
    for (const auto& sql : what.before) {
        direct.query(sql);
    }
    std::mt19937 random(seed);
    wire_client client(to, login_as(servers));
    transcript heard;
    for (const auto& now : what.steps) {
        if (!now.aside.empty()) {
            direct.query(now.aside);
        }
        try {
            send_step(client, now.send.bytes(), how, random);
        } catch (const std::system_error&) {
            if (!now.to_end) {
                throw;
            }
            // The other side may close before everything has been sent.
        }
        messages came;
        try {
            came = read_step(client, now);
        } catch (const std::exception& error) {
            throw std::runtime_error(std::string(error.what()) + "; steps before: " + heard.kinds);
        }
        const std::string between = &now == what.steps.data() ? "" : " | ";
        heard.kinds += between + kinds(came);
        heard.details += between + details(came);
    }
    client.close();
    if (!what.after.empty()) {
        heard.details += " => " + direct.value(what.after);
    }
    return heard;
}

void check_like_direct(const cluster& servers, const std::vector<dialogue>& all) {
    std::vector<transcript> direct;
    for (const auto& what : all) {
        CAPTURE(what.name);
        direct.push_back(play(what, servers, servers.primary().at));
        CHECK(direct.back().kinds == what.expected);
    }
    check_pool(all, direct, servers, 1);
    check_pool(all, direct, servers, 2);
}

}  // namespace weir::integration
