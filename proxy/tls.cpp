#include "proxy/tls.hpp"

#include <boost/system/system_error.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::proxy {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// What PostgreSQL's protocol is called in a TLS handshake (since PostgreSQL 17), with its length in
// front.
constexpr std::string_view alpn = "\x0apostgresql";

[[noreturn]] void fail(std::string_view what, const std::string& file, std::string_view why) {
    throw std::runtime_error("TLS: " + std::string(what) + " '" + file + "': " + std::string(why));
}

void check(const error_code& ec, std::string_view what, const std::string& file) {
    if (ec) {
        fail(what, file, ec.message());
    }
}

std::string last_reason() {
    const auto code = ERR_get_error();
    const auto* const reason = ERR_reason_error_string(code);
    ERR_clear_error();
    return reason == nullptr ? "OpenSSL error " + std::to_string(code) : reason;
}

// A client that offers protocols must offer ours: otherwise it means somebody else (ALPACA attack).
int select_protocol(
    SSL* /*connection*/,
    const unsigned char** chosen,
    unsigned char* chosen_size,
    const unsigned char* offered,
    unsigned offered_size,
    void* /*unused*/
) {
    unsigned char* found = nullptr;
    const auto outcome = SSL_select_next_proto(
        &found,
        chosen_size,
        reinterpret_cast<const unsigned char*>(alpn.data()),
        static_cast<unsigned>(alpn.size()),
        offered,
        offered_size
    );
    *chosen = found;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool verifies(config::tls_mode mode) {
    return mode == config::tls_mode::verify_ca || mode == config::tls_mode::verify_full;
}

std::shared_ptr<ssl::context> make_context(ssl::context::method method) {
    auto made = std::make_shared<ssl::context>(method);
    auto* const native = made->native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    // Without this OpenSSL asks on the terminal for the passphrase of an encrypted key.
    SSL_CTX_set_default_passwd_cb(native, [](char*, int, int, void*) { return -1; });
    return made;
}

void load_certificate(ssl::context& into, const config::tls& from) {
    if (from.certificate.empty()) {
        return;
    }
    error_code load_ec;
    into.use_certificate_chain_file(from.certificate, load_ec);
    check(load_ec, "certificate", from.certificate);
    into.use_private_key_file(from.key, ssl::context::pem, load_ec);
    check(load_ec, "key", from.key);
    ERR_clear_error();
    if (SSL_CTX_check_private_key(into.native_handle()) != 1) {
        fail("key", from.key, "does not belong to the certificate: " + last_reason());
    }
}

void load_authorities(ssl::context& into, const config::tls& from, std::string_view of) {
    if (from.ca.empty()) {
        if (verifies(from.mode)) {
            throw std::runtime_error(
                "TLS: " + std::string(of) + " verifies certificates and has no ca"
            );
        }
        return;
    }
    error_code load_ec;
    into.load_verify_file(from.ca, load_ec);
    check(load_ec, "ca", from.ca);
}

std::shared_ptr<ssl::context> make_listener(const config::tls& from) {
    if (from.mode == config::tls_mode::disable || from.certificate.empty()) {
        return nullptr;
    }
    auto made = make_context(ssl::context::tls_server);
    auto* const native = made->native_handle();
    load_certificate(*made, from);
    // Sessions are long; resuming one saves nothing and keeps keys around.
    SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(native, &select_protocol, nullptr);
    if (verifies(from.mode)) {
        load_authorities(*made, from, "listen.tls");
        made->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
        auto* const names = SSL_load_client_CA_file(from.ca.c_str());
        if (names == nullptr) {
            fail("ca", from.ca, last_reason());
        }
        SSL_CTX_set_client_CA_list(native, names);
    }
    return made;
}

std::shared_ptr<ssl::context> make_cluster(const config::cluster& from) {
    auto made = make_context(ssl::context::tls_client);
    load_certificate(*made, from.tls);
    load_authorities(*made, from.tls, "cluster " + from.name);
    // As with libpq, a given ca is used in every mode, also in those that would do without.
    made->set_verify_mode(from.tls.ca.empty() ? ssl::verify_none : ssl::verify_peer);
    return made;
}

}  // namespace

std::shared_ptr<const tls_contexts> make_tls_contexts(const config::config& from) {
    auto made = std::make_shared<tls_contexts>();
    made->listener = make_listener(from.listen.tls);
    for (const auto& cluster : from.clusters) {
        if (cluster.tls.mode != config::tls_mode::disable) {
            made->clusters.emplace(cluster.name, make_cluster(cluster));
        }
    }
    return made;
}

}  // namespace weir::proxy
