#include "protocol/scram_server.hpp"

#include "protocol/base64.hpp"
#include "protocol/scram_message.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::protocol {

scram_server::scram_server(scram_server_options options) : options_(std::move(options)) {
    assert(is_scram_nonce(options_.nonce));
    assert(!options_.plus_chosen || options_.plus_offered);
}

error_code scram_server::read_flag(std::string_view flag) {
    if (flag == "n") {
        return options_.plus_chosen ? errc::scram_channel_binding : error_code{};
    }
    if (flag == "y") {
        // The client could bind and thinks that we cannot. If we can, somebody took it out of our
        // list.
        return options_.plus_offered ? errc::scram_channel_binding : error_code{};
    }
    if (flag.starts_with("p=")) {
        const bool right = options_.plus_chosen && flag.substr(2) == scram_binding_type;
        return right ? error_code{} : errc::scram_channel_binding;
    }
    return errc::scram_malformed;
}

error_code scram_server::read_header(std::string_view& message) {
    const auto flag_end = message.find(',');
    const auto header_end =
        flag_end == std::string_view::npos ? flag_end : message.find(',', flag_end + 1);
    if (header_end == std::string_view::npos) {
        return errc::scram_malformed;
    }
    if (const auto flag_ec = read_flag(message.substr(0, flag_end))) {
        return flag_ec;
    }
    const auto identity = message.substr(flag_end + 1, header_end - flag_end - 1);
    if (!identity.empty()) {
        return identity.starts_with("a=") ? errc::scram_unsupported : errc::scram_malformed;
    }
    gs2_header_ = message.substr(0, header_end + 1);
    message.remove_prefix(header_end + 1);
    return {};
}

result<std::string> scram_server::first_message(std::string_view client_first) {
    if (std::exchange(state_, state::over) != state::started) {
        return errc::unexpected_message;
    }
    if (client_first.size() > scram_max_message) {
        return errc::scram_malformed;
    }
    if (const auto header_ec = read_header(client_first)) {
        return header_ec;
    }
    scram_attributes attributes(client_first);
    if (attributes.next_name() == 'm') {
        return errc::scram_unsupported;
    }
    static_cast<void>(attributes.expect('n'));  // the name of the startup packet counts
    const auto nonce = attributes.expect('r');
    attributes.skip_to('\0');
    if (!attributes.finished() || !is_scram_nonce(nonce)) {
        return errc::scram_malformed;
    }
    client_first_bare_ = client_first;
    combined_nonce_ = std::string(nonce) + options_.nonce;
    server_first_ = "r=" + combined_nonce_ +
                    ",s=" + base64_encode(as_bytes(options_.verifier.salt)) +
                    ",i=" + std::to_string(options_.verifier.iterations);
    state_ = state::challenged;
    return server_first_;
}

result<std::string> scram_server::final_message(std::string_view client_final) {
    if (std::exchange(state_, state::over) != state::challenged) {
        return errc::unexpected_message;
    }
    if (client_final.size() > scram_max_message) {
        return errc::scram_malformed;
    }
    scram_attributes attributes(client_final);
    const auto binding = attributes.expect('c');
    const auto nonce = attributes.expect('r');
    attributes.skip_to('p');
    const auto proof_at = client_final.size() - attributes.left().size();
    const auto proof_text = attributes.expect('p');
    if (!attributes.finished()) {
        return errc::scram_malformed;
    }
    const auto bound = gs2_header_ + (options_.plus_chosen ? options_.binding_data : std::string());
    if (binding != base64_encode(as_bytes(bound))) {
        return errc::scram_channel_binding;
    }
    if (nonce != combined_nonce_) {
        return errc::scram_nonce_mismatch;
    }
    return check_proof(proof_text, client_final.substr(0, proof_at - 1));
}

result<std::string>
scram_server::check_proof(std::string_view proof_text, std::string_view without_proof) {
    const auto raw = base64_decode(proof_text);
    sha256_digest proof{};
    if (!raw || raw->size() != proof.size()) {
        return errc::scram_malformed;
    }
    std::copy(raw->begin(), raw->end(), proof.begin());
    const auto auth_message = client_first_bare_ + ',' + server_first_ + ',';
    const auto signatures = sign(options_.verifier, auth_message + std::string(without_proof));
    if (!signatures) {
        return signatures.error();
    }
    const auto client_key = exclusive_or(proof, signatures->client);
    const auto stored_key = sha256(client_key);
    if (!stored_key) {
        return stored_key.error();
    }
    const bool right = same_bytes(*stored_key, options_.verifier.stored_key);
    if (!right || !options_.genuine) {
        return errc::scram_bad_proof;
    }
    client_key_ = client_key;
    return "v=" + base64_encode(signatures->server);
}

}  // namespace weir::protocol
