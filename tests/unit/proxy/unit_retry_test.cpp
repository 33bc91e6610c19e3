#include "proxy/client/unit_retry.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace weir::proxy::test {

using client::unit_retry;
using phase = unit_retry::phase;

namespace {

protocol::bytes_view bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string text(const std::vector<std::uint8_t>& of) {
    return {of.begin(), of.end()};
}

// Note 7 is that of the guarded message.
unit_retry sent() {
    unit_retry made;
    made.guard(7);
    made.record('B', bytes("bind"));
    made.record('E', bytes("execute"));
    made.record('S', bytes("sync"));
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("proxy.unit_retry");

TEST_CASE("nothing is kept while nothing is guarded") {
    unit_retry one;
    one.record('B', bytes("bind"));
    CHECK_FALSE(one.refuse(0));
    CHECK_FALSE(one.refuse(7));
    CHECK_FALSE(one.ready());
    CHECK_FALSE(one.holds());
    CHECK(one.take().empty());
}

TEST_CASE("a unit that was refused comes again from the guarded message to its Sync") {
    auto one = sent();
    CHECK(one.holds());
    CHECK(one.refuse(7));
    CHECK(one.holds());
    CHECK(one.now() == phase::undone);
    one.settled(7);  // failed, which is known
    one.settled(8);  // dropped behind it
    CHECK(one.ready());
    CHECK_FALSE(one.holds());
    CHECK(one.now() == phase::due);
    CHECK(text(one.take()) == "bindexecutesync");
    CHECK(one.now() == phase::off);
    CHECK_FALSE(one.ready());
}

TEST_CASE("what is accepted is forgotten") {
    auto one = sent();
    one.settled(6);
    CHECK(one.holds());
    one.settled(7);
    CHECK_FALSE(one.holds());
    CHECK_FALSE(one.refuse(7));
    CHECK(one.take().empty());
}

TEST_CASE("another message that is refused is the client's business") {
    auto one = sent();
    CHECK_FALSE(one.refuse(8));
    CHECK(one.now() == phase::sent);
    CHECK_FALSE(one.ready());
}

TEST_CASE("a refusal before the whole unit has been sent cannot be taken back") {
    unit_retry one;
    one.guard(7);
    one.record('B', bytes("bind"));
    CHECK_FALSE(one.holds());
    CHECK_FALSE(one.refuse(7));
    one.settled(7);
    one.record('S', bytes("sync"));
    CHECK(one.now() == phase::off);
}

TEST_CASE("the end of the connection ends it in every phase") {
    for (int steps = 0; steps < 4; ++steps) {
        unit_retry one;
        if (steps > 0) {
            one.guard(7);
        }
        if (steps > 1) {
            one.record('S', bytes("sync"));
        }
        if (steps > 2) {
            CHECK(one.refuse(7));
        }
        one.reset();
        CHECK(one.now() == phase::off);
        CHECK(one.take().empty());
    }
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
