#include "migration/capture/wakeup.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace weir::migration {

wakeup::wakeup() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (descriptor_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

wakeup::~wakeup() {
    close(descriptor_);
}

void wakeup::signal() const noexcept {
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then it is readable as it is.
    [[maybe_unused]] const auto size = write(descriptor_, &one, sizeof one);
}

void wakeup::drain() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = read(descriptor_, &count, sizeof count);
}

}  // namespace weir::migration
