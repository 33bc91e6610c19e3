// Clients that want servers all the while, beside the one a test looks at: each runs short
// statements with a token of its own and checks that it gets that token back.
#pragma once

#include "tests/integration/support/libpq.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {

class competitor {
public:
    // Returns when every client has had its first answer.
    competitor(const endpoint& to, const login& as, unsigned clients = 1);
    // A failed check when a client got something else than its own, or nothing.
    ~competitor();

    competitor(const competitor&) = delete;
    competitor& operator=(const competitor&) = delete;

    [[nodiscard]] unsigned long answers() const noexcept { return answers_; }

private:
    void work(const endpoint& to, const login& as, unsigned number);

    std::atomic<bool> stop_ = false;
    std::atomic<unsigned long> answers_ = 0;
    std::mutex mutex_;
    std::string failure_;  // the first one
    std::vector<std::jthread> threads_;
};

}  // namespace weir::integration
