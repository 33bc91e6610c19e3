#include "proxy/settings.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {
namespace {

// "app.tenant" names a custom setting: each part is an identifier of its own.
std::string quote_name(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        if (c == '.') {
            quoted += "\".\"";
        } else {
            quoted += c;
            if (c == '"') {
                quoted += c;
            }
        }
    }
    return quoted + '"';
}

const setting* find(const setting_list* list, std::string_view name) {
    if (list == nullptr) {
        return nullptr;
    }
    const auto found =
        std::find_if(list->begin(), list->end(), [&](const setting& s) { return s.name == name; });
    return found == list->end() ? nullptr : &*found;
}

// Rights change with these, so they are undone first and made last.
bool is_identity(std::string_view name) {
    return name == "role" || name == "session_authorization";
}

void append(std::string& batch, std::string_view statement) {
    if (!batch.empty()) {
        batch += "; ";
    }
    batch += statement;
}

}  // namespace

std::string quote_literal(std::string_view text) {
    // E'' when there is a backslash, so that standard_conforming_strings does not matter.
    std::string quoted;
    const bool escape = text.find('\\') != std::string_view::npos;
    quoted += escape ? " E'" : "'";
    for (const char c : text) {
        if (c == '\'' || (escape && c == '\\')) {
            quoted += c;
        }
        quoted += c;
    }
    return quoted + '\'';
}

setting make_setting(std::string_view name, std::string_view value_sql) {
    setting made{std::string(name), {}};
    if (name == "role") {
        made.apply = "SET ROLE ";
    } else if (name == "session_authorization") {
        made.apply = "SET SESSION AUTHORIZATION ";
    } else if (name == "timezone") {
        made.apply = "SET TIME ZONE ";
    } else {
        made.apply = "SET " + quote_name(name) + " TO ";
    }
    made.apply += value_sql;
    return made;
}

setting make_setting_from_text(std::string_view name, std::string_view text) {
    return {
        std::string(name),
        "SELECT pg_catalog.set_config(" + quote_literal(name) + ", " + quote_literal(text) +
            ", false)"};
}

std::string reset_statement(std::string_view name) {
    if (name == "role") {
        return "RESET ROLE";
    }
    if (name == "session_authorization") {
        return "RESET SESSION AUTHORIZATION";
    }
    return "RESET " + quote_name(name);
}

std::string change_settings(const setting_list* have, const setting_list* want) {
    std::string batch;
    if (have == want) {
        return batch;
    }
    // A changed identity decides what may be set, so everything of it is undone before and made
    // again behind.
    const bool session_changes = [&] {
        const auto* a = find(have, "session_authorization");
        const auto* b = find(want, "session_authorization");
        return (a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b);
    }();
    const auto* have_role = find(have, "role");
    const auto* want_role = find(want, "role");
    if (session_changes && find(have, "session_authorization") != nullptr) {
        append(batch, "RESET SESSION AUTHORIZATION");
        have_role = nullptr;  // gone with it
    }
    std::string others;
    for (const auto& held : have != nullptr ? *have : setting_list{}) {
        if (!is_identity(held.name) && find(want, held.name) == nullptr) {
            append(others, reset_statement(held.name));
        }
    }
    for (const auto& wanted : want != nullptr ? *want : setting_list{}) {
        const auto* held = find(have, wanted.name);
        if (!is_identity(wanted.name) && (held == nullptr || *held != wanted)) {
            append(others, wanted.apply);
        }
    }
    const bool role_stays = have_role != nullptr && want_role != nullptr &&
                            *have_role == *want_role && !session_changes && others.empty();
    if (have_role != nullptr && !role_stays) {
        append(batch, "RESET ROLE");
    }
    if (!others.empty()) {
        append(batch, others);
    }
    if (session_changes && find(want, "session_authorization") != nullptr) {
        append(batch, find(want, "session_authorization")->apply);
    }
    if (want_role != nullptr && !role_stays) {
        append(batch, want_role->apply);
    }
    return batch;
}

settings_ptr settings_intern::make(setting_list&& list) {
    if (list.empty()) {
        return nullptr;
    }
    std::string key;
    for (const auto& item : list) {
        key += item.name;
        key += '\0';
        key += item.apply;
        key += '\0';
    }
    if (known_.size() > 4096) {
        std::erase_if(known_, [](const auto& item) { return item.second.expired(); });
    }
    auto& slot = known_[std::move(key)];
    auto shared = slot.lock();
    if (!shared) {
        shared = std::make_shared<const setting_list>(std::move(list));
        slot = shared;
    }
    return shared;
}

settings_ptr settings_intern::with(const settings_ptr& list, setting&& changed) {
    setting_list copy;
    if (list) {
        copy = *list;
        std::erase_if(copy, [&](const setting& s) { return s.name == changed.name; });
    }
    copy.push_back(std::move(changed));
    return make(std::move(copy));
}

settings_ptr settings_intern::without(const settings_ptr& list, std::string_view name) {
    if (!list || find(list.get(), name) == nullptr) {
        return list;
    }
    setting_list copy = *list;
    std::erase_if(copy, [&](const setting& s) { return s.name == name; });
    return make(std::move(copy));
}

settings_ptr settings_intern::overlaid(const settings_ptr& base, const settings_ptr& overlay) {
    if (!overlay) {
        return base;
    }
    for (const auto& entry : overlays_) {
        if (entry.base == base && entry.overlay == overlay) {
            return entry.both;
        }
    }
    settings_ptr both = base;
    for (const auto& item : *overlay) {
        both = with(both, setting(item));
    }
    if (overlays_.size() >= 64) {
        overlays_.erase(overlays_.begin());
    }
    overlays_.push_back({base, overlay, both});
    return both;
}

}  // namespace weir::proxy
