// One message of the client on its way to the server: names are translated, what the server lacks
// is put in front, the ledger is told. Everything else about the bytes stays as it came.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/client/session.hpp"
#include "proxy/client_error.hpp"
#include "routing/names.hpp"
#include "routing/sql_parser.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::frame_part;
using protocol::ledger_entry;
using protocol::owed;
using protocol::part_kind;
using upstream::purpose;
using upstream::tag;
namespace frontend = protocol::frontend;
namespace sqlstates = protocol::sqlstates;

constexpr bool is_extended(std::uint8_t type) {
    return type == 'P' || type == 'B' || type == 'D' || type == 'E' || type == 'C';
}

}  // namespace

void session::forward(const frame_part& part) {
    if (!link_) {
        return;  // the rest of a message whose server is gone
    }
    if (part.kind == part_kind::body) {
        if (!body_dropped_) {
            link_->send_piece(part.bytes);
        }
        return;
    }
    body_dropped_ = false;
    const auto& owes = link_->owes();
    if (owes.copy_in() && (part.type == 'S' || part.type == 'H')) {
        return;  // PostgreSQL ignores them in copy-in mode
    }
    if (owes.skipping() && part.type != 'S' && part.type != 'X') {
        body_dropped_ = part.kind == part_kind::head;
        return;  // and everything up to Sync behind an error
    }
    sent_at_ = sent_at_ == steady_time{} ? std::chrono::steady_clock::now() : sent_at_;
    set_phase(session_phase::active);
    if (is_extended(part.type)) {
        unit_open_ = true;
    }
    switch (part.type) {
    case 'Q': forward_query(part); break;
    case 'P': forward_parse(part); break;
    case 'B':
        forward_bind(part);
        unit_runs_ = unit_runs_ || !postponed_;
        break;
    case 'D': forward_describe(part); break;
    case 'E': forward_execute(part); break;
    case 'C': forward_close(part); break;
    case 'X': terminated_ = true; break;
    default: forward_simple(part); break;
    }
    if (!postponed_) {
        retry_.record(part.type, part.bytes);
    }
}

void session::forward_simple(const frame_part& part) {
    switch (part.type) {
    case 'S':
        (void)link_->send({.kind = owed::sync, .tag = tag(purpose::client)}, part.bytes);
        unit_sent();
        break;
    case 'H':
    case 'd': link_->send_unanswered(part.bytes); break;
    case 'c':
    case 'f':
        (void)link_->send({.kind = owed::copy_end, .tag = tag(purpose::client)}, part.bytes);
        break;
    case 'F':
        note_write(true);
        link_->may_be_dirty();
        (void)link_->send({.kind = owed::function_call, .tag = tag(purpose::client)}, part.bytes);
        unit_sent();
        break;
    default: break;
    }
}

void session::unit_sent() {
    unit_runs_ = false;
    unit_first_note_ = first_note_ + notes_.size();
    unit_open_ = false;
    unit_decided_ = false;
    unit_.clear();
}

known_text session::next_text(std::string_view text) {
    if (unit_.next_text < unit_.texts.size()) {
        return std::move(unit_.texts[unit_.next_text++]);
    }
    return classify(text);
}

void session::forward_query(const frame_part& part) {
    const auto dropped = drop_unnamed();
    std::uint64_t note = 0;
    if (part.kind == part_kind::head) {
        leaves_behind(classifier::unknown());
    } else if (const auto query = frontend::query::decode(part.body())) {
        const auto known = next_text(query->text);
        if (deallocates_own(known, query->text)) {
            forget_unnamed(dropped);
            build_.clear();
            protocol::byte_writer writer(build_);
            frontend::query{}.encode(writer);
            (void)link_->send({.kind = owed::query, .tag = tag(purpose::deallocate)}, build_);
            unit_sent();
            return;
        }
        if (forward_own_query(known, query->text, dropped)) {
            return;
        }
        leaves_behind(known);
        note = effects_of(known, query->text, nullptr);
    } else {
        (void)refuse("invalid message format");
        return;
    }
    if (dropped != 0) {
        note = note != 0 ? note : take_note({.what = note_record::kind::close});
        notes_[note - first_note_].version = dropped;
    }
    const ledger_entry entry{
        .kind = owed::query,
        .tag = tag(note != 0 ? purpose::noted : purpose::client),
        .note = note};
    (void)link_->send(entry, part.bytes);
    unit_sent();
}

void session::forward_parse(const frame_part& part) {
    if (part.kind == part_kind::head) {
        // Too large to keep: it lives on this server alone, under the client's own name.
        link_->needs_reset();
        pin(routing::pin_reason::large_statement);
        if (part.body().empty() || part.body()[0] != 0) {
            (void)link_->send({.kind = owed::parse, .tag = tag(purpose::client)}, part.bytes);
            return;
        }
        const auto note = note_unnamed({}, {}, classifier::unknown());
        (void
        )link_->send({.kind = owed::parse, .tag = tag(purpose::noted), .note = note}, part.bytes);
        return;
    }
    const auto parse = frontend::parse::decode(part.body());
    if (!parse) {
        (void)refuse("invalid message format");
        return;
    }
    if (!parse->name.empty()) {
        forward_named_parse(part);
        return;
    }
    auto known = next_text(parse->text);
    if (deallocates_own(known, parse->text)) {
        const auto note = note_unnamed({}, {}, std::move(known));
        statements_.unnamed.deallocates = true;
        build_.clear();
        protocol::byte_writer writer(build_);
        frontend::parse{}.encode(writer);
        (void)link_->send({.kind = owed::parse, .tag = tag(purpose::noted), .note = note}, build_);
        return;
    }
    if (fail_own_parse(known, parse->text)) {
        statements_.drop_unnamed();
        return;
    }
    if (const auto instead = stand_in_of(known.traits->own); !instead.empty()) {
        const auto note = note_unnamed(instead, parse->oids, std::move(known));
        build_.clear();
        protocol::byte_writer writer(build_);
        frontend::parse{{}, instead, parse->oids}.encode(writer);
        (void)link_->send({.kind = owed::parse, .tag = tag(purpose::noted), .note = note}, build_);
        return;
    }
    const auto note = note_unnamed(parse->text, parse->oids, std::move(known));
    (void)link_->send({.kind = owed::parse, .tag = tag(purpose::noted), .note = note}, part.bytes);
}

// Makes sure that the server has the statement, with the columns that the client knows.
bool session::may_bind(
    std::string_view name,
    const named_statement* used,
    upstream::statement_copy*& copy
) {
    if (name.empty()) {
        return ensure_unnamed();
    }
    if (used != nullptr) {
        copy = make_fit(*used);
        return copy != nullptr;
    }
    if (pinned_ != routing::pin_reason::none) {
        return true;  // perhaps made by PREPARE; the server knows
    }
    fail_unit(
        sqlstates::invalid_statement_name,
        "prepared statement \"" + std::string(name) + "\" does not exist"
    );
    return false;
}

void session::forward_bind(const frame_part& part) {
    const auto head = frontend::bind_head::decode(part.body());
    if (!head) {
        (void)refuse("invalid message format");
        return;
    }
    const auto* const used = statements_.find(head->statement);
    upstream::statement_copy* copy = nullptr;
    if (!may_bind(head->statement, used, copy)) {
        body_dropped_ = part.kind == part_kind::head && !postponed_;
        return;
    }
    const statement_ptr named = used != nullptr ? used->what : nullptr;
    auto& bound = statements_.bind(head->portal);
    bound.known = named                     ? known_text{named->shape, named->traits, named->asked}
                  : head->statement.empty() ? statements_.unnamed.known
                                            : classifier::unknown();
    bound.settings.clear();
    bound.deallocates = head->statement.empty() && statements_.unnamed.deallocates;
    if (!bound.known.traits->settings.empty() && part.kind == part_kind::whole) {
        bound.settings = settings_from_bind(
            *bound.known.traits,
            named ? named->text : statements_.unnamed.text,
            protocol::as_text(part.body().subspan(head->size))
        );
    }
    bound.untold.clear();
    if (used != nullptr && used->told == 0) {
        bound.untold = head->statement;
        bound.untold_id = named->id;
    }
    ledger_entry entry{.kind = owed::bind, .tag = tag(purpose::client)};
    if (!named) {
        (void)link_->send(entry, part.bytes);
        return;
    }
    entry.object = named->id;
    entry.note = note_use(*used, *copy, {});
    entry.tag = tag(entry.note != 0 ? purpose::noted : purpose::client);
    build_.clear();
    protocol::byte_writer writer(build_);
    const auto rest = part.body().subspan(head->size);
    const auto length = part.length - 1 - head->statement.size() + named->server_name.size();
    writer.u8('B');
    writer.u32(static_cast<std::uint32_t>(length));
    writer.cstring(head->portal);
    writer.cstring(named->server_name);
    writer.bytes(rest);
    (void)link_->send(entry, build_);
}

void session::forward_describe(const frame_part& part) {
    const auto describe = frontend::describe::decode(part.body());
    if (!describe) {
        (void)refuse("invalid message format");
        return;
    }
    if (describe->object == frontend::object::portal) {
        const auto note = note_portal_columns(describe->name);
        const auto what = tag(note != 0 ? purpose::noted : purpose::client);
        (void)link_->send({.kind = owed::describe_portal, .tag = what, .note = note}, part.bytes);
        return;
    }
    ledger_entry entry{.kind = owed::describe_statement, .tag = tag(purpose::client)};
    if (describe->name.empty()) {
        if (ensure_unnamed()) {
            entry.note = note_unnamed_columns();
            entry.tag = tag(entry.note != 0 ? purpose::noted : purpose::client);
            (void)link_->send(entry, part.bytes);
        }
        return;
    }
    const auto* const found = statements_.find(describe->name);
    if (found == nullptr) {
        if (pinned_ != routing::pin_reason::none) {
            (void)link_->send(entry, part.bytes);
            return;
        }
        fail_unit(
            sqlstates::invalid_statement_name,
            "prepared statement \"" + std::string(describe->name) + "\" does not exist"
        );
        return;
    }
    const auto* const copy = make_fit(*found);
    if (copy == nullptr) {
        return;
    }
    const statement_ptr named = found->what;
    entry.object = named->id;
    entry.note = note_use(*found, *copy, describe->name);
    entry.tag = tag(entry.note != 0 ? purpose::noted : purpose::client);
    build_.clear();
    protocol::byte_writer writer(build_);
    frontend::describe{frontend::object::statement, named->server_name}.encode(writer);
    (void)link_->send(entry, build_);
}

void session::forward_execute(const frame_part& part) {
    const auto execute = frontend::execute::decode(part.body());
    if (!execute) {
        (void)refuse("invalid message format");
        return;
    }
    std::uint64_t note = 0;
    if (const auto* bound = statements_.find_portal(execute->portal)) {
        if (bound->deallocates) {
            (void)link_->send({.kind = owed::execute, .tag = tag(purpose::deallocate)}, part.bytes);
            return;
        }
        if (forward_own_execute(*bound, part.bytes)) {
            return;
        }
        leaves_behind(bound->known);
        note = effects_of(bound->known, {}, bound);
    }
    (void)link_->send(
        {.kind = owed::execute,
         .tag = tag(note != 0 ? purpose::noted : purpose::client),
         .note = note},
        part.bytes
    );
}

void session::forward_close(const frame_part& part) {
    const auto close = frontend::close::decode(part.body());
    if (!close) {
        (void)refuse("invalid message format");
        return;
    }
    if (close->object == frontend::object::portal) {
        (void)link_->send({.kind = owed::close, .tag = tag(purpose::client)}, part.bytes);
        return;
    }
    if (close->name.empty()) {
        const auto dropped = drop_unnamed();
        const auto note =
            dropped == 0 ? 0 : take_note({.what = note_record::kind::close, .version = dropped});
        const auto what = tag(note != 0 ? purpose::noted : purpose::client);
        (void)link_->send({.kind = owed::close, .tag = what, .note = note}, part.bytes);
        return;
    }
    auto previous = statements_.erase(close->name);
    if (!previous && pinned_ != routing::pin_reason::none) {
        (void)link_->send({.kind = owed::close, .tag = tag(purpose::client)}, part.bytes);
        return;
    }
    const auto note = take_note(
        {.what = note_record::kind::close,
         .name = std::string(close->name),
         .previous = std::move(previous)}
    );
    (void)link_->answer_locally(purpose::close_complete, note);
}

}  // namespace weir::proxy::client
