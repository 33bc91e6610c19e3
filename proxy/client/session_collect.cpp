// From bytes to units: what is looked at before anything is sent.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/client/session.hpp"
#include "proxy/client_error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::frame_cutter;
using protocol::frame_part;
using protocol::part_kind;
using protocol::backend::transaction_status;
namespace frontend = protocol::frontend;

// A unit larger than this is not waited for: what has come decides.
constexpr std::size_t unit_max = 256U << 10;

bool known_type(std::uint8_t type) {
    switch (type) {
    case 'Q':
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
    case 'S':
    case 'H':
    case 'F':
    case 'X':
    case 'd':
    case 'c':
    case 'f': return true;
    default: return false;
    }
}

}  // namespace

bool session::forwarding() const noexcept {
    return cutter_.in_body() ||
           (link_ && (unit_decided_ || unit_open_ || pinned_ != routing::pin_reason::none ||
                      link_->status() != transaction_status::idle || link_->owes().copy_in() ||
                      link_->owes().skipping()));
}

// Must what the client says next wait? A unit that is to be sent again comes first.
bool session::held_up() {
    if (retry_.now() == unit_retry::phase::due) {
        input_.put_back(retry_.take());
    }
    return retry_.holds() || must_wait_for_store();
}

session::step session::advance() {
    for (;;) {
        if (broken_ || fatal_ || terminated_) {
            return step::finish;
        }
        if (held_up()) {
            return step::wait_for_answers;
        }
        if (skip_to_sync_) {
            if (const auto next = skip_to_sync(); next != step::obtain) {
                return next;
            }
            continue;
        }
        if (!forwarding()) {
            const auto next = collect();
            if (next != step::obtain || !obtain_at_once()) {
                return next;
            }
            continue;
        }
        if (const auto next = forward_next(); next != step::obtain) {
            return next;
        }
    }
}

// One message to the server. Obtain stands for "go on" here.
session::step session::forward_next() {
    if (link_ && unit_.scanned != 0 && link_->owes().copy_in()) {
        // Collected before the server entered copy mode, in which messages make no units.
        unit_decided_ = false;
        unit_.clear();
    }
    const auto view = input_.view();
    if (view.empty()) {
        return step::read;
    }
    if (!cutter_.in_body() && !known_type(view[0])) {
        return refuse("invalid frontend message type " + std::to_string(view[0]));
    }
    const auto before = cutter_;
    const auto part = cutter_.next(view);
    if (part.kind == part_kind::incomplete) {
        return step::read;
    }
    if (part.kind == part_kind::violation) {
        broken_ = true;
        return step::finish;
    }
    if (link_ && name_unsettled(part)) {
        return step::wait_for_answers;
    }
    forward(part);
    if (std::exchange(postponed_, false)) {
        cutter_ = before;
        return step::wait_for_answers;
    }
    compared_ = 0;
    input_.consume(part.bytes.size());
    if (link_ && link_->out().pending() > stream::high_water) {
        return step::drain_server;
    }
    return step::obtain;
}

session::step session::collect() {
    for (;;) {
        if (unit_.scanned > unit_max) {
            return cut_unit();
        }
        const auto rest = input_.view().subspan(unit_.scanned);
        if (rest.empty()) {
            return step::read;
        }
        if (!known_type(rest[0])) {
            return refuse("invalid frontend message type " + std::to_string(rest[0]));
        }
        // A cutter of its own: the member one counts what is forwarded.
        frame_cutter peek(
            protocol::side::frontend,
            {.whole_text = worker_.config->routing.max_parse_bytes}
        );
        const auto part = peek.next(rest);
        if (part.kind == part_kind::violation) {
            broken_ = true;
            return step::finish;
        }
        // A Bind of moderate size is waited for, so that what runs it and what follows is known.
        if (part.kind == part_kind::incomplete ||
            (part.kind == part_kind::head && part.type == 'B' &&
             unit_.scanned + part.length <= unit_max)) {
            return step::read;
        }
        const auto next = note(part);
        if (next != step::wait_for_answers) {
            return next;
        }
    }
}

// wait_for_answers stands for "go on collecting" here.
session::step session::note(const frame_part& part) {
    if (part.kind == part_kind::head && part.type != 'd') {
        return note_large(part);
    }
    switch (part.type) {
    case 'H':
        if (unit_.scanned == 0) {
            return note_outside_unit(part);
        }
        break;
    case 'X':
    case 'd':
    case 'c':
    case 'f':
        // Inside a unit: what came before goes now, so that it is answered, and the server may
        // begin to copy.
        return unit_.scanned == 0 ? note_outside_unit(part) : cut_unit();
    case 'Q': return note_query(part);
    case 'P': note_parse(part); break;
    case 'B': note_bind(part); break;
    case 'E': unit_.executes = unit_.needs_server = true; break;
    case 'D': unit_.needs_server = true; break;
    case 'C': {
        const bool own_name = part.body().size() > 2 && part.body()[0] == 'S';
        unit_.needs_server = unit_.needs_server || !own_name;
        unit_.known_parses = unit_.known_parses && own_name;
        break;
    }
    case 'F': unit_.write = unit_.executes = unit_.needs_server = true; break;
    default: break;
    }
    if (broken_ || fatal_) {
        return step::finish;
    }
    if (part.type != 'P' && part.type != 'C' && part.type != 'S' && part.type != 'H') {
        unit_.known_parses = false;
    }
    unit_.scanned += part.bytes.size();
    if (part.type == 'S' || part.type == 'F') {
        return unit_complete();
    }
    if (part.type != 'H') {
        return step::wait_for_answers;
    }
    if (!unit_.needs_server && !link_) {
        answer_alone();
        return step::wait_for_answers;
    }
    return cut_unit();
}

// What follows is not known yet. Nothing that ran may have to be undone because a write comes
// behind it.
session::step session::cut_unit() {
    unit_.cut = true;
    unit_.write = unit_.write || unit_.executes;
    return unit_complete();
}

session::step session::note_large(const frame_part& part) {
    unit_.cut = true;
    unit_.needs_server = true;
    unit_.known_parses = false;
    unit_.write = true;  // too large to be looked at; of a Bind, what follows
    if (part.type == 'B') {
        note_bind(part);
    }
    return broken_ || fatal_ ? step::finish : unit_complete();
}

session::step session::note_outside_unit(const frame_part& part) {
    if (part.type == 'X') {
        terminated_ = true;
        return step::finish;
    }
    // Flush, or copy data outside copy mode, which PostgreSQL ignores; a server that may just be
    // entering the mode must see them in their order.
    const auto real = cutter_.next(input_.view());
    body_dropped_ = !link_;
    if (link_) {
        forward(real);
    }
    input_.consume(real.bytes.size());
    return step::wait_for_answers;
}

session::step session::note_query(const frame_part& part) {
    const auto query = frontend::query::decode(part.body());
    if (!query) {
        return refuse("invalid message format");
    }
    unit_.texts.push_back(classify(query->text));
    note_text(unit_.texts.back());
    unit_.executes = unit_.needs_server = true;
    unit_.known_parses = false;
    unit_.scanned += part.bytes.size();
    return unit_complete();
}

void session::note_parse(const frame_part& part) {
    const auto parse = frontend::parse::decode(part.body());
    if (!parse) {
        (void)refuse("invalid message format");
        return;
    }
    unit_.needs_server = true;
    if (unit_.known_parses) {
        auto known = worker_.statements.find({parse->text, parse->oids, search_path()});
        unit_.known_parses =
            known && known->proven && !parse->name.empty() &&
            statements_.find(parse->name) == nullptr &&
            std::none_of(unit_.named.begin(), unit_.named.end(), [&](const auto& other) {
                return other.first == parse->name;
            });
        unit_.known_statements.push_back(std::move(known));
    }
    unit_.texts.push_back(classify(parse->text));
    unit_.named.emplace_back(std::string(parse->name), unit_.texts.size() - 1);
    note_text(unit_.texts.back());
}

void session::note_text(const known_text& what) {
    if (what.traits->own.action != routing::own_action::none) {
        ask_any_server();  // which gets something else in the place of the text
    } else {
        unit_.runs(what);
    }
}

void session::note_bind(const frame_part& part) {
    const auto bind = frontend::bind_head::decode(part.body());
    if (!bind) {
        (void)refuse("invalid message format");
        return;
    }
    unit_.needs_server = true;
    for (auto i = unit_.named.size(); i-- > 0;) {
        if (unit_.named[i].first == bind->statement) {
            return;  // counted at its Parse
        }
    }
    if (bind->statement.empty()) {
        if (statements_.unnamed.version != 0) {
            note_text(statements_.unnamed.known);
        }
        return;
    }
    if (const auto* known = statements_.find(bind->statement)) {
        const auto& what = *known->what;
        note_text({what.shape, what.traits, what.asked});
    }
}

session::step session::unit_complete() {
    if (!unit_.needs_server && !link_ && !unit_.cut) {
        answer_alone();
        return step::wait_for_answers;
    }
    return step::obtain;
}

// Nothing but Close of named statements, Flush and Sync; or, where no server is free, also Parse of
// texts that are known to be good: a driver that prepares while others hold all connections in
// transactions must not wait for them.
void session::answer_alone() {
    constexpr std::array<std::uint8_t, 5> parse_complete{'1', 0, 0, 0, 4};
    constexpr std::array<std::uint8_t, 5> close_complete{'3', 0, 0, 0, 4};
    auto rest = input_.view().first(unit_.scanned);
    std::size_t parses = 0;
    // As in collect(): what was whole there must be whole here.
    frame_cutter cutter(
        protocol::side::frontend,
        {.whole_text = worker_.config->routing.max_parse_bytes}
    );
    while (!rest.empty()) {
        const auto part = cutter.next(rest);
        if (part.type == 'C') {
            if (const auto close = frontend::close::decode(part.body())) {
                statements_.erase(close->name);
                peer_->write(close_complete);
            }
        } else if (part.type == 'P') {
            const auto parse = *frontend::parse::decode(part.body());
            statements_.set(parse.name, {unit_.known_statements[parses++], ++worker_.event});
            peer_->write(parse_complete);
        } else if (part.type == 'S') {
            send_ready();
        }
        rest = rest.subspan(part.bytes.size());
    }
    input_.consume(unit_.scanned);
    unit_.clear();
}

session::step session::skip_to_sync() {
    for (;;) {
        const auto view = input_.view();
        const auto part = cutter_.next(view);
        if (part.kind == part_kind::incomplete) {
            return step::read;
        }
        if (part.kind == part_kind::violation) {
            broken_ = true;
            return step::finish;
        }
        if (part.type == 'X' && part.kind == part_kind::whole) {
            terminated_ = true;
            return step::finish;
        }
        input_.consume(part.bytes.size());
        if (part.last && (skip_query_ || part.type == 'S')) {
            skip_to_sync_ = skip_query_ = false;
            send_ready();
            return step::obtain;  // go on
        }
    }
}

session::step session::refuse(const std::string& why) {
    // As PostgreSQL: FATAL, and the connection ends.
    fatal_ = failure{errc::client_protocol, why, std::nullopt};
    return step::finish;
}

known_text session::classify(std::string_view text) {
    return worker_.classifier.classify(text, standard_strings_);
}

}  // namespace weir::proxy::client
