#include "migration/fingerprint.hpp"

#include <boost/json.hpp>

#include <array>

namespace weir::migration {

namespace {

namespace json = boost::json;

std::string_view kind_name(value_kind what) {
    constexpr std::array<std::string_view, 9> names =
        {"boolean", "integer", "real", "numeric", "text", "uuid", "timestamp", "date", "json"};
    return names.at(static_cast<std::size_t>(what));
}

std::string_view metric_name(store::metric what) {
    switch (what) {
    case store::metric::cosine: return "cosine";
    case store::metric::l2: return "l2";
    case store::metric::inner_product: return "inner_product";
    }
    return {};
}

std::string columns_text(const std::vector<column>& columns) {
    std::string text;
    for (const auto& one : columns) {
        text += (text.empty() ? "" : ", ") + one.name + " " + std::string(kind_name(one.kind));
    }
    return text;
}

std::string pattern_text(const plan& what) {
    if (!what.name_of.tenant) {
        return what.name_of.before;
    }
    const auto tenant = what.tenant ? what.layout.attributes.at(*what.tenant).name : std::string();
    return what.name_of.before + "{" + tenant + "}" + what.name_of.after;
}

json::object object_of(const plan& what, const std::string& store) {
    json::object object;
    object["table"] = what.schema + "." + what.table;
    object["key"] = columns_text(what.layout.key);
    object["embedding"] = what.embedding;
    object["dimensions"] = std::to_string(what.layout.dimensions);
    object["type"] = what.layout.half ? "halfvec" : "vector";
    object["attributes"] = columns_text(what.layout.attributes);
    object["namespace"] = pattern_text(what);
    object["metric"] = metric_name(what.layout.metric);
    object["capture"] = what.capture == capture_kind::wal ? "wal" : "outbox";
    object["store"] = store;
    return object;
}

std::string text_of(const json::value* value) {
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "nothing";
}

}  // namespace

std::string fingerprint_of(const plan& what, const std::string& store) {
    return json::serialize(object_of(what, store));
}

std::optional<std::string>
changed_since(std::string_view fingerprint, const plan& what, const std::string& store) {
    boost::system::error_code parse_ec;
    const auto before =
        json::parse(json::string_view(fingerprint.data(), fingerprint.size()), parse_ec);
    if (parse_ec || !before.is_object()) {
        return "the fingerprint in the journal cannot be read";
    }
    if (before.get_object().empty()) {
        return std::nullopt;
    }
    std::string text;
    for (const auto& [name, now] : object_of(what, store)) {
        const auto was = text_of(before.get_object().if_contains(name));
        if (was != text_of(&now)) {
            text += (text.empty() ? "" : "; ") + std::string(name) + ": " + was + ", now " +
                    text_of(&now);
        }
    }
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace weir::migration
