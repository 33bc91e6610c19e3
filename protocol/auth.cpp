#include "protocol/auth.hpp"

#include "protocol/crypto.hpp"
#include "protocol/md5.hpp"

namespace weir::protocol {

result<secret> secret::parse(std::string_view text) {
    secret parsed;
    if (text.empty()) {
        return parsed;
    }
    if (is_scram_verifier(text)) {
        auto verifier = scram_verifier::parse(text);
        if (!verifier) {
            return verifier.error();
        }
        parsed.kind_ = form::scram;
        parsed.verifier_ = std::move(*verifier);
        return parsed;
    }
    parsed.kind_ = is_md5_secret(text) ? form::md5 : form::plain;
    parsed.text_ = text;
    return parsed;
}

bool secret::can_check(login_method method) const noexcept {
    switch (method) {
    case login_method::cleartext: return kind_ != form::none;
    case login_method::md5: return kind_ == form::plain || kind_ == form::md5;
    case login_method::scram_sha_256: return kind_ == form::plain || kind_ == form::scram;
    }
    return false;
}

bool secret::can_answer(login_method method) const noexcept {
    return kind_ == form::plain || (kind_ == form::md5 && method == login_method::md5);
}

error_code secret::check_cleartext(std::string_view user, std::string_view password) const {
    switch (kind_) {
    case form::none: return errc::secret_unusable;
    case form::plain:
        return same_bytes(as_bytes(password), as_bytes(text_)) ? error_code{}
                                                               : errc::wrong_password;
    case form::md5: {
        const auto given = make_md5_secret(password, user);
        if (!given) {
            return given.error();
        }
        return same_bytes(as_bytes(*given), as_bytes(text_)) ? error_code{} : errc::wrong_password;
    }
    case form::scram: {
        const auto given = derive_keys(password, verifier_->salt, verifier_->iterations);
        if (!given) {
            return given.error();
        }
        return same_bytes(given->verifier.stored_key, verifier_->stored_key) ? error_code{}
                                                                             : errc::wrong_password;
    }
    }
    return errc::secret_unusable;
}

result<std::string> secret::md5_secret(std::string_view user) const {
    switch (kind_) {
    case form::plain: return make_md5_secret(text_, user);
    case form::md5: return text_;
    case form::none:
    case form::scram: break;
    }
    return errc::secret_unusable;
}

error_code secret::check_md5(std::string_view user, std::string_view salt, std::string_view answer)
    const {
    const auto expected = md5_answer(user, salt);
    if (!expected) {
        return expected.error();
    }
    return same_bytes(as_bytes(answer), as_bytes(*expected)) ? error_code{} : errc::wrong_password;
}

result<scram_keys> secret::keys(std::string_view salt, std::uint32_t iterations) const {
    if (kind_ != form::plain) {
        return errc::secret_unusable;
    }
    return derive_keys(text_, salt, iterations);
}

result<std::string> secret::cleartext_answer() const {
    if (kind_ != form::plain) {
        return errc::secret_unusable;
    }
    return text_;
}

result<std::string> secret::md5_answer(std::string_view user, std::string_view salt) const {
    const auto stored = md5_secret(user);
    if (!stored) {
        return stored.error();
    }
    return protocol::md5_answer(*stored, salt);
}

}  // namespace weir::protocol
