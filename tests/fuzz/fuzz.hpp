// What the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput; a claim that
// does not hold ends the process, and the fuzzer keeps the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace weir::fuzz {

inline void claim(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        std::abort();
    }
}

// Takes numbers and pieces off the front of an input; zeros behind its end.
class input {
public:
    explicit input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    [[nodiscard]] std::uint8_t byte() {
        if (rest_.empty()) {
            return 0;
        }
        const auto value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }

    [[nodiscard]] std::span<const std::uint8_t> piece(std::size_t most) {
        const auto taken = rest_.first(most < rest_.size() ? most : rest_.size());
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

    // Up to a byte of 255, which is left out.
    [[nodiscard]] std::string_view text() {
        std::size_t size = 0;
        while (size < rest_.size() && rest_[size] != 255) {
            ++size;
        }
        const auto taken = piece(size);
        (void)byte();
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }

    [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
