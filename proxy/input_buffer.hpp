// Bytes received and not yet used. As long as a connection has none, it owns no memory: it reads
// into its worker's scratch space, and only a rest that must survive a wait is copied.
//
// Rule: call keep() before any co_await while view() may still be needed.
#pragma once

#include "protocol/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace weir::proxy {

class input_buffer {
public:
    explicit input_buffer(std::span<std::uint8_t> scratch) noexcept : scratch_(scratch) {}

    [[nodiscard]] protocol::bytes_view view() const noexcept { return view_; }

    [[nodiscard]] bool empty() const noexcept { return view_.empty(); }

    void consume(std::size_t n) noexcept { view_ = view_.subspan(n); }

    // Makes the unused bytes independent of the scratch space.
    void keep() {
        if (view_.empty()) {
            if (own_.capacity() > small) {
                std::vector<std::uint8_t>().swap(own_);
            }
            return;
        }
        if (owns(view_)) {
            return;
        }
        own_.assign(view_.begin(), view_.end());
        view_ = own_;
    }

    // Room to receive into, behind the unused bytes. Follow with received().
    [[nodiscard]] std::span<std::uint8_t> prepare() {
        const std::size_t rest = view_.size();
        if (rest <= scratch_.size() / 2) {
            if (rest != 0) {
                std::memmove(scratch_.data(), view_.data(), rest);
            }
            base_ = scratch_;
        } else {
            if (owns(view_)) {
                std::memmove(own_.data(), view_.data(), rest);
            } else {
                own_.assign(view_.begin(), view_.end());
            }
            own_.resize(std::max(own_.capacity(), rest * 2));
            base_ = own_;
        }
        view_ = base_.first(rest);
        return base_.subspan(rest);
    }

    // As prepare(), but in memory of this connection's own: for reads that are under way while
    // others use the scratch.
    [[nodiscard]] std::span<std::uint8_t> prepare_own(std::size_t room) {
        const std::size_t rest = view_.size();
        if (rest != 0 && owns(view_)) {
            std::memmove(own_.data(), view_.data(), rest);
        } else if (rest != 0) {
            own_.assign(view_.begin(), view_.end());
        }
        own_.resize(rest + room);
        base_ = own_;
        view_ = base_.first(rest);
        return base_.subspan(rest);
    }

    // Bytes that come before the unused ones.
    void put_back(std::vector<std::uint8_t>&& bytes) {
        bytes.insert(bytes.end(), view_.begin(), view_.end());
        own_ = std::move(bytes);
        view_ = own_;
    }

    void received(std::size_t n) noexcept { view_ = base_.first(view_.size() + n); }

    [[nodiscard]] std::size_t memory() const noexcept { return own_.capacity(); }

private:
    static constexpr std::size_t small = 512;

    [[nodiscard]] bool owns(protocol::bytes_view v) const noexcept {
        return !own_.empty() && v.data() >= own_.data() && v.data() < own_.data() + own_.size();
    }

    std::span<std::uint8_t> scratch_;
    std::span<std::uint8_t> base_;
    protocol::bytes_view view_;
    std::vector<std::uint8_t> own_;
};

}  // namespace weir::proxy
