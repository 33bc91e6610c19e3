#include "tests/integration/support/competitor.hpp"

#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <exception>

namespace weir::integration {

competitor::competitor(const endpoint& to, const login& as, unsigned clients) {
    for (unsigned i = 0; i < clients; ++i) {
        threads_.emplace_back([this, to, as, i] { work(to, as, i); });
    }
    const bool started = wait_until([&] {
        const std::lock_guard guard(mutex_);
        return answers_ >= clients || !failure_.empty();
    });
    CHECK_MESSAGE(started, "no competitor got an answer");
}

competitor::~competitor() {
    stop_ = true;
    threads_.clear();
    CHECK_MESSAGE(failure_.empty(), "a competitor: ", failure_);
}

void competitor::work(const endpoint& to, const login& as, unsigned number) {
    try {
        wire_client client(to, as);
        for (unsigned round = 0; !stop_; ++round) {
            const auto token = std::to_string(number) + "/" + std::to_string(round);
            const bool simple = round % 3 == 0;
            const auto came = client.ask(
                simple ? script().query("select '" + token + "'")
                       : script().extended("select $1::text", {token})
            );
            const auto row = came.size() < 3 ? 0 : came.size() - 3;
            const std::string expected = simple ? "T D C Z(I)" : "1 2 T D C Z(I)";
            if (kinds(came) != expected || came[row].column(0) != token) {
                throw std::runtime_error("expected " + token + ", got " + details(came));
            }
            ++answers_;
        }
    } catch (const std::exception& error) {
        const std::lock_guard guard(mutex_);
        if (failure_.empty()) {
            failure_ = error.what();
        }
    }
}

}  // namespace weir::integration
