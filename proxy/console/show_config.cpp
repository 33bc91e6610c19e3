#include "config/print.hpp"
#include "proxy/console/commands.hpp"
#include "proxy/worker.hpp"

#include <utility>

namespace weir::proxy::console {

fields config_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {{"key"}, {"value"}, {"default"}, {"changeable"}};
}

asio::awaitable<answer> show_config(const request& what) {
    answer made;
    for (auto& each : config::rows_of(*what.home.config)) {
        made.rows.push_back(
            {std::move(each.key),
             std::move(each.value),
             std::move(each.default_value),
             each.reloadable ? "yes" : "no"}
        );
    }
    co_return made;
}

}  // namespace weir::proxy::console
