// Wakes a thread that waits in poll(2).
#pragma once

namespace weir::migration {

// signal() may be called from any thread and from a signal handler.
class wakeup {
public:
    wakeup();  // throws std::system_error without a free descriptor
    ~wakeup();
    wakeup(const wakeup&) = delete;
    wakeup& operator=(const wakeup&) = delete;

    void signal() const noexcept;
    // Forgets the signals so far.
    void drain() const noexcept;

    // Readable after a signal.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace weir::migration
