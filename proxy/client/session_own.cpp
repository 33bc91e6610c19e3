// Statements on settings of pgweir's own. A server runs something harmless in their place, so that
// order, transactions and errors are PostgreSQL's; of SHOW the client hears the value that is kept
// here.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/client/own_settings.hpp"
#include "proxy/client/session.hpp"
#include "routing/sql_parser.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::answer_to;
using protocol::ledger_entry;
using protocol::owed;
using routing::own_action;
using upstream::purpose;
using upstream::tag;
namespace frontend = protocol::frontend;

std::vector<std::uint8_t> encoded(const protocol::diagnostic& what) {
    std::vector<std::uint8_t> text;
    protocol::byte_writer writer(text);
    protocol::backend::encode_error(writer, what);
    return text;
}

ledger_entry entry_of(const routing::own_statement& what, owed kind, std::uint64_t note) {
    ledger_entry entry{.kind = kind, .tag = tag(purpose::noted), .note = note};
    if (what.action == own_action::show) {
        entry.to = answer_to::reworded;
        entry.tag = tag(purpose::own_show);
    }
    return entry;
}

}  // namespace

// Those that came with the connection, and have been checked.
void session::start_settings(const startup_settings& given) {
    settings_ptr startup;
    std::shared_ptr<own_settings> own;
    for (const auto& [name, value] : given) {
        if (name == "application_name") {
            application_name_ = value;
        }
        if (!routing::is_own_setting(name)) {
            startup = worker_.settings.with(startup, make_setting_from_text(name, value));
            continue;
        }
        if (!own) {
            own = std::make_shared<own_settings>();
        }
        own->set(name, value, false);
    }
    state_.start(std::move(startup), std::move(own));
}

// Null: a server may see the text.
std::optional<protocol::diagnostic>
session::refuse_own(const known_text& what, std::string_view text) {
    const auto& traits = *what.traits;
    if (traits.own.action != own_action::none) {
        return check_own_statement(traits.own);
    }
    if (!traits.settings_from_text || !routing::mentions_own_setting(text)) {
        return std::nullopt;
    }
    const auto effects = routing::read_settings(text);
    const bool own = std::any_of(effects.begin(), effects.end(), [](const auto& effect) {
        return routing::is_own_setting(effect.name);
    });
    return own ? std::optional(own_setting_in_function()) : std::nullopt;
}

// True: the Query has been dealt with.
bool session::forward_own_query(
    const known_text& known,
    std::string_view text,
    std::uint64_t dropped
) {
    if (const auto wrong = refuse_own(known, text)) {
        forget_unnamed(dropped);
        link_->fail_query(encoded(*wrong));
        unit_sent();
        return true;
    }
    const auto& own = known.traits->own;
    if (own.action == own_action::none) {
        return false;
    }
    const auto note = take_note(
        {.what = note_record::kind::effects,
         .simple = true,
         .version = dropped,
         .traits = known.traits}
    );
    build_.clear();
    protocol::byte_writer writer(build_);
    frontend::query{stand_in_of(own)}.encode(writer);
    (void)link_->send(entry_of(own, owed::query, note), build_);
    unit_sent();
    return true;
}

// True: the Parse has been dealt with. A wrong value is found when the statement is run.
bool session::fail_own_parse(const known_text& known, std::string_view text) {
    if (known.traits->own.changes()) {
        return false;
    }
    const auto wrong = refuse_own(known, text);
    if (wrong) {
        link_->fail_parse(encoded(*wrong));
    }
    return wrong.has_value();
}

// True: the Execute has been dealt with.
bool session::forward_own_execute(const portal& bound, protocol::bytes_view message) {
    const auto& own = bound.known.traits->own;
    if (own.action == own_action::none) {
        return false;
    }
    if (const auto wrong = check_own_statement(own)) {
        link_->fail_unit(encoded(*wrong));
        return true;
    }
    const auto note = take_note({.what = note_record::kind::effects, .traits = bound.known.traits});
    (void)link_->send(entry_of(own, owed::execute, note), message);
    return true;
}

// A statement that is not answered yet may change what the router is to be asked.
bool session::own_setting_under_way() const {
    return std::any_of(notes_.begin(), notes_.end(), [](const note_record& note) {
        return note.what == note_record::kind::effects && !note.done && note.traits->own.changes();
    });
}

void session::reword(std::uint64_t note, std::uint8_t type) {
    build_.clear();
    protocol::byte_writer writer(build_);
    if (type == 'D') {
        const auto& what = notes_[note - first_note_].traits->own;
        const std::array<std::optional<std::string_view>, 1> row{state_.own_value(what.name)};
        protocol::backend::encode_data_row(writer, row);
    } else {
        protocol::backend::command_complete{"SHOW"}.encode(writer);
    }
    peer_->write(build_);
}

}  // namespace weir::proxy::client
