// The oracle is PostgreSQL itself: a dialogue is played with a server directly and through a proxy,
// and must sound the same, for every way of cutting what the client sends.
#pragma once

#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/script.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weir::integration {

// Some bytes, and how far the answers are read before the next step.
struct step {
    script send;
    std::size_t ready = 1;  // that many ReadyForQuery
    char until = 0;         // or up to a message of this type
    bool to_end = false;    // or everything up to the end of the stream
    std::string aside;      // SQL another session runs before this step
};

[[nodiscard]] inline step said(script what, std::size_t ready = 1) {
    return {.send = std::move(what), .ready = ready, .until = 0, .to_end = false, .aside = {}};
}

[[nodiscard]] inline step said_until(script what, char type) {
    return {.send = std::move(what), .ready = 0, .until = type, .to_end = false, .aside = {}};
}

[[nodiscard]] inline step said_to_end(script what) {
    return {.send = std::move(what), .ready = 0, .until = 0, .to_end = true, .aside = {}};
}

struct dialogue {
    std::string name;
    std::vector<step> steps;
    std::vector<std::string> before = {};  // SQL run directly before it is played
    std::string after = {};  // SQL whose first value, asked directly afterwards, must be the same
    // Kinds of the direct answers in each step; what PostgreSQL itself is known to do.
    std::string expected = {};
    bool cut = true;         // false: too long for being cut into small pieces
    bool same_texts = true;  // false: the proxy may use words of its own
};

// The answers, step by step with " | " between them: kinds only, and everything they say.
struct transcript {
    std::string kinds;
    std::string details;
};

enum class cutting : std::uint8_t { whole, random, bytes };

[[nodiscard]] transcript play(
    const dialogue& what,
    const cluster& servers,
    const endpoint& to,
    cutting how = cutting::whole,
    unsigned seed = 1
);

// Plays it directly and checks `expected`; then through proxies with pools of 1 and 2, alone and
// with competitors, cut in all ways, and checks that nothing differs.
void check_like_direct(const cluster& servers, const std::vector<dialogue>& all);

}  // namespace weir::integration
