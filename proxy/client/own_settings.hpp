// The values of pgweir's own settings in one session (routing/own_setting.hpp). A value; what a
// transaction does to them is session_state's business.
#pragma once

#include "protocol/diagnostic.hpp"
#include "routing/own_setting.hpp"
#include "routing/traits.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy::client {

class own_settings {
public:
    // A value that check_own_setting() has accepted; empty: by the rules, as without the setting.
    // `local`: until end_transaction().
    void set(std::string_view name, std::string_view value, bool local);
    void end_transaction();

    [[nodiscard]] bool has_local() const noexcept {
        return consistency_.local.has_value() || target_.local.has_value();
    }

    // As it was given, empty without one. For SHOW.
    [[nodiscard]] std::string_view value(std::string_view name) const;

    // What they ask of the router.
    [[nodiscard]] const routing::route_override& asked() const noexcept { return asked_; }

private:
    struct slot {
        std::string session;
        std::optional<std::string> local;

        [[nodiscard]] const std::string& value() const { return local ? *local : session; }
    };

    // Null for a name that has no slot.
    [[nodiscard]] static slot own_settings::*find(std::string_view name);
    void read();

    slot consistency_;
    slot target_;
    routing::route_override asked_;
};

// What is wrong with a value, as an error: 42704 for a name that is none of the settings, 22023 for
// the value, 0A000 for what a later version will have.
[[nodiscard]] std::optional<protocol::diagnostic>
check_own_setting(std::string_view name, std::string_view value);

// The same for a whole statement; 0A000 where it cannot be kept from the server.
[[nodiscard]] std::optional<protocol::diagnostic> check_own_statement(
    const routing::own_statement& what
);

// The error for set_config() with the name of one of the settings.
[[nodiscard]] protocol::diagnostic own_setting_in_function();

// What a server gets in the place of the statement: one of the same kind, so that it fails, warns
// and ends as that would, which changes nothing. In the place of SHOW stands a query with its
// column. Empty for a statement that concerns no setting of pgweir's own.
[[nodiscard]] std::string stand_in_of(const routing::own_statement& what);

}  // namespace weir::proxy::client
