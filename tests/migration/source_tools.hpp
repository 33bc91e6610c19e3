// What tests of migrations share: the cluster's servers as sources, and a clean journal.
#pragma once

#include "migration/lease.hpp"
#include "migration/primary.hpp"
#include "tests/integration/support/cluster.hpp"
#include "tests/integration/support/libpq.hpp"
#include "tests/integration/support/wait.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

namespace weir::migration::test {

using integration::cluster;

inline source_address
address_of(const cluster& servers, const integration::server_node& node, const std::string& user) {
    source_address where;
    where.host = node.at.host;
    where.port = node.at.port;
    where.user = user;
    where.password = servers.password(user);
    where.database = servers.database();
    return where;
}

inline source_address primary_address(const std::string& user = "app") {
    return address_of(cluster::shared(), cluster::shared().primary(), user);
}

// The shared cluster's primary, for classes that look for it themselves.
inline source_servers shared_servers(const std::string& user = "app") {
    source_servers servers;
    servers.addresses = {primary_address(user)};
    servers.sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    return servers;
}

// A superuser's session on the shared primary.
inline integration::pq_connection superuser() {
    const auto& servers = cluster::shared();
    return {servers.primary().at, integration::login_as(servers, "postgres")};
}

// No journal before and after a test.
struct clean_journal {
    clean_journal() { drop(); }

    ~clean_journal() { drop(); }

    clean_journal(const clean_journal&) = delete;
    clean_journal& operator=(const clean_journal&) = delete;

    static void drop() {
        auto session = superuser();
        session.try_query("DROP SCHEMA IF EXISTS pgweir CASCADE");
    }
};

// An attempt that is made again until it is not `held`.
inline lease_result take(lease& what, const source_address& from) {
    lease_result result;
    static_cast<void>(integration::wait_until([&] {
        result = what.try_take(from);
        return result.what != lease_try::held;
    }));
    return result;
}

}  // namespace weir::migration::test
