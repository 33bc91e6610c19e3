// The prepared statements of a connection: bringing one, replacing one, making room.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/worker_context.hpp"

#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::answer_to;
using protocol::ledger_entry;
using protocol::owed;
namespace frontend = protocol::frontend;

}  // namespace

bool connection::replay(const statement_ptr& wanted) {
    if (ledger_.skipping()) {
        return false;
    }
    prepare_parse(wanted);
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::parse{wanted->server_name, wanted->to_send(), wanted->oids}.encode(writer);
    return send(
        {.kind = owed::parse,
         .to = answer_to::client_if_error,
         .tag = tag(purpose::replay),
         .object = wanted->id},
        scratch_out_
    );
}

bool connection::renew(const statement_ptr& wanted) {
    if (auto old = ledger_.skipping() ? nullptr : statements.remove(wanted->id)) {
        close_on_server(std::move(old));
    }
    return replay(wanted);
}

void connection::prepare_parse(const statement_ptr& wanted) {
    const auto stale = stale_statements_.find(wanted->id);
    if (stale != stale_statements_.end()) {
        auto gone = std::move(stale->second);
        stale_statements_.erase(stale);
        close_on_server(std::move(gone));
    }
    if (auto oldest = statements.evict()) {
        close_on_server(std::move(oldest));
    }
    statements.add(wanted, ++worker_.event);
}

void connection::close_on_server(statement_ptr gone) {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::close{frontend::object::statement, gone->server_name}.encode(writer);
    const ledger_entry entry{
        .kind = owed::close,
        .to = answer_to::nobody,
        .tag = tag(purpose::replay),
        .object = gone->id};
    if (send(entry, scratch_out_)) {
        closing_[gone->id] = std::move(gone);
    } else {
        statements.add(std::move(gone));
    }
}

std::vector<statement_ptr> connection::take_statements() {
    auto taken = statements.all();
    for (auto& [id, stale] : stale_statements_) {
        taken.push_back(stale);
    }
    forget_statements();
    return taken;
}

void connection::restore_statements(const std::vector<statement_ptr>& copies) {
    for (const auto& each : copies) {
        if (!statements.use(each->id)) {
            statements.add(each);
        }
    }
}

void connection::forget_statements() {
    statements.clear();
    stale_statements_.clear();
    unnamed_owner = 0;
}

}  // namespace weir::proxy::upstream
