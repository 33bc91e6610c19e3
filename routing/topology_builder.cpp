#include "routing/topology_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace weir::routing {

namespace {

constexpr double come_back_below = 0.8;  // of lag.max
constexpr double coldest_share = 0.1;
constexpr int vain_heartbeats_max = 5;

using seconds = std::chrono::duration<double>;

}  // namespace

milliseconds sample_age_max(const config::monitor& monitor) {
    return std::max(milliseconds{1000}, 5 * monitor.interval);
}

topology_builder::topology_builder(const config::cluster& cluster, const topology* previous)
    : config_(cluster), members_(cluster.servers.size()) {
    if (previous != nullptr) {
        version_ = previous->version;
        system_ = previous->system_identifier;
        timeline_ = previous->timeline;
    }
}

void topology_builder::add(std::size_t server, const server_sample& sample) {
    member& m = members_.at(server);
    m.asked = true;
    m.up = sample.error.empty();
    m.error = sample.error;
    if (m.up) {
        m.last = sample;
        if (sample.timeline.value != 0) {
            m.timeline = sample.timeline;
        }
    } else {
        m.cold = true;
    }
    const std::size_t before = primary_;
    adopt_system();
    elect();
    if (primary_ != no_server && (server == primary_ || primary_ != before)) {
        follow_primary();
    }
}

// The cluster's system identifier. Once known it stays, unless more than half of all configured
// servers say otherwise: a stranger that happens to answer alone must not become the cluster.
void topology_builder::adopt_system() {
    std::map<std::uint64_t, std::size_t> votes;
    for (const member& m : members_) {
        if (m.last.system_identifier != 0) {
            ++votes[m.last.system_identifier];
        }
    }
    std::uint64_t chosen = system_;
    for (const auto& [system, count] : votes) {
        if (2 * count > members_.size()) {
            chosen = system;
        }
    }
    const bool all_asked =
        std::all_of(members_.begin(), members_.end(), [](const member& m) { return m.asked; });
    if (chosen == 0 && all_asked) {
        chosen = first_system();
    }
    if (chosen != system_ && system_ != 0) {
        history_.clear();
        timeline_ = {};
        accepted_ = no_server;
    }
    system_ = chosen;
}

// Without a majority: the system of the first server that is a primary, else of the first that
// answered.
std::uint64_t topology_builder::first_system() const {
    std::uint64_t first = 0;
    for (const member& m : members_) {
        if (m.last.system_identifier == 0) {
            continue;
        }
        if (!m.last.in_recovery) {
            return m.last.system_identifier;
        }
        first = first == 0 ? m.last.system_identifier : first;
    }
    return first;
}

bool topology_builder::is_primary_of_ours(const member& m) const {
    return m.up && !m.last.in_recovery && system_ != 0 && m.last.system_identifier == system_;
}

// One writable server, and not one that history has passed by: the last primary's timeline and
// those of the standbys that answer must not be newer than its own.
void topology_builder::elect() {
    std::size_t found = no_server;
    std::size_t count = 0;
    timeline_id newest = timeline_;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const member& m = members_[i];
        if (is_primary_of_ours(m)) {
            found = i;
            ++count;
        } else if (m.up && m.last.system_identifier == system_) {
            newest = std::max(newest, m.last.timeline);
        }
    }
    two_primaries_ = count > 1;
    primary_ = count == 1 && members_[found].last.timeline >= newest ? found : no_server;
}

void topology_builder::follow_primary() {
    const server_sample& sample = members_[primary_].last;
    if (primary_ != accepted_ || sample.timeline != timeline_) {
        // Positions of the former primary beyond the switch point are not this one's.
        history_.clear();
        accepted_ = primary_;
        timeline_ = sample.timeline;
        still_at_ = {};
    }
    if (sample.inserted != still_at_) {
        still_at_ = sample.inserted;
        still_since_ = sample.taken;
    }
    history_.add(sample.taken, sample.inserted);
}

lag_estimate topology_builder::lag_of(const member& m) const {
    lag_estimate lag = history_.estimate(m.last.replayed, m.last.taken);
    if (primary_ == no_server && !history_.empty()) {
        // Nothing new can come, so a replica does not fall behind any further; what is proven does
        // age.
        const auto until = std::min(m.last.taken, history_.newest());
        lag.likely = history_.estimate(m.last.replayed, until).likely;
    }
    return lag;
}

exclusion topology_builder::judge_lag(const member& m, const lag_estimate& lag) const {
    const auto limit = std::chrono::duration<double, std::milli>(config_.lag.max);
    if (lag.likely > limit || (m.shut_for_lag && lag.likely >= limit * come_back_below)) {
        return exclusion::lag;
    }
    return lag.known ? exclusion::none : exclusion::no_sample;
}

exclusion topology_builder::judge(const member& m, steady_time now) const {
    if (!m.up) {
        return m.asked ? exclusion::unreachable : exclusion::no_sample;
    }
    if (system_ == 0) {
        return exclusion::no_sample;
    }
    if (m.last.system_identifier != system_) {
        return exclusion::other_system;
    }
    if (!m.last.in_recovery) {
        return exclusion::not_a_replica;
    }
    if (m.last.replay_paused) {
        return exclusion::replay_paused;
    }
    if (history_.empty() || now - m.last.taken > sample_age_max(config_.monitor)) {
        return exclusion::no_sample;
    }
    if (m.timeline != timeline_) {
        return exclusion::other_timeline;
    }
    return judge_lag(m, lag_of(m));
}

double topology_builder::weight_of(const member& m, const server_state& state, steady_time now)
    const {
    const double half = seconds(config_.lag.half).count();
    const double slow_start = seconds(config_.lag.slow_start).count();
    const double decay = half > 0 ? std::exp2(-seconds(state.lag).count() / half) : 1.0;
    double ramp = 1.0;
    if (slow_start > 0) {
        const double warmed = seconds(now - m.warming_since).count() / slow_start;
        ramp = std::min(1.0, coldest_share + (1.0 - coldest_share) * std::max(0.0, warmed));
    }
    return state.base_weight * decay * ramp;
}

server_state topology_builder::describe(std::size_t index, steady_time now) {
    const config::server& configured = config_.servers[index];
    member& m = members_[index];
    server_state state;
    state.name = configured.name;
    state.host = configured.host;
    state.port = configured.port;
    state.zone = configured.zone;
    state.base_weight = configured.weight;
    state.up = m.up;
    state.error = m.error;
    state.excluded = judge(m, now);
    state.system_identifier = m.last.system_identifier;
    state.timeline = m.timeline;
    state.sampled = m.last.taken;
    state.server_version = m.last.server_version;
    if (m.last.taken == steady_time{}) {
        return state;
    }
    state.role = m.last.in_recovery ? server_role::replica : server_role::primary;
    state.replayed = m.last.in_recovery ? m.last.replayed : m.last.inserted;
    if (m.last.in_recovery) {
        const lag_estimate lag = lag_of(m);
        state.lag = lag.likely;
        state.proven_lag = lag.proven;
        const lsn head = accepted_ == no_server ? lsn{} : members_[accepted_].last.inserted;
        state.lag_bytes = head > state.replayed ? head.value - state.replayed.value : 0;
    }
    m.shut_for_lag =
        state.excluded == exclusion::lag || (m.shut_for_lag && state.excluded != exclusion::none);
    if (state.excluded == exclusion::other_system || state.excluded == exclusion::other_timeline) {
        m.cold = true;
    }
    if (state.excluded == exclusion::none) {
        if (m.cold) {
            m.cold = false;
            m.warming_since = now;
        }
        state.weight = weight_of(m, state, now);
    }
    return state;
}

topology_ptr topology_builder::build(steady_time now) {
    auto result = std::make_shared<topology>();
    result->version = ++version_;
    result->cluster = config_.name;
    result->primary = primary_;
    result->system_identifier = system_;
    result->timeline = timeline_;
    result->two_primaries = two_primaries_;
    result->lag_max = config_.lag.max;
    result->sample_age_max = sample_age_max(config_.monitor);
    result->servers.reserve(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
        result->servers.push_back(describe(i, now));
    }
    return result;
}

bool topology_builder::lacks_what_primary_has(const member& m) const {
    if (!m.up || !m.last.in_recovery || m.last.replay_paused || m.timeline != timeline_ ||
        m.last.system_identifier != system_ || m.last.taken <= still_since_) {
        return false;
    }
    // What was received and only waits to be replayed (a delayed replica) is no business of a
    // heartbeat.
    return std::max(m.last.received, m.last.replayed) < still_at_ &&
           (m.last.replayed != m.vain_at || m.vain < vain_heartbeats_max);
}

bool topology_builder::wants_heartbeat(steady_time now) const {
    const milliseconds interval = config_.monitor.interval;
    if (primary_ == no_server || members_[primary_].last.taken - still_since_ < interval ||
        (heartbeat_ != steady_time{} && now - heartbeat_ < interval)) {
        return false;
    }
    return std::any_of(members_.begin(), members_.end(), [this](const member& m) {
        return lacks_what_primary_has(m);
    });
}

void topology_builder::heartbeat_sent(steady_time now) {
    heartbeat_ = now;
    for (member& m : members_) {
        if (lacks_what_primary_has(m)) {
            m.vain = m.last.replayed == m.vain_at ? m.vain + 1 : 1;
            m.vain_at = m.last.replayed;
        }
    }
}

}  // namespace weir::routing
