#include "routing/router.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {

namespace {

bool names_replicas(const std::optional<config::targets>& asked) noexcept {
    return asked && *asked != config::targets::primary;
}

config::consistency level_of(const route_request& request, const policy& rule) noexcept {
    constexpr config::consistency by_lag_max{config::consistency_level::bounded, {}};
    config::consistency level = request.asked.consistency.value_or(rule.consistency);
    if (!request.asked.consistency && names_replicas(request.asked.targets) &&
        level.level == config::consistency_level::strong) {
        level = by_lag_max;
    }
    if (level.level == config::consistency_level::bounded && level.bound.count() <= 0) {
        level.bound = request.cluster.lag_max;
    }
    return level;
}

void to_primary(route& result, const route_request& request, route_reason reason) noexcept {
    result.reason = reason;
    result.server = request.cluster.primary;
    result.kind = result.server == no_server ? route_kind::wait_for_primary : route_kind::server;
    result.staleness = {};
}

route_reason reason_on_replica(const traits& statement, const config::consistency& level) noexcept {
    if (statement.is_vector_search) {
        return route_reason::vector;
    }
    return level.level == config::consistency_level::bounded ? route_reason::bounded
                                                             : route_reason::eventual;
}

// What kept the replicas from serving, the most telling reason first.
struct objections {
    bool token_pending = false;
    bool own_write = false;
    bool lagging = false;

    void note(verdict what, exclusion why) noexcept {
        token_pending = token_pending || what == verdict::token_pending;
        own_write = own_write || what == verdict::own_write;
        lagging = lagging || what == verdict::stale ||
                  (what == verdict::excluded &&
                   (why == exclusion::lag || why == exclusion::replay_paused));
    }

    [[nodiscard]] route_reason reason() const noexcept {
        if (own_write) {
            return route_reason::own_write;
        }
        return lagging ? route_reason::lagging : route_reason::no_replica;
    }
};

void to_replica(route& result, const route_request& request, config::targets targets) noexcept {
    const auto& servers = request.cluster.servers;
    const std::size_t count = std::min(servers.size(), replicas_max);
    std::array<double, replicas_max> weights{};
    objections against;
    for (std::size_t i = 0; i < count; ++i) {
        const verdict what = judge_candidate(request, result.consistency, i);
        weights[i] = what == verdict::serves ? servers[i].weight : 0.0;
        against.note(what, servers[i].excluded);
    }
    if (against.token_pending) {
        result.kind = route_kind::wait_for_token;
        result.reason = route_reason::own_write;
        return;
    }
    const std::size_t chosen =
        choose(std::span(weights.data(), count), request.loads, request.random);
    if (chosen != no_server) {
        result.kind = route_kind::server;
        result.server = chosen;
        result.reason = reason_on_replica(request.statement, result.consistency);
        result.staleness = staleness(servers[chosen], request.now);
        return;
    }
    if (targets == config::targets::replicas) {
        result.kind = route_kind::no_replica;
        result.reason = against.reason();
        return;
    }
    to_primary(result, request, against.reason());
}

}  // namespace

std::string_view name_of(route_reason reason) {
    switch (reason) {
    case route_reason::write: return "write";
    case route_reason::function: return "function";
    case route_reason::strong: return "strong";
    case route_reason::rule: return "rule";
    case route_reason::vector: return "vector";
    case route_reason::bounded: return "bounded";
    case route_reason::eventual: return "eventual";
    case route_reason::own_write: return "own_write";
    case route_reason::lagging: return "lagging";
    case route_reason::no_replica: return "no_replica";
    }
    return "?";
}

std::string_view name_of(route_kind kind) {
    switch (kind) {
    case route_kind::server: return "server";
    case route_kind::wait_for_primary: return "wait for a primary";
    case route_kind::wait_for_token: return "wait for the position of the own write";
    case route_kind::no_replica: return "error 57P03, no replica fits";
    }
    return "?";
}

verdict judge_candidate(
    const route_request& request,
    const config::consistency& level,
    std::size_t server
) noexcept {
    if (server < request.loads.size() && request.loads[server].refused) {
        return verdict::breaker_open;
    }
    return may_serve(
        request.cluster,
        request.cluster.servers[server],
        level,
        request.token,
        request.now
    );
}

route decide(const route_request& request) noexcept {
    const bool overruled = names_replicas(request.asked.targets) && !request.asked.standing;
    const bool by_syntax = request.statement.replica_by_syntax();
    const bool read = by_syntax && (overruled || request.judged == judgement_reason::safe);
    const policy& rule = request.rules.match(request.statement, request.key, read, request.session);
    route result;
    result.rule = &rule;
    result.consistency = level_of(request, rule);
    const config::targets targets = request.asked.targets.value_or(rule.targets);
    if (!by_syntax) {
        to_primary(result, request, route_reason::write);
    } else if (!read) {
        to_primary(result, request, route_reason::function);
    } else if (targets == config::targets::primary) {
        to_primary(result, request, route_reason::rule);
    } else if (result.consistency.level == config::consistency_level::strong) {
        to_primary(result, request, route_reason::strong);
    } else {
        to_replica(result, request, targets);
    }
    return result;
}

bool still_serves(const route& chosen, const route_request& request) noexcept {
    if (chosen.kind != route_kind::server || chosen.server >= request.cluster.servers.size()) {
        return false;
    }
    if (chosen.server == request.cluster.primary) {
        return true;
    }
    const bool on_replica = chosen.reason == route_reason::vector ||
                            chosen.reason == route_reason::bounded ||
                            chosen.reason == route_reason::eventual;
    return on_replica &&
           judge_candidate(request, chosen.consistency, chosen.server) == verdict::serves;
}

}  // namespace weir::routing
