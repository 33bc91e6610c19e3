// The lanes of a running migration, what is in them, and up to which position all of it is done.
#pragma once

#include "migration/lane.hpp"
#include "migration/watermark.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

// Threads: give_change(), mark() and await_idle() by the one that reads the stream; the rest by
// any.
class pipeline {
public:
    // Called now and then by whoever waits in here; throws `stopped` to end the wait.
    using while_waiting = std::function<void()>;

    pipeline(std::vector<std::unique_ptr<lane>> lanes, std::uint64_t start);
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;
    ~pipeline();  // ends the lanes

    // `page_done` is called when a page of the copy is complete.
    void start(std::function<void()> page_done);

    // An operation of the stream.
    void give_change(operation&& what, const while_waiting& meanwhile);

    // One of the copy, of verify, or of a command.
    void give(operation&& what, const while_waiting& meanwhile);

    // The same for many, and waits until all are carried out.
    void carry_out(std::vector<operation>&& all, const while_waiting& meanwhile);

    // Every change of the stream before this position has been given.
    void mark(std::uint64_t position);

    // Every change before this position is in the store.
    [[nodiscard]] std::uint64_t reached() const;

    void await_reached(std::uint64_t position, const while_waiting& meanwhile);

    // Until every change that was given is carried out.
    void await_idle(const while_waiting& meanwhile);

    // Whether a lane has ended by itself without a fault, because it may not write any more.
    [[nodiscard]] bool deserted() const;

    // Why a lane has ended by itself.
    [[nodiscard]] std::optional<std::string> failure() const;

    // Tells lanes to end and wakes who waits; does not wait.
    void stop();
    // Waits for the lanes' threads, after stop().
    void join();

private:
    [[nodiscard]] std::size_t lane_of(const operation& what) const;
    void push(std::size_t index, operation&& what, const while_waiting& meanwhile);
    template <typename Condition>
    void await(const Condition& condition, const while_waiting& meanwhile);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    watermark watermark_;
    std::optional<std::string> failure_;
    bool deserted_ = false;
    std::vector<std::unique_ptr<lane>> lanes_;
};

}  // namespace weir::migration
