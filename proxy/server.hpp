// The whole process: workers, control thread, start and stop in order.
#pragma once

#include "config/config.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::proxy {

class server {
public:
    // `reread` loads the configuration again for a reload; it returns null and fills the errors if
    // the file is wrong.
    using reader =
        std::function<std::shared_ptr<const config::config>(std::vector<std::string>& errors)>;

    server(std::shared_ptr<const config::config> from, reader reread);
    ~server();

    // Until SIGTERM (sessions end with their transactions, for at most the drain time) or SIGINT
    // (at once). The exit code: 0, or 1 when something could not be started; the reason is logged.
    [[nodiscard]] int run();

    // What RELOAD and SIGHUP do. Any thread; the answer (errors, or what changed) is given on the
    // control thread.
    void reload(std::function<void(bool done, std::vector<std::string> lines)> answer);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace weir::proxy
