#include "migration/verify_progress.hpp"

#include <algorithm>
#include <cmath>

namespace weir::migration {
namespace {

double part_of(std::uint64_t count, std::uint64_t all) {
    return static_cast<double>(count) /
           static_cast<double>(std::max({count, all, std::uint64_t{1}}));
}

std::string how_far(const verify_state& of, verify_state::clock::time_point now) {
    const auto share = share_of(of.progress, of.rows_expected);
    if (!share) {
        return {};
    }
    auto text = "; " + std::to_string(std::lround(std::floor(*share * 100))) + " %";
    if (const auto left = time_left(of.share_begun, *share, now - of.begun)) {
        text += ", about " + std::to_string(left->count()) + " s left";
    }
    return text;
}

}  // namespace

std::optional<double> share_of(const verify_progress& progress, std::uint64_t rows_expected) {
    const auto& report = progress.report;
    switch (progress.cursor.at) {
    case verify_cursor::side::source:
        return rows_expected == 0 ? std::nullopt
                                  : std::optional(part_of(report.rows, rows_expected) / 2);
    // There are about as many documents as rows were found.
    case verify_cursor::side::store: return 0.5 + part_of(report.documents, report.rows) / 2;
    case verify_cursor::side::done: break;
    }
    return 1;
}

std::optional<std::chrono::seconds>
time_left(double share_begun, double share, verify_state::clock::duration elapsed) {
    if (share <= share_begun) {
        return std::nullopt;
    }
    const std::chrono::duration<double> passed = elapsed;
    const auto left = passed.count() * (1 - share) / (share - share_begun);
    return std::chrono::seconds(std::llround(std::ceil(left)));
}

std::string described(const verify_state& of, verify_state::clock::time_point now) {
    const auto& [repair, over, failure, cursor, report] = of.progress;
    if (!of.known()) {
        return {};
    }
    std::string text = of.running       ? "running"
                       : of.finished    ? "done"
                       : of.interrupted ? "interrupted"
                                        : "ended early";
    text += ": " + std::to_string(report.rows) + " rows, " + std::to_string(report.documents) +
            " documents, " + std::to_string(report.missing) + " missing, " +
            std::to_string(report.extra) + " extra, " + std::to_string(report.different) +
            " different, " + std::to_string(report.repaired) + " repaired";
    if (report.unrepaired != 0) {
        text += ", " + std::to_string(report.unrepaired) + " newer in the store than in the source";
    }
    if (report.unsettled != 0) {
        text += ", " + std::to_string(report.unsettled) + " changing too often";
    }
    if (of.running) {
        return text + how_far(of, now);
    }
    return failure.empty() ? text : text + "; " + failure;
}

}  // namespace weir::migration
