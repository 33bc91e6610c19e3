#include "migration/state.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

TEST_SUITE_BEGIN("migration.state");

TEST_CASE("every pair of phases") {
    // A row for each phase it starts from, a column for each it may go to, in the order of the
    // enumeration.
    const std::string expected =
        "off                 .P.........\n"
        "preparing           ..P......PP\n"
        "copying             ...PP.P..PP\n"
        "copying_paused      ..P...P..PP\n"
        "dual_writing        .....PPP.PP\n"
        "dual_writing_paused ....P.P..PP\n"
        "stale               .......P.PP\n"
        "resyncing           ....P.P.PPP\n"
        "resyncing_paused    ......PP.PP\n"
        "failed              .P........P\n"
        "removing            P..........\n";
    std::string found;
    for (const auto from : all_phases) {
        auto line = std::string(to_string(from));
        line.resize(20, ' ');
        for (const auto to : all_phases) {
            line += may_follow(from, to) ? 'P' : '.';
        }
        found += line + "\n";
    }
    CHECK(found == expected);
}

TEST_CASE("names of phases read back") {
    for (const auto one : all_phases) {
        CAPTURE(to_string(one));
        CHECK(parse_phase(to_string(one)) == one);
    }
    CHECK_FALSE(parse_phase("").has_value());
    CHECK_FALSE(parse_phase("Copying").has_value());
    CHECK_FALSE(parse_phase("unknown").has_value());
}

TEST_CASE("resume undoes pause") {
    std::string pairs;
    for (const auto one : all_phases) {
        if (const auto to = paused(one)) {
            pairs += std::string(to_string(one)) + " " + std::string(to_string(*to)) + "\n";
            CHECK(resumed(*to) == one);
            CHECK(may_follow(one, *to));
            CHECK(may_follow(*to, one));
            CHECK(is_paused(*to));
            CHECK(streams(one));
            CHECK_FALSE(streams(*to));
        }
        CHECK(paused(one).has_value() == streams(one));
    }
    CHECK(
        pairs ==
        "copying copying_paused\n"
        "dual_writing dual_writing_paused\n"
        "resyncing resyncing_paused\n"
    );
}

TEST_SUITE_END();

}  // namespace weir::migration
