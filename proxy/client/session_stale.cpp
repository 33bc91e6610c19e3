// Statements whose tables have changed since their Parse. PostgreSQL refuses them with 0A000,
// "cached plan must not change result type", for ever. Copies on servers are shared, so whose
// Parse was when decides who gets that error:
//  - A client that has been told the columns of its statement uses a copy with these columns or
//    gets the error, whatever the server at hand thinks.
//  - A client that has not, and prepared behind the last use that the copy is known to have stood,
//    gets no error: where nothing has run yet the unit is sent again with a new copy, elsewhere the
//    copy is replaced before its use.
//  - Any other one prepared when the copy was good, so the server's error is its own.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/client/session.hpp"

#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::answer_to;
using protocol::owed;
using protocol::backend::transaction_status;
using upstream::purpose;
using upstream::tag;
namespace frontend = protocol::frontend;
using namespace std::string_view_literals;

}  // namespace

// Null: the message at hand cannot be sent, or not yet.
upstream::statement_copy* session::make_fit(const named_statement& used) {
    const auto& what = used.what;
    auto* const copy = link_->statements.use(what->id);
    if (used.told == 0) {
        if (copy == nullptr) {
            worker_.probe.prepared_replayed();
            (void)link_->replay(what);
            return link_->statements.use(what->id);
        }
        if (used.parsed_at > copy->good_at && !may_send_again()) {
            (void)link_->renew(what);
            return link_->statements.use(what->id);
        }
        return copy;
    }
    if (copy != nullptr && copy->result == used.told) {
        return copy;
    }
    if (compared_ == what->id) {
        fail_changed();
        return nullptr;
    }
    worker_.probe.prepared_replayed();
    (void)link_->renew(what);
    ask_columns(what->server_name, {.what = note_record::kind::compare, .object = what->id});
    compared_ = what->id;
    return nullptr;
}

// The unnamed statement has just been put on this server again. True: its Bind must wait.
bool session::compare_unnamed() {
    const auto& unnamed = statements_.unnamed;
    if (unnamed.told == 0) {
        return false;
    }
    ask_columns(
        {},
        {.what = note_record::kind::compare, .of_unnamed = true, .object = unnamed.version}
    );
    return true;
}

void session::ask_columns(std::string_view server_name, note_record&& record) {
    const auto note = take_note(std::move(record));
    build_.clear();
    protocol::byte_writer writer(build_);
    frontend::describe{frontend::object::statement, server_name}.encode(writer);
    (void)link_->send(
        {.kind = owed::describe_statement,
         .to = answer_to::client_if_error,
         .tag = tag(purpose::compare),
         .note = note},
        build_
    );
    build_.clear();
    frontend::encode_empty(writer, frontend::kind::flush);
    link_->send_unanswered(build_);
    postponed_ = true;
}

// May what is being sent be taken back, if the server refuses it: is it outside a transaction and
// whole, has nothing run in it, and is nothing else under way?
bool session::may_send_again() const {
    return unit_decided_ && !unit_.cut && !unit_runs_ && retry_.now() == unit_retry::phase::off &&
           link_->status() == transaction_status::idle && link_->owes().ready_owed() == 0 &&
           link_->out().pending() + unit_.scanned < stream::high_water;
}

// Of a Bind, or of the Describe of the statement with that name, about to be sent. 0: its outcome
// does not matter.
std::uint64_t session::note_use(
    const named_statement& used,
    const upstream::statement_copy& copy,
    std::string_view described
) {
    const bool doubtful = used.told == 0 && used.parsed_at > copy.good_at;
    const bool tells = used.told == 0 && !described.empty();
    if (!doubtful && !tells) {
        return 0;
    }
    const auto note = take_note(
        {.what = tells ? note_record::kind::describe : note_record::kind::use,
         .name = std::string(described),
         .object = used.what->id,
         .sent_at = ++worker_.event}
    );
    if (doubtful) {
        retry_.guard(note);
    }
    return note;
}

std::uint64_t session::note_portal_columns(std::string_view portal) {
    const auto* const bound = statements_.find_portal(portal);
    if (bound == nullptr || bound->untold.empty()) {
        return 0;
    }
    const auto* const used = statements_.find(bound->untold);
    if (used == nullptr || used->told != 0 || used->what->id != bound->untold_id) {
        return 0;
    }
    return take_note(
        {.what = note_record::kind::describe, .name = bound->untold, .object = bound->untold_id}
    );
}

std::uint64_t session::note_unnamed_columns() {
    const auto& unnamed = statements_.unnamed;
    if (unnamed.told != 0) {
        return 0;
    }
    return take_note(
        {.what = note_record::kind::describe, .of_unnamed = true, .object = unnamed.version}
    );
}

// The server has accepted a use, or described what it has.
void session::note_columns(const note_record& record, protocol::bytes_view frame) {
    const bool tells = record.what == note_record::kind::describe;
    const auto columns = record.what == note_record::kind::use ? result_digest{} : digest_of(frame);
    if (record.of_unnamed) {
        auto& unnamed = statements_.unnamed;
        if (unnamed.version != record.object) {
            return;
        }
        if (tells) {
            unnamed.told = columns;
        } else {
            unnamed.changed = unnamed.told != columns;
        }
        return;
    }
    link_->statements.accepted(record.object, record.sent_at);
    if (columns != 0) {
        link_->statements.described(record.object, columns);
    }
    auto* const used = tells ? statements_.find(record.name) : nullptr;
    if (used != nullptr && used->what->id == record.object) {
        used->told = columns;
    }
}

// The error as the server would word it; drivers look at the routine.
void session::fail_changed() {
    std::vector<std::uint8_t> text;
    protocol::byte_writer writer(text);
    constexpr auto fields =
        "SERROR\0VERROR\0C0A000\0Mcached plan must not change result type\0Fplancache.c\0"
        "RRevalidateCachedQuery\0\0"sv;
    protocol::backend::response_fields{fields}.encode(
        writer,
        protocol::backend::kind::error_response
    );
    link_->fail_unit(std::move(text));
}

}  // namespace weir::proxy::client
