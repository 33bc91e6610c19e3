// Commits that are answered when the vector store has them (`acknowledge: store`): ReadyForQuery is
// held back until the migration says so, or its time is over.
#include "migration/supervisor.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/diagnostic.hpp"
#include "proxy/client/session.hpp"

#include <utility>

namespace weir::proxy::client {

using protocol::backend::transaction_status;

// Shared with the answer on its way, which may come when the session has gone.
struct session::store_wait {
    session* owner = nullptr;
};

// Nothing of a later unit may be answered before a ReadyForQuery that is held back: so none is sent
// before the one before it has been answered.
bool session::must_wait_for_store() const {
    if (store_wait_) {
        return true;
    }
    return acknowledges_ && link_ && !unit_open_ && !unit_decided_ && !cutter_.in_body() &&
           !link_->owes().empty() && !link_->owes().copy_in();
}

bool session::keeps_ready(transaction_status status) {
    if (!acknowledges_ || !unstored_ || status != transaction_status::idle) {
        return false;
    }
    unstored_ = false;
    store_wait_ = std::make_shared<store_wait>();
    store_wait_->owner = this;
    return true;
}

// Behind ready(): the transaction has been committed, or rolled back, which nobody can tell here
// and which waits for nothing that matters.
void session::ask_store() {
    worker_.shared.await_stored(database_, [state = store_wait_, &home = worker_](bool stored) {
        home.post([state, stored] {
            if (state->owner != nullptr) {
                state->owner->store_answered(stored);
            }
        });
    });
}

void session::store_answered(bool stored) {
    forget_store();
    if (!stored) {
        protocol::diagnostic late;
        late.level = protocol::severity::warning;
        late.code = protocol::sqlstates::warning;
        late.message = "the transaction is committed, but the vector store has not confirmed it";
        late.hint = "MIGRATE STATUS in the console of pgweir tells what the store waits for.";
        build_.clear();
        protocol::byte_writer writer(build_);
        protocol::backend::encode_notice(writer, late);
        peer_->write(build_);
    }
    send_ready();
    peer_->flush();
    if (stopping_ && (!link_ || between_transactions())) {
        kill({errc::shutting_down, {}, std::nullopt});
    }
    if (wake_.waiting()) {
        wake_.notify();
    }
}

void session::forget_store() {
    if (store_wait_) {
        std::exchange(store_wait_, nullptr)->owner = nullptr;
    }
}

}  // namespace weir::proxy::client
