#include "proxy/client/session_state.hpp"

#include <algorithm>

namespace weir::proxy::client {
namespace {

bool is_identity(std::string_view name) {
    return name == "role" || name == "session_authorization";
}

}  // namespace

void session_state::start(settings_ptr startup, std::shared_ptr<const own_settings> own) {
    startup_ = std::move(startup);
    own_startup_ = std::move(own);
    now_ = {startup_, nullptr, own_startup_};
    base_ = now_;
}

void session_state::apply(const routing::own_statement& what) {
    own_settings changed = now_.own ? *now_.own : own_settings{};
    const auto value = what.action == routing::own_action::set ? std::string_view(what.value)
                       : own_startup_                          ? own_startup_->value(what.name)
                                                               : std::string_view{};
    changed.set(what.name, value, what.local);
    now_.own = std::make_shared<const own_settings>(std::move(changed));
}

void session_state::commit() {
    if (now_.own && now_.own->has_local()) {
        own_settings rest = *now_.own;
        rest.end_transaction();
        now_.own = std::make_shared<const own_settings>(std::move(rest));
    }
    base_ = now_;
    savepoints_.clear();
}

void session_state::apply(const std::vector<routing::setting_effect>& effects) {
    for (const auto& effect : effects) {
        switch (effect.action) {
        case routing::setting_action::set:
            now_.wanted = intern_->with(now_.wanted, make_setting(effect.name, effect.value));
            now_.held = intern_->with(now_.held, make_setting(effect.name, effect.value));
            if (effect.name == "session_authorization") {  // brings its own role
                now_.wanted = intern_->without(now_.wanted, "role");
                now_.held = intern_->without(now_.held, "role");
            }
            break;
        case routing::setting_action::set_local: break;  // ends with the transaction by itself
        case routing::setting_action::reset: reset(effect.name); break;
        case routing::setting_action::reset_all: reset_all(); break;
        }
    }
}

void session_state::reset(std::string_view name) {
    now_.held = intern_->without(now_.held, name);
    now_.wanted = intern_->without(now_.wanted, name);
    if (name == "session_authorization") {
        now_.held = intern_->without(now_.held, "role");
        now_.wanted = intern_->without(now_.wanted, "role");
    }
    if (startup_) {
        const auto given = std::find_if(startup_->begin(), startup_->end(), [&](const setting& s) {
            return s.name == name;
        });
        if (given != startup_->end()) {
            now_.wanted = intern_->with(now_.wanted, setting(*given));
        }
    }
}

void session_state::reset_all() {
    // Neither role nor session_authorization is touched by RESET ALL.
    settings_ptr wanted = startup_;
    settings_ptr held;
    if (now_.held) {
        for (const auto& item : *now_.held) {
            if (is_identity(item.name)) {
                wanted = intern_->with(wanted, setting(item));
                held = intern_->with(held, setting(item));
            }
        }
    }
    now_ = {wanted, held, own_startup_};
}

void session_state::discard_all() {
    now_ = {startup_, nullptr, own_startup_};
}

void session_state::rollback_to(std::string_view name) {
    const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(), [&](const auto& s) {
        return s.first == name;
    });
    if (found == savepoints_.rend()) {
        // Made before anything was set: nothing of what followed is left.
        now_ = base_;
        savepoints_.clear();
        return;
    }
    now_ = found->second;
    savepoints_.erase(found.base(), savepoints_.end());
}

void session_state::release(std::string_view name) {
    const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(), [&](const auto& s) {
        return s.first == name;
    });
    if (found == savepoints_.rend()) {
        savepoints_.clear();  // it is older than all of these, and takes them with it
        return;
    }
    savepoints_.erase(std::prev(found.base()), savepoints_.end());
}

void session_state::ready(protocol::backend::transaction_status status, bool failed) {
    if (status != protocol::backend::transaction_status::idle) {
        return;
    }
    if (failed) {
        rollback();
    } else {
        commit();
    }
}

}  // namespace weir::proxy::client
