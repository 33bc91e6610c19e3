// What the router is asked about a unit, and whether the connection at hand will do.
#include "proxy/client/session.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

using routing::route_kind;

metrics::query_kind kind_of(const routing::traits& what) {
    if (what.is_vector_search) {
        return metrics::query_kind::vector;
    }
    switch (what.kind) {
    case routing::statement_kind::read: return metrics::query_kind::read;
    case routing::statement_kind::write: return metrics::query_kind::write;
    case routing::statement_kind::begin:
    case routing::statement_kind::commit:
    case routing::statement_kind::rollback: return metrics::query_kind::transaction;
    default: return metrics::query_kind::other;
    }
}

// A function of a user's that is not listed as safe, or one newer than the catalog.
bool names_user_function(
    const routing::traits& what,
    const routing::catalog& known,
    const routing::function_list& safe
) {
    return std::any_of(
        what.functions.begin(),
        what.functions.end(),
        [&](const routing::function_name& wanted) {
            const auto found = known.functions.find(wanted.name);
            if (found == known.functions.end()) {
                return true;
            }
            const auto may_be = [&](const routing::catalog_function& f) {
                return wanted.schema.empty() || wanted.schema == f.schema;
            };
            const auto& all = found->second;
            return std::none_of(all.begin(), all.end(), may_be) ||
                   std::any_of(all.begin(), all.end(), [&](const routing::catalog_function& f) {
                       return may_be(f) && f.from == routing::origin::user &&
                              !safe.contains(f.schema, f.name);
                   });
        }
    );
}

}  // namespace

routing::route_request session::question() {
    static const known_text nothing = classifier::unknown();
    auto& cluster = *route_to_.cluster;
    const bool must_write = unit_.write || unit_.several || unit_.decisive == nullptr ||
                            pinned_ != routing::pin_reason::none;
    const auto& text =
        must_write && !(unit_.decisive != nullptr && !unit_.decisive->traits->replica_by_syntax())
            ? nothing
            : *unit_.decisive;
    auto judged = routing::judgement_reason::safe;
    if (text.traits->replica_by_syntax()) {
        judged = judgement_of(text).reason;
    }
    query_kind_ = kind_of(unit_.decisive != nullptr ? *unit_.decisive->traits : *nothing.traits);
    return {
        .statement = *text.traits,
        .key = text.shape,
        .judged = judged,
        .asked = routing::merged(text.asked, state_.asked()),
        .session = {database_, user_, application_name_, "public"},
        .token = token_probe_ ? token_probe_->token : token_,
        .rules = *worker_.rules,
        .cluster = *cluster.topology,
        .loads = cluster.loads,
        .now = worker_.now(),
        .random = worker_.random,
    };
}

routing::route session::decide() {
    return routing::decide(question());
}

// What a log-in needs a server for, the primary can tell; without one a replica can.
void session::ask_any_server() {
    const auto& known = *route_to_.cluster->topology;
    const bool replicas =
        std::any_of(known.servers.begin(), known.servers.end(), [](const auto& server) {
            return server.weight > 0;
        });
    unit_.needs_server = true;
    if (known.primary != routing::no_server || !replicas) {
        unit_.write = true;
        return;
    }
    auto question = classify("SELECT 1");
    question.asked = {
        config::consistency{config::consistency_level::eventual, {}},
        config::targets::replicas_then_primary};
    unit_.runs(question);
}

const routing::judgement& session::judgement_of(const known_text& text) {
    auto& view = worker_.catalog_of(*route_to_.cluster, route_to_.server_database);
    return view.judgements.get(text.shape, *text.traits, view.catalog, *worker_.safe_functions);
}

bool session::ran_user_function(const known_text& what) {
    using reason = routing::judgement_reason;
    const auto& traits = *what.traits;
    if (route_to_.cluster == nullptr || (traits.functions.empty() && !traits.replica_by_syntax())) {
        return false;  // triggers and column defaults are not looked at
    }
    switch (judgement_of(what).reason) {
    case reason::safe: return false;
    case reason::no_catalog: return !traits.functions.empty();
    case reason::volatile_function:
    case reason::node_dependent:
    case reason::foreign_table:
    case reason::not_replicated:
    case reason::sequence: {
        // The first objection has ended the look at what else is named.
        const auto& known =
            worker_.catalog_of(*route_to_.cluster, route_to_.server_database).catalog;
        return names_user_function(traits, *known, *worker_.safe_functions);
    }
    default: return true;  // a user's code, or an object newer than the catalog
    }
}

bool session::link_fits(const routing::route& wanted) const {
    if (wanted.kind != route_kind::server || linked_server_ == routing::no_server) {
        return false;
    }
    // What may run on a replica may run on the primary too, behind the client's earlier statements
    // there.
    const auto& topology = *route_to_.cluster->topology;
    const bool on_primary = linked_server_ == topology.primary;
    return (linked_server_ == wanted.server || on_primary) && overlay_of(wanted) == linked_overlay_;
}

settings_ptr session::overlay_of(const routing::route& wanted) const {
    if (wanted.rule == nullptr || wanted.rule->settings->empty()) {
        return nullptr;
    }
    return worker_.overlay_of(*wanted.rule);
}

void session::take_route(const routing::route& chosen) {
    rule_ = chosen.rule;
    worker_.count_route(*route_to_.cluster, chosen);
    query_probe_ = &worker_.query_probe(*route_to_.cluster, chosen);
    // A function may write as well; of several statements in one unit none was judged alone.
    note_write(unit_.several || chosen.reason == routing::route_reason::function);
    uses_replicas_ =
        uses_replicas_ || chosen.consistency.level != config::consistency_level::strong;
}

}  // namespace weir::proxy::client
