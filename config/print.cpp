#include "config/print.hpp"

#include "config/schema.hpp"
#include "config/schema_walk.hpp"

namespace weir::config {

namespace {

constexpr const char* hidden = "***";

void add_rows(
    const std::vector<key>& keys,
    const void* owner,
    const std::string& path,
    std::vector<config_row>& rows
) {
    for (const auto& k : keys) {
        if (!k.available()) {
            continue;
        }
        if (k.children.empty()) {
            auto text = print_value(k, k.get(owner));
            if (k.type == value_type::secret && !text.empty()) {
                text = hidden;
            }
            rows.push_back(
                {.key = join(path, k.name),
                 .value = std::move(text),
                 .default_value = k.default_text,
                 .reloadable = k.reloadable}
            );
            continue;
        }
        for (const auto& [element_path, element] : elements_with_paths(k, owner, path)) {
            add_rows(k.children, element, element_path, rows);
        }
    }
}

}  // namespace

std::vector<config_row> rows_of(const config& c) {
    std::vector<config_row> rows;
    add_rows(schema(), &c, {}, rows);
    return rows;
}

}  // namespace weir::config
