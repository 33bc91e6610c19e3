#include "config/reference.hpp"
#include "config/schema.hpp"

#include <string_view>

namespace weir::config {

namespace {

// Any value may come from the environment.
constexpr const char* variable_pattern = R"(\$\{)";

std::string quote(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
        }
        quoted += c;
    }
    return quoted + "\"";
}

// {"anyOf": [own, {"type": "string", "pattern": "\\$\\{"}]} without the braces, so that a
// description can follow.
std::string or_variable(const std::string& own) {
    return "\"anyOf\": [" + own +
           ", {\"type\": \"string\", \"pattern\": " + quote(variable_pattern) + "}]";
}

std::string text_with_pattern(std::string_view pattern) {
    return or_variable(
        "{\"type\": [\"string\", \"integer\"], \"pattern\": " + quote(pattern) + "}"
    );
}

std::string choice_body(const key& k) {
    std::string names;
    for (const auto& c : k.choices) {
        if (c.available) {
            names.append(names.empty() ? "" : ", ").append(quote(c.name));
        }
    }
    return or_variable("{\"enum\": [" + names + "]}");
}

std::string integer_body(const key& k) {
    const auto bounds = "{\"type\": \"" +
                        std::string(k.type == value_type::number ? "number" : "integer") +
                        "\", \"minimum\": " + std::to_string(k.least) +
                        ", \"maximum\": " + std::to_string(k.most) + "}";
    const auto word = k.zero_word.empty() ? "" : ", {\"const\": " + quote(k.zero_word) + "}";
    return or_variable(bounds + word);
}

std::string object_body(const std::vector<key>& keys, const std::string& indent);

std::string element(const key& k, const std::string& indent) {
    return "{" + object_body(k.children, indent + "  ") + "}";
}

std::string body(const key& k, const std::string& indent) {
    constexpr const char* text = R"("type": ["string", "number", "boolean"])";
    switch (k.type) {
    case value_type::boolean: return or_variable(R"({"type": "boolean"})");
    case value_type::integer:
    case value_type::number: return integer_body(k);
    case value_type::duration: return text_with_pattern("^(0|[0-9]+(ms|s|m|h|d))$");
    case value_type::size: return text_with_pattern("^[0-9]+(B|KiB|MiB|GiB|TiB)?$");
    case value_type::choice: return choice_body(k);
    case value_type::names:
        return R"("anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}])";
    case value_type::settings:
        return R"("type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]})";
    case value_type::consistency:
        return R"("anyOf": [{"enum": ["strong", "eventual"]}, {"type": "object", "properties": {"bounded": {"type": "string"}}, "required": ["bounded"], "additionalProperties": false}, {"type": "string", "pattern": "^bounded:|\\$\\{"}])";
    case value_type::list:
        return "\"type\": [\"array\", \"null\"], \"items\": " + element(k, indent);
    case value_type::map:
        return "\"type\": [\"object\", \"null\"], \"additionalProperties\": " + element(k, indent);
    case value_type::block:
        if (!k.shorthand.empty()) {
            return R"("anyOf": [{"type": ["string", "boolean"]}, )" + element(k, indent) + "]";
        }
        return object_body(k.children, indent);
    case value_type::later: return R"("not": {})";
    case value_type::endpoint:
    case value_type::text:
    case value_type::secret:
    case value_type::file:
    case value_type::directory: break;
    }
    return text;
}

std::string property(const key& k, const std::string& indent) {
    const auto note = k.available() ? "" : "Not available in this version. ";
    auto text = quote(k.name) + ": {\"description\": " + quote(note + k.description) + ", ";
    if (!k.default_text.empty()) {
        text += "\"default\": " + quote(k.default_text) + ", ";
    }
    return text + body(k, indent) + "}";
}

// The members of an object schema for these keys, without its braces.
std::string object_body(const std::vector<key>& keys, const std::string& indent) {
    std::string properties;
    std::string required;
    for (const auto& k : keys) {
        properties.append(properties.empty() ? "\n" : ",\n").append(indent + "  ");
        properties.append(property(k, indent + "  "));
        if (k.required) {
            required.append(required.empty() ? "" : ", ").append(quote(k.name));
        }
    }
    // A block with nothing in it is null in YAML, and means its defaults.
    const auto* const type =
        required.empty() ? R"("type": ["object", "null"])" : R"("type": "object")";
    return std::string(type) + ", \"additionalProperties\": false, \"required\": [" + required +
           "], \"properties\": {" + properties + "\n" + indent + "}";
}

}  // namespace

std::string json_schema() {
    return "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
           "  \"title\": \"pgweir configuration\",\n  " +
           object_body(schema(), "  ") + "\n}\n";
}

}  // namespace weir::config
