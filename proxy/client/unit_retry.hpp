// The copy of a unit that may have to be sent once more, unseen by its client, because the server's
// copy of a prepared statement in it turned out to be stale. Guarded is the first message of the
// unit that the server could refuse for that reason; nothing that ran lies before it. Pure.
//
//     off ── guard ──> recording ── sync ──> sent ── refused ──> undone ── ready ──> due ── take
//     ──> off
//                          └──────────── settled, anything unforeseen ────────────────────────────>
//                          off
#pragma once

#include "protocol/frame.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weir::proxy::client {

class unit_retry {
public:
    enum class phase : std::uint8_t {
        off,
        recording,  // the rest of the unit is being sent
        sent,       // with its Sync; the guarded message is not answered yet
        undone,     // the server refused it and ignored the rest; its ReadyForQuery is to come
        due,        // the copy is to be sent
    };

    [[nodiscard]] phase now() const noexcept { return phase_; }

    // `note`: whose outcome decides.
    void guard(std::uint64_t note) {
        phase_ = phase::recording;
        note_ = note;
        copy_.clear();
    }

    // A message that has been sent, the guarded one first.
    void record(std::uint8_t type, protocol::bytes_view message) {
        if (phase_ != phase::recording) {
            return;
        }
        copy_.insert(copy_.end(), message.begin(), message.end());
        if (type == 'S') {
            phase_ = phase::sent;
        }
    }

    // The guarded message is stale. True: the client is told nothing, since the whole unit comes
    // again.
    [[nodiscard]] bool refuse(std::uint64_t note) noexcept {
        if (phase_ != phase::sent || note != note_) {
            return false;
        }
        phase_ = phase::undone;
        return true;
    }

    // A note has been settled. If it is that of the guarded message, nothing is left to fear.
    void settled(std::uint64_t note) noexcept {
        if (note == note_ && (phase_ == phase::recording || phase_ == phase::sent)) {
            reset();
        }
    }

    // ReadyForQuery. True: it is that of an undone unit.
    [[nodiscard]] bool ready() noexcept {
        if (phase_ != phase::undone) {
            return false;
        }
        phase_ = phase::due;
        return true;
    }

    // While true the client's next messages must wait.
    [[nodiscard]] bool holds() const noexcept {
        return phase_ == phase::sent || phase_ == phase::undone;
    }

    [[nodiscard]] std::vector<std::uint8_t> take() {
        phase_ = phase::off;
        return std::exchange(copy_, {});
    }

    void reset() noexcept {
        phase_ = phase::off;
        std::vector<std::uint8_t>().swap(copy_);
    }

private:
    phase phase_ = phase::off;
    std::uint64_t note_ = 0;
    std::vector<std::uint8_t> copy_;
};

}  // namespace weir::proxy::client
