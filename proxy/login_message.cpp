#include "proxy/login_message.hpp"

#include "protocol/error.hpp"
#include "protocol/frame.hpp"

namespace weir::proxy {
namespace {

constexpr std::size_t least_length = 4;

// True when nothing more needs to be read: a message, or an error.
bool take(input_buffer& input, std::string_view allowed, login_message& found) {
    const auto bytes = input.view();
    if (bytes.empty()) {
        return false;
    }
    found.type = static_cast<char>(bytes[0]);
    if (!allowed.empty() && allowed.find(found.type) == std::string_view::npos) {
        found.ec = protocol::errc::unexpected_message;
        return true;
    }
    if (bytes.size() < protocol::header_size) {
        return false;
    }
    const std::size_t length = protocol::read_length(bytes);
    if (length < least_length || length > longest_login_message) {
        found.ec = protocol::errc::bad_length;
        return true;
    }
    if (bytes.size() < length + 1) {
        return false;
    }
    found.body.assign(
        bytes.begin() + protocol::header_size,
        bytes.begin() + static_cast<std::ptrdiff_t>(length) + 1
    );
    input.consume(length + 1);
    return true;
}

}  // namespace

asio::awaitable<login_message>
read_login_message(stream& from, input_buffer& input, std::string_view allowed) {
    login_message found;
    while (!take(input, allowed, found)) {
        const auto read_ec = co_await from.read(input);
        if (read_ec) {
            found.ec = read_ec;
            break;
        }
    }
    co_return found;
}

}  // namespace weir::proxy
