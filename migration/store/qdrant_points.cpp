// Reads and writes of points of the Qdrant adapter.
#include "migration/store/qdrant_store.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace weir::migration::store {

namespace json = boost::json;

namespace {

// In one answer: 20 MB of text at 1536 numbers.
constexpr std::size_t most_with_vectors = 1000;
constexpr std::size_t most_points = 10'000;

std::optional<document_id> id_from(const json::value* from) {
    if (const auto number = unsigned_of(from)) {
        return *number;
    }
    if (const auto text = text_of(from)) {
        return std::string(*text);
    }
    return std::nullopt;
}

void write_filter_of_part(json_writer& out, std::uint32_t part) {
    out.begin_object();
    if (part != 0) {
        out.name("must");
        out.begin_array();
        out.begin_object();
        out.name("key");
        out.string(part_name);
        out.name("match");
        out.begin_object();
        out.name("value");
        out.unsigned_integer(part);
        out.end_object();
        out.end_object();
        out.end_array();
    }
    out.end_object();
}

}  // namespace

result<written> qdrant_store::upsert(const std::string& name, std::span<const document> documents) {
    written done;
    if (documents.empty()) {
        return done;
    }
    body_.clear();
    body_.begin_object();
    body_.name("points");
    body_.begin_array();
    for (const auto& each : documents) {
        body_.begin_object();
        body_.name("id");
        qdr::write_id(body_, codec_.ids().id_of(each.key));
        body_.name("vector");
        body_.vector(each.embedding);
        body_.name("payload");
        body_.begin_object();
        codec_.write(body_, each, false);
        body_.end_object();
        body_.end_object();
    }
    body_.end_array();
    body_.end_object();
    if (const auto wrote = write("PUT", name, "/points", "upsert to"); !wrote) {
        return wrote.error();
    }
    done.applied = documents.size();
    done.bytes = body_.text().size();
    return done;
}

// Ids of those that are there.
result<std::set<document_id>>
qdrant_store::present(const std::string& name, std::span<const document> documents) {
    body_.clear();
    body_.begin_object();
    body_.name("ids");
    body_.begin_array();
    for (const auto& each : documents) {
        qdr::write_id(body_, codec_.ids().id_of(each.key));
    }
    body_.end_array();
    body_.name("with_payload");
    body_.boolean(false);
    body_.name("with_vector");
    body_.boolean(false);
    body_.end_object();
    const auto answer = call("POST", name, "/points?consistency=majority", "look up in");
    if (!answer) {
        return answer.error();
    }
    std::set<document_id> found;
    if (const auto* const points = array_of(&*answer)) {
        for (const auto& each : *points) {
            if (auto id = id_from(member(&each, "id"))) {
                found.insert(*std::move(id));
            }
        }
    }
    return found;
}

// Qdrant refuses a whole batch that names a point it does not have, so they are looked up first: by
// the only writer of these keys, nothing comes between.
result<written> qdrant_store::patch(const std::string& name, std::span<const document> documents) {
    written done;
    if (documents.empty()) {
        return done;
    }
    const auto found = present(name, documents);
    if (!found) {
        return found.error();
    }
    body_.clear();
    body_.begin_object();
    body_.name("operations");
    body_.begin_array();
    for (const auto& each : documents) {
        const auto id = codec_.ids().id_of(each.key);
        if (found->count(id) == 0) {
            done.absent.push_back(each.key);
            continue;
        }
        body_.begin_object();
        body_.name("overwrite_payload");
        body_.begin_object();
        body_.name("points");
        body_.begin_array();
        qdr::write_id(body_, id);
        body_.end_array();
        body_.name("payload");
        body_.begin_object();
        codec_.write(body_, each, false);
        body_.end_object();
        body_.end_object();
        body_.end_object();
    }
    body_.end_array();
    body_.end_object();
    done.applied = documents.size() - done.absent.size();
    if (done.applied != 0) {
        if (const auto wrote = write("POST", name, "/points/batch", "patch in"); !wrote) {
            return wrote.error();
        }
        done.bytes = body_.text().size();
    }
    return done;
}

result<written> qdrant_store::remove(const std::string& name, std::span<const removal> removals) {
    written done;
    if (removals.empty()) {
        return done;
    }
    body_.clear();
    body_.begin_object();
    body_.name("points");
    body_.begin_array();
    for (const auto& each : removals) {
        qdr::write_id(body_, codec_.ids().id_of(each.key));
    }
    body_.end_array();
    body_.end_object();
    if (const auto wrote = write("POST", name, "/points/delete", "remove from"); !wrote) {
        return wrote.error().what == fault::missing ? result<written>{done}
                                                    : result<written>{wrote.error()};
    }
    done.applied = removals.size();  // it does not say which were there
    done.bytes = body_.text().size();
    return done;
}

// One request, which goes on at the server when the answer comes too late: asked again, it finds
// fewer.
result<bool> qdrant_store::clear(const std::string& name, std::uint32_t part) {
    body_.clear();
    body_.begin_object();
    body_.name("filter");
    write_filter_of_part(body_, part);
    body_.end_object();
    const auto wrote = write("POST", name, "/points/delete", "clear");
    if (!wrote && wrote.error().what != fault::missing) {
        return wrote.error();
    }
    return false;
}

void qdrant_store::write_wanted(fields wanted) {
    body_.name("with_payload");
    if (wanted.attributes) {
        body_.boolean(true);
    } else {
        body_.begin_array();
        for (const auto& each : codec_.names(false)) {
            body_.string(each);
        }
        body_.end_array();
    }
    body_.name("with_vector");
    body_.boolean(wanted.embedding);
}

// Points that are not ours are left out.
std::vector<stored> qdrant_store::read_points(const json::value* points, fields wanted) const {
    std::vector<stored> found;
    const auto* const all = array_of(points);
    if (all == nullptr) {
        return found;
    }
    for (const auto& each : *all) {
        const auto id = id_from(member(&each, "id"));
        const auto* const payload = object_of(member(&each, "payload"));
        stored one;
        if (!id || payload == nullptr || !codec_.read(*payload, *id, wanted.attributes, one)) {
            continue;
        }
        if (wanted.embedding) {
            one.embedding = vector_of(member(&each, "vector")).value_or(std::vector<float>{});
        }
        found.push_back(std::move(one));
    }
    return found;
}

result<void> qdrant_store::fetch_some(
    const std::string& name,
    std::span<const key> keys,
    fields wanted,
    std::vector<stored>& into
) {
    body_.clear();
    body_.begin_object();
    body_.name("ids");
    body_.begin_array();
    for (const auto& each : keys) {
        qdr::write_id(body_, codec_.ids().id_of(each));
    }
    body_.end_array();
    write_wanted(wanted);
    body_.end_object();
    const auto answer = call("POST", name, "/points?consistency=majority", "fetch from");
    if (!answer) {
        return answer.error();
    }
    auto found = read_points(&*answer, wanted);
    into.insert(
        into.end(),
        std::make_move_iterator(found.begin()),
        std::make_move_iterator(found.end())
    );
    return {};
}

result<std::vector<stored>>
qdrant_store::fetch(const std::string& name, std::span<const key> keys, fields wanted) {
    std::vector<stored> found;
    const auto most = wanted.embedding ? most_with_vectors : most_points;
    for (std::size_t from = 0; from < keys.size(); from += most) {
        const auto size = std::min(most, keys.size() - from);
        if (const auto done = fetch_some(name, keys.subspan(from, size), wanted, found); !done) {
            return done.error();
        }
    }
    return found;
}

result<page> qdrant_store::scan(
    const std::string& name,
    const std::string& after,
    std::size_t limit,
    fields wanted
) {
    body_.clear();
    body_.begin_object();
    body_.name("limit");
    body_.unsigned_integer(
        std::clamp<std::size_t>(limit, 1, wanted.embedding ? most_with_vectors : most_points)
    );
    if (!after.empty()) {
        body_.name("offset");
        body_.raw(after);
    }
    write_wanted(wanted);
    body_.end_object();
    const auto answer = call("POST", name, "/points/scroll", "scan");
    if (!answer) {
        return answer.error();
    }
    page found;
    found.documents = read_points(member(&*answer, "points"), wanted);
    if (const auto next = id_from(member(&*answer, "next_page_offset"))) {
        json_writer token;
        qdr::write_id(token, *next);
        found.next = token.text();
    }
    return found;
}

result<std::uint64_t> qdrant_store::count(const std::string& name) {
    body_.clear();
    body_.raw(R"({"exact":true})");
    const auto answer = call("POST", name, "/points/count", "count");
    if (!answer) {
        return answer.error();
    }
    return unsigned_of(member(&*answer, "count")).value_or(0);
}

result<std::vector<hit>> qdrant_store::search(const std::string& name, const query& what) {
    const auto filter = qdr::filter_of(what.filter, layout_, codec_);
    if (filter.is == qdr::filter_state::foreign) {
        return client_
            .make_error(fault::refused, "search in " + name, "it cannot filter by this condition");
    }
    if (filter.is == qdr::filter_state::never || what.limit == 0) {
        return std::vector<hit>{};
    }
    body_.clear();
    body_.begin_object();
    body_.name("query");
    body_.vector(what.embedding);
    body_.name("limit");
    body_.unsigned_integer(what.limit);
    if (!filter.json.empty()) {
        body_.name("filter");
        body_.raw(filter.json);
    }
    if (what.exact) {
        body_.name("params");
        body_.raw(R"({"exact":true})");
    }
    body_.name("with_payload");
    if (codec_.ids().stores_keys()) {
        body_.begin_array();
        body_.string(key_name);
        body_.end_array();
    } else {
        body_.boolean(false);
    }
    body_.end_object();
    const auto answer = call("POST", name, "/points/query", "search in");
    if (!answer) {
        return answer.error();
    }
    std::vector<hit> hits;
    const auto* const points = array_of(member(&*answer, "points"));
    for (const auto& each : points == nullptr ? json::array() : *points) {
        const auto id = id_from(member(&each, "id"));
        const auto score = number_of(member(&each, "score"));
        const auto beside = text_of(member(member(&each, "payload"), key_name)).value_or("");
        auto key = id ? codec_.ids().key_of(*id, beside) : std::nullopt;
        if (key && score) {
            hits.push_back({*std::move(key), qdr::distance_of(layout_.metric, *score)});
        }
    }
    return hits;
}

}  // namespace weir::migration::store
