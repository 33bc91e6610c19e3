#include "proxy/client_error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace weir::proxy::test {
namespace {

struct row {
    errc code;
    const char* sqlstate;
};

const row rows[] = {
    {errc::server_unavailable, "08006"},  {errc::server_lost, "08006"},
    {errc::server_refused, "08004"},      {errc::server_protocol, "08P01"},
    {errc::queue_timeout, "53300"},       {errc::queue_full, "53300"},
    {errc::canceled_in_queue, "57014"},   {errc::no_primary, "57P03"},
    {errc::no_replica, "57P03"},          {errc::too_many_clients, "53300"},
    {errc::shutting_down, "57P01"},       {errc::login_timeout, "28000"},
    {errc::client_gone, "08006"},         {errc::client_protocol, "08P01"},
    {errc::unknown_database, "3D000"},    {errc::authentication_failed, "28P01"},
    {errc::tls_required, "28000"},        {errc::not_supported, "0A000"},
    {errc::idle_in_transaction, "25P03"}, {errc::idle_client, "57P05"},
};

std::string code_of(const protocol::diagnostic& what) {
    return std::string(what.code.text());
}

}  // namespace

TEST_SUITE_BEGIN("proxy.client_error");

TEST_CASE("every internal failure has a row with a SQLSTATE and a text of its own") {
    std::set<std::string> texts;
    std::set<std::string> names;
    for (const auto& one : rows) {
        const auto told = client_error({one.code, {}, {}});
        CAPTURE(told.message);
        CHECK(told.level == protocol::severity::error);
        CHECK(code_of(told) == one.sqlstate);
        CHECK(told.message != "internal error");
        CHECK(told.detail.empty());
        texts.insert(told.message);
        names.insert(make_error_code(one.code).message());
        const auto fatal = client_fatal({one.code, {}, {}});
        CHECK(fatal.level == protocol::severity::fatal);
        CHECK(fatal.code == told.code);
        CHECK(fatal.message == told.message);
        CHECK(fatal.hint == told.hint);
    }
    CHECK(texts.size() == std::size(rows));
    CHECK(names.size() == std::size(rows));
    CHECK(names.count("unknown error") == 0);
}

TEST_CASE("the table of this test is complete") {
    // Numbers are given in order from 1; the one behind the last is unknown.
    int next = 1;
    for (const auto& one : rows) {
        CHECK(static_cast<int>(one.code) == next++);
    }
    const auto beyond = static_cast<errc>(next);
    CHECK(make_error_code(beyond).message() == "unknown error");
    CHECK(client_error({beyond, {}, {}}).message == "internal error");
    CHECK(code_of(client_error({beyond, {}, {}})) == "XX000");
}

TEST_CASE("the context is told behind the message") {
    const auto told = client_error({errc::server_unavailable, "n1 (127.0.0.1:5432): refused", {}});
    CHECK(told.message == "server is not available: n1 (127.0.0.1:5432): refused");
    CHECK(told.hint == "Check that the server runs and accepts connections.");
}

TEST_CASE("a log-in that the server refused is told in the server's words") {
    protocol::diagnostic own;
    own.level = protocol::severity::fatal;
    own.code = protocol::sqlstates::invalid_catalog_name;
    own.message = "database \"x\" does not exist";
    own.detail = "It seems to have just been dropped or renamed.";
    own.hint = "none";
    auto told = client_error({errc::server_refused, "n1", own});
    CHECK(told.level == protocol::severity::error);
    told.level = protocol::severity::fatal;
    CHECK(told == own);
    CHECK(client_fatal({errc::server_refused, "n1", own}) == own);
}

TEST_CASE("the server's words do not replace the message of another failure") {
    protocol::diagnostic own;
    own.message = "canceling statement";
    const auto told = client_error({errc::queue_timeout, {}, own});
    CHECK(told.message == "no server connection became free within queue_timeout");
}

TEST_CASE("error codes of the proxy belong to its category") {
    const boost::system::error_code code = errc::queue_full;
    CHECK(code.failed());
    CHECK(code.category() == proxy_category());
    CHECK(std::string(code.category().name()) == "weir.proxy");
    CHECK(code.message() == "queue full");
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
