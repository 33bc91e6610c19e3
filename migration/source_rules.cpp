#include "migration/source_rules.hpp"

#include "migration/value_codec.hpp"

#include <algorithm>

namespace weir::migration {

namespace {

constexpr std::string_view type_list =
    "boolean, integers, real, double precision, numeric, text, varchar, char, uuid, timestamp, "
    "timestamptz, date, json, jsonb and enumerations";

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool holds_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
        return holds(names, name);
    });
}

std::string_view metric_name(config::metric what) {
    switch (what) {
    case config::metric::cosine: return "cosine";
    case config::metric::l2: return "l2";
    case config::metric::inner_product: return "inner_product";
    }
    return {};
}

// Of pgvector's and VectorChord's operator classes; empty for others.
std::string_view metric_of_class(std::string_view name) {
    if (name.find("_cosine_ops") != std::string_view::npos) {
        return "cosine";
    }
    if (name.find("_l2_ops") != std::string_view::npos) {
        return "l2";
    }
    return name.find("_ip_ops") != std::string_view::npos ? "inner_product" : "";
}

// Whether an index of one metric may be meant for the other: on embeddings of length 1 both give
// one order.
bool related(std::string_view a, std::string_view b) {
    return a != b && a != "l2" && b != "l2" && !a.empty() && !b.empty();
}

}  // namespace

void source_rules::add(std::string name, verdict result, std::string text) {
    out_.push_back({.name = std::move(name), .result = result, .text = std::move(text)});
}

const source_column* source_rules::column_of(const std::string& name) const {
    const auto found =
        std::find_if(table_.columns.begin(), table_.columns.end(), [&](const source_column& one) {
            return one.name == name;
        });
    return found == table_.columns.end() ? nullptr : &*found;
}

bool source_rules::tenant_names_namespace() const {
    return !intent_.tenant.empty() && intent_.name_pattern.find('{') != std::string::npos;
}

void source_rules::check_table() {
    const auto& name = intent_.table;
    if (table_.kind != 'r' && table_.kind != 'p') {
        add("table", verdict::refused, name + " is no table, so its changes are not in the WAL");
        return;
    }
    if (table_.persistence != 'p') {
        add("table",
            verdict::refused,
            name + " is unlogged or temporary, so its changes are not in the WAL: ALTER TABLE " +
                name + " SET LOGGED");
        return;
    }
    if (table_.inherited) {
        add("table",
            verdict::refused,
            name +
                " has tables that inherit from it and are no partitions, which are not "
                "followed: use declarative partitions, or a migration for each table");
        return;
    }
    if (!table_.readable) {
        add("table",
            verdict::refused,
            "the role may not read it: GRANT SELECT ON " + name + " TO " + intent_.user);
        return;
    }
    if (table_.row_security) {
        add("table",
            verdict::refused,
            "row security hides rows of it from the role, which the store would then lack: ALTER "
            "ROLE " +
                intent_.user + " BYPASSRLS, or use the table's owner");
        return;
    }
    const auto leaves = table_.kind == 'p'
                            ? ", " + std::to_string(table_.leaves.size()) + " leaf partitions"
                            : std::string();
    add("table", verdict::ok, name + leaves);
}

void source_rules::find_columns(
    const std::vector<std::string>& names,
    const std::string& what,
    std::vector<column>& found
) {
    bool good = true;
    const auto refuse = [&](const std::string& text) {
        add(what, verdict::refused, text);
        good = false;
    };
    for (const auto& name : names) {
        const auto* const one = column_of(name);
        if (one == nullptr) {
            refuse("there is no column " + name + " in " + intent_.table);
            continue;
        }
        const auto kind = kind_of(one->base_oid, one->base_kind);
        if (!kind) {
            refuse(
                name + " is of type " + one->type + ", which is not supported; expected " +
                std::string(type_list)
            );
        } else if (one->generated && intent_.capture == config::capture::wal) {
            refuse(
                name +
                " is a generated column, which logical decoding does not send: leave it "
                "out, or fill an ordinary column by a trigger"
            );
        }
        found.push_back({.name = name, .kind = kind.value_or(value_kind::text), .type = one->type});
    }
    if (good) {
        add(what, verdict::ok, names.empty() ? "none" : listed(names));
    }
}

void source_rules::find_embedding(store::layout& layout) {
    const auto* const one = column_of(intent_.embedding);
    const auto is = intent_.embedding + " is of type ";
    if (one == nullptr) {
        add("embedding",
            verdict::refused,
            "there is no column " + intent_.embedding + " in " + intent_.table);
    } else if (one->generated && intent_.capture == config::capture::wal) {
        add("embedding",
            verdict::refused,
            intent_.embedding +
                " is a generated column, which logical decoding does not send: fill an ordinary "
                "column by a trigger");
    } else if (one->extension != "vector" || (one->base_name != "vector" && one->base_name != "halfvec")) {
        add("embedding",
            verdict::refused,
            is + one->type + "; expected vector(n) or halfvec(n) of the extension vector");
    } else if (one->modifier < 1) {
        add("embedding",
            verdict::refused,
            is + one->type + " without a dimension, and rows may differ: ALTER TABLE " +
                intent_.table + " ALTER COLUMN " + intent_.embedding + " TYPE " + one->base_name +
                "(n)");
    } else {
        layout.dimensions = static_cast<std::size_t>(one->modifier);
        layout.half = one->base_name == "halfvec";
        add("embedding", verdict::ok, intent_.embedding + " " + one->type);
    }
}

void source_rules::check_key() {
    const auto nullable =
        std::find_if(intent_.key.begin(), intent_.key.end(), [&](const std::string& name) {
            const auto* const one = column_of(name);
            return one != nullptr && !one->not_null;
        });
    if (nullable != intent_.key.end()) {
        add("unique key",
            verdict::refused,
            "the key column " + *nullable + " may be NULL: ALTER TABLE " + intent_.table +
                " ALTER COLUMN " + *nullable + " SET NOT NULL");
        return;
    }
    const auto unique =
        std::any_of(table_.unique_keys.begin(), table_.unique_keys.end(), [&](const auto& index) {
            return !index.empty() && holds_all(intent_.key, index);
        });
    if (!unique) {
        add("unique key",
            verdict::refused,
            "no unique index says that (" + listed(intent_.key) +
                ") names one row; two rows of one key would overwrite each other in the store");
        return;
    }
    const auto walks = [&](const std::vector<std::string>& index) {
        return index.size() >= intent_.key.size() &&
               std::equal(intent_.key.begin(), intent_.key.end(), index.begin());
    };
    if (std::none_of(table_.unique_keys.begin(), table_.unique_keys.end(), walks)) {
        add("unique key",
            verdict::warning,
            "no unique index begins with (" + listed(intent_.key) +
                ") in this order, so every page of the copy sorts the table: list the key's "
                "columns in an index's order");
        return;
    }
    add("unique key", verdict::ok, "(" + listed(intent_.key) + ")");
}

std::string source_rules::identity_advice(bool with_tenant) const {
    auto columns = intent_.key;
    if (with_tenant && !holds(columns, intent_.tenant)) {
        columns.push_back(intent_.tenant);
    }
    const auto dot = intent_.table.find('.');
    const auto index = intent_.table.substr(dot + 1) + "_pgweir";
    const auto each =
        table_.kind == 'p' ? " and, for each leaf and its index, ALTER TABLE " : ", ALTER TABLE ";
    return "CREATE UNIQUE INDEX " + index + " ON " + intent_.table + " (" + listed(columns) + ")" +
           each + (table_.kind == 'p' ? "leaf" : intent_.table) + " REPLICA IDENTITY USING INDEX " +
           (table_.kind == 'p' ? "its_index" : index);
}

void source_rules::check_identity() {
    const std::string name = "replica identity";
    if (intent_.capture == config::capture::outbox) {
        add(name, verdict::ok, "not needed: triggers see the old rows");
        return;
    }
    for (const auto& leaf : table_.leaves) {
        if (leaf.replica_identity == 'f') {
            continue;
        }
        if (leaf.replica_identity == 'n' || leaf.identity.empty()) {
            add(name,
                verdict::refused,
                leaf.name +
                    " has no replica identity: once it is published, the application's "
                    "own UPDATEs and DELETEs would fail. " +
                    identity_advice(false));
            return;
        }
        if (!holds_all(leaf.identity, intent_.key)) {
            add(name,
                verdict::refused,
                "UPDATEs and DELETEs of " + leaf.name + " carry (" + listed(leaf.identity) +
                    ") and not the whole key (" + listed(intent_.key) +
                    "): make that the key, or " + identity_advice(false));
            return;
        }
    }
    const auto full =
        std::any_of(table_.leaves.begin(), table_.leaves.end(), [](const source_leaf& leaf) {
            return leaf.replica_identity == 'f';
        });
    if (full) {
        add(name,
            verdict::warning,
            "FULL writes every old row to the WAL, embeddings too; enough is: " +
                identity_advice(tenant_names_namespace()));
        return;
    }
    add(name, verdict::ok, "carries (" + listed(intent_.key) + ")");
}

void source_rules::check_tenant() {
    if (intent_.tenant.empty()) {
        return;
    }
    if (!tenant_names_namespace()) {
        add("tenant", verdict::ok, intent_.tenant + ", in one namespace");
        return;
    }
    const auto* const one = column_of(intent_.tenant);
    if (one != nullptr && !one->not_null) {
        add("tenant",
            verdict::refused,
            "the tenant " + intent_.tenant +
                " may be NULL, and such a row has no namespace: ALTER TABLE " + intent_.table +
                " ALTER COLUMN " + intent_.tenant + " SET NOT NULL");
        return;
    }
    const auto carries = [&](const source_leaf& leaf) {
        return leaf.replica_identity == 'f' || holds(leaf.identity, intent_.tenant);
    };
    const auto lacking = std::find_if_not(table_.leaves.begin(), table_.leaves.end(), carries);
    if (lacking != table_.leaves.end() && intent_.capture == config::capture::wal &&
        !holds(intent_.key, intent_.tenant)) {
        add("tenant",
            verdict::refused,
            "DELETEs of " + lacking->name + " do not carry the tenant " + intent_.tenant +
                ", which names the namespace: " + identity_advice(true));
        return;
    }
    add("tenant", verdict::ok, intent_.tenant + ", each in a namespace of its own");
}

void source_rules::check_metric() {
    const auto wanted = metric_name(intent_.metric);
    bool agrees = table_.ann.empty();
    std::string other;
    bool other_related = true;
    for (const auto& index : table_.ann) {
        const auto its = metric_of_class(index.operator_class);
        agrees = agrees || its == wanted;
        if (its != wanted && !its.empty()) {
            other += (other.empty() ? "" : ", ") + index.name + " (" + index.operator_class + ")";
            other_related = other_related && related(its, wanted);
        }
    }
    if (other.empty()) {
        add("metric", verdict::ok, std::string(wanted));
    } else if (agrees) {
        add("metric",
            verdict::warning,
            "metric is " + std::string(wanted) + ", and there are indexes for another: " + other +
                "; searches that use those stay in Postgres");
    } else if (other_related) {
        add("metric",
            verdict::warning,
            "metric is " + std::string(wanted) + ", and the indexes are for another: " + other +
                "; the order is the same only if every embedding has length 1");
    } else {
        add("metric",
            verdict::refused,
            "metric is " + std::string(wanted) + ", and all indexes of " + intent_.embedding +
                " are for another: " + other + "; set metric to that of the searches");
    }
}

}  // namespace weir::migration
