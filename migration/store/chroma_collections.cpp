#include "migration/store/chroma_collections.hpp"

#include "migration/store/json_reader.hpp"
#include "migration/store/json_writer.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace weir::migration::store {
namespace {

namespace json = boost::json;

constexpr std::size_t most_known = 10'000;
constexpr std::size_t shortest_name = 3;
constexpr std::size_t longest_name = 512;
constexpr std::size_t names_at_once = 1000;
constexpr std::string_view escaped = "pgweir-x-";
constexpr const char* nonsense = "an answer that makes no sense";

bool letter_or_digit(char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0;
}

bool allowed(std::string_view name) {
    return name.size() >= shortest_name && name.size() <= longest_name &&
           letter_or_digit(name.front()) && letter_or_digit(name.back()) &&
           name.find("..") == std::string_view::npos &&
           name.find_first_not_of("0123456789.") != std::string_view::npos &&  // an IP address
           std::ranges::all_of(name, [](char byte) {
               return letter_or_digit(byte) || byte == '-' || byte == '.' || byte == '_';
           });
}

std::string_view space_of(metric what) {
    switch (what) {
    case metric::cosine: return "cosine";
    case metric::l2: return "l2";
    case metric::inner_product: break;
    }
    return "ip";
}

// The path behind the server's address; a URL that names a database has its own already.
std::string base_of(const std::string& url) {
    return url.find("/api/v2/tenants/") != std::string::npos
               ? "/collections"
               : "/api/v2/tenants/default_tenant/databases/default_database/collections";
}

http_options fitting(http_options options) {
    options.gzip = false;  // it does not understand that
    return options;
}

}  // namespace

std::string collection_name(std::string_view name) {
    if (allowed(name) && !name.starts_with(escaped)) {
        return std::string(name);
    }
    constexpr std::string_view hex = "0123456789abcdef";
    std::string made(escaped);
    for (const char each : name) {
        const auto byte = static_cast<unsigned char>(each);
        if (letter_or_digit(each)) {
            made += each;
        } else {
            made += '_';
            made += hex[byte >> 4];
            made += hex[byte & 15];
        }
    }
    return name.empty() || made.size() > longest_name ? std::string() : made;
}

chroma_collections::chroma_collections(const http_options& options, const layout& rows)
    : client_(fitting(options), "chroma"), rows_(rows), base_(base_of(options.url)) {}

error chroma_collections::failure(
    fault what,
    const char* operation,
    const std::string& name,
    std::string_view said
) const {
    return client_.make_error(what, operation + (" of " + name), said);
}

result<json::value> chroma_collections::send(
    const char* method,
    const std::string& target,
    std::string_view body,
    const std::string& purpose
) {
    const http_request request{.method = method, .target = base_ + target, .body = body};
    return client_.call(request, purpose);
}

std::string chroma_collections::refusal_of(const std::string& name, const json::value& described)
    const {
    const auto* metadata = member(&described, "metadata");
    if (text_of(member(metadata, "pgweir_namespace")) != name) {
        return "there is a collection of this name that pgweir has not made for it";
    }
    for (const auto* dimensions :
         {member(metadata, "pgweir_dimensions"), member(&described, "dimension")}) {
        const auto number = unsigned_of(dimensions);
        if (number && *number != rows_.dimensions) {
            return "it is there with " + std::to_string(*number) + " dimensions instead of " +
                   std::to_string(rows_.dimensions);
        }
    }
    const auto* hnsw = member(member(&described, "configuration_json"), "hnsw");
    const auto space = text_of(member(hnsw, "space")).value_or("no space");
    if (space != space_of(rows_.metric)) {
        return "it is there with " + std::string(space) + " instead of " +
               std::string(space_of(rows_.metric));
    }
    return {};
}

// fault::missing if it is not there.
result<chroma_collections::collection> chroma_collections::look_up(const std::string& name) {
    const auto described = send("GET", "/" + collection_name(name), {}, "look up " + name);
    if (described.has_error()) {
        return described.error();
    }
    const auto id = text_of(member(&*described, "id"));
    if (!id) {
        return failure(fault::failed, "look up", name, nonsense);
    }
    return collection{std::string(*id), refusal_of(name, *described)};
}

result<void> chroma_collections::create(const std::string& name) {
    json_writer body;
    body.begin_object();
    body.name("name");
    body.string(collection_name(name));
    body.name("get_or_create");
    body.boolean(false);
    body.name("configuration");
    body.raw("{\"hnsw\":{\"space\":\"" + std::string(space_of(rows_.metric)) + "\"}}");
    body.name("metadata");
    body.begin_object();
    body.name("pgweir_namespace");
    body.string(name);
    body.name("pgweir_dimensions");  // an empty collection does not know its own
    body.unsigned_integer(rows_.dimensions);
    body.end_object();
    body.end_object();
    const auto made = send("POST", "", body.text(), "make " + name);
    return made.has_error() ? result<void>(made.error()) : result<void>();
}

result<void> chroma_collections::ensure(const std::string& name) {
    if (collection_name(name).empty()) {
        return failure(fault::refused, "ensure", name, "no name for a collection");
    }
    auto found = look_up(name);
    if (found.has_error() && found.error().what == fault::missing) {
        const auto made = create(name);
        found = look_up(name);
        if (found.has_error() && made.has_error()) {  // else somebody else was quicker
            return made.error();
        }
    }
    if (found.has_error()) {
        return found.error();
    }
    if (!found->refusal.empty()) {
        return failure(fault::refused, "ensure", name, found->refusal);
    }
    return {};
}

result<std::string> chroma_collections::id_of(const std::string& name) {
    if (const auto known = ids_.find(name); known != ids_.end()) {
        return known->second;
    }
    auto found = look_up(name);
    if (found.has_error()) {
        return found.error();
    }
    if (ids_.size() >= most_known) {
        ids_.clear();
    }
    ids_[name] = found->id;
    return found->id;
}

result<json::value> chroma_collections::call(
    const std::string& name,
    const char* method,
    const char* operation,
    std::string_view body
) {
    for (bool again = false;; again = true) {
        const auto id = id_of(name);
        if (id.has_error()) {
            return id.error();
        }
        const auto purpose = operation + (" of " + name);
        auto answer = send(method, "/" + *id + "/" + operation, body, purpose);
        if (answer.has_value() || answer.error().what != fault::missing) {
            return answer;
        }
        ids_.erase(name);
        if (again) {
            return answer;
        }
        // Dropped and made anew, perhaps; nothing was carried out.
    }
}

result<std::vector<std::string>> chroma_collections::names(std::string_view prefix) {
    std::vector<std::string> names;
    for (std::size_t from = 0;; from += names_at_once) {
        const auto target =
            "?limit=" + std::to_string(names_at_once) + "&offset=" + std::to_string(from);
        const auto answer = send("GET", target, {}, "list collections");
        if (answer.has_error()) {
            return answer.error();
        }
        const auto* some = array_of(&*answer);
        if (some == nullptr) {
            return client_.make_error(fault::failed, "list collections", nonsense);
        }
        for (const auto& one : *some) {
            const auto name = text_of(member(member(&one, "metadata"), "pgweir_namespace"));
            if (name && name->starts_with(prefix)) {
                names.emplace_back(*name);
            }
        }
        if (some->size() < names_at_once) {
            break;
        }
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace weir::migration::store
