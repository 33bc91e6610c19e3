// A store of which only namespaces, their counts and their layout matter.
#pragma once

#include "migration/store/store.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration::test {

class shelf_store final : public store::store {
public:
    std::map<std::string, std::uint64_t> counts;
    std::map<std::string, std::vector<version>> versions;  // of those that pgweir has written
    std::optional<migration::store::error> misfit;         // of every namespace
    std::vector<std::string> ensured;
    bool written = false;

    template <typename Value>
    using result = migration::store::result<Value>;

    [[nodiscard]] const migration::store::abilities& able() const override { return able_; }

    [[nodiscard]] result<void> ensure(const std::string& name) override {
        ensured.push_back(name);
        if (misfit) {
            return *misfit;
        }
        return {};
    }

    [[nodiscard]] result<migration::store::written>
    upsert(const std::string& /*name*/, std::span<const document> /*documents*/) override {
        return refuse();
    }

    [[nodiscard]] result<migration::store::written>
    patch(const std::string& /*name*/, std::span<const document> /*documents*/) override {
        return refuse();
    }

    [[nodiscard]] result<migration::store::written>
    remove(const std::string& /*name*/, std::span<const removal> /*removals*/) override {
        return refuse();
    }

    [[nodiscard]] result<bool> clear(const std::string& /*name*/, std::uint32_t /*part*/) override {
        return refuse();
    }

    [[nodiscard]] result<std::vector<stored>> fetch(
        const std::string& /*name*/,
        std::span<const key> /*keys*/,
        migration::store::fields /*wanted*/
    ) override {
        return std::vector<stored>{};
    }

    // Two documents on each page.
    [[nodiscard]] result<migration::store::page> scan(
        const std::string& name,
        const std::string& after,
        std::size_t /*limit*/,
        migration::store::fields /*wanted*/
    ) override {
        const auto& all = versions[name];
        migration::store::page made;
        auto at = after.empty() ? 0 : std::stoul(after);
        for (const auto end = std::min(at + 2, all.size()); at < end; ++at) {
            stored one;
            one.version = all[at];
            made.documents.push_back(std::move(one));
        }
        made.next = at < all.size() ? std::to_string(at) : "";
        return made;
    }

    [[nodiscard]] result<std::uint64_t> count(const std::string& name) override {
        return counts[name];
    }

    [[nodiscard]] result<std::vector<migration::store::hit>>
    search(const std::string& /*name*/, const migration::store::query& /*what*/) override {
        return std::vector<migration::store::hit>{};
    }

    [[nodiscard]] result<std::vector<std::string>> namespaces(std::string_view prefix) override {
        std::vector<std::string> names;
        for (const auto& [name, documents] : counts) {
            if (name.starts_with(prefix)) {
                names.push_back(name);
            }
        }
        return names;
    }

private:
    migration::store::error refuse() {
        written = true;
        return {.what = migration::store::fault::refused, .text = "a look writes nothing"};
    }

    migration::store::abilities able_;
};

}  // namespace weir::migration::test
