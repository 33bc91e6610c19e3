#include "migration/store/qdrant.hpp"

#include "migration/store/qdrant_store.hpp"
#include "migration/store/url.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace weir::migration::store {

namespace json = boost::json;

namespace {

// Of service.max_request_size_mb, which is 32 by default.
constexpr std::size_t most_bytes = std::size_t{30} << 20;
constexpr std::size_t most_documents = 2000;
constexpr unsigned most_parallel = 4;
constexpr std::size_t longest_name = 255;

}  // namespace

qdrant_store::qdrant_store(const http_options& http, const layout& what)
    : layout_(what), codec_(what, id_map(what.key, {.numbers = true}), 0), client_(http, "qdrant") {
    abilities_.normalises = what.metric == metric::cosine;
    abilities_.max_documents = most_documents;
    abilities_.max_bytes = most_bytes;
    abilities_.max_parallel = most_parallel;
}

result<json::value> qdrant_store::call(
    std::string_view method,
    const std::string& name,
    std::string_view path,
    std::string_view purpose
) {
    const auto what = std::string(purpose) + " " + name;
    if (body_.text().size() > most_bytes) {
        return client_.make_error(fault::too_large, what, "larger than a request may be");
    }
    auto answer = client_.call(
        {.method = method,
         .target = "/collections/" + percent_encoded(name) + std::string(path),
         .body = body_.text()},
        what
    );
    if (!answer) {
        return answer.error();
    }
    if (auto* const object = answer->if_object()) {
        if (auto* const found = object->if_contains("result")) {
            return std::move(*found);
        }
    }
    return client_.make_error(fault::unreachable, what, "its answer has no result");
}

result<void> qdrant_store::write(
    std::string_view method,
    const std::string& name,
    std::string_view path,
    std::string_view purpose
) {
    // wait: answered when it can be read. ordering: by one replica for all writers.
    const auto answer =
        call(method, name, std::string(path) + "?wait=true&ordering=strong", purpose);
    if (!answer) {
        return answer.error();
    }
    const auto complete = [](const json::value& one) {
        return text_of(member(&one, "status")) == "completed";
    };
    // The answer to a batch of operations is a list.
    const auto* const all = array_of(&*answer);
    if (all == nullptr ? complete(*answer) : std::all_of(all->begin(), all->end(), complete)) {
        return {};
    }
    return client_.make_error(
        fault::unreachable,
        std::string(purpose) + " " + name,
        "taken, but not carried out in time"
    );
}

result<void> qdrant_store::ensure(const std::string& name) {
    const auto allowed = [](char each) {
        return each > ' ' && each != 0x7F &&
               std::string_view("<>:\"/\\|?*").find(each) == std::string_view::npos;
    };
    if (name.empty() || name.size() > longest_name ||
        !std::all_of(name.begin(), name.end(), allowed)) {
        return client_.make_error(fault::refused, "ensure " + name, "no name for a collection");
    }
    body_.clear();
    auto info = call("GET", name, "", "ensure");
    if (!info && info.error().what == fault::missing) {
        const auto made = create(name);
        // Another writer may have been quicker: then it is looked at again.
        if (!made && made.error().what != fault::failed && made.error().what != fault::refused) {
            return made.error();
        }
        body_.clear();
        info = call("GET", name, "", "ensure");
        if (!info && !made) {
            return made.error();
        }
    }
    return info ? check(name, *info) : result<void>{info.error()};
}

result<void> qdrant_store::create(const std::string& name) {
    body_.clear();
    body_.begin_object();
    body_.name("vectors");
    body_.begin_object();
    body_.name("size");
    body_.unsigned_integer(layout_.dimensions);
    body_.name("distance");
    body_.string(qdr::metric_name(layout_.metric));
    body_.name("datatype");
    body_.string(qdr::datatype(layout_));
    body_.end_object();
    body_.end_object();
    const auto made = call("PUT", name, "", "create");
    return made ? result<void>{} : result<void>{made.error()};
}

result<void> qdrant_store::check(const std::string& name, const json::value& info) {
    const auto refused = [&](const std::string& why) {
        return client_.make_error(fault::refused, "ensure " + name, why);
    };
    const auto* const vectors = member(member(member(&info, "config"), "params"), "vectors");
    const auto size = unsigned_of(member(vectors, "size"));
    if (!size) {
        return refused("its vectors are named, or sparse");
    }
    if (*size != layout_.dimensions) {
        return refused(
            "it has " + std::to_string(*size) + " dimensions, not " +
            std::to_string(layout_.dimensions)
        );
    }
    const auto distance = text_of(member(vectors, "distance")).value_or("");
    if (distance != qdr::metric_name(layout_.metric)) {
        return refused(
            "its metric is " + std::string(distance) + ", not " +
            std::string(qdr::metric_name(layout_.metric))
        );
    }
    const auto type = text_of(member(vectors, "datatype")).value_or("float32");
    if (type != "float32" && type != qdr::datatype(layout_)) {
        return refused("its numbers are " + std::string(type));
    }
    return index_all(name, member(&info, "payload_schema"));
}

// Attributes are indexed, so that a search with a filter does not read every payload, and may be
// carried out at all where the server is strict about that.
result<void> qdrant_store::index_all(const std::string& name, const json::value* present) {
    const auto there = [&](std::string_view path) { return member(present, path) != nullptr; };
    if (!there(part_name)) {
        if (const auto done = add_index(name, part_name, "integer"); !done) {
            return done.error();
        }
    }
    for (std::size_t i = 0; i < layout_.attributes.size(); ++i) {
        const auto type = qdr::index_type(layout_.attributes[i].kind);
        const auto path = qdr::payload_path(codec_.name(i));
        if (!type || there(path)) {
            continue;
        }
        if (const auto done = add_index(name, path, *type); !done) {
            return done.error();
        }
    }
    return {};
}

result<void>
qdrant_store::add_index(const std::string& name, std::string_view path, std::string_view type) {
    body_.clear();
    body_.begin_object();
    body_.name("field_name");
    body_.string(path);
    body_.name("field_schema");
    body_.string(type);
    body_.end_object();
    return write("PUT", name, "/index", "index in");
}

result<std::vector<std::string>> qdrant_store::namespaces(std::string_view prefix) {
    const auto answer =
        client_.call({.method = "GET", .target = "/collections"}, "list collections");
    if (!answer) {
        return answer.error();
    }
    std::vector<std::string> names;
    if (const auto* const all = array_of(member(member(&*answer, "result"), "collections"))) {
        for (const auto& each : *all) {
            const auto name = text_of(member(&each, "name"));
            if (name && name->starts_with(prefix)) {
                names.emplace_back(*name);
            }
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::unique_ptr<store> make_qdrant(const http_options& http, const layout& what) {
    return std::make_unique<qdrant_store>(http, what);
}

}  // namespace weir::migration::store
