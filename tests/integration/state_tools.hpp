// What the tests of sessions and pools share: asking without waiting, leaving without a word, and
// walking over every server connection of a pool.
#pragma once

#include "tests/integration/support/proxy_process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace weir::integration {

// A proxy whose only server is the primary, with that pool.
[[nodiscard]] proxy_options one_server(std::string pool, unsigned workers = 1);

// What SHOW says, or the SQLSTATE it fails with.
[[nodiscard]] std::string shown(pq_connection& by, const std::string& name);
// SQLSTATE, empty when it works.
[[nodiscard]] std::string code_of(pq_connection& by, const std::string& sql);
// "user session_user".
[[nodiscard]] std::string identity(pq_connection& by);

// Starts a simple Query; its answer is fetched by receive().
void start(pq_connection& by, const std::string& sql);
// The last result of what was started, or the first error.
[[nodiscard]] pq_result receive(pq_connection& by);
// PQcancel with this client's key.
void cancel(pq_connection& of);
// Closes the socket with RST, as the death of the client's machine or process would.
void vanish(pq_connection& client);
// A client that says all this, whatever the answers, and leaves or vanishes.
void come_and_go(
    const proxy_process& proxy,
    const login& as,
    const std::vector<std::string>& texts,
    bool vanishes
);

// Session of a superuser with the primary itself.
[[nodiscard]] pq_connection superuser(const cluster& servers, const std::string& node = "n1");
// Statements that are repeatable, as the superuser.
void prepare(const cluster& servers, const std::vector<std::string>& statements);

// Sessions of `app` with that server, not counting the one that asks.
[[nodiscard]] int sessions_on_server(const cluster& servers, const std::string& node = "n1");
// Waits until the server has no session of app in a state other than idle.
[[nodiscard]] bool all_sessions_idle(const cluster& servers);
// Clients that wait for a connection, by the console.
[[nodiscard]] int waiting_clients(const proxy_process& proxy);
// How many sessions are pinned for that reason, by the console.
[[nodiscard]] int pinned_clients(const proxy_process& proxy, const std::string& reason);

// Holds every connection of a pool of that size in transactions, and frees them one by one.
class pool_holder {
public:
    pool_holder(const proxy_process& proxy, const login& as, std::size_t size);

    // Calls it once for each server connection, while that one alone is free.
    void each(const std::function<void()>& with_one_free);

private:
    std::vector<pq_connection> holders_;
};

}  // namespace weir::integration
