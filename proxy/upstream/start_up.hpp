// What a server sends from its first answer to ReadyForQuery, and what it is answered. Pure.
#pragma once

#include "protocol/byte_reader.hpp"
#include "proxy/error.hpp"
#include "proxy/parameters.hpp"
#include "proxy/scram_cache.hpp"
#include "proxy/upstream/authentication.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::proxy::upstream {

class start_up {
public:
    struct problem {
        login_problem ours;
        std::optional<protocol::diagnostic> told;  // the server's own error; then `ours` is empty
    };

    // `cache` must outlive this object.
    start_up(authenticator::options given, scram_cache& cache);

    // Appends the StartupMessage. Settings of clients are never part of it (see login.hpp).
    void begin(std::string_view database, std::vector<std::uint8_t>& out) const;
    // One whole message; appends the answer, if one is due. After a problem the log-in is over.
    [[nodiscard]] std::optional<problem>
    on_message(char type, protocol::byte_span body, std::vector<std::uint8_t>& out);

    [[nodiscard]] bool ready() const noexcept { return ready_; }

    // What is under way, for messages.
    [[nodiscard]] const char* doing() const noexcept;

    // The server refused by its rules before it asked for any proof.
    [[nodiscard]] bool refused_by_rule() const noexcept { return refused_by_rule_; }

    // What the server has said so far.
    struct facts {
        parameter_map parameters;  // without in_hot_standby
        bool hot_standby = false;
        std::uint32_t pid = 0;
        std::vector<std::uint8_t> key;
    };

    [[nodiscard]] facts& said() noexcept { return said_; }

private:
    using outcome = std::optional<problem>;

    [[nodiscard]] outcome
    on_authentication(protocol::byte_span body, std::vector<std::uint8_t>& out);
    [[nodiscard]] outcome on_error(protocol::byte_span body);
    [[nodiscard]] outcome on_parameter(protocol::byte_span body);
    [[nodiscard]] outcome on_key(protocol::byte_span body);
    [[nodiscard]] outcome on_ready(protocol::byte_span body);

    std::string user_;
    authenticator authentication_;
    facts said_;
    bool ready_ = false;
    bool refused_by_rule_ = false;
};

}  // namespace weir::proxy::upstream
