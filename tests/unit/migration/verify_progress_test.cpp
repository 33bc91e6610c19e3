#include "migration/verify_progress.hpp"

#include <doctest/doctest.h>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

verify_progress
progress_at(verify_cursor::side side, std::uint64_t rows, std::uint64_t documents = 0) {
    verify_progress made;
    made.cursor.at = side;
    made.report.rows = rows;
    made.report.documents = documents;
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("migration.verify_progress");

TEST_CASE("half of a verify is the source and half the store") {
    using side = verify_cursor::side;
    CHECK_FALSE(share_of(progress_at(side::source, 100), 0).has_value());
    CHECK(share_of(progress_at(side::source, 0), 400) == 0);
    CHECK(share_of(progress_at(side::source, 100), 400) == 0.125);
    // The planner knew of fewer.
    CHECK(share_of(progress_at(side::source, 500), 400) == 0.5);
    CHECK(share_of(progress_at(side::store, 400, 0), 0) == 0.5);
    CHECK(share_of(progress_at(side::store, 400, 100), 7) == 0.625);
    CHECK(share_of(progress_at(side::store, 0, 0), 0) == 0.5);
    CHECK(share_of(progress_at(side::store, 400, 900), 0) == 1);
    CHECK(share_of(progress_at(side::done, 0, 0), 0) == 1);
}

TEST_CASE("what is left is told from this run alone") {
    CHECK_FALSE(time_left(0.25, 0.25, 10s).has_value());
    CHECK(time_left(0, 0.25, 10s) == 30s);
    CHECK(time_left(0.5, 0.75, 10s) == 10s);
    CHECK(time_left(0, 1, 10s) == 0s);
    CHECK(time_left(0, 0.999, 1s) == 1s);
}

TEST_CASE("a verify in words") {
    verify_state state;
    const auto now = state.begun + 10s;
    CHECK(described(state, now) == "");
    state.running = true;
    state.progress = progress_at(verify_cursor::side::source, 100);
    state.progress.report.missing = 3;
    const std::string counts = "100 rows, 0 documents, 3 missing, 0 extra, 0 different, 0 repaired";
    CHECK(described(state, now) == "running: " + counts);
    state.rows_expected = 200;
    CHECK(described(state, now) == "running: " + counts + "; 25 %, about 30 s left");
    state.share_begun = 0.25;
    CHECK(described(state, now) == "running: " + counts + "; 25 %");
    state.running = false;
    state.interrupted = true;
    CHECK(described(state, now) == "interrupted: " + counts);
    state.interrupted = false;
    state.progress.failure = "the store is gone";
    CHECK(described(state, now) == "ended early: " + counts + "; the store is gone");
    state.finished = true;
    state.progress.failure = "";
    state.progress.report.unrepaired = 2;
    state.progress.report.unsettled = 1;
    CHECK(
        described(state, now) ==
        "done: " + counts + ", 2 newer in the store than in the source, 1 changing too often"
    );
}

TEST_SUITE_END();

}  // namespace weir::migration
