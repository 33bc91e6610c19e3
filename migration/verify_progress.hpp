// How far a verify has come and what it has found. The journal keeps it, so that the next run of
// the stream goes on from there. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct verify_report {
    std::uint64_t rows = 0;       // of the source, looked up in the store
    std::uint64_t documents = 0;  // of the store, looked up in the source
    std::uint64_t missing = 0;
    std::uint64_t extra = 0;
    std::uint64_t different = 0;
    std::uint64_t repaired = 0;
    // Repairs that the store did not take, because its documents have newer versions: of another
    // history of the source.
    std::uint64_t unrepaired = 0;
    std::uint64_t unsettled = 0;        // changed so often that nothing can be said
    std::vector<std::string> examples;  // "missing org-3/17", the first hundred
    friend bool operator==(const verify_report&, const verify_report&) = default;
};

// Where a verify is, so that another can go on from there.
struct verify_cursor {
    enum class side : std::uint8_t { source, store, done };
    side at = side::source;
    std::optional<std::vector<std::string>> last;  // source: key of the last row looked at
    std::string space;                             // store: the namespace
    std::string next;                              // store: its own cursor in it
    bool space_over = false;                       // store: `space` has been read to its end
    friend bool operator==(const verify_cursor&, const verify_cursor&) = default;
};

struct verify_progress {
    bool repair = false;
    bool over = false;    // it has come to its end, or failed
    std::string failure;  // why it ended early
    verify_cursor cursor;
    verify_report report;
    friend bool operator==(const verify_progress&, const verify_progress&) = default;
};

struct verify_state {
    using clock = std::chrono::steady_clock;

    bool running = false;
    bool finished = false;
    bool interrupted = false;  // it goes on with the stream
    verify_progress progress;
    std::uint64_t rows_expected = 0;  // the planner's count; 0: not known
    clock::time_point begun;          // in this run of the stream, and how far it was then
    double share_begun = 0;

    [[nodiscard]] bool known() const {
        return running || finished || interrupted || !progress.failure.empty();
    }
};

// Of all rows and documents, 0 to 1; nothing if that cannot be said yet.
[[nodiscard]] std::optional<double>
share_of(const verify_progress& progress, std::uint64_t rows_expected);

// Time that is left if it goes on as from `begun` to now.
[[nodiscard]] std::optional<std::chrono::seconds>
time_left(double share_begun, double share, verify_state::clock::duration elapsed);

// For people; empty if there was none.
[[nodiscard]] std::string described(const verify_state& of, verify_state::clock::time_point now);

}  // namespace weir::migration
