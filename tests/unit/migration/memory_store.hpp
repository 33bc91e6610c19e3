// A store in memory whose abilities a test chooses, and which fails as it is told.
#pragma once

#include "migration/operation.hpp"
#include "migration/store/store.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::migration {

class memory_store final : public store::store {
public:
    using document_map = std::map<std::string, stored>;

    migration::store::abilities able_now;
    std::map<std::string, document_map> spaces;
    std::deque<migration::store::error> faults;  // of the next calls that write or ensure
    std::set<std::int64_t> poison;               // first key columns that are refused
    std::size_t most_cleared = 1000;             // in one call
    std::vector<std::string> log;                // "upsert s 2"

    memory_store() { able_now.max_documents = 100; }

    const migration::store::abilities& able() const override { return able_now; }

    migration::store::result<void> ensure(const std::string& name) override {
        log.push_back("ensure " + name);
        spaces[name];
        return {};
    }

    migration::store::result<migration::store::written>
    upsert(const std::string& name, std::span<const document> documents) override {
        log.push_back("upsert " + name + " " + std::to_string(documents.size()));
        if (auto fault = next_fault(name, documents)) {
            return *fault;
        }
        migration::store::written done;
        for (const auto& one : documents) {
            auto& held = spaces[name][identity(one.key)];
            if (able_now.conditional && held.version > one.version) {
                continue;
            }
            held = {one.key, one.embedding, one.attributes, one.version, one.part};
            ++done.applied;
        }
        return done;
    }

    migration::store::result<migration::store::written>
    patch(const std::string& name, std::span<const document> documents) override {
        log.push_back("patch " + name + " " + std::to_string(documents.size()));
        if (auto fault = next_fault(name, documents)) {
            return *fault;
        }
        migration::store::written done;
        for (const auto& one : documents) {
            const auto found = spaces[name].find(identity(one.key));
            if (found == spaces[name].end()) {
                done.absent.push_back(one.key);
                continue;
            }
            found->second.attributes = one.attributes;
            found->second.version = one.version;
        }
        return done;
    }

    migration::store::result<migration::store::written>
    remove(const std::string& name, std::span<const removal> removals) override {
        log.push_back("remove " + name + " " + std::to_string(removals.size()));
        if (auto fault = next_fault(name, removals)) {
            return *fault;
        }
        for (const auto& one : removals) {
            spaces[name].erase(identity(one.key));
        }
        return migration::store::written{};
    }

    migration::store::result<bool> clear(const std::string& name, std::uint32_t part) override {
        log.push_back("clear " + name);
        std::size_t removed = 0;
        std::erase_if(spaces[name], [&](const auto& one) {
            const bool meant = part == 0 || one.second.part == part;
            return meant && removed < most_cleared && ++removed != 0;
        });
        return removed == most_cleared;
    }

    migration::store::result<std::vector<stored>>
    fetch(const std::string& name, std::span<const key> keys, migration::store::fields) override {
        log.push_back("fetch " + name + " " + std::to_string(keys.size()));
        std::vector<stored> found;
        for (const auto& one : keys) {
            const auto held = spaces[name].find(identity(one));
            if (held != spaces[name].end()) {
                found.push_back(held->second);
            }
        }
        return found;
    }

    migration::store::result<migration::store::page>
    scan(const std::string&, const std::string&, std::size_t, migration::store::fields) override {
        return migration::store::page{};
    }

    migration::store::result<std::uint64_t> count(const std::string& name) override {
        return spaces[name].size();
    }

    migration::store::result<std::vector<migration::store::hit>>
    search(const std::string&, const migration::store::query&) override {
        return std::vector<migration::store::hit>{};
    }

    migration::store::result<std::vector<std::string>> namespaces(std::string_view prefix
    ) override {
        std::vector<std::string> names;
        for (const auto& [name, documents] : spaces) {
            if (name.starts_with(prefix)) {
                names.push_back(name);
            }
        }
        return names;
    }

private:
    template <typename Item>
    std::optional<migration::store::error>
    next_fault(const std::string& name, std::span<const Item> items) {
        if (!faults.empty()) {
            auto fault = faults.front();
            faults.pop_front();
            if (fault.what == migration::store::fault::missing) {
                spaces.erase(name);
            }
            return fault;
        }
        for (const auto& one : items) {
            if (poison.contains(std::get<std::int64_t>(one.key.front()))) {
                return migration::store::error{
                    migration::store::fault::refused,
                    "it will not have this",
                    {}};
            }
        }
        return std::nullopt;
    }
};

}  // namespace weir::migration
