// The settings a session wants to find on its server, as an immutable list in the order they were
// made. One thread. What cannot be seen here (SET LOCAL) ends with the transaction and needs no
// replay.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct setting {
    std::string name;  // lower case; "role", "session_authorization" and "timezone" have statements
                       // of their own
    std::string apply;  // the SQL that makes it: `SET "work_mem" TO '8MB'`
    friend bool operator==(const setting&, const setting&) = default;
};

using setting_list = std::vector<setting>;
// Null: nothing set, the server's own defaults.
using settings_ptr = std::shared_ptr<const setting_list>;

// "SET name TO value" for a value that is SQL already (`'8MB'`, `"$user", public`).
[[nodiscard]] setting make_setting(std::string_view name, std::string_view value_sql);
// For a plain text value, as a start-up packet or set_config gives it: lists are one string there.
[[nodiscard]] setting make_setting_from_text(std::string_view name, std::string_view text);
[[nodiscard]] std::string quote_literal(std::string_view text);
// `RESET "name"`, or the form the special ones need.
[[nodiscard]] std::string reset_statement(std::string_view name);

// One Query text that turns a server that has `have` into one that has `want`. Empty if nothing
// differs.
[[nodiscard]] std::string change_settings(const setting_list* have, const setting_list* want);

class settings_intern {
public:
    // The shared form; null for an empty list.
    [[nodiscard]] settings_ptr make(setting_list&& list);
    [[nodiscard]] settings_ptr with(const settings_ptr& list, setting&& changed);
    [[nodiscard]] settings_ptr without(const settings_ptr& list, std::string_view name);
    // `base` with `overlay` on top, remembered.
    [[nodiscard]] settings_ptr overlaid(const settings_ptr& base, const settings_ptr& overlay);

private:
    std::map<std::string, std::weak_ptr<const setting_list>, std::less<>> known_;

    struct overlay_entry {
        settings_ptr base, overlay, both;
    };

    std::vector<overlay_entry> overlays_;
};

}  // namespace weir::proxy
