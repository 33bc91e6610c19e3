#include "proxy/certificate.hpp"

#include <boost/asio/ip/address.hpp>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <string_view>

namespace weir::proxy {
namespace {

struct free_names {
    void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

std::string address_text(const ASN1_OCTET_STRING* raw) {
    const auto* const bytes = ASN1_STRING_get0_data(raw);
    const auto size = ASN1_STRING_length(raw);
    if (size == 4) {
        boost::asio::ip::address_v4::bytes_type v4{};
        std::copy(bytes, bytes + size, v4.begin());
        return boost::asio::ip::address_v4(v4).to_string();
    }
    if (size == 16) {
        boost::asio::ip::address_v6::bytes_type v6{};
        std::copy(bytes, bytes + size, v6.begin());
        return boost::asio::ip::address_v6(v6).to_string();
    }
    return "?";
}

std::string common_name(const X509* certificate) {
    std::array<char, 256> text{};
    const auto length = X509_NAME_get_text_by_NID(
        X509_get_subject_name(certificate),
        NID_commonName,
        text.data(),
        static_cast<int>(text.size())
    );
    return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

// The names a certificate is for: its alternative names, or else its common name.
std::string names_of(X509* certificate) {
    const std::unique_ptr<GENERAL_NAMES, free_names> names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)
    ));
    std::string list;
    const auto count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
    for (int i = 0; i < count; ++i) {
        const auto* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_DNS && name->type != GEN_IPADD) {
            continue;
        }
        list += list.empty() ? "" : ", ";
        if (name->type == GEN_IPADD) {
            list += address_text(name->d.iPAddress);
        } else {
            const auto* const text =
                reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
            list.append(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
        }
    }
    return list.empty() ? common_name(certificate) : list;
}

}  // namespace

bool is_address(const std::string& host) noexcept {
    boost::system::error_code parse_ec;
    static_cast<void>(boost::asio::ip::make_address(host, parse_ec));
    return !parse_ec;
}

bool expect_host(SSL* ssl, const std::string& host) {
    if (is_address(host)) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host.c_str()) == 1;
}

std::string describe_certificate_fault(X509_STORE_CTX* about) {
    const auto fault = X509_STORE_CTX_get_error(about);
    std::string text = X509_verify_cert_error_string(fault);
    auto* const certificate = X509_STORE_CTX_get0_cert(about);
    if (certificate == nullptr ||
        (fault != X509_V_ERR_HOSTNAME_MISMATCH && fault != X509_V_ERR_IP_ADDRESS_MISMATCH)) {
        return text;
    }
    auto* const ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(about, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* const wanted = SSL_get0_param(ssl);
    const char* const name = X509_VERIFY_PARAM_get0_host(wanted, 0);
    const std::unique_ptr<char, void (*)(char*)> address(
        X509_VERIFY_PARAM_get1_ip_asc(wanted),
        [](char* raw) { OPENSSL_free(raw); }
    );
    const std::string_view dialled = name != nullptr ? name : address ? address.get() : "";
    return text + ": \"" + std::string(dialled) + "\" was dialled and the certificate is for \"" +
           names_of(certificate) + "\"";
}

}  // namespace weir::proxy
