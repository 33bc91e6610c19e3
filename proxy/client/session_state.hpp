// The settings of one session, with PostgreSQL's transaction rules: what a transaction set is
// undone by its ROLLBACK, what was set behind a savepoint by ROLLBACK TO it. Two lists are kept:
// what the client wants, and what its server holds while it is linked; they differ after RESET of
// something the client gave when it connected. Those of pgweir's own, which no server holds, are
// beside them, LOCAL ones too. Pure; one thread.
#pragma once

#include "protocol/backend.hpp"
#include "proxy/client/own_settings.hpp"
#include "proxy/settings.hpp"
#include "routing/traits.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::client {

class session_state {
public:
    explicit session_state(settings_intern& intern) : intern_(&intern) {}

    // Settings of the start-up packet: what RESET goes back to. Those of pgweir's own: null without
    // any.
    void start(settings_ptr startup, std::shared_ptr<const own_settings> own = nullptr);

    // A server that holds exactly wanted() has been linked.
    void linked() {
        now_.held = now_.wanted;
        base_ = now_;
    }

    [[nodiscard]] const settings_ptr& wanted() const noexcept { return now_.wanted; }

    [[nodiscard]] const settings_ptr& held() const noexcept { return now_.held; }

    // A statement with these effects succeeded.
    void apply(const std::vector<routing::setting_effect>& effects);
    // SET or RESET of one of pgweir's own, which has been checked.
    void apply(const routing::own_statement& what);
    void discard_all();

    void commit();

    void rollback() {
        now_ = base_;
        savepoints_.clear();
    }

    void savepoint(std::string_view name) { savepoints_.emplace_back(std::string(name), now_); }

    void rollback_to(std::string_view name);
    void release(std::string_view name);
    // ReadyForQuery. `failed`: an error came since the last one.
    void ready(protocol::backend::transaction_status status, bool failed);

    // What pgweir's own settings ask of the router now.
    [[nodiscard]] routing::route_override asked() const {
        return now_.own ? now_.own->asked() : routing::route_override{};
    }

    [[nodiscard]] std::string_view own_value(std::string_view name) const {
        return now_.own ? now_.own->value(name) : std::string_view{};
    }

    // Would the end of the transaction, or a savepoint, change anything?
    [[nodiscard]] bool changed_in_transaction() const noexcept {
        return now_.wanted != base_.wanted || now_.held != base_.held || now_.own != base_.own ||
               !savepoints_.empty();
    }

private:
    struct lists {
        settings_ptr wanted;
        settings_ptr held;
        std::shared_ptr<const own_settings> own;  // null: never set
    };

    void reset(std::string_view name);
    void reset_all();

    settings_intern* intern_;
    settings_ptr startup_;
    std::shared_ptr<const own_settings> own_startup_;
    lists now_;
    lists base_;  // at the last point outside a transaction
    std::vector<std::pair<std::string, lists>> savepoints_;
};

}  // namespace weir::proxy::client
