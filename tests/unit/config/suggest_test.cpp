#include "config/suggest.hpp"

#include <doctest/doctest.h>

namespace weir::config {

TEST_SUITE_BEGIN("config.suggest");

TEST_CASE("the edit distance counts single changes and swaps") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("port", "port") == 0);
    CHECK(edit_distance("", "port") == 4);
    CHECK(edit_distance("port", "") == 4);
    CHECK(edit_distance("prot", "port") == 1);
    CHECK(edit_distance("ports", "port") == 1);
    CHECK(edit_distance("pool_size", "size") == 5);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("only a close word is suggested") {
    const std::vector<std::string> words{"address", "port", "max_clients", "tls"};
    CHECK(closest("prot", words) == "port");
    CHECK(closest("adress", words) == "address");
    CHECK(closest("max-client", words) == "max_clients");
    CHECK(closest("TLS", words).empty());
    CHECK(closest("unrelated", words).empty());
    CHECK(closest("", words).empty());
    CHECK(closest(std::string(65, 'p'), words).empty());
    CHECK(suggestion("prot", words) == "; did you mean 'port'?");
    CHECK(suggestion("unrelated", words).empty());
}

TEST_CASE("words are listed with or before the last") {
    const std::vector<std::string> words{"a", "b", "c"};
    CHECK(one_of({}).empty());
    CHECK(one_of(std::span(words).first(1)) == "a");
    CHECK(one_of(std::span(words).first(2)) == "a or b");
    CHECK(one_of(words) == "a, b or c");
}

TEST_SUITE_END();

}  // namespace weir::config
