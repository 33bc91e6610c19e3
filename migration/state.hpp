// The phases of a migration. Pure; the journal holds the present one.
//
//            start              slot made               all ranges done
//     off ─────────▶ preparing ──────────▶ copying ───────────────────▶ dual_writing
//      ▲                 │                  │    ▲                       │    ▲    ▲
//      │                 │            pause ▼    │ resume          pause ▼    │    │
//      │                 │             copying_paused         dual_writing_paused  │
//      │                 │                  │                       │              │
//      │                 │                  └── gap, or slot lost ──┤              │ repaired
//      │                 │                                          ▼    resync    │
//      │                 │                                        stale ────────▶ resyncing
//      │                 │                                          ▲              │    ▲
//      │                 │                                          └── gap ───────┤    │ resume
//      │                 ▼                                                   pause ▼    │
//   removing ◀──────── failed ◀─── any but off and removing             resyncing_paused
//      ▲                 │
//      │                 └── start ──▶ preparing
//      └── remove: any but off
//
// dual_writing leads to resyncing directly when a partition was attached or detached.
//
// A crash changes no phase. What a runner does with the phase that it finds:
//   preparing     the slot, if there is one, is dropped and made again: nobody has read from it
//   copying       ranges that are not done go on behind their last key, beside the stream
//   resyncing     verify and repair go on; the stream runs
//   stale         there is no stream; the slot is dropped if it is still there
//   removing      slot, publication and rows of the journal are dropped
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::migration {

enum class phase : std::uint8_t {
    off,                  // no slot, no row in the journal
    preparing,            // publication and slot are being made
    copying,              // the table is copied, the stream runs beside it
    copying_paused,       // by command, or by a change of the source that nobody can follow
    dual_writing,         // the copy is over
    dual_writing_paused,  // as above
    stale,                // changes were missed: only verify and repair make the store right
    resyncing,            // a new slot is there; verify and repair run beside the stream
    resyncing_paused,     // as above
    failed,               // cannot go on as it is configured; the reason says what to change
    removing,             // what belongs to it is being dropped
};

inline constexpr std::array all_phases{
    phase::off,
    phase::preparing,
    phase::copying,
    phase::copying_paused,
    phase::dual_writing,
    phase::dual_writing_paused,
    phase::stale,
    phase::resyncing,
    phase::resyncing_paused,
    phase::failed,
    phase::removing};

// Whether a migration may go from one phase to the other. Staying is no change and not allowed.
[[nodiscard]] bool may_follow(phase from, phase to);

// "dual_writing".
[[nodiscard]] std::string_view to_string(phase what);
[[nodiscard]] std::optional<phase> parse_phase(std::string_view text);

// The stream runs and the store is written.
[[nodiscard]] bool streams(phase what);

[[nodiscard]] bool is_paused(phase what);

// The phase that pause leads to, and the one that resume leads back to; nothing where it has none.
[[nodiscard]] std::optional<phase> paused(phase what);
[[nodiscard]] std::optional<phase> resumed(phase what);

}  // namespace weir::migration
