// A small fast random source for balancing and jitter: xoshiro256++ seeded through splitmix64
// (Blackman and Vigna, public domain algorithms). Not for secrets. One per worker.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace weir::routing {

class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15U;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
            mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
            word = mixed ^ (mixed >> 31U);
        }
    }

    [[nodiscard]] std::uint64_t next() noexcept {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // Uniform in [0, 1).
    [[nodiscard]] double unit() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace weir::routing
