// The routing rules of the configuration, ready to be asked: the first that matches decides.
#pragma once

#include "config/config.hpp"
#include "routing/shape.hpp"
#include "routing/traits.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::routing {

// Settings for the statement only, in the order of the configuration.
using setting_list = std::vector<std::pair<std::string, std::string>>;
using setting_list_ptr = std::shared_ptr<const setting_list>;

// What the rules look at besides the statement. Views; valid during the call.
struct session_facts {
    std::string_view database{};
    std::string_view user{};
    std::string_view application_name{};
    // Where unqualified names are taken to stand: the first of the session's search_path that is
    // not "$user".
    std::string_view schema = "public";
};

// How a class of statements is to be treated.
struct policy {
    std::string name;  // of the rule; "vector" and "default" where none matches
    config::consistency consistency;
    config::targets targets = config::targets::replicas_then_primary;
    setting_list_ptr settings;  // never null
};

class rule_set {
public:
    // Builds everything; asking afterwards allocates nothing. Equal setting lists are shared.
    explicit rule_set(const config::routing& config);

    // `read`: the statement may leave the primary. The reference lives as long as the rule set.
    [[nodiscard]] const policy& match(
        const traits& statement,
        const shape& key,
        bool read,
        const session_facts& session
    ) const noexcept;

private:
    struct compiled {
        config::rule_match match;
        std::optional<std::pair<std::uint64_t, std::uint64_t>> shape;
        bool never = false;  // a shape that is not 32 hexadecimal digits matches nothing
        // A rule that sets no consistency leaves it to what the statement is.
        policy for_vector;
        policy for_others;
    };

    [[nodiscard]] static bool applies(
        const compiled& rule,
        const traits& statement,
        const shape& key,
        bool read,
        const session_facts& session
    ) noexcept;

    std::vector<compiled> rules_;
    policy default_vector_;
    policy default_;
};

}  // namespace weir::routing
