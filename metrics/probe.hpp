// What one worker counts. Verbs for the code that does the work; registry adds the workers up.
//
// Use: look up a probe or make a grid when a rule, pool or client is first seen, keep the
// reference, and call its verbs. A verb neither allocates, locks nor searches.
//
// Threads: a worker_probe and everything it hands out belong to one worker; registry reads it from
// the control thread. References stay valid as long as the worker_probe.
#pragma once

#include "metrics/counter.hpp"
#include "metrics/histogram.hpp"
#include "metrics/series.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::metrics {

enum class query_kind : std::uint8_t { read, vector, write, transaction, other };
constexpr std::array<std::string_view, 5> query_kind_names{
    "read",
    "vector",
    "write",
    "transaction",
    "other"};

enum class client_state : std::uint8_t { login, idle, active, waiting };
constexpr std::array<std::string_view, 4> client_state_names{"login", "idle", "active", "waiting"};

enum class server_connection_state : std::uint8_t { connecting, idle, active, closing };
constexpr std::array<std::string_view, 4> server_connection_state_names{
    "connecting",
    "idle",
    "active",
    "closing"};

// Who made an error: the client broke the protocol or a limit, a server sent it, or the proxy
// itself.
enum class error_origin : std::uint8_t { client, server, proxy };
constexpr std::array<std::string_view, 3> error_origin_names{"client", "server", "proxy"};

enum class direction : std::uint8_t { from_client, to_client, from_server, to_server };
constexpr std::array<std::string_view, 4> direction_names{
    "from_client",
    "to_client",
    "from_server",
    "to_server"};

// Queries of one rule on one server.
struct query_probe {
    // Once per query, when its last answer has been seen: the time since it was complete here.
    void finished(query_kind kind, nanoseconds duration) noexcept {
        by_kind[static_cast<std::size_t>(kind)].add();
        seconds.observe(duration);
    }

    std::array<counter, query_kind_names.size()> by_kind{};
    histogram seconds;
};

// Clients of one (database, user).
struct client_probe {
    void entered(client_state state) noexcept { states[static_cast<std::size_t>(state)].add(1); }

    void left(client_state state) noexcept { states[static_cast<std::size_t>(state)].add(-1); }

    void moved(client_state from, client_state to) noexcept {
        left(from);
        entered(to);
    }

    void transaction_ended() noexcept { transactions.add(); }

    std::array<gauge, client_state_names.size()> states{};
    counter transactions;
};

// Connections to one (cluster, server, database), over all users.
struct pool_counts {
    std::array<gauge, server_connection_state_names.size()> states{};
    gauge waiting;
};

// The verbs of a pool; a value, to be kept by the pool.
class pool_probe {
public:
    pool_probe(pool_counts& counts, histogram& wait) noexcept : counts_(&counts), wait_(&wait) {}

    void entered(server_connection_state state) noexcept { of(state).add(1); }

    void left(server_connection_state state) noexcept { of(state).add(-1); }

    // For an owner that counts for itself and reports from time to time.
    void changed(server_connection_state state, std::int64_t by) noexcept { of(state).add(by); }

    void moved(server_connection_state from, server_connection_state to) noexcept {
        left(from);
        entered(to);
    }

    // A client queues for a connection, and stops queueing for whatever reason.
    void wait_began() noexcept { counts_->waiting.add(1); }

    void wait_ended(nanoseconds waited) noexcept {
        counts_->waiting.add(-1);
        wait_->observe(waited);
    }

    // A client got a connection without queueing: part of the distribution of waits.
    void no_wait() noexcept { wait_->observe(nanoseconds{0}); }

private:
    [[nodiscard]] gauge& of(server_connection_state state) noexcept {
        return counts_->states[static_cast<std::size_t>(state)];
    }

    pool_counts* counts_;
    histogram* wait_;  // of the (cluster, server)
};

using query_grid = grid<query_probe, 2>;    // rule, server
using route_grid = grid<counter, 3>;        // rule, target, reason
using staleness_grid = grid<histogram, 1>;  // rule
using pin_grid = grid<gauge, 1>;            // reason

// Errors by SQLSTATE class and origin, in a table that never grows.
class error_table {
public:
    // The first two characters of a SQLSTATE; anything that is not one counts as "other".
    void add(std::string_view sqlstate, error_origin origin) noexcept;

    // Calls visit(class, origin name, count) for what has been counted and for the classes that
    // alerts watch, so that those start at 0.
    template <class F>
    void each(F&& visit) const {
        for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
            if (const auto n = counts_[cell].value(); n != 0 || watched(cell)) {
                const auto name = name_of(cell);
                visit(name, error_origin_names[cell % origins], n);
            }
        }
    }

private:
    static constexpr std::size_t letters = 36;  // 0-9, A-Z
    static constexpr std::size_t origins = error_origin_names.size();
    static constexpr std::size_t other = letters * letters;

    [[nodiscard]] static bool watched(std::size_t cell);
    [[nodiscard]] static std::string name_of(std::size_t cell);

    std::array<counter, (other + 1) * origins> counts_{};
};

class worker_probe {
public:
    // series_limit: how many series of one family before the rest is counted as "other".
    explicit worker_probe(std::size_t series_limit = default_series_limit);

    [[nodiscard]] query_probe& query(std::string_view rule, std::string_view server);
    [[nodiscard]] client_probe& client(std::string_view database, std::string_view user);
    [[nodiscard]] pool_probe
    pool(std::string_view cluster, std::string_view server, std::string_view database);
    [[nodiscard]] counter&
    routed(std::string_view rule, std::string_view target, std::string_view reason);
    [[nodiscard]] histogram& staleness(std::string_view rule);
    [[nodiscard]] gauge& pins(std::string_view reason);

    // The same by index, for what is looked up per query. Make new grids after a reload; the counts
    // stay, they belong to the names.
    [[nodiscard]] query_grid
    queries(std::vector<std::string> rules, std::vector<std::string> servers);
    [[nodiscard]] route_grid routes(
        std::vector<std::string> rules,
        std::vector<std::string> targets,
        std::vector<std::string> reasons
    );
    [[nodiscard]] staleness_grid staleness_by_rule(std::vector<std::string> rules);
    [[nodiscard]] pin_grid pins_by_reason(std::vector<std::string> reasons);

    void error(std::string_view sqlstate, error_origin origin) noexcept {
        errors_.add(sqlstate, origin);
    }

    void bytes(direction way, std::uint64_t n) noexcept {
        bytes_[static_cast<std::size_t>(way)].add(n);
    }

    void route_corrected() noexcept { route_corrections_.add(); }

    void trait_cache_hit() noexcept { trait_cache_hits_.add(); }

    void trait_cache_miss() noexcept { trait_cache_misses_.add(); }

    void trait_cache_size(std::uint64_t bytes) noexcept {
        trait_cache_bytes_.set(static_cast<std::int64_t>(bytes));
    }

    // Statements kept on server connections: +1 when one is prepared, -1 when closed or lost with
    // its connection.
    void prepared_statements(std::int64_t change) noexcept { prepared_.add(change); }

    // A client's statement was prepared again on another server connection.
    void prepared_replayed() noexcept { prepared_replays_.add(); }

private:
    friend struct totals;

    series<query_probe, 2> queries_;
    series<client_probe, 2> clients_;
    series<histogram, 2> waits_;
    series<pool_counts, 3> pools_;
    series<counter, 3> routed_;
    series<histogram, 1> staleness_;
    series<gauge, 1> pins_;
    error_table errors_;
    std::array<counter, direction_names.size()> bytes_{};
    counter route_corrections_;
    counter trait_cache_hits_;
    counter trait_cache_misses_;
    gauge trait_cache_bytes_;
    gauge prepared_;
    counter prepared_replays_;
};

}  // namespace weir::metrics
