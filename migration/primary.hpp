// A connection to whichever server is the primary, found again when it is lost.
#pragma once

#include "migration/sql.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir::migration {

// Where a migration's servers are, and how its threads wait. Shared by them.
struct source_servers {
    std::vector<source_address> addresses;  // of one cluster; one of them is the primary
    std::uint64_t system_identifier = 0;    // 0: not known yet; another system's server is refused
    // Waits; throws `stopped` when the migration is to stop.
    std::function<void(std::chrono::milliseconds)> sleep;
    // Hears why somebody waits for the source, and an empty text when it goes on; may be empty.
    std::function<void(std::string)> trouble{};
};

// Threads: one at a time.
class primary {
public:
    explicit primary(const source_servers& servers) : servers_(servers) {}

    // Connected to a server that is not in recovery; tries the servers again and again.
    // Throws `stopped`.
    sql_session& session();

    // One try over all servers: the reason if none is the primary.
    [[nodiscard]] std::optional<std::string> find();

    // The statement until it has been answered, over lost connections: so it may run twice. Errors
    // with a SQLSTATE are returned, except those of a server that stops or starts (class 57, 08,
    // 25006), after which the primary is looked for again. Throws `stopped`.
    [[nodiscard]] sql_answer run(
        const std::string& text,
        std::span<const std::optional<std::string>> parameters,
        bool binary = false
    );

    // Index in `addresses` of the server, and its address.
    [[nodiscard]] const source_address& where() const { return servers_.addresses[at_]; }

    [[nodiscard]] bool connected() const noexcept { return session_.connected(); }

    void close() noexcept { session_.close(); }

    // See sql_session.
    void limit(std::chrono::milliseconds time) noexcept { session_.limit(time); }

private:
    [[nodiscard]] std::optional<std::string> try_server(std::size_t index);

    void say(std::string trouble);

    const source_servers& servers_;
    sql_session session_;
    bool troubled_ = false;
    std::size_t at_ = 0;
};

// Waits until every transaction that runs now has ended: what was committed before is then visible
// to whoever looks, also where a commit is decoded before others can see it. Throws `stopped`.
void await_snapshot(primary& server, const source_servers& servers);

}  // namespace weir::migration
