#include "config/schema.hpp"
#include "config/suggest.hpp"
#include "config/units.hpp"

#include <array>
#include <charconv>

namespace weir::config {

namespace {

std::string print_number(double number) {
    std::array<char, 32> buffer{};
    const auto [end, ec] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    return ec == std::errc() ? std::string(buffer.data(), end) : std::string();
}

std::string print_settings(const setting_list& settings) {
    std::string text;
    for (const auto& [name, setting] : settings) {
        text.append(text.empty() ? "" : ", ").append(name).append(": ").append(setting);
    }
    return text;
}

std::string print_names(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) {
        text.append(text.empty() ? "" : ", ").append(name);
    }
    return text;
}

std::string print_consistency(const consistency& c) {
    switch (c.level) {
    case consistency_level::strong: return "strong";
    case consistency_level::eventual: return "eventual";
    case consistency_level::bounded: return "bounded: " + print_duration(c.bound);
    }
    return {};
}

std::string print_integer(const key& k, std::uint64_t number) {
    if (number == 0 && !k.zero_word.empty()) {
        return k.zero_word;
    }
    return k.type == value_type::size ? print_size(number) : std::to_string(number);
}

std::string expected_choice(const key& k) {
    std::vector<std::string> names;
    for (const auto& c : k.choices) {
        if (c.available) {
            names.push_back(c.name);
        }
    }
    return one_of(names);
}

std::string expected_integer(const key& k) {
    auto text = "a whole number from " + std::to_string(k.least) + " to " + std::to_string(k.most);
    return k.zero_word.empty() ? text : k.zero_word + " or " + text;
}

std::string expected_duration(const key& k) {
    const auto print = [](std::uint64_t ms) {
        return print_duration(milliseconds(static_cast<std::int64_t>(ms)));
    };
    return "a duration from " + print(k.least) + " to " + print(k.most) + ", such as 200ms or 10s";
}

}  // namespace

std::string print_value(const key& k, const key_value& v) {
    struct printer {
        const key& k;

        std::string operator()(std::monostate /*nothing*/) const { return {}; }

        std::string operator()(bool b) const { return b ? "true" : "false"; }

        std::string operator()(std::uint64_t n) const { return print_integer(k, n); }

        std::string operator()(double n) const { return print_number(n); }

        std::string operator()(milliseconds d) const { return print_duration(d); }

        std::string operator()(const std::string& s) const { return s; }

        std::string operator()(const std::vector<std::string>& s) const { return print_names(s); }

        std::string operator()(const setting_list& s) const { return print_settings(s); }

        std::string operator()(const consistency& c) const { return print_consistency(c); }
    };

    return std::visit(printer{k}, v);
}

std::string expectation(const key& k) {
    switch (k.type) {
    case value_type::boolean: return "true or false";
    case value_type::integer: return expected_integer(k);
    case value_type::number:
        return "a number from " + std::to_string(k.least) + " to " + std::to_string(k.most);
    case value_type::duration: return expected_duration(k);
    case value_type::size:
        return "a size from " + print_size(k.least) + " to " + print_size(k.most) +
               ", such as 512KiB or 64MiB";
    case value_type::text: return "text";
    case value_type::secret: return "text, ${NAME} or file:PATH";
    case value_type::file: return "the path of a file";
    case value_type::directory: return "the path of a directory";
    case value_type::choice: return expected_choice(k);
    case value_type::names: return "text or a list of texts";
    case value_type::endpoint: return "host:port, such as 127.0.0.1:9632, or off";
    case value_type::settings: return "a mapping of setting names to values";
    case value_type::consistency: return "strong, eventual or {bounded: 5s}";
    case value_type::block: return "a mapping";
    case value_type::list: return "a list of mappings";
    case value_type::map: return "a mapping of names to mappings";
    case value_type::later: return "nothing";
    }
    return {};
}

}  // namespace weir::config
