#include "tests/unit/migration/web_server.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace weir::migration::store {
namespace {

void extend(X509* certificate, int kind, const char* text) {
    auto* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, text);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

}  // namespace

test_certificate::test_certificate() {
    file_ = std::filesystem::temp_directory_path() / "pgweir-test-XXXXXX";
    const int descriptor = mkstemp(file_.data());
    if (descriptor < 0) {
        throw std::runtime_error("no temporary file");
    }
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 24L * 3600);
    X509_set_pubkey(made, key);
    auto* const name = X509_get_subject_name(made);
    const std::string common = "pgweir test";
    X509_NAME_add_entry_by_txt(
        name,
        "CN",
        MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>(common.data()),
        static_cast<int>(common.size()),
        -1,
        0
    );
    X509_set_issuer_name(made, name);
    extend(made, NID_basic_constraints, "critical,CA:TRUE");
    extend(made, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_sign(made, key, EVP_sha256());
    std::FILE* const out = fdopen(descriptor, "w");
    PEM_write_X509(out, made);
    PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    X509_free(made);
    EVP_PKEY_free(key);
}

test_certificate::~test_certificate() {
    std::filesystem::remove(file_);
}

struct web_server::connection {
    int socket = -1;
    SSL* tls = nullptr;
    std::string read_ahead;

    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto done = tls != nullptr
                                  ? SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()))
                                  : ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (done <= 0) {
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(done));
        }
        return true;
    }

    bool receive() {
        std::array<char, 65536> piece{};
        const auto got = tls != nullptr
                             ? SSL_read(tls, piece.data(), static_cast<int>(piece.size()))
                             : ::recv(socket, piece.data(), piece.size(), 0);
        if (got <= 0) {
            return false;
        }
        read_ahead.append(piece.data(), static_cast<std::size_t>(got));
        return true;
    }

    // One request with its body; empty when the client has gone.
    std::string request() {
        std::size_t end = 0;
        while ((end = read_ahead.find("\r\n\r\n")) == std::string::npos) {
            if (!receive()) {
                return {};
            }
        }
        std::size_t length = 0;
        const std::string_view field = "\r\nContent-Length: ";
        const auto at = read_ahead.find(field);
        if (at != std::string::npos && at < end) {
            length = std::stoul(read_ahead.substr(at + field.size()));
        }
        while (read_ahead.size() < end + 4 + length) {
            if (!receive()) {
                return {};
            }
        }
        auto whole = read_ahead.substr(0, end + 4 + length);
        read_ahead.erase(0, whole.size());
        return whole;
    }
};

web_server::web_server(std::deque<web_step> script, const test_certificate* certificate)
    : script_(std::move(script)) {
    if (certificate != nullptr) {
        auto* const made = SSL_CTX_new(TLS_server_method());
        tls_ = std::shared_ptr<void>(made, [](void* context) {
            SSL_CTX_free(static_cast<SSL_CTX*>(context));
        });
        SSL_CTX_use_certificate_file(made, certificate->file().c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_use_PrivateKey_file(made, certificate->file().c_str(), SSL_FILETYPE_PEM);
    }
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, generic, size) != 0 || listen(listener_, 8) != 0 ||
        getsockname(listener_, generic, &size) != 0) {
        throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

web_server::~web_server() {
    ending_ = true;
    shutdown(listener_, SHUT_RDWR);
    if (const int socket = current_; socket >= 0) {
        shutdown(socket, SHUT_RDWR);
    }
    thread_.join();
    close(listener_);
}

std::vector<std::string> web_server::requests() const {
    const std::lock_guard hold(lock_);
    return requests_;
}

bool web_server::next(web_step& into) {
    const std::lock_guard hold(lock_);
    if (script_.empty()) {
        return false;
    }
    into = std::move(script_.front());
    script_.pop_front();
    return true;
}

void web_server::serve() {
    while (!ending_) {
        connection with;
        with.socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (with.socket < 0) {
            return;
        }
        current_ = with.socket;
        ++connections_;
        if (tls_) {
            with.tls = SSL_new(static_cast<SSL_CTX*>(tls_.get()));
            SSL_set_fd(with.tls, with.socket);
        }
        if (with.tls == nullptr || SSL_accept(with.tls) == 1) {
            talk(with);
        }
        SSL_free(with.tls);
        current_ = -1;
        close(with.socket);
    }
}

void web_server::talk(connection& with) {
    web_step step;
    for (;;) {
        auto request = with.request();
        if (request.empty()) {
            return;
        }
        {
            const std::lock_guard hold(lock_);
            requests_.push_back(std::move(request));
        }
        if (!next(step)) {
            return;
        }
        if (step.hang) {
            while (with.receive()) {
            }
            return;
        }
        if (!with.send(step.answer) || step.after == web_step::then::close) {
            return;
        }
        if (step.after == web_step::then::reset) {
            const linger now{.l_onoff = 1, .l_linger = 0};
            setsockopt(with.socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
            return;
        }
    }
}

std::string ok(const std::string& body, const std::string& headers) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
           "\r\n" + body;
}

}  // namespace weir::migration::store
