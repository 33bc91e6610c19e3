#include "protocol/md5.hpp"

#include "protocol/crypto.hpp"

#include <cassert>

namespace weir::protocol {
namespace {

constexpr std::string_view prefix = "md5";
constexpr std::size_t hex_size = 32;

result<std::string> prefixed_md5(std::string_view first, std::string_view second) {
    std::string data(first);
    data.append(second);
    auto hex = md5_hex(data);
    if (!hex) {
        return hex.error();
    }
    return std::string(prefix) + *hex;
}

}  // namespace

bool is_md5_secret(std::string_view text) noexcept {
    return text.size() == prefix.size() + hex_size && text.starts_with(prefix) &&
           text.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

result<std::string> make_md5_secret(std::string_view password, std::string_view user) {
    return prefixed_md5(password, user);
}

result<std::string> md5_answer(std::string_view secret, std::string_view salt) {
    assert(is_md5_secret(secret));
    return prefixed_md5(secret.substr(prefix.size()), salt);
}

}  // namespace weir::protocol
