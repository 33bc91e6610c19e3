#include "protocol/scram_client.hpp"

#include "protocol/base64.hpp"
#include "protocol/scram_message.hpp"

#include <cassert>
#include <charconv>
#include <utility>

namespace weir::protocol {
namespace {

// PostgreSQL takes the name from the startup packet and ignores this one.
std::string first_bare(std::string_view nonce) {
    return "n=,r=" + std::string(nonce);
}

result<std::uint32_t> parse_iterations(std::string_view text) noexcept {
    std::uint32_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [stopped, parse_ec] = std::from_chars(text.data(), end, value);
    if (parse_ec == std::errc::result_out_of_range) {
        return errc::scram_iterations;
    }
    if (parse_ec != std::errc{} || stopped != end) {
        return errc::scram_malformed;
    }
    if (value < 1 || value > scram_max_iterations) {
        return errc::scram_iterations;
    }
    return value;
}

}  // namespace

scram_client::scram_client(std::string nonce, scram_client_binding binding)
    : nonce_(std::move(nonce)), binding_(std::move(binding)) {
    assert(is_scram_nonce(nonce_));
}

std::string scram_client::gs2_header() const {
    std::string header(1, static_cast<char>(binding_.kind));
    if (binding_.kind == scram_client_binding::flag::used) {
        header.append("=").append(scram_binding_type);
    }
    return header + ",,";
}

std::string scram_client::first_message() const {
    return gs2_header() + first_bare(nonce_);
}

result<scram_challenge> scram_client::read_challenge(std::string_view server_first) {
    if (std::exchange(state_, state::over) != state::started) {
        return errc::unexpected_message;
    }
    if (server_first.size() > scram_max_message) {
        return errc::scram_malformed;
    }
    scram_attributes attributes(server_first);
    if (attributes.next_name() == 'm') {
        return errc::scram_unsupported;
    }
    const auto nonce = attributes.expect('r');
    const auto salt = base64_decode(attributes.expect('s'));
    const auto count = attributes.expect('i');
    attributes.skip_to('\0');
    const bool sound = attributes.finished() && is_scram_nonce(nonce) && salt && !salt->empty() &&
                       salt->size() <= scram_max_salt;
    if (!sound) {
        return errc::scram_malformed;
    }
    const auto iterations = parse_iterations(count);
    if (!iterations) {
        return iterations.error();
    }
    // The server must add something of its own.
    if (!nonce.starts_with(nonce_) || nonce.size() == nonce_.size()) {
        return errc::scram_nonce_mismatch;
    }
    state_ = state::challenged;
    server_first_ = server_first;
    combined_nonce_ = nonce;
    challenge_ = {.salt = *salt, .iterations = *iterations};
    return challenge_;
}

result<std::string> scram_client::final_message(const scram_keys& keys) {
    if (std::exchange(state_, state::over) != state::challenged) {
        return errc::unexpected_message;
    }
    if (keys.verifier.salt != challenge_.salt ||
        keys.verifier.iterations != challenge_.iterations) {
        return errc::secret_unusable;
    }
    const auto bound = gs2_header() + binding_.data;
    auto message = "c=" + base64_encode(as_bytes(bound)) + ",r=" + combined_nonce_;
    const auto auth_message = first_bare(nonce_) + ',' + server_first_ + ',' + message;
    const auto signatures = sign(keys.verifier, auth_message);
    if (!signatures) {
        return signatures.error();
    }
    server_signature_ = signatures->server;
    state_ = state::answered;
    message.append(",p=").append(base64_encode(exclusive_or(keys.client_key, signatures->client)));
    return message;
}

error_code scram_client::check_server(std::string_view server_final) {
    if (std::exchange(state_, state::over) != state::answered) {
        return errc::unexpected_message;
    }
    if (server_final.size() > scram_max_message) {
        return errc::scram_malformed;
    }
    scram_attributes attributes(server_final);
    if (attributes.next_name() == 'e') {
        return errc::scram_refused;
    }
    const auto signature = base64_decode(attributes.expect('v'));
    attributes.skip_to('\0');
    if (!attributes.finished() || !signature) {
        return errc::scram_malformed;
    }
    if (!same_bytes(as_bytes(*signature), server_signature_)) {
        return errc::scram_bad_signature;
    }
    return {};
}

}  // namespace weir::protocol
