#include "migration/capture/wal_source.hpp"

#include "migration/capture/pgoutput.hpp"
#include "migration/time_codec.hpp"

#include <utility>

namespace weir::migration {

wal_source::wal_source(const plan& what, translator::membership ask, std::uint32_t history)
    : plan_(what),
      ask_(std::move(ask)),
      history_(history),
      translator_(std::in_place, what, history, ask_) {}

std::optional<sql_error>
wal_source::open(const source_address& where, const start_request& request) {
    if (auto error = stream_.connect(where)) {
        return error;
    }
    auto server = stream_.identify();
    if (!server) {
        return server.error();
    }
    server_ = *server;
    translator_.emplace(plan_, history_ + server_.timeline, ask_);
    ready_.clear();
    taken_ = 0;
    return stream_.start(request);
}

void wal_source::set_relation(std::uint32_t oid, bool ours) {
    translator_->set_relation(oid, ours);
}

source_event wal_source::next(time_point deadline) {
    for (;;) {
        if (taken_ < ready_.size()) {
            return take_ready();
        }
        auto event = stream_.next(deadline);
        if (auto* error = std::get_if<sql_error>(&event)) {
            return std::move(*error);
        }
        if (std::holds_alternative<nothing>(event)) {
            return nothing{};
        }
        if (const auto* alive = std::get_if<keepalive>(&event)) {
            // The server sends keepalives within a transaction too, when that takes long.
            if (!translator_->in_transaction()) {
                return caught_up{.position = alive->end};
            }
            continue;
        }
        auto made = decode(std::get<wal_message>(event));
        if (!std::holds_alternative<nothing>(made)) {
            return made;
        }
        // Rows of other relations may come for long.
        if (ready_.empty() && std::chrono::steady_clock::now() >= deadline) {
            return nothing{};
        }
    }
}

// `nothing` when the message asks for nothing, or for changes that stand in ready_.
source_event wal_source::decode(const wal_message& from) {
    const auto message = pgoutput::decode(from.bytes);
    if (!message) {
        return sql_error{"08P01", stream_.address() + ": pgoutput: " + message.error().message()};
    }
    ready_.clear();
    taken_ = 0;
    if (auto fault = translator_->feed(*message, ready_)) {
        return sql_error{"08P01", stream_.address() + ": pgoutput: " + *fault};
    }
    if (const auto* commit = std::get_if<pgoutput::commit>(&*message)) {
        return transaction_end{
            .position = commit->end_lsn,
            .transaction = translator_->transaction().transaction,
            .committed_at = time_of_timestamp(commit->committed_at)};
    }
    return nothing{};
}

source_event wal_source::take_ready() {
    return std::move(ready_[taken_++]);
}

void wal_source::confirm(std::uint64_t position, bool at_once) noexcept {
    stream_.confirm(position);
    if (at_once) {
        stream_.confirm_now();
    }
}

}  // namespace weir::migration
