#include "tests/integration/support/wait.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace weir::integration {

bool wait_until(const std::function<bool()>& done, milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= until) {
            return done();
        }
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

int left_ms(time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
}

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        throw std::runtime_error(std::string(name) + " is not set");
    }
    return value;
}

bool long_form() {
    return std::getenv("PGWEIR_LONG") != nullptr;
}

}  // namespace weir::integration
