// The first packets of a connection, in any order and any pieces.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.login_requests");

namespace {

const std::string ssl_request("\0\0\0\x08\x04\xd2\x16\x2f", 8);
const std::string gssenc_request("\0\0\0\x08\x04\xd2\x16\x30", 8);

// One byte, or "" at the end.
std::string answer_byte(const wire_client& client) {
    return read_some(client.socket(), 1, std::chrono::steady_clock::now() + patience);
}

std::string startup(int major, int minor, const std::string& parameters) {
    std::string packet(4, '\0');
    packet +=
        {static_cast<char>(major >> 8),
         static_cast<char>(major),
         static_cast<char>(minor >> 8),
         static_cast<char>(minor)};
    packet += parameters + '\0';
    packet[3] = static_cast<char>(packet.size());
    return packet;
}

const std::string as_app("user\0app\0database\0app\0", 22);

proxy_options with_certificate(const cluster& servers) {
    auto options = one_server("{size: 2}");
    const auto& files = servers.certificates();
    options.listen = "tls: {mode: prefer, certificate: \"" + files.certificate + "\", key: \"" +
                     files.key + "\"}";
    return options;
}

}  // namespace

TEST_CASE("B54 GSSENC and SSL without a certificate are answered with N") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    for (const auto& order :
         {std::vector{gssenc_request, ssl_request},
          std::vector{ssl_request, gssenc_request},
          std::vector{ssl_request},
          std::vector{gssenc_request}}) {
        wire_client client(proxy.at());
        for (const auto& request : order) {
            client.send(request);
            CHECK(answer_byte(client) == "N");
        }
        CHECK(kinds(client.log_in(login_as(servers))).ends_with("Z(I)"));
        CHECK(client.value("select 1") == "1");
    }
}

TEST_CASE("B54 the same request twice ends the connection") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    for (const auto& request : {ssl_request, gssenc_request}) {
        wire_client client(proxy.at());
        client.send(request);
        CHECK(answer_byte(client) == "N");
        client.send(request);
        const auto came = client.read_to_end();
        CHECK((came.empty() || kinds(came) == "E(0A000)" || kinds(came) == "E(08P01)"));
    }
}

TEST_CASE("B54 GSSENC first and then TLS with a certificate") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, with_certificate(servers));
    wire_client client(proxy.at());
    client.send(gssenc_request);
    CHECK(answer_byte(client) == "N");
    client.send(ssl_request);
    CHECK(answer_byte(client) == "S");
}

TEST_CASE("B54 bytes glued behind SSLRequest are refused") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, with_certificate(servers));
    wire_client client(proxy.at());
    client.send(ssl_request + startup(3, 0, as_app));
    const auto came = client.read_to_end();
    CHECK(kinds(came) == "E(08P01)");
    CHECK(came.back().field('S') == "FATAL");
}

TEST_CASE("B72 a login byte by byte") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, [] {
        auto options = one_server("{size: 2}");
        options.lines = {
            "authentication: {rules: [{database: all, user: md5user, method: md5}, "
            "{database: all, user: all}]}"};
        return options;
    }());
    for (const auto* user : {"app", "md5user"}) {
        CAPTURE(user);
        wire_client client(proxy.at());
        client.set_piece_size(1);
        CHECK(kinds(client.log_in(login_as(servers, user))).ends_with("Z(I)"));
        CHECK(client.value("select 1") == "1");
    }
}

TEST_CASE("B72 a long user name and long options in pieces") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    wire_client client(proxy.at());
    client.set_piece_size(100);
    const auto came = client.log_in(
        login_as(servers),
        {{"app.long", std::string(8000, 'x')}, {"application_name", "pieces"}}
    );
    CHECK(kinds(came).ends_with("Z(I)"));
    CHECK(client.value("select length(current_setting('app.long'))") == "8000");
}

TEST_CASE("B72 login_timeout ends those who do not get on") {
    auto& servers = cluster::shared();
    auto options = with_certificate(servers);
    options.listen += ", login_timeout: 500ms";
    proxy_process proxy(servers, options);
    const auto complete = startup(3, 0, as_app);
    for (const auto& sent :
         {std::string(), complete.substr(0, 3), complete.substr(0, 9), complete}) {
        CAPTURE(sent.size());
        wire_client client(proxy.at());
        client.send(sent);
        const auto came = client.read_to_end();
        CHECK(kinds(came).find('Z') == std::string::npos);
    }
    // Half a TLS handshake.
    wire_client handshake(proxy.at());
    handshake.send(ssl_request);
    CHECK(answer_byte(handshake) == "S");
    CHECK(answer_byte(handshake).empty());
    // A busy machine may need longer than that for a good one.
    CHECK(wait_until([&] { return pq_connection::try_connect(proxy.at(), login_as(servers)).ok(); })
    );
}

TEST_CASE("versions are negotiated or refused as PostgreSQL does") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    const auto first_answers = [](const endpoint& to, const std::string& packet) {
        wire_client client(to);
        client.send(packet);
        messages came;
        while (auto next = client.try_read()) {
            came.push_back(*next);
            if (next->type == 'R') {
                break;
            }
        }
        return kinds(came);
    };
    const std::string options("_pq_.unknown\0on\0", 16);
    for (const auto& version : {std::pair{3, 0}, {3, 1}, {3, 2}, {3, 9999}, {4, 0}, {5, 3}}) {
        const int major = version.first;
        const int minor = version.second;
        for (const auto& more : {std::string(), options}) {
            CAPTURE(major);
            CAPTURE(minor);
            const auto packet = startup(major, minor, as_app + more);
            const auto direct = first_answers(servers.primary().at, packet);
            const auto through = first_answers(proxy.at(), packet);
            // 3.2 is newer than the servers of some tests.
            CHECK((through == direct || (major == 3 && minor == 2 && through == "R")));
        }
    }
}

TEST_CASE("packets with impossible lengths are closed without a word") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    for (const auto& packet :
         {std::string("\0\0\0\0", 4),
          std::string("\0\0\0\x07\0\0\0", 7),
          std::string("\x7f\xff\xff\xff\0\x03\0\0", 8),
          std::string("\xff\xff\xff\xff\0\x03\0\0", 8),
          std::string("GET / HTTP/1.0\r\n\r\n")}) {
        CAPTURE(packet);
        wire_client client(proxy.at());
        client.send(packet);
        CHECK(client.read_to_end().empty());
    }
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
}

TEST_CASE("startup packets that end badly are refused") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    const auto refused = [&](const std::string& parameters) {
        wire_client client(proxy.at());
        client.send(startup(3, 0, parameters));
        return kinds(client.read_to_end());
    };
    CHECK(refused(std::string("database\0app\0", 13)) == "E(28000)");  // no user
    CHECK(refused(std::string("user\0app", 8)) == "E(08P01)");
    CHECK(refused(std::string("user\0app\0database", 17)) == "E(08P01)");
}

TEST_SUITE_END();

}  // namespace weir::integration
