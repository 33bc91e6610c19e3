#include "config/reader.hpp"

#include "config/suggest.hpp"

#include <algorithm>
#include <utility>

namespace weir::config {

namespace {

constexpr std::size_t longest_quote = 60;

std::string child_path(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

// A text of the file for an error message: short, on one line.
std::string quoted(const std::string& text) {
    auto shown = text.substr(0, longest_quote);
    for (auto& c : shown) {
        c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return "'" + shown + (shown.size() < text.size() ? "...'" : "'");
}

bool holds_secret(const std::vector<key>& keys) {
    return std::any_of(keys.begin(), keys.end(), [](const key& k) {
        return k.type == value_type::secret;
    });
}

std::string position(place at) {
    return std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace

void reader::read_block(
    const std::vector<key>& keys,
    const node& given,
    void* owner,
    const std::string& path
) {
    for (std::size_t i = 0; i < given.children.size(); ++i) {
        const auto& entry = given.children[i];
        const auto known = std::find_if(keys.begin(), keys.end(), [&](const key& k) {
            return k.name == entry.key;
        });
        if (known == keys.end()) {
            unknown_key(keys, entry, path);
        } else if (first_of_its_name(given, i, path)) {
            read_key(*known, entry, owner, child_path(path, entry.key));
        }
    }
    for (const auto& k : keys) {
        const auto present =
            std::any_of(given.children.begin(), given.children.end(), [&](const node& entry) {
                return entry.key == k.name;
            });
        if (!present) {
            read_absent(k, given.at, owner, child_path(path, k.name));
        }
    }
}

void reader::read_absent(const key& k, place at, void* owner, const std::string& path) {
    if (k.required) {
        out_.report(path, at, path + " is missing; expected " + expectation(k));
    } else if (k.type == value_type::block) {
        // What is required inside a block is missing too when the whole block is.
        node nothing;
        nothing.at = at;
        read_block(k.children, nothing, k.inner(owner), path);
    }
}

void reader::read_key(const key& k, const node& given, void* owner, const std::string& path) {
    out_.note(path, given.kind == node_kind::null ? given.key_at : given.at);
    switch (k.type) {
    case value_type::later:
        out_.report(path, given.key_at, path + " is not available in this version");
        return;
    case value_type::block: read_inner(k, given, owner, path); return;
    case value_type::list: read_list(k, given, owner, path); return;
    case value_type::map: read_map(k, given, owner, path); return;
    default: read_value(k, given, owner, path); return;
    }
}

void reader::read_inner(const key& k, const node& given, void* owner, const std::string& path) {
    if (given.kind == node_kind::scalar && !k.shorthand.empty()) {
        const auto child = std::find_if(k.children.begin(), k.children.end(), [&](const key& c) {
            return c.name == k.shorthand;
        });
        read_value(*child, given, k.inner(owner), path);
        return;
    }
    if (given.kind != node_kind::map && given.kind != node_kind::null) {
        wrong_kind(given, path, expectation(k));
        return;
    }
    read_block(k.children, given, k.inner(owner), path);
}

void reader::read_list(const key& k, const node& given, void* owner, const std::string& path) {
    if (given.kind != node_kind::list && given.kind != node_kind::null) {
        wrong_kind(given, path, expectation(k));
        return;
    }
    for (std::size_t i = 0; i < given.children.size(); ++i) {
        const auto& element = given.children[i];
        const auto element_path = path + "[" + std::to_string(i + 1) + "]";
        out_.note(element_path, element.at);
        void* const made = k.append(owner, {});
        if (element.kind == node_kind::map) {
            read_block(k.children, element, made, element_path);
        } else {
            wrong_kind(element, element_path, "a mapping");
        }
    }
}

void reader::read_map(const key& k, const node& given, void* owner, const std::string& path) {
    if (given.kind != node_kind::map && given.kind != node_kind::null) {
        wrong_kind(given, path, expectation(k));
        return;
    }
    for (std::size_t i = 0; i < given.children.size(); ++i) {
        const auto& element = given.children[i];
        if (!first_of_its_name(given, i, path)) {
            continue;
        }
        const auto element_path = child_path(path, element.key);
        out_.note(element_path, element.key_at);
        if (element.key.empty()) {
            out_.report(element_path, element.key_at, path + " has an empty name; expected text");
            continue;
        }
        void* const made = k.append(owner, element.key);
        if (element.kind != node_kind::map && element.kind != node_kind::null) {
            wrong_kind(element, element_path, "a mapping");
            continue;
        }
        auto keyed = element;
        keyed.at = element.kind == node_kind::null ? element.key_at : element.at;
        read_block(k.children, keyed, made, element_path);
    }
}

void reader::read_value(const key& k, const node& given, void* owner, const std::string& path) {
    std::optional<key_value> found;
    switch (k.type) {
    case value_type::names: found = names_value(k, given, path); break;
    case value_type::settings: found = settings_value(k, given, path); break;
    case value_type::consistency: found = consistency_value(k, given, path); break;
    default: found = scalar_value(k, given, path); break;
    }
    if (found) {
        k.set(owner, *found);
    }
}

std::optional<key_value>
reader::names_value(const key& k, const node& given, const std::string& path) {
    if (given.kind != node_kind::list) {
        return scalar_value(k, given, path);
    }
    std::vector<std::string> names;
    for (const auto& element : given.children) {
        if (element.kind != node_kind::scalar || element.text.empty()) {
            wrong_kind(element, path, expectation(k));
            return std::nullopt;
        }
        const auto text = resolved(k, element, path);
        if (!text) {
            return std::nullopt;
        }
        names.push_back(*text);
    }
    return names;
}

std::optional<key_value>
reader::settings_value(const key& k, const node& given, const std::string& path) {
    if (given.kind != node_kind::map) {
        wrong_kind(given, path, expectation(k));
        return std::nullopt;
    }
    setting_list settings;
    for (std::size_t i = 0; i < given.children.size(); ++i) {
        const auto& entry = given.children[i];
        const auto entry_path = child_path(path, entry.key);
        out_.note(entry_path, entry.key_at);
        if (!first_of_its_name(given, i, path)) {
            continue;
        }
        if (entry.kind != node_kind::scalar) {
            wrong_kind(entry, entry_path, "text or a number");
            continue;
        }
        if (auto text = resolved(k, entry, entry_path)) {
            settings.emplace_back(entry.key, std::move(*text));
        }
    }
    return settings;
}

std::optional<key_value>
reader::consistency_value(const key& k, const node& given, const std::string& path) {
    if (given.kind != node_kind::map) {
        return scalar_value(k, given, path);
    }
    const auto is_bound = given.children.size() == 1 && given.children.front().key == "bounded" &&
                          given.children.front().kind == node_kind::scalar;
    if (!is_bound) {
        out_.report(path, given.at, path + " is a mapping; expected " + expectation(k));
        return std::nullopt;
    }
    const auto& bound = given.children.front();
    const auto text = resolved(k, bound, path);
    if (!text) {
        return std::nullopt;
    }
    auto converted = convert_bound(k, *text);
    if (!converted.result) {
        bad_value(k, bound, path, converted);
    }
    return converted.result;
}

std::optional<key_value>
reader::scalar_value(const key& k, const node& given, const std::string& path) {
    if (given.kind != node_kind::scalar) {
        wrong_kind(given, path, expectation(k));
        return std::nullopt;
    }
    auto text = resolved(k, given, path);
    if (!text) {
        return std::nullopt;
    }
    const auto is_path = k.type == value_type::file || k.type == value_type::directory;
    if (is_path && !text->empty()) {
        text = (base_ / *text).lexically_normal().string();
    }
    auto converted = convert(k, *text);
    if (converted.not_available) {
        out_.report(
            path,
            given.at,
            path + " " + quoted(given.text) + " is not available in this version; expected " +
                converted.expected
        );
    } else if (!converted.result) {
        bad_value(k, given, path, converted);
    }
    return converted.result;
}

std::optional<std::string>
reader::resolved(const key& k, const node& given, const std::string& path) {
    const auto found = k.type == value_type::secret ? read_secret(given.text, variables_, base_)
                                                    : expand(given.text, variables_, false);
    if (!found) {
        out_.report(path, given.at, path + " " + found.problem);
        return std::nullopt;
    }
    return found.text;
}

void reader::unknown_key(const std::vector<key>& keys, const node& given, const std::string& path) {
    std::vector<std::string> names;
    for (const auto& k : keys) {
        if (k.available()) {
            names.push_back(k.name);
        }
    }
    const auto hint = suggestion(given.key, names);
    // An unquoted comma in a password starts a new key, so a stray key here may be half a password.
    const auto shown = holds_secret(keys) && hint.empty() ? std::string() : " " + quoted(given.key);
    const auto where = path.empty() ? std::string() : " in " + path;
    out_.report(
        child_path(path, given.key),
        given.key_at,
        "unknown key" + shown + where + "; expected " + one_of(names) + hint
    );
}

bool reader::first_of_its_name(const node& map, std::size_t index, const std::string& path) {
    const auto& entry = map.children[index];
    const auto first =
        std::find_if(map.children.begin(), map.children.end(), [&](const node& other) {
            return other.key == entry.key;
        });
    if (&*first == &entry) {
        return true;
    }
    const auto entry_path = child_path(path, entry.key);
    out_.report(
        entry_path,
        entry.key_at,
        entry_path + " is given twice, first at " + position(first->key_at) + "; expected once"
    );
    return false;
}

void reader::wrong_kind(const node& given, const std::string& path, const std::string& expected) {
    const auto empty = given.kind == node_kind::null;
    const auto found = empty ? " has no value" : " is " + std::string(to_string(given.kind));
    const auto at = empty && given.key_at.line != 0 ? given.key_at : given.at;
    out_.report(path, at, path + found + "; expected " + expected);
}

void reader::bad_value(
    const key& k,
    const node& given,
    const std::string& path,
    const conversion& bad
) {
    // The text as it stands in the file, so that the value of a variable is never shown.
    std::string shown = " is " + quoted(given.text);
    if (given.text.empty()) {
        shown = " is empty";
    } else if (k.type == value_type::secret) {
        shown = " is not usable";
    }
    const auto as_written = given.text.find('$') == std::string::npos;
    out_.report(
        path,
        given.at,
        path + shown + "; expected " + bad.expected + (as_written ? bad.hint : std::string())
    );
}

}  // namespace weir::config
