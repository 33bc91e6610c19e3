#include "proxy/client/encryption_requests.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::client {
namespace {

const protocol::first_packet ssl = protocol::ssl_request{};
const protocol::first_packet gss = protocol::gssenc_request{};
const protocol::first_packet start = protocol::startup_message{};
const protocol::first_packet cancel = protocol::cancel_request{};
const protocol::first_packet old = protocol::unsupported_version{};

TEST_SUITE_BEGIN("proxy.encryption_requests");

TEST_CASE("B54 GSSAPI encryption is answered with no and TLS may follow") {
    encryption_requests requests(true);
    CHECK(requests.next(gss, false) == first_step::answer_no);
    CHECK(requests.next(ssl, false) == first_step::accept_tls);
    CHECK(requests.next(start, false) == first_step::start);
}

TEST_CASE("without a certificate both are answered with no and in any order") {
    encryption_requests requests(false);
    CHECK(requests.next(ssl, false) == first_step::answer_no);
    CHECK(requests.next(gss, false) == first_step::answer_no);
    CHECK(requests.next(start, false) == first_step::start);
}

TEST_CASE("B54 a second request of the same kind closes the connection") {
    for (const auto& request : {ssl, gss}) {
        encryption_requests requests(false);
        CHECK(requests.next(request, false) == first_step::answer_no);
        CHECK(requests.next(request, false) == first_step::close);
    }
}

TEST_CASE("inside TLS no encryption can be asked for") {
    for (const auto& request : {ssl, gss}) {
        encryption_requests requests(true);
        CHECK(requests.next(ssl, false) == first_step::accept_tls);
        CHECK(requests.next(request, false) == first_step::close);
    }
}

TEST_CASE("B54 bytes behind a request for encryption are refused") {
    for (const auto& request : {ssl, gss}) {
        for (const bool offered : {false, true}) {
            encryption_requests requests(offered);
            CHECK(requests.next(request, true) == first_step::injected);
        }
    }
}

TEST_CASE("bytes behind anything else do no harm") {
    encryption_requests requests(true);
    CHECK(requests.next(start, true) == first_step::start);
    CHECK(requests.next(cancel, true) == first_step::cancel);
    CHECK(requests.next(old, true) == first_step::unsupported);
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::client
