// The settings of one session, with PostgreSQL's transaction rules: what a transaction set is
// undone by its ROLLBACK, what was set behind a savepoint by ROLLBACK TO it. Two lists are kept:
// what the client wants, and what its server holds while it is linked; they differ after RESET of
// something the client gave when it connected. Pure; one thread.
#pragma once

#include "protocol/backend.hpp"
#include "proxy/settings.hpp"
#include "routing/traits.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::client {

class session_state {
public:
    explicit session_state(settings_intern& intern) : intern_(&intern) {}

    // Settings of the start-up packet: what RESET goes back to.
    void start(settings_ptr startup);

    // A server that holds exactly wanted() has been linked.
    void linked() {
        now_.held = now_.wanted;
        base_ = now_;
    }

    [[nodiscard]] const settings_ptr& wanted() const noexcept { return now_.wanted; }

    [[nodiscard]] const settings_ptr& held() const noexcept { return now_.held; }

    // A statement with these effects succeeded.
    void apply(const std::vector<routing::setting_effect>& effects);
    void discard_all();

    void commit() {
        base_ = now_;
        savepoints_.clear();
    }

    void rollback() {
        now_ = base_;
        savepoints_.clear();
    }

    void savepoint(std::string_view name) { savepoints_.emplace_back(std::string(name), now_); }

    void rollback_to(std::string_view name);
    void release(std::string_view name);
    // ReadyForQuery. `failed`: an error came since the last one.
    void ready(protocol::backend::transaction_status status, bool failed);

    // Would the end of the transaction, or a savepoint, change anything?
    [[nodiscard]] bool changed_in_transaction() const noexcept {
        return now_.wanted != base_.wanted || now_.held != base_.held || !savepoints_.empty();
    }

private:
    struct lists {
        settings_ptr wanted;
        settings_ptr held;
    };

    void reset(std::string_view name);
    void reset_all();

    settings_intern* intern_;
    settings_ptr startup_;
    lists now_;
    lists base_;  // at the last point outside a transaction
    std::vector<std::pair<std::string, lists>> savepoints_;
};

}  // namespace weir::proxy::client
