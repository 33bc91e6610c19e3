#include "proxy/catalog_loader.hpp"

#include "proxy/catalog_watch.hpp"

#include <boost/asio/post.hpp>

#include <spdlog/spdlog.h>

#include <map>
#include <optional>
#include <utility>

namespace weir::proxy {
namespace {

// The primary; without one, a replica that answers and belongs to the cluster.
std::size_t server_to_ask(const routing::topology& topology) {
    if (topology.primary != routing::no_server) {
        return topology.primary;
    }
    for (std::size_t i = 0; i < topology.servers.size(); ++i) {
        const auto& server = topology.servers[i];
        if (server.up && server.role == routing::server_role::replica &&
            server.system_identifier == topology.system_identifier) {
            return i;
        }
    }
    return routing::no_server;
}

}  // namespace

class catalog_loader::state : public std::enable_shared_from_this<catalog_loader::state> {
public:
    state(asio::io_context& io, catalog_loader_options options)
        : io_(io), options_(std::move(options)) {}

    void use(const routing::topology_ptr& topology) {
        const auto before = asked_;
        asked_ = topology == nullptr ? routing::no_server : server_to_ask(*topology);
        if (asked_ != before) {
            for (const auto& [database, watch] : watches_) {
                watch->hurry();
            }
        }
    }

    void request(const std::string& database) {
        if (stopped_ || watches_.contains(database)) {
            return;
        }
        if (watches_.size() >= options_.max_databases) {
            if (!full_) {
                spdlog::warn(
                    "cluster {}: {} databases are in use, reads of any more go to the primary",
                    options_.cluster.name,
                    watches_.size()
                );
            }
            full_ = true;
            return;
        }
        catalog_watch_options wanted{
            .cluster = options_.cluster.name,
            .database = database,
            .login = options_.cluster.monitor,
            .tls = options_.cluster.tls,
            .poll = options_.poll,
            .parse = options_.parse,
            .choose = [this] { return chosen(); },
            .loaded = [this, database](const auto& snapshot) { loaded(database, snapshot); },
        };
        const auto watch = std::make_shared<catalog_watch>(io_, std::move(wanted));
        watches_.emplace(database, watch);
        watch->start();
    }

    void refresh(const std::string& database) {
        if (const auto found = watches_.find(database); found != watches_.end()) {
            found->second->hurry();
        }
    }

    void stop() {
        stopped_ = true;
        for (const auto& [database, watch] : watches_) {
            watch->stop();
        }
        watches_.clear();
    }

    // Runs work(state) on the loop's thread, unless the loader is gone by then.
    template <class F>
    void later(F work) {
        asio::post(io_, [weak = weak_from_this(), work = std::move(work)] {
            if (const auto self = weak.lock(); self != nullptr) {
                work(*self);
            }
        });
    }

private:
    [[nodiscard]] std::optional<config::server> chosen() const {
        if (asked_ >= options_.cluster.servers.size()) {
            return std::nullopt;
        }
        return options_.cluster.servers[asked_];
    }

    void loaded(const std::string& database, const routing::catalog_ptr& snapshot) const {
        spdlog::info("cluster {}: catalog of database {} read", options_.cluster.name, database);
        options_.publish(database, snapshot);
    }

    asio::io_context& io_;
    catalog_loader_options options_;
    std::map<std::string, std::shared_ptr<catalog_watch>> watches_;
    std::size_t asked_ = routing::no_server;
    bool full_ = false;
    bool stopped_ = false;
};

catalog_loader::catalog_loader(asio::io_context& io, catalog_loader_options options)
    : state_(std::make_shared<state>(io, std::move(options))) {}

catalog_loader::~catalog_loader() {
    stop();
}

void catalog_loader::use(const routing::topology_ptr& topology) {
    state_->use(topology);
}

void catalog_loader::request(std::string database) {
    state_->later([database = std::move(database)](state& self) { self.request(database); });
}

void catalog_loader::refresh(std::string database) {
    state_->later([database = std::move(database)](state& self) { self.refresh(database); });
}

void catalog_loader::stop() {
    state_->stop();
}

}  // namespace weir::proxy
