#include "migration/pipeline.hpp"

#include <functional>
#include <utility>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 100ms;

}  // namespace

pipeline::pipeline(std::vector<std::unique_ptr<lane>> lanes, std::uint64_t start)
    : watermark_(lanes.size(), start), lanes_(std::move(lanes)) {}

pipeline::~pipeline() {
    stop();
    lanes_.clear();
}

void pipeline::start(std::function<void()> page_done) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i]->start(
            [this, i, page_done](std::uint64_t ticket, bool page_complete) {
                {
                    const std::lock_guard lock(mutex_);
                    if (ticket != 0) {
                        watermark_.done(i, ticket);
                    }
                }
                changed_.notify_all();
                if (page_complete) {
                    page_done();
                }
            },
            [this](const std::string& reason) {
                {
                    const std::lock_guard lock(mutex_);
                    if (reason.empty()) {
                        deserted_ = true;
                    } else {
                        failure_ = reason;
                    }
                }
                changed_.notify_all();
            }
        );
    }
}

std::size_t pipeline::lane_of(const operation& what) const {
    return std::hash<std::string>{}(identity(what.document.key)) % lanes_.size();
}

void pipeline::push(std::size_t index, operation&& what, const while_waiting& meanwhile) {
    while (!lanes_[index]->push(what, patience)) {
        if (const auto why = failure()) {
            throw std::runtime_error(*why);
        }
        meanwhile();
    }
}

void pipeline::give_change(operation&& what, const while_waiting& meanwhile) {
    const auto index = lane_of(what);
    {
        const std::lock_guard lock(mutex_);
        what.ticket = watermark_.give(index);
    }
    push(index, std::move(what), meanwhile);
}

void pipeline::give(operation&& what, const while_waiting& meanwhile) {
    push(lane_of(what), std::move(what), meanwhile);
}

void pipeline::carry_out(std::vector<operation>&& all, const while_waiting& meanwhile) {
    if (all.empty()) {
        return;
    }
    const auto group = std::make_shared<receipt>(all.size());
    for (auto& one : all) {
        one.page = group;
        give(std::move(one), meanwhile);
    }
    await([&] { return group->complete(); }, meanwhile);
}

void pipeline::mark(std::uint64_t position) {
    {
        const std::lock_guard lock(mutex_);
        watermark_.mark(position);
    }
    changed_.notify_all();
}

std::uint64_t pipeline::reached() const {
    const std::lock_guard lock(mutex_);
    return watermark_.reached();
}

template <typename Condition>
void pipeline::await(const Condition& condition, const while_waiting& meanwhile) {
    std::unique_lock lock(mutex_);
    while (!condition()) {
        if (failure_) {
            throw std::runtime_error(*failure_);
        }
        changed_.wait_for(lock, patience);
        lock.unlock();
        meanwhile();
        lock.lock();
    }
}

void pipeline::await_reached(std::uint64_t position, const while_waiting& meanwhile) {
    await([&] { return watermark_.reached() >= position; }, meanwhile);
}

void pipeline::await_idle(const while_waiting& meanwhile) {
    await([&] { return watermark_.idle(); }, meanwhile);
}

bool pipeline::deserted() const {
    const std::lock_guard lock(mutex_);
    return deserted_;
}

std::optional<std::string> pipeline::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

void pipeline::stop() {
    for (const auto& each : lanes_) {
        each->stop();
    }
    changed_.notify_all();
}

void pipeline::join() {
    for (const auto& each : lanes_) {
        each->join();
    }
}

}  // namespace weir::migration
