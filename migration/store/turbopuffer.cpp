#include "migration/store/turbopuffer.hpp"

#include "migration/store/turbopuffer_store.hpp"
#include "migration/store/url.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace weir::migration::store {

namespace json = boost::json;

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of 512 MB: latency grows with size
constexpr unsigned most_parallel = 4;
constexpr std::size_t most_remembered = 10'000;

}  // namespace

turbopuffer_store::turbopuffer_store(const http_options& http, const layout& what)
    : layout_(what),
      codec_(
          what,
          id_map(what.key, {.numbers = true, .longest_text = tpuf::longest_id}),
          tpuf::longest_filterable
      ),
      client_(http, "turbopuffer"),
      schema_(tpuf::schema_of(layout_, codec_, true)) {
    abilities_.conditional = true;
    abilities_.max_documents = tpuf::longest_answer;
    abilities_.max_bytes = most_bytes;
    abilities_.max_parallel = most_parallel;
}

// A namespace that was ensured and has no document yet answers with an empty object.
result<json::value>
turbopuffer_store::post(const std::string& name, std::string_view path, std::string_view purpose) {
    const auto what = std::string(purpose) + " " + name;
    if (body_.text().size() > most_bytes) {
        return client_.make_error(fault::too_large, what, "larger than a request may be");
    }
    auto answer = client_.call(
        {.target = "/v2/namespaces/" + percent_encoded(name) + std::string(path),
         .body = body_.text()},
        what
    );
    if (!answer && answer.error().what == fault::missing && unborn_.count(name) != 0) {
        return json::value(json::object());
    }
    return answer;
}

result<json::value> turbopuffer_store::ask(const std::string& name, std::string_view purpose) {
    return post(name, "/query", purpose);
}

result<void> turbopuffer_store::ensure(const std::string& name) {
    const auto purpose = "ensure " + name;
    if (layout_.metric == metric::inner_product) {
        return client_.make_error(fault::refused, purpose, "it has no inner product");
    }
    const auto allowed = [](char each) {
        return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z') ||
               (each >= 'a' && each <= 'z') || each == '-' || each == '_' || each == '.';
    };
    if (name.empty() || name.size() > 128 || !std::all_of(name.begin(), name.end(), allowed)) {
        return client_.make_error(fault::refused, purpose, "no name for a namespace");
    }
    const auto metadata =
        client_.call({.method = "GET", .target = "/v1/namespaces/" + name + "/metadata"}, purpose);
    if (metadata) {
        return check(name, *metadata);
    }
    if (metadata.error().what != fault::missing) {
        return metadata.error();
    }
    if (unborn_.size() >= most_remembered) {
        unborn_.clear();  // they read as missing, and are ensured again
    }
    unborn_.insert(name);
    return {};
}

result<void> turbopuffer_store::check(const std::string& name, const json::value& metadata) {
    const auto purpose = "ensure " + name;
    const auto* const schema = member(&metadata, "schema");
    const auto* const vector = member(schema, "vector");
    const auto type = text_of(member(vector, "type"));
    if (type && *type != tpuf::vector_type(layout_)) {
        return client_.make_error(
            fault::refused,
            purpose,
            "it holds " + std::string(*type) + ", not " + tpuf::vector_type(layout_)
        );
    }
    const auto metric = text_of(member(member(vector, "ann"), "distance_metric"));
    if (metric && *metric != tpuf::metric_name(layout_.metric)) {
        return client_.make_error(
            fault::refused,
            purpose,
            "its metric is " + std::string(*metric) + ", not " +
                std::string(tpuf::metric_name(layout_.metric))
        );
    }
    return add_attributes(name, schema);
}

// Attributes that the namespace does not know cannot be asked for; those of another type cannot be
// written.
result<void> turbopuffer_store::add_attributes(const std::string& name, const json::value* schema) {
    bool complete = true;
    for (const auto& each : tpuf::attribute_types(layout_, codec_)) {
        const auto type = text_of(member(member(schema, each.name), "type"));
        complete = complete && type;
        if (type && *type != each.type) {
            return client_.make_error(
                fault::refused,
                "ensure " + name,
                "its attribute " + each.name + " is of type " + std::string(*type) + ", not " +
                    each.type
            );
        }
    }
    if (complete) {
        return {};
    }
    body_.clear();
    body_.raw(tpuf::schema_of(layout_, codec_, false));
    const auto answer = client_.call(
        {.target = "/v1/namespaces/" + name + "/schema", .body = body_.text()},
        "ensure " + name
    );
    return answer ? result<void>{} : result<void>{answer.error()};
}

std::unique_ptr<store> make_turbopuffer(const http_options& http, const layout& what) {
    return std::make_unique<turbopuffer_store>(http, what);
}

}  // namespace weir::migration::store
