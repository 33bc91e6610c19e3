#include "config/diff.hpp"

#include "config/schema.hpp"
#include "config/schema_walk.hpp"

#include <algorithm>

namespace weir::config {

namespace {

using elements = std::vector<element>;

const element* find(const elements& in, const std::string& path) {
    const auto found =
        std::find_if(in.begin(), in.end(), [&](const element& e) { return e.path == path; });
    return found == in.end() ? nullptr : &*found;
}

std::string shown(const std::string& text) {
    return text.empty() ? "(none)" : text;
}

class comparison {
public:
    void compare(
        const std::vector<key>& keys,
        const void* before,
        const void* after,
        const std::string& path
    ) {
        for (const auto& k : keys) {
            if (!k.available()) {
                continue;
            }
            if (k.children.empty()) {
                compare_value(k, before, after, join(path, k.name));
            } else {
                compare_elements(k, before, after, path);
            }
        }
    }

    std::vector<difference> take() { return std::move(found_); }

private:
    void
    compare_value(const key& k, const void* before, const void* after, const std::string& path) {
        const auto old_text = print_value(k, k.get(before));
        const auto new_text = print_value(k, k.get(after));
        if (old_text != new_text) {
            const auto secret = k.type == value_type::secret;
            add(path, secret ? "changed" : shown(old_text) + " -> " + shown(new_text), !k.reloadable
            );
        }
    }

    void
    compare_elements(const key& k, const void* before, const void* after, const std::string& path) {
        const auto old_elements = elements_with_paths(k, before, path);
        const auto new_elements = elements_with_paths(k, after, path);
        elements kept;
        for (const auto& e : old_elements) {
            if (find(new_elements, e.path) == nullptr) {
                add(e.path, "removed", !k.reloadable);
            } else {
                kept.push_back(e);
            }
        }
        std::size_t in_order = 0;
        for (const auto& e : new_elements) {
            const auto* const old_element = find(old_elements, e.path);
            if (old_element == nullptr) {
                add(e.path, "added", !k.reloadable);
                continue;
            }
            in_order +=
                static_cast<std::size_t>(in_order < kept.size() && kept[in_order].path == e.path);
            compare(k.children, old_element->struct_at, e.struct_at, e.path);
        }
        // Only in a list does the order say something: the first rule that fits decides.
        if (k.type == value_type::list && in_order < kept.size()) {
            add(join(path, k.name), "order changed", false);
        }
    }

    void add(const std::string& path, std::string text, bool needs_restart) {
        found_.push_back({.key = path, .text = std::move(text), .needs_restart = needs_restart});
    }

    std::vector<difference> found_;
};

}  // namespace

std::vector<difference> differences(const config& before, const config& after) {
    comparison both;
    both.compare(schema(), &before, &after, {});
    return both.take();
}

std::string to_string(const difference& d) {
    return d.key + ": " + d.text + (d.needs_restart ? " (needs a restart)" : "");
}

}  // namespace weir::config
