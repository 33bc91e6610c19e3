// What a message of the client changes in its session, kept until the server has answered: then it
// comes true, or is taken back.
#include "protocol/frontend.hpp"
#include "proxy/client/session.hpp"
#include "routing/lexer.hpp"
#include "routing/setting_text.hpp"
#include "routing/sql_parser.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::backend::transaction_status;
using routing::statement_kind;

bool changes_session(const routing::traits& what) {
    return !what.settings.empty() || what.discards_all || what.deallocates_all;
}

// Beyond the end of its transaction.
bool changes_for_good(const routing::traits& what) {
    return what.discards_all || what.deallocates_all ||
           std::any_of(
               what.settings.begin(),
               what.settings.end(),
               [](const routing::setting_effect& effect) {
                   return effect.action != routing::setting_action::set_local;
               }
           );
}

// DEALLOCATE [PREPARE] name. Empty if the name is written in a way that is not looked at.
std::string deallocated_name(std::string_view text) {
    routing::lexer tokens(text);
    (void)tokens.next();
    auto name = tokens.next();
    if (const auto behind = tokens.next(); behind.kind == routing::token_kind::word ||
                                           behind.kind == routing::token_kind::quoted_name) {
        name = behind;
    }
    std::string plain;
    const auto written = name.in(text);
    if (name.kind == routing::token_kind::word) {
        std::transform(written.begin(), written.end(), std::back_inserter(plain), routing::fold);
    } else if (name.kind == routing::token_kind::quoted_name && written.find("\"\"") == std::string_view::npos) {
        plain = written.substr(1, written.size() - 2);
    }
    return plain;
}

bool controls_transaction(const routing::traits& what) {
    return what.ends_transaction || !what.savepoints.empty();
}

// Data that the session must see in its later reads. A transaction counts from BEGIN: what follows
// is not judged.
bool may_write_data(const routing::traits& what) {
    switch (what.kind) {
    case routing::statement_kind::set:
    case routing::statement_kind::reset:
    case routing::statement_kind::show: return what.statements > 1;
    default: return !what.replica_by_syntax();
    }
}

// What the router knows of the database may be out of date behind it.
bool may_change_catalog(const routing::traits& what) {
    switch (what.kind) {
    case routing::statement_kind::ddl:
    case routing::statement_kind::call:
    case routing::statement_kind::do_block:
    case routing::statement_kind::execute:
    case routing::statement_kind::unparsed: return true;
    default: return false;
    }
}

}  // namespace

void session::leaves_behind(const known_text& what) {
    const auto& traits = *what.traits;
    note_write(may_write_data(traits));
    ran_ddl_ = ran_ddl_ || may_change_catalog(traits);
    began_ =
        began_ || traits.begins_transaction || traits.kind == routing::statement_kind::unparsed;
    switch (traits.pin) {
    case routing::pin_reason::none: break;
    case routing::pin_reason::unparsed: link_->needs_reset(); break;
    case routing::pin_reason::function: link_->may_be_dirty(); break;
    default:
        link_->needs_reset();
        pin(traits.pin);
        break;
    }
    if (ran_user_function(what)) {
        link_->may_be_dirty();
    }
}

// The server knows the statement under another name and keeps it for others, so it is asked to do
// nothing.
bool session::deallocates_own(const known_text& what, std::string_view text) {
    const auto& traits = *what.traits;
    if (traits.kind != statement_kind::deallocate || traits.statements != 1 ||
        traits.deallocates_all || link_->status() == transaction_status::failed) {
        return false;
    }
    return static_cast<bool>(statements_.erase(deallocated_name(text)));
}

std::uint64_t session::take_note(note_record&& record) {
    notes_.push_back(std::move(record));
    return first_note_ + notes_.size() - 1;
}

std::uint64_t
session::note_unnamed(std::string_view text, std::string_view oids, known_text&& known) {
    auto& unnamed = statements_.unnamed;
    note_record record{.what = note_record::kind::unnamed};
    if (unnamed.version != 0 && !link_->owes().empty()) {
        record.server_had_it = link_->unnamed_owner == unnamed.version;
        record.before = std::make_unique<unnamed_statement>(std::exchange(unnamed, {}));
    }
    unnamed.known = std::move(known);
    unnamed.text.assign(text);
    unnamed.oids.assign(oids);
    unnamed.told = 0;
    unnamed.changed = unnamed.deallocates = false;
    unnamed.version = worker_.next_unnamed++;
    link_->unnamed_owner = unnamed.version;
    record.version = unnamed.version;
    return take_note(std::move(record));
}

std::uint64_t
session::effects_of(const known_text& what, std::string_view text, const portal* bound) {
    const auto& traits = *what.traits;
    const bool changes = changes_session(traits);
    const bool at_stake = state_.changed_in_transaction() ||
                          std::any_of(notes_.begin(), notes_.end(), [](const note_record& note) {
                              return note.what == note_record::kind::effects;
                          });
    if (!changes && !(controls_transaction(traits) && at_stake)) {
        return 0;
    }
    if ((changes_for_good(traits) || at_stake) && traits.statements > 1 &&
        controls_transaction(traits)) {
        // Which of several statements came to pass is not told; the server keeps its client.
        link_->needs_reset();
        pin(routing::pin_reason::setting_unknown);
    }
    note_record record{
        .what = note_record::kind::effects,
        .simple = bound == nullptr,
        .traits = what.traits};
    if (bound != nullptr && !bound->settings.empty()) {
        record.settings = bound->settings;
    } else if (traits.settings_from_text) {
        record.settings = routing::read_settings(
            bound != nullptr ? std::string_view(statements_.unnamed.text) : text
        );
    } else {
        record.settings = traits.settings;
    }
    if (traits.deallocates_all) {
        // What is prepared behind it in the stream stays.
        record.names = statements_.take_names();
        record.copies = link_->take_statements();
    }
    return take_note(std::move(record));
}

std::vector<routing::setting_effect> session::settings_from_bind(
    const routing::traits& what,
    std::string_view text,
    std::string_view tail
) {
    auto effects = what.settings_from_text ? routing::read_settings(text) : what.settings;
    for (auto& effect : effects) {
        if (effect.parameter == 0) {
            continue;
        }
        const auto value = protocol::frontend::read_bind_parameter(tail, effect.parameter);
        // Text has the same bytes in both formats.
        if (value && !value->null) {
            effect.value = routing::setting_value(effect.name, value->value);
        } else {
            effect.action = routing::setting_action::reset;  // set_config(…, NULL, …)
        }
    }
    return effects;
}

void session::settled(std::uint64_t note, outcome how, protocol::bytes_view frame) {
    auto& record = notes_[note - first_note_];
    record.done = true;
    retry_.settled(note);
    const bool good = how == outcome::answered && !(record.simple && failed_);
    const bool own_answer = frame.empty();  // which proves nothing about the text
    if (how == outcome::answered && record.version != 0 &&
        record.what != note_record::kind::unnamed) {
        forget_unnamed(record.version);  // a Query or a Close that was not ignored
    }
    if (how == outcome::dropped && record.before) {
        take_back_unnamed(record);
    }
    if (!good) {
        undo(record);
    } else if (record.object != 0) {
        note_columns(record, frame);
    } else if (record.what != note_record::kind::parse || !own_answer) {
        apply(record);
    }
    if (wake_.waiting()) {
        wake_.notify();  // a message may wait for the name, and no ReadyForQuery may come
    }
    while (!notes_.empty() && notes_.front().done) {
        notes_.pop_front();
        ++first_note_;
    }
}

void session::apply(const note_record& record) {
    if (record.what == note_record::kind::parse) {
        if (const auto* made = statements_.find(record.name)) {
            made->what->proven = true;
        }
        return;
    }
    if (record.what != note_record::kind::effects) {
        return;
    }
    const auto& traits = *record.traits;
    if (traits.own.changes()) {
        state_.apply(traits.own);
        return;
    }
    state_.apply(record.settings);
    if (traits.discards_all) {
        state_.discard_all();
    }
    switch (traits.kind) {
    case statement_kind::commit:
        // COMMIT of a failed transaction is a ROLLBACK.
        if (link_ && link_->status() == transaction_status::failed) {
            state_.rollback();
        } else {
            state_.commit();
        }
        break;
    case statement_kind::prepare_transaction: state_.commit(); break;
    case statement_kind::rollback: state_.rollback(); break;
    case statement_kind::savepoint: state_.savepoint(traits.savepoints.front()); break;
    case statement_kind::release: state_.release(traits.savepoints.front()); break;
    case statement_kind::rollback_to: state_.rollback_to(traits.savepoints.front()); break;
    default: break;
    }
}

void session::undo(const note_record& record) {
    switch (record.what) {
    case note_record::kind::parse: statements_.erase(record.name); break;
    case note_record::kind::close:
        if (record.previous) {
            statements_.set(record.name, record.previous);
        }
        break;
    case note_record::kind::unnamed: forget_unnamed(record.version); break;
    case note_record::kind::use:
    case note_record::kind::describe:
    case note_record::kind::compare: break;
    case note_record::kind::effects:
        statements_.put_back(record.names);
        if (link_) {
            link_->restore_statements(record.copies);
            if (!record.copies.empty() && record.traits->statements > 1) {
                link_->needs_reset();  // perhaps they are gone all the same
            }
        }
        break;
    }
}

bool session::takes_back(std::uint64_t note) {
    return retry_.refuse(note);
}

void session::error_seen(const protocol::backend::response_fields& fields) {
    failed_ = true;
    worker_.probe.error(fields.sqlstate().text(), metrics::error_origin::server);
}

void session::parameter_changed(
    std::string_view name,
    std::string_view value,
    protocol::bytes_view frame
) {
    told_ = worker_.parameters.with(told_, name, value);
    note_parameters();
    peer_->write(frame);
}

std::string_view session::search_path() const {
    if (state_.wanted()) {
        for (const auto& item : *state_.wanted()) {
            if (item.name == "search_path") {
                return item.apply;
            }
        }
    }
    return {};
}

void session::note_parameters() {
    const auto value = [&](std::string_view name) -> std::string_view {
        const auto found = told_->find(name);
        return found == told_->end() ? std::string_view{} : std::string_view(found->second);
    };
    const auto encoding = value("client_encoding");
    const bool plain = encoding != "SJIS" && encoding != "BIG5" && encoding != "GBK" &&
                       encoding != "GB18030" && encoding != "UHC" && encoding != "JOHAB" &&
                       encoding != "SHIFT_JIS_2004";
    standard_strings_ = plain && value("standard_conforming_strings") != "off";
    application_name_ = value("application_name");
}

}  // namespace weir::proxy::client
