#include "proxy/monitor.hpp"

#include "proxy/monitor_watch.hpp"
#include "routing/topology_builder.hpp"

#include <boost/asio/post.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy {
namespace {

using clock = std::chrono::steady_clock;

// Whether routing would decide otherwise: then the news must not wait for the rest of the round.
bool matters(const routing::topology& before, const routing::topology& after) {
    if (before.primary != after.primary || before.two_primaries != after.two_primaries ||
        before.timeline != after.timeline) {
        return true;
    }
    for (std::size_t i = 0; i < after.servers.size(); ++i) {
        const auto& was = before.servers[i];
        const auto& is = after.servers[i];
        if (was.up != is.up || was.role != is.role || was.excluded != is.excluded) {
            return true;
        }
    }
    return false;
}

std::string_view state_text(const routing::server_state& server) {
    if (!server.up) {
        return "unreachable";
    }
    if (server.role == routing::server_role::primary) {
        return "up";
    }
    return server.excluded == routing::exclusion::none ? "in use"
                                                       : routing::name_of(server.excluded);
}

void log_server(const std::string& cluster, const routing::server_state& server) {
    const auto level = server.up ? spdlog::level::info : spdlog::level::warn;
    spdlog::log(
        level,
        "cluster {}: server {}: role {}, timeline {}, {}{}{}",
        cluster,
        server.name,
        routing::name_of(server.role),
        server.timeline.value,
        state_text(server),
        server.error.empty() ? "" : ": ",
        server.error
    );
}

void log_changes(const routing::topology* before, const routing::topology& after) {
    for (std::size_t i = 0; i < after.servers.size(); ++i) {
        const auto& is = after.servers[i];
        const bool changed = before == nullptr || before->servers[i].up != is.up ||
                             before->servers[i].role != is.role ||
                             before->servers[i].excluded != is.excluded ||
                             before->servers[i].error != is.error;
        if (changed && is.excluded != routing::exclusion::no_sample) {
            log_server(after.cluster, is);
        }
    }
    const auto was = before == nullptr ? routing::no_server : before->primary;
    if (was != after.primary && after.primary == routing::no_server) {
        spdlog::warn(
            "cluster {}: {}",
            after.cluster,
            after.two_primaries ? "two servers are writable, so none is used as the primary"
                                : "no primary"
        );
    } else if (was != after.primary) {
        const auto& primary = after.servers[after.primary];
        spdlog::info(
            "cluster {}: primary is {}, timeline {}",
            after.cluster,
            primary.name,
            primary.timeline.value
        );
    }
}

}  // namespace

class monitor::state : public std::enable_shared_from_this<monitor::state> {
public:
    state(asio::io_context& io, monitor_options options)
        : io_(io),
          options_(std::move(options)),
          builder_(options_.cluster, options_.previous.get()),
          asking_(options_.cluster.servers.size(), false) {}

    void start() {
        for (std::size_t i = 0; i < options_.cluster.servers.size(); ++i) {
            watches_.push_back(std::make_shared<server_watch>(
                io_,
                options_.cluster,
                options_.cluster.servers[i],
                events_of(i)
            ));
        }
        for (const auto& watch : watches_) {
            watch->start();
        }
    }

    void stop() {
        options_.publish = nullptr;
        for (const auto& watch : watches_) {
            watch->stop();
        }
        watches_.clear();
    }

    void hurry(std::size_t server) {
        asio::post(io_, [weak = weak_from_this(), server] {
            const auto self = weak.lock();
            if (self != nullptr && server < self->watches_.size()) {
                self->watches_[server]->hurry();
            }
        });
    }

private:
    watch_events events_of(std::size_t server) {
        // The watches are stopped before this object goes, and report nothing afterwards.
        return {
            .asked = [this, server] { asking_[server] = true; },
            .answered = [this, server](const auto& sample) { answered(server, sample); },
            .wants_heartbeat =
                [this, server] {
                    return last_ != nullptr && last_->primary == server &&
                           builder_.wants_heartbeat(clock::now());
                },
            .heartbeat_written = [this] { builder_.heartbeat_sent(clock::now()); },
        };
    }

    void answered(std::size_t server, const routing::server_sample& sample) {
        asking_[server] = false;
        builder_.add(server, sample);
        const auto time = clock::now();
        auto now = builder_.build(time);
        const bool round_over = std::find(asking_.begin(), asking_.end(), true) == asking_.end();
        // One server that takes its time must not hold back what is known of the others.
        const bool due = time - published_ >= options_.cluster.monitor.interval * 3 / 2;
        if (!round_over && !due && last_ != nullptr && !matters(*last_, *now)) {
            return;
        }
        published_ = time;
        log_changes(last_.get(), *now);
        last_ = std::move(now);
        if (options_.publish) {
            options_.publish(last_);
        }
    }

    asio::io_context& io_;
    monitor_options options_;
    routing::topology_builder builder_;
    routing::topology_ptr last_;  // as published
    clock::time_point published_{};
    std::vector<bool> asking_;
    std::vector<std::shared_ptr<server_watch>> watches_;
};

monitor::monitor(asio::io_context& io, monitor_options options)
    : state_(std::make_shared<state>(io, std::move(options))) {}

monitor::~monitor() {
    stop();
}

void monitor::start() {
    state_->start();
}

void monitor::stop() {
    state_->stop();
}

void monitor::probe_now(std::size_t server) {
    state_->hurry(server);
}

}  // namespace weir::proxy
