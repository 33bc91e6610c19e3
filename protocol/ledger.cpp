#include "protocol/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::protocol {
namespace {

constexpr bool owes_ready(owed kind) {
    return kind == owed::sync || kind == owed::query || kind == owed::function_call;
}

constexpr bool extended(owed kind) {
    return kind == owed::parse || kind == owed::bind || kind == owed::describe_statement ||
           kind == owed::describe_portal || kind == owed::execute || kind == owed::close;
}

// Whether `type` ends the answer to an extended-protocol message of `kind`.
constexpr bool ends(owed kind, std::uint8_t type) {
    switch (kind) {
    case owed::parse: return type == '1';
    case owed::bind: return type == '2';
    case owed::close: return type == '3';
    case owed::describe_statement:
    case owed::describe_portal: return type == 'T' || type == 'n';
    case owed::execute: return type == 'C' || type == 'I' || type == 's';
    default: return false;
    }
}

// Whether `type` may come while the front of the ledger is of `kind`, errors and ends apart.
constexpr bool belongs(owed kind, std::uint8_t type) {
    const bool data = type == 'D' || type == 'G' || type == 'H' || type == 'd' || type == 'c';
    switch (kind) {
    case owed::describe_statement: return type == 't';
    case owed::execute: return data;
    case owed::query: return data || type == 'C' || type == 'I' || type == 'T';
    case owed::function_call: return type == 'V';
    default: return false;
    }
}

constexpr verdict disposition(answer_to to) {
    switch (to) {
    case answer_to::client:
    case answer_to::reworded: return verdict::forward;
    case answer_to::replace: return verdict::replace;
    case answer_to::client_if_error:
    case answer_to::nobody: break;
    }
    return verdict::swallow;
}

}  // namespace

bool ledger::push(const ledger_entry& entry) {
    if (skipping_) {
        if (entry.kind != owed::sync) {
            return false;
        }
        skipping_ = false;
    }
    if (entry.kind == owed::copy_end) {
        // The end of a copy that is known to run has nothing left to be matched with; outside copy
        // mode the server ignores it.
        if (std::exchange(copy_in_, false) || empty()) {
            return true;
        }
    } else if (entry.kind != owed::sync && entry.kind != owed::local) {
        copy_in_ = false;  // makes a running copy fail, so the next Sync will be answered
    }
    entries_.push_back(entry);
    return true;
}

ledger_outcome ledger::on_message(std::uint8_t type, std::vector<ledger_entry>& dropped) {
    ledger_outcome outcome;
    if (empty() || front().kind == owed::local) {
        return outcome;
    }
    outcome.entry = front();
    const owed kind = outcome.entry.kind;
    outcome.what = disposition(outcome.entry.to);
    if (type == 'E') {
        outcome.failed = true;
        if (outcome.entry.to == answer_to::client_if_error) {
            outcome.what = verdict::forward;
        }
        copy_in_ = false;
        if (extended(kind)) {
            outcome.completed = true;
            pop();
            skip_to_sync(dropped);
        }
        return outcome;
    }
    if (outcome.what == verdict::replace) {
        // Only the error is replaced; of a Query the end is the client's all the same.
        outcome.what = type == 'Z' ? verdict::forward : verdict::swallow;
    }
    if (type == 'Z' && owes_ready(kind)) {
        outcome.completed = true;
        copy_in_ = false;
        pop();
    } else if (ends(kind, type)) {
        outcome.completed = true;
        pop();
    } else if (!belongs(kind, type)) {
        outcome.what = verdict::violation;
    } else if (type == 'G') {
        enter_copy_in();
    }
    return outcome;
}

bool ledger::take_local(ledger_entry& entry) {
    if (empty() || front().kind != owed::local) {
        return false;
    }
    entry = front();
    pop();
    return true;
}

void ledger::hush_front() noexcept {
    entries_[head_].to = answer_to::nobody;
}

void ledger::orphan() noexcept {
    for (auto i = head_; i < entries_.size(); ++i) {
        entries_[i].to = answer_to::nobody;
    }
}

std::size_t ledger::ready_owed() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        entries_.begin() + static_cast<std::ptrdiff_t>(head_),
        entries_.end(),
        [](const ledger_entry& e) { return owes_ready(e.kind); }
    ));
}

void ledger::pop() {
    ++head_;
    while (!empty() && front().kind == owed::copy_end) {
        ++head_;
    }
    if (empty()) {
        entries_.clear();
        head_ = 0;
    } else if (head_ >= 64 && head_ * 2 >= entries_.size()) {
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }
}

void ledger::skip_to_sync(std::vector<ledger_entry>& dropped) {
    while (!empty() && front().kind != owed::sync) {
        dropped.push_back(front());
        ++head_;
    }
    if (empty()) {
        entries_.clear();
        head_ = 0;
        skipping_ = true;
    }
}

void ledger::enter_copy_in() {
    // The Execute of the COPY (or the Query) stays in front. What was sent behind it: Syncs, which
    // are ignored, then the end of the copy, or a message that makes it fail, whose Sync counts.
    // Answers of the proxy's own are not on the wire.
    auto next = entries_.begin() + static_cast<std::ptrdiff_t>(head_) + 1;
    while (next != entries_.end() && (next->kind == owed::sync || next->kind == owed::local)) {
        next = next->kind == owed::sync ? entries_.erase(next) : std::next(next);
    }
    copy_in_ = next == entries_.end();
    if (!copy_in_ && next->kind == owed::copy_end) {
        entries_.erase(next);
    }
}

}  // namespace weir::protocol
