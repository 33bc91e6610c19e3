#include "protocol/scram_keys.hpp"

#include "protocol/base64.hpp"
#include "protocol/saslprep.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace weir::protocol {
namespace {

constexpr std::string_view verifier_prefix = "SCRAM-SHA-256$";

// The part up to `end`, which is dropped; nullopt if `end` does not occur.
std::optional<std::string_view> take_until(std::string_view& text, char end) noexcept {
    const auto at = text.find(end);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto part = text.substr(0, at);
    text.remove_prefix(at + 1);
    return part;
}

bool parse_key(std::string_view text, sha256_digest& key) {
    const auto raw = base64_decode(text);
    if (!raw || raw->size() != key.size()) {
        return false;
    }
    std::copy(raw->begin(), raw->end(), key.begin());
    return true;
}

bool is_iteration_count(std::uint32_t iterations) noexcept {
    return iterations >= 1 && iterations <= scram_max_iterations;
}

bool is_salt_size(std::size_t size) noexcept {
    return size >= 1 && size <= scram_max_salt;
}

}  // namespace

bool is_scram_verifier(std::string_view text) noexcept {
    return text.starts_with(verifier_prefix);
}

result<scram_verifier> scram_verifier::parse(std::string_view text) {
    if (!is_scram_verifier(text)) {
        return errc::bad_verifier;
    }
    text.remove_prefix(verifier_prefix.size());
    const auto count = take_until(text, ':');
    const auto salt_text = take_until(text, '$');
    const auto stored = take_until(text, ':');
    if (!count || !salt_text || !stored) {
        return errc::bad_verifier;
    }
    scram_verifier verifier;
    const auto* const end = count->data() + count->size();
    const auto [stopped, count_ec] = std::from_chars(count->data(), end, verifier.iterations);
    auto raw_salt = base64_decode(*salt_text);
    const bool sound = count_ec == std::errc{} && stopped == end &&
                       is_iteration_count(verifier.iterations) && raw_salt &&
                       is_salt_size(raw_salt->size()) && parse_key(*stored, verifier.stored_key) &&
                       parse_key(text, verifier.server_key);
    if (!sound) {
        return errc::bad_verifier;
    }
    verifier.salt = std::move(*raw_salt);
    return verifier;
}

std::string scram_verifier::text() const {
    return std::string(verifier_prefix) + std::to_string(iterations) + ':' +
           base64_encode(as_bytes(salt)) + '$' + base64_encode(stored_key) + ':' +
           base64_encode(server_key);
}

result<scram_keys>
derive_keys(std::string_view password, std::string_view salt, std::uint32_t iterations) {
    if (!is_iteration_count(iterations)) {
        return errc::scram_iterations;
    }
    if (!is_salt_size(salt.size())) {
        return errc::scram_malformed;
    }
    const auto salted = pbkdf2_sha256(prepare_password(password), salt, iterations);
    if (!salted) {
        return salted.error();
    }
    const auto client_key = hmac_sha256(*salted, as_bytes("Client Key"));
    const auto server_key = hmac_sha256(*salted, as_bytes("Server Key"));
    if (!client_key || !server_key) {
        return errc::crypto;
    }
    const auto stored_key = sha256(*client_key);
    if (!stored_key) {
        return stored_key.error();
    }
    return scram_keys{
        .verifier =
            {.salt = std::string(salt),
             .iterations = iterations,
             .stored_key = *stored_key,
             .server_key = *server_key},
        .client_key = *client_key,
    };
}

result<scram_verifier>
mock_verifier(std::string_view user, byte_span process_secret, std::uint32_t iterations) {
    const auto salt = hmac_sha256(process_secret, as_bytes("salt " + std::string(user)));
    const auto stored = hmac_sha256(process_secret, as_bytes("stored key " + std::string(user)));
    const auto server = hmac_sha256(process_secret, as_bytes("server key " + std::string(user)));
    if (!salt || !stored || !server) {
        return errc::crypto;
    }
    return scram_verifier{
        .salt = std::string(as_text(*salt).substr(0, scram_default_salt)),
        .iterations = iterations,
        .stored_key = *stored,
        .server_key = *server,
    };
}

}  // namespace weir::protocol
