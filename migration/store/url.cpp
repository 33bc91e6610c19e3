#include "migration/store/url.hpp"

#include <algorithm>
#include <stdexcept>

namespace weir::migration::store {
namespace {

bool is_digit(char what) {
    return what >= '0' && what <= '9';
}

bool is_port(std::string_view text) {
    return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit) &&
           std::stoul(std::string(text)) >= 1 && std::stoul(std::string(text)) <= 65535;
}

}  // namespace

url parse_url(std::string_view text) {
    const std::runtime_error wrong("not an http or https URL: " + std::string(text));
    url made;
    auto rest = text;
    made.tls = rest.starts_with("https://");
    if (!made.tls && !rest.starts_with("http://")) {
        throw wrong;
    }
    rest.remove_prefix(made.tls ? 8 : 7);
    if (rest.find_first_of("?#@ \t\r\n") != std::string_view::npos) {
        throw wrong;
    }
    const auto slash = std::min(rest.find('/'), rest.size());
    auto authority = rest.substr(0, slash);
    made.path = rest.substr(slash);
    while (made.path.ends_with('/')) {
        made.path.pop_back();
    }
    const bool numeric6 = authority.starts_with('[');
    const auto host_end =
        numeric6 ? authority.find(']') : std::min(authority.find(':'), authority.size());
    if (host_end == std::string_view::npos) {
        throw wrong;
    }
    made.host = numeric6 ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
    authority.remove_prefix(numeric6 ? host_end + 1 : host_end);
    const std::string_view usual = made.tls ? "443" : "80";
    made.port = authority.empty() ? usual : authority.substr(1);
    if (made.host.empty() || !is_port(made.port) ||
        (!authority.empty() && authority.front() != ':')) {
        throw wrong;
    }
    const auto shown = numeric6 ? "[" + made.host + "]" : made.host;
    made.host_header = made.port == usual ? shown : shown + ":" + made.port;
    made.address = (made.tls ? "https://" : "http://") + shown + ":" + made.port;
    return made;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string made;
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        const bool letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
        if (letter || is_digit(each) || each == '-' || each == '.' || each == '_' || each == '~') {
            made += each;
        } else {
            made += '%';
            made += hex[byte >> 4];
            made += hex[byte & 15];
        }
    }
    return made;
}

}  // namespace weir::migration::store
