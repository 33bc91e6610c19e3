#include "migration/store/chroma_store.hpp"
#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace weir::migration::store {

result<std::vector<stored>>
chroma_store::fetch(const std::string& name, std::span<const key> keys, fields wanted) {
    if (keys.empty()) {
        return std::vector<stored>{};
    }
    body_.clear();
    body_.begin_object();
    std::vector<std::string> ids;
    ids.reserve(keys.size());
    for (const auto& each : keys) {
        ids.push_back(documents_.id_of(each));
    }
    put_ids(ids);
    put_include(wanted);
    body_.end_object();
    const auto answer = post(name, "get");
    if (answer.has_error()) {
        return answer.error();
    }
    auto found = documents_.read(*answer, wanted);
    if (!found) {
        return odd(name, "get");
    }
    return *std::move(found);
}

result<std::uint64_t> chroma_store::count(const std::string& name) {
    const auto answer = collections_.call(name, "GET", "count", {});
    if (answer.has_error()) {
        return answer.error();
    }
    const auto number = unsigned_of(&*answer);
    return number ? result<std::uint64_t>(*number) : odd(name, "count");
}

result<std::vector<stored>>
chroma_store::get_range(const std::string& name, range places, std::size_t limit, fields wanted) {
    body_.clear();
    body_.begin_object();
    body_.name("where");
    documents_.put_range(body_, places.from, places.from + places.width);
    body_.name("limit");
    body_.unsigned_integer(limit);
    put_include(wanted);
    body_.end_object();
    const auto answer = post(name, "get");
    if (answer.has_error()) {
        return answer.error();
    }
    auto found = documents_.read(*answer, wanted);
    if (!found) {
        return odd(name, "get");
    }
    return *std::move(found);
}

// Where a scan goes on, and how far the next page may reach. Before the first page it is guessed
// from the number of documents, so that most pages fit at once.
result<chroma_store::range>
chroma_store::range_after(const std::string& name, const std::string& after, std::size_t limit) {
    range next;
    if (after.empty()) {
        const auto total = count(name);
        if (total.has_error()) {
            return total.error();
        }
        const auto pages = static_cast<std::int64_t>(*total * 4 / (limit * 3) + 1);
        next.width = chroma_documents::places / pages + 1;
        return next;
    }
    const auto* const end = after.data() + after.size();
    const auto first = std::from_chars(after.data(), end, next.from);
    if (first.ec != std::errc{} || first.ptr == end ||
        std::from_chars(first.ptr + 1, end, next.width).ec != std::errc{} || next.width < 1) {
        return collections_
            .failure(fault::refused, "scan", name, "no place that a scan has returned");
    }
    return next;
}

// By ranges of the documents' places, since pages by offset skip documents when others before them
// are removed.
result<page> chroma_store::scan(
    const std::string& name,
    const std::string& after,
    std::size_t limit,
    fields wanted
) {
    const auto begin = range_after(name, after, limit);
    if (begin.has_error()) {
        return begin.error();
    }
    auto places = *begin;
    while (places.from < chroma_documents::places) {
        places.width = std::min(places.width, chroma_documents::places - places.from);
        auto found = get_range(name, places, limit + 1, wanted);
        if (found.has_error()) {
            return found.error();
        }
        if (found->size() > limit && places.width > 1) {
            places.width /= 2;
            continue;
        }
        places.from += places.width;
        if (found->size() < limit / 2 + 1) {
            places.width = std::min(places.width, chroma_documents::places / 2) * 2;
        }
        if (!found->empty()) {
            page made{.documents = *std::move(found), .next = {}};
            if (places.from < chroma_documents::places) {
                made.next = std::to_string(places.from) + ":" + std::to_string(places.width);
            }
            return made;
        }
    }
    return page{};
}

result<std::vector<hit>> chroma_store::search(const std::string& name, const query& what) {
    body_.clear();
    body_.begin_object();
    body_.name("query_embeddings");
    body_.begin_array();
    body_.vector(what.embedding);
    body_.end_array();
    body_.name("n_results");
    body_.unsigned_integer(what.limit);
    body_.name("include");
    body_.raw(documents_.stores_keys() ? R"(["distances","metadatas"])" : R"(["distances"])");
    switch (documents_.put_filter(body_, what.filter)) {
    case chroma_documents::outcome::never: return std::vector<hit>{};
    case chroma_documents::outcome::foreign:
        return collections_.failure(fault::refused, "query", name, "no filter for Chroma");
    case chroma_documents::outcome::written: break;
    }
    body_.end_object();
    const auto answer = post(name, "query");
    if (answer.has_error()) {
        return answer.error();
    }
    auto found = documents_.read_hits(*answer);
    if (!found) {
        return odd(name, "query");
    }
    return *std::move(found);
}

}  // namespace weir::migration::store
