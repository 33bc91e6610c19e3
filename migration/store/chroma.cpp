#include "migration/store/chroma.hpp"

#include "migration/store/chroma_store.hpp"
#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace weir::migration::store {
namespace {

// Documents removed by one call of clear(): a second's work for Chroma.
constexpr std::size_t most_cleared = 2000;

template <typename Item>
std::vector<std::string> ids_of(const chroma_documents& documents, std::span<const Item> items) {
    std::vector<std::string> ids;
    ids.reserve(items.size());
    for (const auto& item : items) {
        ids.push_back(documents.id_of(item.key));
    }
    return ids;
}

}  // namespace

result<boost::json::value> chroma_store::post(const std::string& name, const char* operation) {
    return collections_.call(name, "POST", operation, body_.text());
}

// Of the documents that body_ asks for.
result<std::vector<std::string>> chroma_store::get_ids(const std::string& name) {
    const auto answer = post(name, "get");
    if (answer.has_error()) {
        return answer.error();
    }
    const auto* found = array_of(member(&*answer, "ids"));
    if (found == nullptr) {
        return odd(name, "get");
    }
    std::vector<std::string> ids;
    ids.reserve(found->size());
    for (const auto& id : *found) {
        ids.emplace_back(text_of(&id).value_or(""));
    }
    return ids;
}

void chroma_store::put_ids(std::span<const std::string> ids) {
    body_.name("ids");
    body_.begin_array();
    for (const auto& id : ids) {
        body_.string(id);
    }
    body_.end_array();
}

void chroma_store::put_include(fields wanted) {
    body_.name("include");
    body_.begin_array();
    body_.string("metadatas");
    if (wanted.embedding) {
        body_.string("embeddings");
    }
    body_.end_array();
}

result<written> chroma_store::upsert(const std::string& name, std::span<const document> documents) {
    if (documents.empty()) {
        return written{};
    }
    for (const auto& one : documents) {
        if (const auto flaw = documents_.flaw_of(one); !flaw.empty()) {
            return collections_.failure(fault::refused, "upsert", name, flaw);
        }
    }
    body_.clear();
    body_.begin_object();
    put_ids(ids_of(documents_, documents));
    body_.name("embeddings");
    body_.begin_array();
    for (const auto& one : documents) {
        body_.vector_base64(one.embedding);
    }
    body_.end_array();
    documents_.put_metadata(body_, documents);
    body_.end_object();
    if (const auto answer = post(name, "upsert"); answer.has_error()) {
        return answer.error();
    }
    return written{.applied = documents.size(), .bytes = body_.text().size(), .absent = {}};
}

// What is absent is passed over by Chroma without a word, so it is asked first.
result<written> chroma_store::patch(const std::string& name, std::span<const document> documents) {
    if (documents.empty()) {
        return written{};
    }
    const auto ids = ids_of(documents_, documents);
    body_.clear();
    body_.begin_object();
    put_ids(ids);
    body_.name("include");
    body_.raw("[]");
    body_.end_object();
    auto there = get_ids(name);
    if (there.has_error()) {
        return there.error();
    }
    std::ranges::sort(*there);
    written done{.applied = 0, .bytes = body_.text().size(), .absent = {}};
    std::vector<document> kept;
    std::vector<std::string> kept_ids;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        if (std::ranges::binary_search(*there, ids[i])) {
            kept.push_back(documents[i]);
            kept_ids.push_back(ids[i]);
        } else {
            done.absent.push_back(documents[i].key);
        }
    }
    if (kept.empty()) {
        return done;
    }
    body_.clear();
    body_.begin_object();
    put_ids(kept_ids);
    documents_.put_metadata(body_, kept);
    body_.end_object();
    if (const auto updated = post(name, "update"); updated.has_error()) {
        return updated.error();
    }
    done.applied = kept.size();
    done.bytes += body_.text().size();
    return done;
}

result<void> chroma_store::delete_ids(const std::string& name, std::span<const std::string> ids) {
    body_.clear();
    body_.begin_object();
    put_ids(ids);
    body_.end_object();
    const auto answer = post(name, "delete");
    return answer.has_error() ? result<void>(answer.error()) : result<void>();
}

result<written> chroma_store::remove(const std::string& name, std::span<const removal> removals) {
    if (removals.empty()) {
        return written{};
    }
    if (const auto gone = delete_ids(name, ids_of(documents_, removals)); gone.has_error()) {
        return gone.error();
    }
    return written{.applied = removals.size(), .bytes = body_.text().size(), .absent = {}};
}

// To drop the collection and make it anew would be quicker, but a crash in between would leave
// none, and applications that search in it hold its id.
result<bool> chroma_store::clear(const std::string& name, std::uint32_t part) {
    body_.clear();
    body_.begin_object();
    if (part != 0) {
        body_.name("where");
        chroma_documents::put_part(body_, part);
    }
    body_.name("limit");
    body_.unsigned_integer(most_cleared);
    body_.name("include");
    body_.raw("[]");
    body_.end_object();
    auto ids = get_ids(name);
    if (ids.has_error()) {
        return ids.error();
    }
    if (ids->empty()) {
        return false;
    }
    if (*ids == cleared_) {
        cleared_.clear();
        return collections_.failure(fault::failed, "delete", name, "documents stay there");
    }
    if (const auto gone = delete_ids(name, *ids); gone.has_error()) {
        return gone.error();
    }
    const bool more = ids->size() == most_cleared;
    cleared_ = *std::move(ids);
    return more;
}

std::unique_ptr<store> make_chroma(const http_options& options, const layout& rows) {
    return std::make_unique<chroma_store>(options, rows);
}

}  // namespace weir::migration::store
