#include "config/scalar.hpp"

#include "config/suggest.hpp"
#include "config/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace weir::config {

namespace {

conversion good(key_value v) {
    return {.result = std::move(v), .expected = {}, .hint = {}};
}

conversion bad(std::string expected, std::string hint = {}) {
    return {.result = std::nullopt, .expected = std::move(expected), .hint = std::move(hint)};
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const auto* const end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, number);
    return ec == std::errc() && rest == end ? std::optional<Number>(number) : std::nullopt;
}

conversion to_boolean(const key& k, const std::string& text) {
    constexpr std::array yes{"true", "True", "yes", "on"};
    constexpr std::array no{"false", "False", "no", "off"};
    if (std::find(yes.begin(), yes.end(), text) != yes.end()) {
        return good(true);
    }
    if (std::find(no.begin(), no.end(), text) != no.end()) {
        return good(false);
    }
    return bad(expectation(k));
}

conversion to_integer(const key& k, const std::string& text) {
    if (!k.zero_word.empty() && text == k.zero_word) {
        return good(std::uint64_t{0});
    }
    const auto number = parse_number<std::uint64_t>(text);
    if (!number || *number < k.least || *number > k.most) {
        return bad(expectation(k));
    }
    return good(*number);
}

conversion to_number(const key& k, const std::string& text) {
    const auto number = parse_number<double>(text);
    const auto inside =
        number && *number >= static_cast<double>(k.least) && *number <= static_cast<double>(k.most);
    return inside ? good(*number) : bad(expectation(k));
}

// "; did you mean '5ms' or '5s'?" for a number alone.
std::string missing_unit(unit_problem problem, const std::string& text) {
    return problem == unit_problem::no_unit ? "; did you mean '" + text + "ms' or '" + text + "s'?"
                                            : "";
}

// "; did you mean '64MiB'?" for 64MB, 64M, 64mb and the like.
std::string binary_unit(const std::string& text) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos) {
        return {};
    }
    for (const std::string letter : {"K", "M", "G", "T"}) {
        const auto lower = static_cast<char>(letter[0] - 'A' + 'a');
        if (text[digits] == letter[0] || text[digits] == lower) {
            return "; did you mean '" + text.substr(0, digits) + letter + "iB'?";
        }
    }
    return {};
}

conversion to_duration(const key& k, const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed) {
        return bad(expectation(k), missing_unit(parsed.problem, text));
    }
    const auto ms = static_cast<std::uint64_t>(parsed.value.count());
    return ms < k.least || ms > k.most ? bad(expectation(k)) : good(parsed.value);
}

conversion to_size(const key& k, const std::string& text) {
    const auto parsed = parse_size(text);
    if (!parsed) {
        const auto hint = parsed.problem == unit_problem::unknown_unit ? binary_unit(text) : "";
        return bad(expectation(k), hint);
    }
    return parsed.value < k.least || parsed.value > k.most ? bad(expectation(k))
                                                           : good(parsed.value);
}

conversion to_choice(const key& k, const std::string& text) {
    std::vector<std::string> names;
    for (const auto& c : k.choices) {
        if (c.name == text && !c.available) {
            return {
                .result = std::nullopt,
                .expected = expectation(k),
                .hint = {},
                .not_available = true};
        }
        if (c.name == text) {
            return good(text);
        }
        if (c.available) {
            names.push_back(c.name);
        }
    }
    return bad(expectation(k), suggestion(text, names));
}

conversion to_consistency(const key& k, const std::string& text) {
    constexpr std::string_view bounded = "bounded:";
    if (text == "strong") {
        return good(consistency{.level = consistency_level::strong});
    }
    if (text == "eventual") {
        return good(consistency{.level = consistency_level::eventual});
    }
    if (text.starts_with(bounded)) {
        const auto start = text.find_first_not_of(' ', bounded.size());
        return convert_bound(k, start == std::string::npos ? "" : text.substr(start));
    }
    auto chosen = to_choice(k, text);
    // `bounded` alone is a choice without its bound.
    return chosen.result ? bad(expectation(k)) : chosen;
}

conversion to_endpoint(const key& k, const std::string& text) {
    const auto parsed = parse_host_port(text);
    if (text == "off" || text == "false") {
        return good(std::string("off"));
    }
    return parsed ? good(text) : bad(expectation(k));
}

}  // namespace

conversion convert(const key& k, const std::string& text) {
    switch (k.type) {
    case value_type::boolean: return to_boolean(k, text);
    case value_type::integer: return to_integer(k, text);
    case value_type::number: return to_number(k, text);
    case value_type::duration: return to_duration(k, text);
    case value_type::size: return to_size(k, text);
    case value_type::choice: return to_choice(k, text);
    case value_type::names: return good(std::vector{text});
    case value_type::endpoint: return to_endpoint(k, text);
    case value_type::consistency: return to_consistency(k, text);
    case value_type::text:
    case value_type::secret:
    case value_type::file:
    case value_type::directory: return text.empty() ? bad(expectation(k)) : good(text);
    case value_type::settings:
    case value_type::block:
    case value_type::list:
    case value_type::map:
    case value_type::later: break;
    }
    return bad(expectation(k));
}

conversion convert_bound(const key& k, const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed || parsed.value <= 0ms) {
        return bad(expectation(k), missing_unit(parsed.problem, text));
    }
    return good(consistency{.level = consistency_level::bounded, .bound = parsed.value});
}

std::optional<host_port> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    auto host = text.substr(0, colon);
    const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
    const auto bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) {
        host = host.substr(1, host.size() - 2);
    }
    const auto has_colon = host.find(':') != std::string_view::npos;
    const auto has_bracket = host.find_first_of("[]") != std::string_view::npos;
    if (has_bracket || !port || *port == 0 || host.empty() || has_colon != bracketed) {
        return std::nullopt;
    }
    return host_port{.host = std::string(host), .port = *port};
}

std::string print_host_port(const std::string& host, std::uint16_t port) {
    const auto text = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return text + ":" + std::to_string(port);
}

}  // namespace weir::config
