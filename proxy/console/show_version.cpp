#include "proxy/console/commands.hpp"

#include <string>

namespace weir::proxy::console {

fields version_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {{"version"}};
}

asio::awaitable<answer> show_version(const request& what) {
    static_cast<void>(what);
    answer made;
    made.rows.push_back({"pgweir " WEIR_VERSION});
    co_return made;
}

fields help_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {{"command"}, {"what it does"}, {"rights"}};
}

asio::awaitable<answer> show_help(const request& what) {
    static_cast<void>(what);
    answer made;
    for (const command& each : all_commands()) {
        if (each.help.empty()) {
            continue;
        }
        std::string usage(each.words);
        if (!each.arguments.empty()) {
            usage.append(" ").append(each.arguments);
        }
        made.rows.push_back(
            {std::move(usage), std::string(each.help), each.needs_admin ? "admin" : "admin, stats"}
        );
    }
    co_return made;
}

}  // namespace weir::proxy::console
