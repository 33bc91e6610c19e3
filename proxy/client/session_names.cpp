// Names of prepared statements on their way to the server: the client's own become the proxy's, and
// what the server lacks is put in front.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/client/session.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::answer_to;
using protocol::frame_part;
using protocol::owed;
using protocol::part_kind;
using protocol::backend::transaction_status;
using upstream::purpose;
using upstream::tag;
namespace frontend = protocol::frontend;
namespace sqlstates = protocol::sqlstates;

// All that may be prepared in one.
bool leaves_failed_transaction(const routing::traits& what) {
    return what.ends_transaction || what.kind == routing::statement_kind::rollback_to;
}

std::vector<std::uint8_t> error_response(protocol::sqlstate code, std::string message) {
    std::vector<std::uint8_t> text;
    protocol::byte_writer writer(text);
    protocol::diagnostic what;
    what.code = code;
    what.message = std::move(message);
    protocol::backend::encode_error(writer, what);
    return text;
}

}  // namespace

void session::fail_unit(protocol::sqlstate code, std::string message) {
    link_->fail_unit(error_response(code, std::move(message)));
}

// A name whose Parse or Close belongs to an earlier unit and has not been answered: whether the
// name is there is not known yet.
bool session::name_unsettled(const frame_part& part) const {
    if (notes_.empty() || part.kind != part_kind::whole) {
        return false;
    }
    std::string_view name;
    if (part.type == 'P') {
        const auto parse = frontend::parse::decode(part.body());
        name = parse ? parse->name : std::string_view{};
    } else if (part.type == 'B') {
        const auto bind = frontend::bind_head::decode(part.body());
        name = bind ? bind->statement : std::string_view{};
    } else if (part.type == 'D') {
        const auto describe = frontend::describe::decode(part.body());
        name = describe && describe->object == frontend::object::statement ? describe->name
                                                                           : std::string_view{};
    }
    if (name.empty()) {
        return false;
    }
    auto number = first_note_;
    return std::any_of(notes_.begin(), notes_.end(), [&](const note_record& note) {
        const bool named =
            note.what == note_record::kind::parse || note.what == note_record::kind::close;
        return number++ < unit_first_note_ && !note.done && named && note.name == name;
    });
}

void session::forward_named_parse(const frame_part& part) {
    const auto parse = *frontend::parse::decode(part.body());
    auto known = next_text(parse.text);
    if (statements_.find(parse.name) != nullptr) {
        link_->fail_parse(error_response(
            sqlstates::duplicate_statement,
            "prepared statement \"" + std::string(parse.name) + "\" already exists"
        ));
        return;
    }
    if (fail_own_parse(known, parse.text)) {
        return;
    }
    const statement_registry::request wanted{parse.text, parse.oids, search_path()};
    auto shared = worker_.statements.find(wanted);
    if (!shared) {
        auto instead = stand_in_of(known.traits->own);
        shared =
            worker_.statements
                .add(wanted, known.shape, std::move(known.traits), known.asked, std::move(instead));
    }
    if (!shared) {
        fail_unit(
            sqlstates::limit_exceeded,
            "too many prepared statement texts are held; see routing.statement_cache"
        );
        return;
    }
    const bool there = link_->statements.use(shared->id) != nullptr;
    if (there && link_->status() == transaction_status::failed && link_->owes().empty() &&
        !leaves_failed_transaction(*shared->traits)) {
        link_->fail_parse(error_response(sqlstates::in_failed_transaction, "transaction failed"));
        return;
    }
    const auto note = take_note(
        {.what = note_record::kind::parse,
         .name = std::string(parse.name),
         .traits = shared->traits}
    );
    statements_.set(parse.name, {shared, ++worker_.event});
    if (there) {
        (void)link_->answer_locally(purpose::parse_complete, note);
        return;
    }
    link_->prepare_parse(shared);
    build_.clear();
    protocol::byte_writer writer(build_);
    frontend::parse{shared->server_name, shared->to_send(), parse.oids}.encode(writer);
    (void)link_->send(
        {.kind = owed::parse, .tag = tag(purpose::noted), .note = note, .object = shared->id},
        build_
    );
}

bool session::ensure_unnamed() {
    const auto& unnamed = statements_.unnamed;
    if (unnamed.version == 0) {
        fail_unit(sqlstates::invalid_statement_name, "unnamed prepared statement does not exist");
        return false;
    }
    if (unnamed.changed) {
        fail_changed();
        return false;
    }
    if (link_->unnamed_owner == unnamed.version) {
        return true;
    }
    link_->unnamed_owner = unnamed.version;
    build_.clear();
    protocol::byte_writer writer(build_);
    frontend::parse{{}, unnamed.text, unnamed.oids}.encode(writer);
    const bool sent = link_->send(
        {.kind = owed::parse, .to = answer_to::client_if_error, .tag = tag(purpose::replay)},
        build_
    );
    return sent && !compare_unnamed();
}

// A Query or a Close drops the unnamed statement, unless an error before it in its unit makes the
// server ignore it. Where that may be, and the server has the statement, its own answers tell, and
// the version to forget behind them is returned; 0 when nothing is left to do.
std::uint64_t session::drop_unnamed() {
    const auto version = statements_.unnamed.version;
    if (version != 0 && link_->unnamed_owner == version && !link_->owes().empty()) {
        return version;
    }
    statements_.drop_unnamed();
    link_->unnamed_owner = 0;
    return 0;
}

void session::forget_unnamed(std::uint64_t version) {
    if (statements_.unnamed.version == version) {
        statements_.drop_unnamed();
    }
    if (link_ && link_->unnamed_owner == version) {
        link_->unnamed_owner = 0;
    }
}

// A Parse of the unnamed statement was ignored: the one before it is still there.
void session::take_back_unnamed(note_record& record) {
    if (statements_.unnamed.version == record.version) {
        statements_.unnamed = std::move(*record.before);
        if (link_ && link_->unnamed_owner == record.version) {
            link_->unnamed_owner = record.server_had_it ? statements_.unnamed.version : 0;
        }
        return;
    }
    // A later one has replaced it already, and may be ignored as well.
    for (auto& later : notes_) {
        if (later.before && later.before->version == record.version) {
            later.before = std::move(record.before);
            later.server_had_it = record.server_had_it;
            return;
        }
    }
}

}  // namespace weir::proxy::client
