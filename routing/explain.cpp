#include "routing/explain.hpp"

#include "routing/names.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace weir::routing {

namespace {

std::string print(const relation_name& name) {
    return name.schema.empty() ? name.name : name.schema + "." + name.name;
}

void append(std::string& list, std::string_view item) {
    if (!list.empty()) {
        list += ", ";
    }
    list += item;
}

std::string print(const std::vector<relation_name>& names) {
    std::string list;
    for (const relation_name& name : names) {
        append(list, print(name));
    }
    return list;
}

std::string print(const vector_search& search) {
    std::string text = print(search.table) + "." + search.column + " " + search.operator_name + " ";
    text += search.parameter != 0 ? "$" + std::to_string(search.parameter) : "literal";
    if (search.k >= 0) {
        text += " limit " + std::to_string(search.k);
    }
    return text;
}

std::string print(double value) {
    std::array<char, 32> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.3g", value);
    return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

std::string reason_of(const route_request& request, const judgement& judged) {
    if (!request.statement.replica_by_syntax()) {
        return std::string(name_of(request.statement.reason));
    }
    std::string text;
    if (!judged.safe()) {
        text = name_of(judged.reason);
        text += judged.culprit.empty() ? "" : ": " + judged.culprit;
    }
    return text;
}

explain_candidate describe(const route_request& request, const route& chosen, std::size_t index) {
    const server_state& server = request.cluster.servers[index];
    explain_candidate result;
    result.server = server.name;
    result.role = name_of(server.role);
    result.lag = server.lag;
    result.weight = server.weight;
    result.chosen = index == chosen.server;
    const verdict what = judge_candidate(request, chosen.consistency, index);
    result.excluded = name_of(server.excluded != exclusion::none ? verdict::excluded : what);
    if (server.excluded != exclusion::none) {
        result.excluded = name_of(server.excluded);
    } else if (what == verdict::excluded) {
        result.excluded = "weight 0";
    }
    return result;
}

void add_shares(std::vector<explain_candidate>& candidates) {
    double total = 0;
    for (const explain_candidate& c : candidates) {
        total += c.excluded.empty() ? c.weight : 0;
    }
    for (explain_candidate& c : candidates) {
        c.share = c.excluded.empty() && total > 0 ? c.weight / total : 0;
    }
}

std::string print(const explain_candidate& c) {
    std::string text = c.role;
    if (c.role == "replica") {
        text += ", lag " + std::to_string(c.lag.count()) + " ms, weight " + print(c.weight);
        text += c.excluded.empty() ? ", share " + print(c.share) : ", excluded: " + c.excluded;
    } else if (c.role == "unknown") {
        text += ", excluded: " + c.excluded;
    }
    return text + (c.chosen ? ", chosen" : "");
}

}  // namespace

explanation explain(const route_request& request, const judgement& judged) {
    const route chosen = decide(request);
    const traits& statement = request.statement;
    explanation result;
    result.shape = to_string(request.key);
    result.kind = name_of(statement.kind);
    result.reason = reason_of(request, judged);
    result.relations = print(statement.relations);
    result.functions = print(statement.functions);
    if (statement.is_vector_search) {
        result.search = print(statement.search);
    }
    result.rule = chosen.rule->name;
    result.consistency = to_string(chosen.consistency);
    for (const auto& [name, value] : *chosen.rule->settings) {
        append(result.settings, name);
        result.settings += " = ";
        result.settings += value;
    }
    result.choice = chosen.kind == route_kind::server
                        ? std::string_view(request.cluster.servers[chosen.server].name)
                        : name_of(chosen.kind);
    result.route_reason = name_of(chosen.reason);
    for (std::size_t i = 0; i < request.cluster.servers.size(); ++i) {
        result.candidates.push_back(describe(request, chosen, i));
    }
    add_shares(result.candidates);
    return result;
}

std::vector<explain_row> to_rows(const explanation& what) {
    std::vector<explain_row> rows;
    const auto add = [&rows](std::string item, const std::string& value) {
        if (!value.empty()) {
            rows.push_back({std::move(item), value});
        }
    };
    add("shape", what.shape);
    add("kind", what.kind);
    add("needs the primary", what.reason);
    add("relations", what.relations);
    add("functions", what.functions);
    add("vector search", what.search);
    add("rule", what.rule);
    add("consistency", what.consistency);
    add("settings", what.settings);
    for (const explain_candidate& candidate : what.candidates) {
        add("server " + candidate.server, print(candidate));
    }
    add("choice", what.choice);
    add("reason", what.route_reason);
    return rows;
}

std::string to_text(const explanation& what) {
    std::string text;
    for (const explain_row& row : to_rows(what)) {
        text += row.item + ": " + row.value + "\n";
    }
    return text;
}

}  // namespace weir::routing
