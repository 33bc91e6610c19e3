#include "migration/copier.hpp"

#include <chrono>
#include <deque>
#include <utility>

namespace weir::migration {
namespace {

constexpr std::chrono::milliseconds patience{100};

}  // namespace

copier::copier(
    const plan& what,
    const source_servers& servers,
    version at,
    std::vector<copy_range> ranges,
    std::size_t page_rows,
    ways how
)
    : plan_(what), servers_(servers), at_(at), page_rows_(page_rows), ways_(std::move(how)) {
    for (auto& range : ranges) {
        if (!range.done) {
            waiting_.push_back(std::move(range));
        }
    }
    unfinished_ = waiting_.size();
}

copier::~copier() {
    stop();
    join();
}

void copier::join() {
    for (auto& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

void copier::start(std::size_t connections) {
    if (unfinished_ == 0) {
        ways_.finished();
        return;
    }
    for (std::size_t i = 0; i < connections && i < unfinished_; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

void copier::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
}

void copier::page_done() {
    // Taking the lock orders this with a waiter between its look and its sleep.
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
}

void copier::hold(const std::function<void()>& meanwhile) {
    std::unique_lock lock(mutex_);
    held_ = true;
    const auto settled = [&] { return stopping_ || pages_open_ == 0; };
    while (!changed_.wait_for(lock, patience, settled)) {
        lock.unlock();
        meanwhile();  // nobody writes the pages any more if a lane has ended
        lock.lock();
    }
    if (stopping_) {
        throw stopped();
    }
}

void copier::release() {
    {
        const std::lock_guard lock(mutex_);
        held_ = false;
    }
    changed_.notify_all();
}

// Not while pages are held, unless it may wait. A thread that waits must have no page open, or
// hold() would wait for it.
bool copier::begin_page(bool may_wait) {
    std::unique_lock lock(mutex_);
    if (may_wait) {
        changed_.wait(lock, [&] { return stopping_ || !held_; });
    }
    if (stopping_) {
        throw stopped();
    }
    if (held_) {
        return false;
    }
    ++pages_open_;
    return true;
}

void copier::end_page() {
    {
        const std::lock_guard lock(mutex_);
        --pages_open_;
    }
    changed_.notify_all();
}

void copier::await(const page& what) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !what.receipt || what.receipt->complete(); });
    if (stopping_) {
        throw stopped();
    }
}

copier::page copier::read_and_give(source_reader& reader, const key_range& keys) {
    auto read = reader.read_page(keys, page_rows_);
    page made{.receipt = {}, .last = std::move(read.last), .rows = read.rows.size()};
    std::vector<operation> all;
    for (auto& row : read.rows) {
        for (auto& one : operations_of_copied(plan_, std::move(row), at_)) {
            all.push_back(std::move(one));
        }
    }
    if (!all.empty()) {
        made.receipt = std::make_shared<receipt>(all.size());
    }
    for (auto& one : all) {
        one.page = made.receipt;
        ways_.give(std::move(one));
    }
    return made;
}

// The next page is read while the one before it is written.
void copier::copy(source_reader& reader, copy_range range) {
    std::deque<page> open;
    auto keys = range.keys;
    if (range.last) {
        keys.low = range.last;
    }
    const auto settle = [&] {
        await(open.front());
        range.rows += open.front().rows;
        range.last = std::move(open.front().last);
        range.done = !range.last;
        end_page();
        open.pop_front();
        const std::lock_guard lock(noting_);
        ways_.note_progress(range);
    };
    for (bool more = true; more;) {
        if (!begin_page(false)) {
            while (!open.empty()) {
                settle();
            }
            (void)begin_page(true);
        }
        open.push_back(read_and_give(reader, keys));
        more = open.back().last.has_value();
        if (more) {
            keys.low = open.back().last;
        }
        if (open.size() == 2) {
            settle();
        }
    }
    while (!open.empty()) {
        settle();
    }
}

bool copier::claim(copy_range& into) {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.empty()) {
        return false;
    }
    into = waiting_.back();
    waiting_.pop_back();
    return true;
}

void copier::run() {
    try {
        source_reader reader(plan_, servers_);
        for (copy_range range; claim(range);) {
            copy(reader, range);
            bool last = false;
            {
                const std::lock_guard lock(mutex_);
                last = --unfinished_ == 0;
            }
            if (last) {
                ways_.finished();
            }
        }
    } catch (const stopped&) {
        return;
    } catch (const std::exception& error) {
        ways_.failed(error.what());
    }
}

}  // namespace weir::migration
