#include "migration/census.hpp"

#include <algorithm>

namespace weir::migration {
namespace {

constexpr std::size_t page_documents = 5000;

bool belongs(const plan& what, const std::string& name) {
    if (!what.name_of.tenant) {
        return name == what.name_of.before;
    }
    return name.size() >= what.name_of.before.size() + what.name_of.after.size() &&
           name.ends_with(what.name_of.after);
}

}  // namespace

store::result<std::vector<std::string>> namespaces_of(store::store& target, const plan& what) {
    auto found = target.namespaces(what.name_of.before);
    if (found) {
        std::erase_if(*found, [&](const std::string& name) { return !belongs(what, name); });
    }
    return found;
}

store::result<census> take_census(
    store::store& target,
    const std::vector<std::string>& spaces,
    const std::function<void()>& between
) {
    census taken;
    for (const auto& space : spaces) {
        const auto all = target.count(space);
        if (!all) {
            return all.error();
        }
        std::uint64_t ours = 0;
        std::string after;
        do {
            between();
            auto page = target.scan(space, after, page_documents, {});
            if (!page) {
                return page.error();
            }
            ours += page->documents.size();
            for (const auto& one : page->documents) {
                taken.newest = std::max(taken.newest.value_or(version{}), one.version);
            }
            after = std::move(page->next);
        } while (!after.empty());
        taken.documents += ours;
        if (*all > ours) {
            taken.foreign += *all - ours;
            taken.foreign_space = space;
        }
    }
    return taken;
}

}  // namespace weir::migration
