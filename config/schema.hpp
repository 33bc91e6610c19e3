// The one table of configuration keys. The loader, SHOW CONFIG, the differences shown by a reload,
// the reference page and the JSON Schema all walk it, so a key that is not here does not exist.
#pragma once

#include "config/config.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::config {

enum class value_type : std::uint8_t {
    boolean,
    integer,
    number,
    duration,
    size,
    text,
    secret,     // ${NAME} and file:PATH are resolved; never shown
    file,       // path; a relative one starts at the folder of the YAML file
    directory,  // likewise
    choice,     // one of key::choices
    names,      // a list of texts, or one text
    endpoint,   // host:port, or the word off
    settings,   // mapping of setting names to values
    consistency,
    block,  // mapping with the keys key::children
    list,   // list of such mappings
    map,    // mapping of names to such mappings
    later,  // a key whose feature is not built yet
};

using setting_list = std::vector<std::pair<std::string, std::string>>;

// What one key holds. monostate: nothing is set, which differs from every value.
using key_value = std::variant<
    std::monostate,
    bool,
    std::uint64_t,
    double,
    milliseconds,
    std::string,
    std::vector<std::string>,
    setting_list,
    consistency>;

struct choice {
    std::string name;
    bool available = true;
};

// `owner` in the functions below is the struct of config.hpp that holds the key's value; the
// functions that build the table (schema_builder.hpp) make sure that its type is right.
struct key {
    std::string name;
    value_type type = value_type::text;
    std::string description;  // one sentence
    std::string example;      // as it stands in YAML; empty: the default serves
    std::string default_text;
    bool required = false;
    bool reloadable = true;  // RELOAD applies a change
    bool in_example = true;  // false: it does not go together with other keys of the example
    // Inclusive; milliseconds for a duration, bytes for a size.
    std::uint64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::string zero_word;  // what 0 is written as, such as auto
    std::vector<choice> choices;
    std::vector<key> children;  // of a block, or of one element of a list or map
    std::string shorthand;      // of a block: the child that a plain text stands for

    std::function<key_value(const void* owner)> get;
    std::function<void(void* owner, const key_value&)> set;
    std::function<void*(void* owner)> inner;  // block: the struct in `owner`
    std::function<void*(void* owner, const std::string& name)> append;  // list, map: a new element
    std::function<std::vector<const void*>(const void* owner)> elements;  // block: one
    std::function<std::string(const void* element)> label;  // list, map: its name, or empty

    [[nodiscard]] bool available() const { return type != value_type::later; }
};

// The keys of the whole file, in the order of the reference page. Made once, immutable, safe from
// any thread.
[[nodiscard]] const std::vector<key>& schema();

// A value as it is written in YAML; empty when nothing is set. A secret is printed as it is: see
// print.hpp.
[[nodiscard]] std::string print_value(const key& k, const key_value& v);

// "a whole number from 1 to 65535", "a duration from 1s to 1h, such as 10s", …
[[nodiscard]] std::string expectation(const key& k);

// The parts of the table, one function per file section.
[[nodiscard]] std::vector<key> listen_keys();
[[nodiscard]] std::vector<key> cluster_keys();
[[nodiscard]] std::vector<key> tls_keys(const std::string& mode_description);
[[nodiscard]] std::vector<key> rule_keys();
[[nodiscard]] std::vector<key> store_keys();
[[nodiscard]] std::vector<key> migration_keys();

}  // namespace weir::config
