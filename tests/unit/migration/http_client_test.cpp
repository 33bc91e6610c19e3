#include "migration/store/http_client.hpp"

#include "migration/store/json_client.hpp"
#include "migration/store/url.hpp"
#include "tests/unit/migration/web_server.hpp"

#include <boost/beast/zlib/inflate_stream.hpp>
#include <doctest/doctest.h>

#include <ctime>
#include <string>

namespace weir::migration::store {
namespace {

using std::chrono::milliseconds;
using then = web_step::then;

http_options to(const web_server& server) {
    http_options options;
    options.url = server.url();
    options.request_timeout = milliseconds{5000};
    return options;
}

http_request get(const std::string& target) {
    return {.method = "GET", .target = target, .body = {}};
}

web_step answer(std::string bytes, then after = then::keep) {
    web_step made;
    made.answer = std::move(bytes);
    made.after = after;
    return made;
}

TEST_CASE("URLs are taken apart") {
    const auto plain = parse_url("http://store.example");
    CHECK(!plain.tls);
    CHECK(plain.host == "store.example");
    CHECK(plain.port == "80");
    CHECK(plain.path.empty());
    CHECK(plain.host_header == "store.example");
    CHECK(plain.address == "http://store.example:80");
    const auto deep = parse_url("https://h:8443/a/b//");
    CHECK(deep.tls);
    CHECK(deep.port == "8443");
    CHECK(deep.path == "/a/b");
    CHECK(deep.host_header == "h:8443");
    const auto six = parse_url("https://[::1]");
    CHECK(six.host == "::1");
    CHECK(six.port == "443");
    CHECK(six.host_header == "[::1]");
    for (const auto* wrong :
         {"",
          "store",
          "ftp://h",
          "http://",
          "http://:80",
          "http://h:",
          "http://h:0",
          "http://h:65536",
          "http://h:8x",
          "http://u:p@h",
          "http://h?x",
          "http://h/#x",
          "http://[::1",
          "http://[::1]x",
          "http://h h",
          "HTTP//h"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(static_cast<void>(parse_url(wrong)), std::runtime_error);
    }
    CHECK(percent_encoded("a-Z.0_~/ %\xC3\xBC?") == "a-Z.0_~%2F%20%25%C3%BC%3F");
}

TEST_CASE("a request has its headers and connections are used again") {
    web_server server({answer(ok("{}")), answer(ok("[1]")), answer(ok(""))});
    auto options = to(server);
    options.url += "/base/";
    options.headers = {{"api-key", "secret"}};
    http_client client(options);
    CHECK(client.address() == server.url());
    CHECK(client.send(get("/one"))->body == "{}");
    CHECK(client.send({.target = "/two", .body = "{\"a\":1}"})->body == "[1]");
    CHECK(client.send({.method = "DELETE", .target = "/three", .body = {}})->status == 200);
    CHECK(server.connections() == 1);
    const auto seen = server.requests();
    REQUIRE(seen.size() == 3);
    CHECK(seen[0].starts_with("GET /base/one HTTP/1.1\r\n"));
    CHECK(seen[0].find("\r\nHost: 127.0.0.1:" + server.port() + "\r\n") != std::string::npos);
    CHECK(seen[0].find("\r\napi-key: secret\r\n") != std::string::npos);
    CHECK(seen[0].find("Content-Type") == std::string::npos);
    CHECK(seen[1].starts_with("POST /base/two HTTP/1.1\r\n"));
    CHECK(seen[1].find("\r\nContent-Type: application/json\r\n") != std::string::npos);
    CHECK(seen[1].ends_with("\r\n\r\n{\"a\":1}"));
    CHECK(seen[2].starts_with("DELETE /base/three HTTP/1.1\r\n"));
}

TEST_CASE("chunked answers and answers of any status are read") {
    web_server server(
        {answer(
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
         ),
         answer("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"),
         answer("HTTP/1.1 204 No Content\r\n\r\n"),
         answer("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", then::close),
         answer(ok("x"))}
    );
    http_client client(to(server));
    CHECK(client.send(get("/"))->body == "abcde");
    const auto missing = client.send(get("/"));
    CHECK(missing->status == 404);
    CHECK(missing->body == "no");
    CHECK(client.send(get("/"))->status == 204);
    CHECK(client.send(get("/"))->body == "until the end");
    CHECK(client.send(get("/"))->body == "x");
    CHECK(server.connections() == 2);
}

TEST_CASE("a half answer is unreachable and the next one has a connection of its own") {
    web_server server(
        {answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", then::close),
         answer("HTTP/1.1 200 OK\r\nContent-Le", then::reset),
         answer("no HTTP at all\r\n\r\n", then::close),
         answer(ok("whole"))}
    );
    http_client client(to(server));
    for (int i = 0; i < 3; ++i) {
        const auto got = client.send(get("/"));
        REQUIRE(!got);
        CHECK(got.error().what == fault::unreachable);
        CHECK(got.error().text.find(server.url()) != std::string::npos);
    }
    CHECK(client.send(get("/"))->body == "whole");
    CHECK(server.requests().size() == 4);
}

TEST_CASE("no answer in time is unreachable") {
    web_step silent;
    silent.hang = true;
    web_server server({silent, answer(ok("again"))});
    auto options = to(server);
    options.request_timeout = milliseconds{100};
    http_client client(options);
    const auto got = client.send(get("/"));
    REQUIRE(!got);
    CHECK(got.error().what == fault::unreachable);
    CHECK(got.error().text.find("no answer within 100 ms") != std::string::npos);
    CHECK(client.send(get("/"))->body == "again");
    CHECK(server.requests().size() == 2);
}

TEST_CASE("only a used connection that closes without a byte is tried once more") {
    SUBCASE("used") {
        web_server server({answer(ok("1")), answer("", then::close), answer(ok("2"))});
        http_client client(to(server));
        CHECK(client.send(get("/"))->body == "1");
        CHECK(client.send(get("/"))->body == "2");
        CHECK(server.requests().size() == 3);
    }
    SUBCASE("new") {
        web_server server({answer("", then::close), answer(ok("2"))});
        http_client client(to(server));
        CHECK(!client.send(get("/")));
        CHECK(server.requests().size() == 1);
    }
    SUBCASE("a byte has come") {
        web_server server({answer(ok("1")), answer("H", then::close), answer(ok("2"))});
        http_client client(to(server));
        CHECK(client.send(get("/"))->body == "1");
        CHECK(!client.send(get("/")));
        CHECK(server.requests().size() == 2);
    }
}

TEST_CASE("Retry-After in all its forms") {
    const auto of = [](const std::string& headers) {
        web_server server({answer(ok("", headers))});
        http_client client(to(server));
        return client.send(get("/"))->retry_after;
    };
    CHECK(!of(""));
    CHECK(of("Retry-After: 7\r\n") == milliseconds{7000});
    CHECK(of("Retry-After: 0.5\r\n") == milliseconds{500});
    CHECK(of("Retry-After: 7\r\nretry-after-ms: 125\r\n") == milliseconds{125});
    CHECK(of("Retry-After: -3\r\n") == milliseconds{0});
    CHECK(of("Retry-After: 1e300\r\n") == milliseconds{86'400'000});
    CHECK(of("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n") == milliseconds{0});
    CHECK(!of("Retry-After: soon\r\n"));
    CHECK(!of("Retry-After: nan\r\n"));
}

TEST_CASE("an answer larger than allowed is not taken") {
    web_server server({answer(ok(std::string(2000, 'x'))), answer(ok("small"))});
    auto options = to(server);
    options.max_answer = 1000;
    http_client client(options);
    CHECK(client.send(get("/")).error().what == fault::unreachable);
    CHECK(client.send(get("/"))->body == "small");
}

TEST_CASE("large bodies go and come whole") {
    const std::string large(9'000'000, 'b');
    web_server server({answer(ok(large)), answer(ok("{}"))});
    http_client client(to(server));
    CHECK(client.send(get("/"))->body == large);
    CHECK(client.send({.target = "/", .body = large})->status == 200);
    CHECK(server.requests().back().ends_with("\r\n\r\n" + large));
}

TEST_CASE("bodies over one kilobyte go as gzip if that is wanted") {
    web_server server({answer(ok("")), answer(ok(""))});
    auto options = to(server);
    options.gzip = true;
    http_client client(options);
    std::string body;
    for (int i = 0; i < 5000; ++i) {
        body += std::to_string(i * 7919) + ",";
    }
    CHECK(client.send({.target = "/", .body = body}).has_value());
    CHECK(client.send({.target = "/", .body = "short"}).has_value());
    const auto seen = server.requests();
    CHECK(seen[0].find("\r\nContent-Encoding: gzip\r\n") != std::string::npos);
    CHECK(seen[1].find("gzip") == std::string::npos);
    const auto packed = seen[0].substr(seen[0].find("\r\n\r\n") + 4);
    REQUIRE(packed.size() > 18);
    CHECK(packed.size() < body.size());
    CHECK(packed.starts_with("\x1F\x8B\x08"));
    std::string unpacked(body.size() + 1, '\0');
    boost::beast::zlib::inflate_stream inflate;
    boost::beast::zlib::z_params in;
    in.next_in = packed.data() + 10;
    in.avail_in = packed.size() - 18;
    in.next_out = unpacked.data();
    in.avail_out = unpacked.size();
    boost::beast::error_code finished;
    inflate.write(in, boost::beast::zlib::Flush::finish, finished);
    CHECK(finished == boost::beast::zlib::error::end_of_stream);
    unpacked.resize(in.total_out);
    CHECK(unpacked == body);
}

TEST_CASE("TLS is verified against the CA and the name") {
    const test_certificate right;
    const test_certificate wrong;
    web_server server({answer(ok("1")), answer(ok("2")), answer(ok("3"))}, &right);
    const auto ask = [&server](const std::string& host, const test_certificate& ca) {
        http_options options;
        options.url = "https://" + host + ":" + server.port();
        options.ca = ca.file();
        return http_client(options).send(get("/"));
    };
    CHECK(ask("localhost", right)->body == "1");
    const auto stranger = ask("localhost", wrong);
    REQUIRE(!stranger);
    CHECK(stranger.error().what == fault::unreachable);
    CHECK(stranger.error().text.find("certificate verify failed") != std::string::npos);
    CHECK(ask("127.0.0.1", right)->body == "2");
    // Right authority, but not this name.
    CHECK(!ask("127.0.0.2", right));
    CHECK(server.requests().size() == 2);
}

TEST_CASE("an unusable CA file or URL is reported when the client is made") {
    http_options options;
    options.url = "https://localhost";
    options.ca = "/no/such/file.pem";
    CHECK_THROWS_WITH_AS(
        static_cast<void>(http_client(options)),
        doctest::Contains("/no/such/file.pem"),
        std::runtime_error
    );
    options.url = "localhost";
    CHECK_THROWS_AS(static_cast<void>(http_client(options)), std::runtime_error);
}

TEST_CASE("nobody there is unreachable") {
    http_options options;
    options.url = "http://127.0.0.1:1";
    const auto got = http_client(options).send(get("/"));
    REQUIRE(!got);
    CHECK(got.error().what == fault::unreachable);
    CHECK(got.error().text == "http://127.0.0.1:1: Connection refused");
    options.url = "http://name.invalid";
    CHECK(http_client(options).send(get("/")).error().what == fault::unreachable);
}

TEST_CASE("statuses become faults") {
    CHECK(fault_of_status(400) == fault::refused);
    CHECK(fault_of_status(401) == fault::denied);
    CHECK(fault_of_status(403) == fault::denied);
    CHECK(fault_of_status(404) == fault::missing);
    CHECK(fault_of_status(408) == fault::failed);
    CHECK(fault_of_status(409) == fault::failed);
    CHECK(fault_of_status(413) == fault::too_large);
    CHECK(fault_of_status(422) == fault::refused);
    CHECK(fault_of_status(429) == fault::throttled);
    CHECK(fault_of_status(503) == fault::throttled);
    CHECK(fault_of_status(500) == fault::failed);
    CHECK(fault_of_status(202) == fault::failed);
    CHECK(fault_of_status(302) == fault::failed);
}

TEST_CASE("refusals say what the store said in one line") {
    const auto refusal = [](const std::string& body) {
        return answer(
            "HTTP/1.1 400 Bad\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body
        );
    };
    web_server server(
        {refusal(R"({"status":"error","error":"first\nsecond"})"),
         refusal(R"({"status":{"error":"nested"},"time":0})"),
         refusal(R"({"error":"Kind","message":"words"})"),
         refusal("plain\r\ntext"),
         refusal(std::string(5000, 'x')),
         answer(ok("no json"))}
    );
    json_client client(to(server), "kind");
    const auto text = [&client] { return client.call(get("/"), "count x").error().text; };
    const auto begin = "kind at " + server.url() + ": count x: 400 ";
    CHECK(text() == begin + "first second");
    CHECK(text() == begin + "nested");
    CHECK(text() == begin + "Kind: words");
    CHECK(text() == begin + "plain  text");
    CHECK(text() == begin + std::string(300, 'x') + "...");
    CHECK(client.call(get("/"), "count x").error().what == fault::unreachable);
}

}  // namespace
}  // namespace weir::migration::store
