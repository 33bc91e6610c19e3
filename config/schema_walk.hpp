// Walking a config along the schema: the structs below a key, each with the path that people read.
#pragma once

#include "config/schema.hpp"

#include <string>
#include <vector>

namespace weir::config {

struct element {
    std::string path;
    const void* struct_at = nullptr;  // what the key's children belong to
};

inline std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

// Of a block one, of a list or map each: "users[app]", "authentication.rules[2]", "clusters.main".
inline std::vector<element>
elements_with_paths(const key& k, const void* owner, const std::string& path) {
    std::vector<element> found;
    const auto own = join(path, k.name);
    for (const void* const at : k.elements(owner)) {
        const auto label = k.label ? k.label(at) : std::string();
        const auto index = label.empty() ? std::to_string(found.size() + 1) : label;
        auto element_path = own;
        if (k.type == value_type::map) {
            element_path = join(own, label);
        } else if (k.type == value_type::list) {
            element_path.append("[").append(index).append("]");
        }
        found.push_back({.path = element_path, .struct_at = at});
    }
    return found;
}

}  // namespace weir::config
