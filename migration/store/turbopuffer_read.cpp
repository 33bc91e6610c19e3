// Reads of the turbopuffer adapter.
#include "migration/store/turbopuffer_store.hpp"
#include "migration/store/url.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::migration::store {

namespace json = boost::json;

namespace {

// Of documents with vectors in one answer: 8 MB at 1536 numbers.
constexpr std::size_t most_with_vectors = 1000;

std::optional<document_id> id_from(const json::value* from) {
    if (const auto number = unsigned_of(from)) {
        return *number;
    }
    if (const auto text = text_of(from)) {
        return std::string(*text);
    }
    return std::nullopt;
}

const json::array& rows_of(const json::value& answer) {
    static const json::array none;
    const auto* const rows = array_of(member(&answer, "rows"));
    return rows == nullptr ? none : *rows;
}

void append_names(
    std::vector<std::string>& names,
    const json::value& answer,
    std::string_view prefix
) {
    const auto* const all = array_of(member(&answer, "namespaces"));
    for (const auto& each : all == nullptr ? json::array() : *all) {
        const auto name = text_of(member(&each, "id"));
        if (name && name->starts_with(prefix)) {
            names.emplace_back(*name);
        }
    }
}

// "rank_by":["id","asc"],"limit":…
void write_by_id(json_writer& out, std::size_t limit) {
    out.name("rank_by");
    out.begin_array();
    out.string("id");
    out.string("asc");
    out.end_array();
    out.name("limit");
    out.unsigned_integer(limit);
}

}  // namespace

std::vector<document_id> turbopuffer_store::ids_of(std::span<const key> keys) const {
    std::vector<document_id> ids;
    ids.reserve(keys.size());
    for (const auto& each : keys) {
        ids.push_back(codec_.ids().id_of(each));
    }
    return ids;
}

// Of the documents that are there, and not newer than `limit` if there is one. A document without a
// version is the oldest.
result<std::map<document_id, version>> turbopuffer_store::versions_of(
    const std::string& name,
    std::span<const document_id> ids,
    std::optional<version> limit
) {
    body_.clear();
    body_.begin_object();
    write_by_id(body_, ids.size());
    body_.name("filters");
    if (limit) {
        body_.begin_array();
        body_.string("And");
        body_.begin_array();
    }
    tpuf::write_ids_filter(body_, ids);
    if (limit) {
        tpuf::write_version_limit(body_, *limit);
        body_.end_array();
        body_.end_array();
    }
    body_.name("include_attributes");
    body_.begin_array();
    body_.string(version_name);
    body_.end_array();
    body_.end_object();
    const auto answer = ask(name, "look up versions in");
    if (!answer) {
        return answer.error();
    }
    std::map<document_id, version> found;
    for (const auto& each : rows_of(*answer)) {
        if (auto id = id_from(member(&each, "id"))) {
            const auto text = text_of(member(&each, version_name)).value_or("");
            found.emplace(*std::move(id), parse_version(text).value_or(version{}));
        }
    }
    return found;
}

void turbopuffer_store::write_wanted(fields wanted) {
    body_.name("include_attributes");
    body_.begin_array();
    for (const auto& each : codec_.names(wanted.attributes)) {
        body_.string(each);
    }
    if (wanted.embedding) {
        body_.string("vector");
    }
    body_.end_array();
    if (wanted.embedding) {
        body_.name("vector_encoding");
        body_.string("base64");
    }
}

// Documents that are not ours are left out.
std::vector<stored> turbopuffer_store::read_rows(const json::value& answer, fields wanted) const {
    std::vector<stored> found;
    for (const auto& each : rows_of(answer)) {
        const auto id = id_from(member(&each, "id"));
        stored one;
        if (!id || !codec_.read(each.get_object(), *id, wanted.attributes, one)) {
            continue;
        }
        if (wanted.embedding) {
            const auto* const vector = member(&each, "vector");
            const auto text = text_of(vector);
            auto numbers = text ? vector_from_base64(*text) : vector_of(vector);
            one.embedding = std::move(numbers).value_or(std::vector<float>{});
        }
        found.push_back(std::move(one));
    }
    return found;
}

result<void> turbopuffer_store::fetch_some(
    const std::string& name,
    std::span<const key> keys,
    fields wanted,
    std::vector<stored>& into
) {
    body_.clear();
    body_.begin_object();
    write_by_id(body_, keys.size());
    body_.name("filters");
    tpuf::write_ids_filter(body_, ids_of(keys));
    write_wanted(wanted);
    body_.end_object();
    const auto answer = ask(name, "fetch from");
    if (!answer) {
        return answer.error();
    }
    auto found = read_rows(*answer, wanted);
    into.insert(
        into.end(),
        std::make_move_iterator(found.begin()),
        std::make_move_iterator(found.end())
    );
    return {};
}

result<std::vector<stored>>
turbopuffer_store::fetch(const std::string& name, std::span<const key> keys, fields wanted) {
    std::vector<stored> found;
    const auto most = wanted.embedding ? most_with_vectors : tpuf::longest_answer;
    for (std::size_t from = 0; from < keys.size(); from += most) {
        const auto size = std::min(most, keys.size() - from);
        if (const auto done = fetch_some(name, keys.subspan(from, size), wanted, found); !done) {
            return done.error();
        }
    }
    return found;
}

result<page> turbopuffer_store::scan(
    const std::string& name,
    const std::string& after,
    std::size_t limit,
    fields wanted
) {
    limit = std::clamp<std::size_t>(
        limit,
        1,
        wanted.embedding ? most_with_vectors : tpuf::longest_answer
    );
    body_.clear();
    body_.begin_object();
    write_by_id(body_, limit);
    if (!after.empty()) {
        body_.name("filters");
        body_.begin_array();
        body_.string("id");
        body_.string("Gt");
        body_.raw(after);
        body_.end_array();
    }
    write_wanted(wanted);
    body_.end_object();
    const auto answer = ask(name, "scan");
    if (!answer) {
        return answer.error();
    }
    page found;
    found.documents = read_rows(*answer, wanted);
    const auto& rows = rows_of(*answer);
    if (rows.size() == limit) {
        if (const auto last = id_from(member(&rows.back(), "id"))) {
            json_writer token;
            tpuf::write_id(token, *last);
            found.next = token.text();
        }
    }
    return found;
}

result<std::uint64_t> turbopuffer_store::count(const std::string& name) {
    body_.clear();
    body_.raw(R"({"aggregate_by":{"count":["Count"]}})");
    const auto answer = ask(name, "count");
    if (!answer) {
        return answer.error();
    }
    return unsigned_of(member(member(&*answer, "aggregations"), "count")).value_or(0);
}

result<std::vector<hit>> turbopuffer_store::search(const std::string& name, const query& what) {
    auto filter = tpuf::filter_of(what.filter, layout_, codec_);
    if (filter.is == tpuf::filter_state::foreign) {
        return client_
            .make_error(fault::refused, "search in " + name, "it cannot filter by this condition");
    }
    if (filter.is == tpuf::filter_state::never || what.limit == 0) {
        return std::vector<hit>{};
    }
    if (what.exact && filter.json.empty()) {
        // An exact search must have a filter: one that holds for every document of ours.
        filter.json = "[\"" + std::string(version_name) + "\",\"NotEq\",null]";
    }
    body_.clear();
    body_.begin_object();
    body_.name("rank_by");
    body_.begin_array();
    body_.string("vector");
    body_.string(what.exact ? "kNN" : "ANN");
    body_.vector_base64(what.embedding);
    body_.end_array();
    body_.name("limit");
    body_.unsigned_integer(std::min(what.limit, tpuf::longest_answer));
    if (!filter.json.empty()) {
        body_.name("filters");
        body_.raw(filter.json);
    }
    if (codec_.ids().stores_keys()) {
        body_.name("include_attributes");
        body_.begin_array();
        body_.string(key_name);
        body_.end_array();
    }
    body_.end_object();
    const auto answer = ask(name, "search in");
    if (!answer) {
        return answer.error();
    }
    std::vector<hit> hits;
    for (const auto& each : rows_of(*answer)) {
        const auto id = id_from(member(&each, "id"));
        const auto distance = number_of(member(&each, "$dist"));
        auto key = id ? codec_.ids().key_of(*id, text_of(member(&each, key_name)).value_or(""))
                      : std::nullopt;
        if (key && distance) {
            const bool squared = layout_.metric == metric::l2;
            hits.push_back({*std::move(key), squared ? std::sqrt(*distance) : *distance});
        }
    }
    return hits;
}

result<std::vector<std::string>> turbopuffer_store::namespaces(std::string_view prefix) {
    std::vector<std::string> names;
    std::string cursor;
    do {
        auto target = "/v1/namespaces?page_size=1000&prefix=" + percent_encoded(prefix);
        if (!cursor.empty()) {
            target += "&cursor=" + percent_encoded(cursor);
        }
        const auto answer =
            client_.call({.method = "GET", .target = std::move(target)}, "list namespaces");
        if (!answer) {
            return answer.error();
        }
        append_names(names, *answer, prefix);
        cursor = text_of(member(&*answer, "next_cursor")).value_or("");
    } while (!cursor.empty());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace weir::migration::store
