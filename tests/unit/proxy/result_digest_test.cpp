#include "proxy/result_digest.hpp"

#include "protocol/byte_writer.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace weir::proxy::test {
namespace {

struct column {
    std::string name;
    std::uint32_t type = 23;
    std::uint32_t modifier = 0xffffffff;
    std::uint32_t table = 0;
    std::uint16_t format = 0;
};

std::vector<std::uint8_t> description(const std::vector<column>& columns) {
    std::vector<std::uint8_t> message{'T', 0, 0, 0, 0};
    protocol::byte_writer writer(message);
    writer.u16(static_cast<std::uint16_t>(columns.size()));
    for (const auto& each : columns) {
        writer.cstring(each.name);
        writer.u32(each.table);
        writer.u16(1);
        writer.u32(each.type);
        writer.u16(4);
        writer.u32(each.modifier);
        writer.u16(each.format);
    }
    return message;
}

}  // namespace

TEST_SUITE_BEGIN("proxy.result_digest");

TEST_CASE("names types and modifiers tell results apart") {
    const std::vector<std::vector<column>> all{
        {},
        {{"a"}},
        {{"b"}},
        {{"a"}, {"b"}},
        {{"b"}, {"a"}},
        {{"ab"}},
        {{"a"}, {"a"}},
        {{"a", 20}},
        {{"a", 23, 5}},
        {{""}},
    };
    std::set<result_digest> seen{0, 1};
    for (const auto& each : all) {
        seen.insert(digest_of(description(each)));
    }
    CHECK(seen.size() == all.size() + 2);
}

TEST_CASE("formats and tables do not count") {
    CHECK(
        digest_of(description({{"a", 23, 4, 1000, 1}})) ==
        digest_of(description({{"a", 23, 4, 2000, 0}}))
    );
}

TEST_CASE("no result is a result and a malformed one is none") {
    const std::vector<std::uint8_t> none{'n', 0, 0, 0, 4};
    CHECK(digest_of(none) == 1);
    auto cut = description({{"a"}, {"b"}});
    while (cut.size() > 5) {
        cut.pop_back();
        CHECK(digest_of(cut) == 0);
    }
    auto longer = description({{"a"}});
    longer.push_back(0);
    CHECK(digest_of(longer) == 0);
    CHECK(digest_of({}) == 0);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
