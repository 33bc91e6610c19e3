// The parts that both roles of SCRAM share: attributes of messages, names and bounds.
// Source: RFC 5802 section 7.
#pragma once

#include "protocol/crypto.hpp"
#include "protocol/error.hpp"
#include "protocol/scram_keys.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::protocol {

inline constexpr std::string_view scram_sha_256 = "SCRAM-SHA-256";
inline constexpr std::string_view scram_sha_256_plus = "SCRAM-SHA-256-PLUS";
// The only kind of channel binding PostgreSQL has (RFC 5929 section 4).
inline constexpr std::string_view scram_binding_type = "tls-server-end-point";

// PostgreSQL's limit for one message of the exchange.
inline constexpr std::size_t scram_max_message = 1024;

// Reads "x=value,y=value"; latches the first thing that is wrong.
class scram_attributes {
public:
    explicit scram_attributes(std::string_view text) noexcept : left_(text) {}

    // The next attribute, which must be this one.
    [[nodiscard]] std::string_view expect(char name) noexcept;

    // The name of the next attribute, 0 at the end.
    [[nodiscard]] char next_name() const noexcept { return left_.empty() ? '\0' : left_.front(); }

    // Reads over attributes that this side does not know, up to `last` or the end.
    void skip_to(char last) noexcept;

    [[nodiscard]] std::string_view left() const noexcept { return left_; }

    [[nodiscard]] bool ok() const noexcept { return ok_; }

    // Nothing wrong and nothing left.
    [[nodiscard]] bool finished() const noexcept { return ok_ && left_.empty() && !comma_; }

private:
    void fail() noexcept;

    std::string_view left_;
    bool ok_ = true;
    bool comma_ = false;  // the last attribute ended with a comma: another must follow
};

// Printable ASCII but no comma, at least one.
[[nodiscard]] bool is_scram_nonce(std::string_view text) noexcept;

// What both sides compute from the conversation so far.
struct scram_signatures {
    sha256_digest client{};
    sha256_digest server{};
};

[[nodiscard]] result<scram_signatures>
sign(const scram_verifier& verifier, std::string_view auth_message) noexcept;

[[nodiscard]] sha256_digest
exclusive_or(const sha256_digest& left, const sha256_digest& right) noexcept;

}  // namespace weir::protocol
