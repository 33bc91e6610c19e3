// (traits, session, topology, rules) -> route. Pure; allocates nothing; one call per statement that
// is not already bound to a server by a transaction or a pin.
#pragma once

#include "routing/balancer.hpp"
#include "routing/consistency.hpp"
#include "routing/judgement.hpp"
#include "routing/random.hpp"
#include "routing/rules.hpp"
#include "routing/shape.hpp"
#include "routing/topology.hpp"
#include "routing/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::routing {

// Servers of a cluster beyond this many are used as primary only.
constexpr std::size_t replicas_max = 64;

// What the client asked for itself, by hint, SET pgweir.… or connection option. Wins over the
// rules.
struct route_override {
    std::optional<config::consistency> consistency{};
    // Replicas asked for by name in a hint also overrule the catalog's doubts, never the syntax.
    std::optional<config::targets> targets{};
    // The targets are those of a setting, which was not made for this statement: they choose among
    // the servers that may answer it, as a rule's do, and overrule no doubt.
    bool standing = false;
};

struct route_request {
    const traits& statement;
    const shape& key;
    judgement_reason judged = judgement_reason::no_catalog;  // safe: the catalog has no objection
    route_override asked{};
    session_facts session{};
    session_token token{};
    const rule_set& rules;
    const topology& cluster;
    std::span<const server_load> loads{};  // by index of the server; may be shorter
    steady_time now;
    random_source& random;
};

enum class route_kind : std::uint8_t {
    server,
    wait_for_primary,  // no primary known: wait up to failover.wait and ask again
    wait_for_token,    // the position of the session's own write is on its way: await it and ask
                       // again
    no_replica,        // `targets: replicas` and none fits: 57P03
};

// Label of pgweir_routed_total.
enum class route_reason : std::uint8_t {
    write,       // by syntax; traits::reason says more
    function,    // the catalog objects; the judgement says more
    strong,      // the level asks for the primary
    rule,        // the rule asks for the primary
    vector,      // a vector search on a replica
    bounded,     // another bounded read on a replica
    eventual,    // another eventual read on a replica
    own_write,   // no replica has replayed what the session wrote
    lagging,     // no replica is fresh enough
    no_replica,  // no replica is there, or none answers
};

[[nodiscard]] std::string_view name_of(route_reason reason);
[[nodiscard]] std::string_view name_of(route_kind kind);

struct route {
    route_kind kind = route_kind::wait_for_primary;
    std::size_t server = no_server;  // index into the topology, for kind server
    route_reason reason = route_reason::write;
    const policy* rule =
        nullptr;  // of the rule set; never null. Its settings apply wherever the statement runs
    config::consistency
        consistency;           // in force after override and defaults; the bound is filled in
    milliseconds staleness{};  // of the chosen replica, at most; 0 for the primary
};

[[nodiscard]] route decide(const route_request& request) noexcept;

// After a connection has been had, perhaps later and with a newer topology: may the server still
// answer?
[[nodiscard]] bool still_serves(const route& chosen, const route_request& request) noexcept;

// Why one server does or does not fit the read, as decide() sees it.
[[nodiscard]] verdict judge_candidate(
    const route_request& request,
    const config::consistency& level,
    std::size_t server
) noexcept;

}  // namespace weir::routing
