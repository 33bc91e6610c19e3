#include "migration/primary.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

// The server is going, coming, or has become a standby: another may be the primary now.
bool to_be_found_again(const std::string& sqlstate) {
    return sqlstate.empty() || sqlstate.starts_with("57P") || sqlstate.starts_with("08") ||
           sqlstate == "25006" || sqlstate == "53300";
}

}  // namespace

std::optional<std::string> primary::try_server(std::size_t index) {
    const auto failed = session_.connect(servers_.addresses[index]);
    if (failed) {
        return failed->text;
    }
    const auto answer = session_.run(
        "SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system())"
    );
    std::optional<std::string> fault;
    if (!answer) {
        fault = answer.error->text;
    } else if (answer.rows.at(0, 0) != "f") {
        fault = session_.address() + ": is a standby";
    } else if (servers_.system_identifier != 0 && answer.rows.at(0, 1) != std::to_string(servers_.system_identifier)) {
        fault = session_.address() + ": is of another system (identifier " +
                std::string(answer.rows.at(0, 1)) + ")";
    }
    if (fault) {
        session_.close();
    }
    return fault;
}

std::optional<std::string> primary::find() {
    std::string faults;
    for (std::size_t i = 0; i < servers_.addresses.size(); ++i) {
        const auto index = (at_ + i) % servers_.addresses.size();
        const auto fault = try_server(index);
        if (!fault) {
            at_ = index;
            return std::nullopt;
        }
        faults += (faults.empty() ? "" : "; ") + *fault;
    }
    return "no primary: " + faults;
}

void primary::say(std::string trouble) {
    if (servers_.trouble && (troubled_ || !trouble.empty())) {
        troubled_ = !trouble.empty();
        servers_.trouble(std::move(trouble));
    }
}

sql_session& primary::session() {
    for (auto pause = 50ms; !session_.connected(); pause = std::min(2 * pause, 1000ms)) {
        if (const auto fault = find()) {
            say(*fault);
            servers_.sleep(pause);
        }
    }
    return session_;
}

sql_answer primary::run(
    const std::string& text,
    std::span<const std::optional<std::string>> parameters,
    bool binary
) {
    for (auto pause = 50ms;; pause = std::min(2 * pause, 1000ms)) {
        auto answer = session().run(text, parameters, binary);
        if (answer || !to_be_found_again(answer.error->sqlstate)) {
            say({});
            return answer;
        }
        say(answer.error->text);
        session_.close();
        servers_.sleep(pause);
    }
}

void await_snapshot(primary& server, const source_servers& servers) {
    const auto bounds = [&] {
        const auto answer = server.run(
            "SELECT pg_snapshot_xmin(s)::text, pg_snapshot_xmax(s)::text "
            "FROM pg_current_snapshot() AS s",
            {}
        );
        if (!answer) {
            throw std::runtime_error(answer.error->text);
        }
        return std::pair(
            std::stoull(std::string(answer.rows.at(0, 0))),
            std::stoull(std::string(answer.rows.at(0, 1)))
        );
    };
    const auto end = bounds().second;
    for (auto pause = 1ms; bounds().first < end; pause = std::min(2 * pause, 500ms)) {
        servers.sleep(pause);
    }
}

}  // namespace weir::migration
