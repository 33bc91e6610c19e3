#include "config/reference.hpp"

#include "config/schema.hpp"
#include "config/units.hpp"

#include <algorithm>
#include <functional>

namespace weir::config {

namespace {

constexpr const char* introduction = R"(# Configuration

<!-- Made from config/schema*.cpp by `weir_config_reference`. Change it there. -->

One YAML file holds everything. `pgweir check FILE` reads it and reports **all** errors at once, each as
`file:line:column: what is wrong; what is expected; did you mean …`, and exits with 2 if there are any.
An unknown key, a key given twice, a wrong type, an impossible value, a rule that can never match, and a file or
variable that is missing are errors.

- **Durations** are written with their unit: `200ms`, `2s`, `10m`, `1h`, `7d`. Only `0` needs none.
- **Sizes** are bytes, or written as `512KiB`, `64MiB`, `1GiB`.
- **`${NAME}`** anywhere in a value is replaced by that environment variable; `$${` stands for the two characters `${`.
- **Secrets** may also be `file:PATH`: the content of that file, without its last line end.
- **Paths** that are relative start at the folder of the YAML file.
- **Quote** a text that holds `,` `:` `#` `*` `&` `!` `{` `}` `[` or `]`, passwords above all.
- **Reload** (SIGHUP, or `RELOAD` in the console) reads and checks the whole file first; a file with an error changes
  nothing. A key with "no" in the column *Reload* takes effect when the program starts.
- A key that is listed as *not available* is known, but its feature is not built yet; using it is an error.

`pgweir --server host:port …` runs without a file: one cluster `main` with these servers, every database on it, and
clients from this machine only.
)";

std::string type_text(const key& k) {
    const auto bounds = [&](const std::function<std::string(std::uint64_t)>& print) {
        return ", " + print(k.least) + " to " + print(k.most);
    };
    switch (k.type) {
    case value_type::integer:
        return (k.zero_word.empty() ? "" : "`" + k.zero_word + "` or ") + "whole number" +
               bounds([](auto n) { return std::to_string(n); });
    case value_type::number: return "number" + bounds([](auto n) { return std::to_string(n); });
    case value_type::duration:
        return "duration" + bounds([](auto n) {
                   return print_duration(milliseconds(static_cast<std::int64_t>(n)));
               });
    case value_type::size: return "size" + bounds(print_size);
    case value_type::boolean: return "`true` or `false`";
    case value_type::text: return "text";
    case value_type::secret: return "secret";
    case value_type::file: return "file";
    case value_type::directory: return "directory";
    case value_type::names: return "text or list of texts";
    case value_type::endpoint: return "`host:port` or `off`";
    case value_type::settings: return "mapping of names to values";
    case value_type::consistency: return "`strong`, `eventual` or `{bounded: 5s}`";
    case value_type::block: return "mapping, below";
    case value_type::list: return "list, below";
    case value_type::map: return "mapping of names, below";
    case value_type::choice:
    case value_type::later: break;
    }
    std::string text;
    for (const auto& c : k.choices) {
        if (c.available) {
            text.append(text.empty() ? "`" : ", `").append(c.name).append("`");
        }
    }
    return text;
}

std::string default_text(const key& k) {
    if (k.required) {
        return "required";
    }
    return k.default_text.empty() ? "" : "`" + k.default_text + "`";
}

// Keys and choices of one table that are not built yet, as one sentence; empty when there are none.
std::string not_available(const std::vector<key>& keys) {
    std::string text;
    const auto add = [&](const std::string& what) {
        text.append(text.empty() ? "\nNot available in this version: " : ", ").append(what);
    };
    for (const auto& k : keys) {
        if (!k.available()) {
            add("`" + k.name + "`");
        }
        for (const auto& c : k.choices) {
            if (!c.available) {
                add("`" + k.name + ": " + c.name + "`");
            }
        }
    }
    return text.empty() ? text : text + ".\n";
}

std::string table(const std::vector<key>& keys) {
    std::string text = "\n| Key | Type | Default | Reload | Meaning |\n|---|---|---|---|---|\n";
    for (const auto& k : keys) {
        if (k.available()) {
            text.append("| `" + k.name + "` | " + type_text(k) + " | " + default_text(k) + " | ");
            text.append(k.reloadable ? "yes" : "no").append(" | " + k.description + " |\n");
        }
    }
    return text + not_available(keys);
}

std::string title_of(const key& k, const std::string& path) {
    auto own = path.empty() ? k.name : path + "." + k.name;
    switch (k.type) {
    case value_type::list: return own + "[]";
    case value_type::map: return own + ".NAME";
    default: return own;
    }
}

void add_sections(const std::vector<key>& keys, const std::string& path, std::string& page) {
    for (const auto& k : keys) {
        if (k.children.empty()) {
            continue;
        }
        const auto title = title_of(k, path);
        page.append(path.empty() ? "\n## `" : "\n### `").append(title + "`\n\n");
        page.append(k.description + "\n").append(table(k.children));
        add_sections(k.children, title, page);
    }
}

std::string example_value(const key& k) {
    if (!k.example.empty()) {
        return k.example;
    }
    if (k.type == value_type::text || k.type == value_type::names) {
        return k.default_text.find_first_of(":*[]{}&!#,") == std::string::npos
                   ? k.default_text
                   : "\"" + k.default_text + "\"";
    }
    return k.default_text;
}

std::string example_name(const std::string& map) {
    if (map == "stores") {
        return "vectors";
    }
    if (map == "migrations") {
        return "groups";
    }
    return map == "clusters" ? "main" : "app";
}

// The description as comment lines of at most 100 columns.
std::string comment(const std::string& description, const std::string& indent) {
    constexpr std::size_t width = 100;
    std::string text;
    std::string line;
    std::size_t position = 0;
    while (position < description.size()) {
        const auto end = std::min(description.find(' ', position), description.size());
        const auto word = description.substr(position, end - position);
        if (!line.empty() && indent.size() + 2 + line.size() + word.size() > width) {
            text.append(indent).append("#").append(line).append("\n");
            line.clear();
        }
        line.append(" " + word);
        position = end + 1;
    }
    return text + indent + "#" + line + "\n";
}

void add_example(const std::vector<key>& keys, const std::string& indent, std::string& file) {
    for (const auto& k : keys) {
        if (!k.available() || !k.in_example) {
            continue;
        }
        file.append(comment(k.description, indent)).append(indent + k.name + ":");
        if (k.children.empty()) {
            file.append(" " + example_value(k) + "\n");
        } else if (k.type == value_type::map) {
            file.append("\n" + indent + "  " + example_name(k.name) + ":\n");
            add_example(k.children, indent + "    ", file);
        } else if (k.type == value_type::list) {
            file.append("\n" + indent + "  -\n");
            add_example(k.children, indent + "    ", file);
        } else {
            file.append("\n");
            add_example(k.children, indent + "  ", file);
        }
    }
}

}  // namespace

std::string example_file() {
    std::string file;
    add_example(schema(), "", file);
    return file;
}

std::string reference_page() {
    std::string page = introduction;
    page.append("\n## Top level\n").append(table(schema()));
    add_sections(schema(), {}, page);
    page.append(
        "\n## Every key\n\nA file that sets every key but those of other stores; most of it says "
        "what holds anyway.\n\n```yaml\n"
    );
    page.append(example_file()).append("```\n");
    return page;
}

}  // namespace weir::config
