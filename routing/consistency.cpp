#include "routing/consistency.hpp"

namespace weir::routing {

namespace {

verdict
judge_own_writes(const topology& cluster, const server_state& server, const session_token& token) {
    using status = session_token::status;
    switch (token.state) {
    case status::none: return verdict::serves;
    case status::pending: return verdict::token_pending;
    case status::unknown: return verdict::own_write;
    case status::known: break;
    }
    const bool comparable = token.at.system_identifier == cluster.system_identifier &&
                            server.system_identifier == cluster.system_identifier &&
                            token.at.timeline == cluster.timeline &&
                            server.timeline == cluster.timeline;
    return comparable && server.replayed >= token.at.at ? verdict::serves : verdict::own_write;
}

}  // namespace

void raise(session_token& token, const position& at) {
    const bool newer = token.state != session_token::status::known || !(at < token.at);
    token.state = session_token::status::known;
    if (newer) {
        token.at = at;
    }
}

std::string_view name_of(verdict what) {
    switch (what) {
    case verdict::serves: return "";
    case verdict::excluded: return "excluded";
    case verdict::breaker_open: return "breaker open";
    case verdict::old_sample: return "no sample";
    case verdict::stale: return "staler than allowed";
    case verdict::own_write: return "own write not replayed";
    case verdict::token_pending: return "position of own write not known yet";
    case verdict::primary_only: return "strong reads go to the primary";
    }
    return "?";
}

verdict may_serve(
    const topology& cluster,
    const server_state& server,
    const config::consistency& level,
    const session_token& token,
    steady_time now
) {
    if (level.level == config::consistency_level::strong) {
        return verdict::primary_only;
    }
    if (server.excluded != exclusion::none || server.weight <= 0) {
        return verdict::excluded;
    }
    if (!sample_is_fresh(cluster, server, now)) {
        return verdict::old_sample;
    }
    if (level.level == config::consistency_level::bounded) {
        const auto bound = level.bound.count() > 0 ? level.bound : cluster.lag_max;
        if (staleness(server, now) > bound) {
            return verdict::stale;
        }
    }
    return judge_own_writes(cluster, server, token);
}

std::string to_string(const config::consistency& level) {
    switch (level.level) {
    case config::consistency_level::strong: return "strong";
    case config::consistency_level::eventual: return "eventual";
    case config::consistency_level::bounded: break;
    }
    return level.bound.count() > 0 ? "bounded " + std::to_string(level.bound.count()) + " ms"
                                   : "bounded by lag.max";
}

}  // namespace weir::routing
