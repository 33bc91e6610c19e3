#include "proxy/settings.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {
namespace {

const setting work_mem_8 = make_setting("work_mem", "'8MB'");
const setting work_mem_16 = make_setting("work_mem", "'16MB'");
const setting path = make_setting("search_path", "\"$user\", public");
const setting zone = make_setting("timezone", "'UTC'");
const setting tenant = make_setting("app.tenant", "'t1'");
const setting reader = make_setting("role", "\"reader\"");
const setting writer = make_setting("role", "\"writer\"");
const setting ann = make_setting("session_authorization", "\"ann\"");
const setting bob = make_setting("session_authorization", "\"bob\"");

std::string change(const setting_list& have, const setting_list& want) {
    return change_settings(&have, &want);
}

}  // namespace

TEST_SUITE_BEGIN("proxy.settings");

TEST_CASE("each setting has the statement that makes it and the one that undoes it") {
    CHECK(work_mem_8.name == "work_mem");
    CHECK(work_mem_8.apply == "SET \"work_mem\" TO '8MB'");
    CHECK(path.apply == "SET \"search_path\" TO \"$user\", public");
    CHECK(tenant.apply == "SET \"app\".\"tenant\" TO 't1'");
    CHECK(make_setting("od\"d", "1").apply == "SET \"od\"\"d\" TO 1");
    CHECK(zone.apply == "SET TIME ZONE 'UTC'");
    CHECK(reader.apply == "SET ROLE \"reader\"");
    CHECK(ann.apply == "SET SESSION AUTHORIZATION \"ann\"");
    CHECK(reset_statement("work_mem") == "RESET \"work_mem\"");
    CHECK(reset_statement("app.tenant") == "RESET \"app\".\"tenant\"");
    CHECK(reset_statement("timezone") == "RESET \"timezone\"");
    CHECK(reset_statement("role") == "RESET ROLE");
    CHECK(reset_statement("session_authorization") == "RESET SESSION AUTHORIZATION");
}

TEST_CASE("literals mean the same whatever standard_conforming_strings is") {
    CHECK(quote_literal("") == "''");
    CHECK(quote_literal("plain") == "'plain'");
    CHECK(quote_literal("it's; DROP") == "'it''s; DROP'");
    CHECK(quote_literal("C:\\x") == " E'C:\\\\x'");
    CHECK(quote_literal("\\'") == " E'\\\\'''");
}

TEST_CASE("a value given as text is set as one string") {
    const auto made = make_setting_from_text("search_path", "\"a\", b'c");
    CHECK(made.name == "search_path");
    CHECK(made.apply == "SELECT pg_catalog.set_config('search_path', '\"a\", b''c', false)");
}

TEST_CASE("nothing differs and nothing is sent") {
    CHECK(change_settings(nullptr, nullptr).empty());
    CHECK(change({}, {}).empty());
    CHECK(change({work_mem_8, zone}, {zone, work_mem_8}).empty());
    CHECK(change({ann, reader, tenant}, {tenant, reader, ann}).empty());
    const setting_list same{work_mem_8};
    CHECK(change_settings(&same, &same).empty());
}

TEST_CASE("what is missing is set and what is too much is reset and what differs is set anew") {
    const setting_list some{work_mem_8, tenant};
    CHECK(
        change_settings(nullptr, &some) ==
        "SET \"work_mem\" TO '8MB'; SET \"app\".\"tenant\" TO 't1'"
    );
    CHECK(change_settings(&some, nullptr) == "RESET \"work_mem\"; RESET \"app\".\"tenant\"");
    CHECK(change({work_mem_8}, {work_mem_16}) == "SET \"work_mem\" TO '16MB'");
    CHECK(
        change({work_mem_8, zone}, {path, work_mem_16}) ==
        "RESET \"timezone\"; SET \"search_path\" TO \"$user\", public; SET \"work_mem\" TO '16MB'"
    );
    CHECK(change({zone, tenant}, {zone}) == "RESET \"app\".\"tenant\"");
}

TEST_CASE("a role is left before anything else is changed and taken last") {
    CHECK(change({}, {reader}) == "SET ROLE \"reader\"");
    CHECK(change({reader}, {}) == "RESET ROLE");
    CHECK(change({reader}, {writer}) == "RESET ROLE; SET ROLE \"writer\"");
    CHECK(change({}, {reader, work_mem_8}) == "SET \"work_mem\" TO '8MB'; SET ROLE \"reader\"");
    CHECK(change({reader, work_mem_8}, {}) == "RESET ROLE; RESET \"work_mem\"");
    CHECK(
        change({reader, work_mem_8}, {reader, work_mem_16}) ==
        "RESET ROLE; SET \"work_mem\" TO '16MB'; SET ROLE \"reader\""
    );
}

TEST_CASE("a session authorization takes its role with it") {
    CHECK(change({}, {ann}) == "SET SESSION AUTHORIZATION \"ann\"");
    CHECK(change({ann}, {}) == "RESET SESSION AUTHORIZATION");
    CHECK(change({ann}, {bob}) == "RESET SESSION AUTHORIZATION; SET SESSION AUTHORIZATION \"bob\"");
    CHECK(change({ann, reader}, {}) == "RESET SESSION AUTHORIZATION");
    CHECK(change({ann, reader}, {reader}) == "RESET SESSION AUTHORIZATION; SET ROLE \"reader\"");
    CHECK(change({ann, reader}, {ann}) == "RESET ROLE");
    CHECK(change({ann, reader}, {ann, writer}) == "RESET ROLE; SET ROLE \"writer\"");
    CHECK(change({reader}, {ann}) == "RESET ROLE; SET SESSION AUTHORIZATION \"ann\"");
    CHECK(
        change({reader}, {ann, reader}) ==
        "RESET ROLE; SET SESSION AUTHORIZATION \"ann\"; SET ROLE \"reader\""
    );
    CHECK(
        change({ann, reader, work_mem_8}, {bob, writer, zone}) ==
        "RESET SESSION AUTHORIZATION; RESET \"work_mem\"; SET TIME ZONE 'UTC'; "
        "SET SESSION AUTHORIZATION \"bob\"; SET ROLE \"writer\""
    );
}

TEST_CASE("equal lists become one object and live as long as somebody has them") {
    settings_intern intern;
    CHECK(intern.make({}) == nullptr);
    auto one = intern.make({work_mem_8, zone});
    CHECK(one == intern.make({work_mem_8, zone}));
    CHECK(one != intern.make({work_mem_16, zone}));
    CHECK(*one == setting_list{work_mem_8, zone});
    const std::weak_ptr<const setting_list> seen = one;
    one.reset();
    CHECK(seen.expired());
    CHECK(*intern.make({work_mem_8, zone}) == setting_list{work_mem_8, zone});
}

TEST_CASE("lists are changed by name and stay in the order of their making") {
    settings_intern intern;
    const auto first = intern.with(nullptr, setting(work_mem_8));
    const auto both = intern.with(first, setting(zone));
    CHECK(*both == setting_list{work_mem_8, zone});
    const auto again = intern.with(both, setting(work_mem_16));
    CHECK(*again == setting_list{zone, work_mem_16});
    CHECK(*first == setting_list{work_mem_8});
    CHECK(intern.without(again, "work_mem") == intern.make({zone}));
    CHECK(intern.without(again, "role") == again);
    CHECK(intern.without(first, "work_mem") == nullptr);
    CHECK(intern.without(nullptr, "work_mem") == nullptr);
}

TEST_CASE("an overlay wins over what the session wants and is made once") {
    settings_intern intern;
    const auto base = intern.make({work_mem_8, tenant});
    const auto rule = intern.make({work_mem_16, zone});
    const auto together = intern.overlaid(base, rule);
    CHECK(*together == setting_list{tenant, work_mem_16, zone});
    CHECK(intern.overlaid(base, rule) == together);
    CHECK(intern.overlaid(base, nullptr) == base);
    CHECK(intern.overlaid(nullptr, rule) == rule);
    CHECK(intern.overlaid(nullptr, nullptr) == nullptr);
    // Many others in between push it out; the result is the same object all the same.
    for (int i = 0; i < 100; ++i) {
        (void)intern.overlaid(intern.make({make_setting("app.n", std::to_string(i))}), rule);
    }
    CHECK(intern.overlaid(base, rule) == together);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
