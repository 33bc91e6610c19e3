#include "protocol/scram_message.hpp"

#include <algorithm>

namespace weir::protocol {
namespace {

bool is_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

void scram_attributes::fail() noexcept {
    ok_ = false;
    left_ = {};
}

std::string_view scram_attributes::expect(char name) noexcept {
    if (left_.size() < 2 || left_[0] != name || left_[1] != '=') {
        fail();
        return {};
    }
    const auto end = left_.find(',');
    comma_ = end != std::string_view::npos;
    const auto value = left_.substr(2, comma_ ? end - 2 : std::string_view::npos);
    left_ = comma_ ? left_.substr(end + 1) : std::string_view{};
    return value;
}

void scram_attributes::skip_to(char last) noexcept {
    while (ok_ && !left_.empty() && left_.front() != last) {
        if (!is_name(left_.front())) {
            fail();
        } else {
            static_cast<void>(expect(left_.front()));
        }
    }
}

bool is_scram_nonce(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c >= '!' && c <= '~' && c != ',';
    });
}

result<scram_signatures>
sign(const scram_verifier& verifier, std::string_view auth_message) noexcept {
    const auto client = hmac_sha256(verifier.stored_key, as_bytes(auth_message));
    const auto server = hmac_sha256(verifier.server_key, as_bytes(auth_message));
    if (!client || !server) {
        return errc::crypto;
    }
    return scram_signatures{.client = *client, .server = *server};
}

sha256_digest exclusive_or(const sha256_digest& left, const sha256_digest& right) noexcept {
    sha256_digest both{};
    for (std::size_t i = 0; i < both.size(); ++i) {
        both[i] = left[i] ^ right[i];
    }
    return both;
}

}  // namespace weir::protocol
