#include "metrics/probe.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::metrics {
namespace {

// Connection lost, out of resources, operator intervention, bad login: what alerts ask about.
constexpr std::array<std::string_view, 4> watched_classes{"08", "28", "53", "57"};

constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::optional<std::size_t> place_of(char c) {
    const auto found = alphabet.find(c);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    return found;
}

}  // namespace

void error_table::add(std::string_view sqlstate, error_origin origin) noexcept {
    std::size_t row = other;
    if (sqlstate.size() >= 2) {
        const auto first = place_of(sqlstate[0]);
        const auto second = place_of(sqlstate[1]);
        if (first && second) {
            row = *first * letters + *second;
        }
    }
    counts_[row * origins + static_cast<std::size_t>(origin)].add();
}

bool error_table::watched(std::size_t cell) {
    const auto row = cell / origins;
    if (row == other) {
        return false;
    }
    const std::array<char, 2> name{alphabet[row / letters], alphabet[row % letters]};
    const std::string_view wanted(name.data(), name.size());
    return std::find(watched_classes.begin(), watched_classes.end(), wanted) !=
           watched_classes.end();
}

std::string error_table::name_of(std::size_t cell) {
    const auto row = cell / origins;
    if (row == other) {
        return std::string(overflow_label);
    }
    return {alphabet[row / letters], alphabet[row % letters]};
}

worker_probe::worker_probe(std::size_t series_limit)
    : queries_(series_limit),
      clients_(series_limit),
      waits_(series_limit),
      pools_(series_limit),
      routed_(series_limit),
      staleness_(series_limit),
      pins_(series_limit) {}

query_probe& worker_probe::query(std::string_view rule, std::string_view server) {
    return queries_.get({rule, server});
}

client_probe& worker_probe::client(std::string_view database, std::string_view user) {
    return clients_.get({database, user});
}

pool_probe
worker_probe::pool(std::string_view cluster, std::string_view server, std::string_view database) {
    return {pools_.get({cluster, server, database}), waits_.get({cluster, server})};
}

counter&
worker_probe::routed(std::string_view rule, std::string_view target, std::string_view reason) {
    return routed_.get({rule, target, reason});
}

histogram& worker_probe::staleness(std::string_view rule) {
    return staleness_.get({rule});
}

gauge& worker_probe::pins(std::string_view reason) {
    return pins_.get({reason});
}

query_grid worker_probe::queries(std::vector<std::string> rules, std::vector<std::string> servers) {
    return {queries_, {std::move(rules), std::move(servers)}};
}

route_grid worker_probe::routes(
    std::vector<std::string> rules,
    std::vector<std::string> targets,
    std::vector<std::string> reasons
) {
    return {routed_, {std::move(rules), std::move(targets), std::move(reasons)}};
}

staleness_grid worker_probe::staleness_by_rule(std::vector<std::string> rules) {
    return {staleness_, {std::move(rules)}};
}

pin_grid worker_probe::pins_by_reason(std::vector<std::string> reasons) {
    return {pins_, {std::move(reasons)}};
}

}  // namespace weir::metrics
