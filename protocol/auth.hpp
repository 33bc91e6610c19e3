// What is known of a user's password, and what can be done with it on each side.
#pragma once

#include "protocol/error.hpp"
#include "protocol/scram_keys.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::protocol {

enum class login_method : std::uint8_t { cleartext, md5, scram_sha_256 };

// Never printed. The checks compare in constant time.
class secret {
public:
    enum class form : std::uint8_t { none, plain, md5, scram };

    // Nothing known: every check fails, every answer is errc::secret_unusable.
    secret() = default;

    // Told apart as PostgreSQL does: "md5" and 32 lower-case hex digits, a SCRAM-SHA-256 verifier,
    // else a plain password; the empty text is form::none. errc::bad_verifier for what begins as a
    // verifier and is not one.
    [[nodiscard]] static result<secret> parse(std::string_view text);

    [[nodiscard]] form kind() const noexcept { return kind_; }

    // Can a client that logs in with this method be checked?
    [[nodiscard]] bool can_check(login_method method) const noexcept;
    // Can we log in at a server that asks for this method? With a verifier only by the ClientKey
    // that a client's own login has shown (scram_server::client_key).
    [[nodiscard]] bool can_answer(login_method method) const noexcept;

    // Success, errc::wrong_password, or errc::secret_unusable. With a verifier this derives keys:
    // milliseconds.
    [[nodiscard]] error_code check_cleartext(std::string_view user, std::string_view password)
        const;
    // `answer` as the client sent it to `salt`.
    [[nodiscard]] error_code
    check_md5(std::string_view user, std::string_view salt, std::string_view answer) const;

    // The stored verifier, for form::scram.
    [[nodiscard]] const std::optional<scram_verifier>& verifier() const noexcept {
        return verifier_;
    }

    // For form::plain; milliseconds, so keep the result. With salt and iterations of one's own it
    // serves to check clients, with those of a server's challenge to log in there.
    [[nodiscard]] result<scram_keys> keys(std::string_view salt, std::uint32_t iterations) const;

    // What to send to a server.
    [[nodiscard]] result<std::string> cleartext_answer() const;
    [[nodiscard]] result<std::string> md5_answer(std::string_view user, std::string_view salt)
        const;

    friend bool operator==(const secret&, const secret&) = default;

private:
    [[nodiscard]] result<std::string> md5_secret(std::string_view user) const;

    form kind_ = form::none;
    std::string text_;  // plain password or md5 secret
    std::optional<scram_verifier> verifier_;
};

}  // namespace weir::protocol
