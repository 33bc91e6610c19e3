#include "migration/operation.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace weir::migration {
namespace {

using kind = operation::kind;

// The tenant is an attribute, or one of the key's columns.
value tenant_of(const plan& what, const key& row, const std::vector<value>& attributes) {
    if (what.tenant_in_key) {
        return row[*what.tenant_in_key];
    }
    return what.tenant ? attributes[*what.tenant] : value{};
}

// Where the row was before, as far as the replica identity tells.
value old_tenant(const plan& what, const key& old_key, const std::optional<value>& said) {
    if (what.tenant_in_key) {
        return old_key[*what.tenant_in_key];
    }
    return said.value_or(value{});
}

operation removal_of(std::string space, key row, const version& at) {
    operation made;
    made.what = kind::remove;
    made.space = std::move(space);
    made.document.key = std::move(row);
    made.document.version = at;
    return made;
}

std::vector<operation> written(const plan& what, row_written&& from, const change& all) {
    std::vector<operation> made;
    auto& row = from.row;
    const auto space = namespace_of(what, tenant_of(what, row.key, row.attributes));
    const auto& old_key = from.old_key ? *from.old_key : row.key;
    const bool tenant_known =
        from.old_tenant.has_value() || (what.tenant_in_key && from.old_key.has_value());
    const auto old_space =
        tenant_known ? namespace_of(what, old_tenant(what, old_key, from.old_tenant)) : space;
    const bool moved = old_key != row.key || old_space != space;
    if (moved) {
        made.push_back(removal_of(old_space, old_key, all.version));
    }
    if (!row.embedding && !row.embedding_unknown) {
        made.push_back(removal_of(space, std::move(row.key), all.version));
        return made;
    }
    operation write;
    write.space = space;
    if (row.embedding_unknown) {
        write.what = moved || !row.unknown.empty() ? kind::reread : kind::patch;
    } else if (!row.unknown.empty()) {
        write.what = kind::reread;
    }
    write.document.key = std::move(row.key);
    if (write.what == kind::upsert) {
        write.document.embedding = std::move(*row.embedding);
    }
    if (write.what != kind::reread) {
        write.document.attributes = std::move(row.attributes);
    }
    write.document.version = all.version;
    write.document.part = row.part;
    write.transaction = all.transaction;
    made.push_back(std::move(write));
    return made;
}

// What `first` and then `next` come to.
operation added_up(operation&& first, operation&& next) {
    if (next.document.version < first.document.version) {
        first.ticket = std::max(first.ticket, next.ticket);
        return std::move(first);
    }
    if (next.what == kind::patch && first.what == kind::upsert && !first.copied && !first.guarded) {
        next.document.embedding = std::move(first.document.embedding);
        next.what = kind::upsert;
    } else if (next.what == kind::patch && first.what != kind::patch) {
        // What the patch would be laid on is not known here: a copied row or a repair may be older
        // than what the store has.
        next.what = kind::reread;
    }
    return std::move(next);
}

struct identify {
    std::string& bytes;

    void operator()(std::monostate) const { bytes += 'n'; }

    void operator()(bool part) const { bytes += part ? 't' : 'f'; }

    void operator()(std::int64_t part) const { bytes += "i" + std::to_string(part) + ";"; }

    void operator()(double part) const {
        bytes += 'd';
        bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
    }

    void operator()(const std::string& part) const {
        bytes += "s" + std::to_string(part.size()) + ":" + part;
    }
};

}  // namespace

std::vector<operation> operations_of(const plan& what, change&& from) {
    if (auto* row = std::get_if<row_written>(&from.what)) {
        return written(what, std::move(*row), from);
    }
    if (auto* row = std::get_if<row_deleted>(&from.what)) {
        const auto space = namespace_of(what, old_tenant(what, row->key, row->tenant));
        std::vector<operation> made;
        made.push_back(removal_of(space, std::move(row->key), from.version));
        return made;
    }
    return {};
}

std::vector<operation> operations_of_copied(const plan& what, source_row&& row, const version& at) {
    std::vector<operation> made;
    if (row.embedding) {
        operation write;
        write.copied = true;
        write.space = namespace_of(what, tenant_of(what, row.key, row.attributes));
        write.document = {
            .key = std::move(row.key),
            .embedding = std::move(*row.embedding),
            .attributes = std::move(row.attributes),
            .version = at,
            .part = row.part};
        made.push_back(std::move(write));
    }
    return made;
}

std::size_t size_of(const operation& what) {
    std::size_t size = sizeof(operation) + what.space.size() +
                       what.document.embedding.size() * sizeof(float) +
                       (what.document.key.size() + what.document.attributes.size()) * sizeof(value);
    for (const auto& attribute : what.document.attributes) {
        if (const auto* text = std::get_if<std::string>(&attribute)) {
            size += text->size();
        }
    }
    return size;
}

std::string identity(const key& what) {
    std::string bytes;
    for (const auto& part : what) {
        std::visit(identify{bytes}, part);
    }
    return bytes;
}

std::vector<operation> collapsed(std::vector<operation>&& all) {
    std::unordered_map<std::string, std::size_t> place;
    std::vector<operation> left;
    left.reserve(all.size());
    for (auto& next : all) {
        const auto name = identity(next.document.key) + next.space;
        const auto [found, is_new] = place.try_emplace(name, left.size());
        if (is_new) {
            left.push_back(std::move(next));
        } else {
            auto& first = left[found->second];
            first = added_up(std::move(first), std::move(next));
        }
    }
    return left;
}

}  // namespace weir::migration
