#include "protocol/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.error");

TEST_CASE("every code has a sentence of its own") {
    std::set<std::string> sentences;
    const int last = static_cast<int>(errc::crypto);
    for (int value = 1; value <= last; ++value) {
        const error_code ec = static_cast<errc>(value);
        CHECK(ec.failed());
        CHECK(ec.category() == protocol_category());
        CHECK(ec.message() != "unknown protocol error");
        sentences.insert(ec.message());
    }
    CHECK(sentences.size() == static_cast<std::size_t>(last));
    const error_code beyond = static_cast<errc>(last + 1);
    CHECK(beyond.message() == "unknown protocol error");
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
