// Writes of the turbopuffer adapter.
#include "migration/store/removals.hpp"
#include "migration/store/turbopuffer_store.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace weir::migration::store {

namespace json = boost::json;

namespace {

// What a write has changed; `specific` is there only if the request had such writes.
std::uint64_t rows_of(const json::value& answer, std::string_view specific) {
    const auto count = unsigned_of(member(&answer, specific));
    return count ? *count : unsigned_of(member(&answer, "rows_affected")).value_or(0);
}

}  // namespace

// {"distance_metric":…,"schema":…,"<condition>":["pgweir_version","Lte",{"$ref_new":…}], and the
// rest is the caller's. The same version again is applied again, so that a write may be repeated.
void turbopuffer_store::begin_write(std::string_view condition) {
    body_.clear();
    body_.begin_object();
    body_.name("distance_metric");
    body_.string(tpuf::metric_name(layout_.metric));
    body_.name("schema");
    body_.raw(schema_);
    body_.name(condition);
    body_.begin_array();
    body_.string(version_name);
    body_.string("Lte");
    body_.begin_object();
    body_.name("$ref_new");
    body_.string(version_name);
    body_.end_object();
    body_.end_array();
}

result<written>
turbopuffer_store::upsert(const std::string& name, std::span<const document> documents) {
    written done;
    if (documents.empty()) {
        return done;
    }
    begin_write("upsert_condition");
    body_.name("upsert_rows");
    body_.begin_array();
    for (const auto& each : documents) {
        body_.begin_object();
        body_.name("id");
        tpuf::write_id(body_, codec_.ids().id_of(each.key));
        body_.name("vector");
        body_.vector_base64(each.embedding);
        codec_.write(body_, each, false);
        body_.end_object();
    }
    body_.end_array();
    body_.end_object();
    const auto answer = post(name, "", "upsert to");
    if (!answer) {
        return answer.error();
    }
    unborn_.erase(name);
    done.applied = rows_of(*answer, "rows_upserted");
    done.bytes = body_.text().size();
    return done;
}

result<written>
turbopuffer_store::patch(const std::string& name, std::span<const document> documents) {
    written done;
    if (documents.empty()) {
        return done;
    }
    begin_write("patch_condition");
    body_.name("patch_rows");
    body_.begin_array();
    std::vector<document_id> ids;
    for (const auto& each : documents) {
        ids.push_back(codec_.ids().id_of(each.key));
        body_.begin_object();
        body_.name("id");
        tpuf::write_id(body_, ids.back());
        codec_.write(body_, each, true);
        body_.end_object();
    }
    body_.end_array();
    body_.end_object();
    const auto answer = post(name, "", "patch in");
    if (!answer) {
        return answer.error();
    }
    done.applied = rows_of(*answer, "rows_patched");
    done.bytes = body_.text().size();
    if (done.applied == documents.size()) {
        return done;
    }
    // The others are newer, or not there. One that is there and older came after the patch: for the
    // caller it is the same as one that is not there, since it lacks the patch.
    const auto found = versions_of(name, ids, std::nullopt);
    if (!found) {
        return found.error();
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto there = found->find(ids[i]);
        if (there == found->end() || there->second < documents[i].version) {
            done.absent.push_back(documents[i].key);
        }
    }
    return done;
}

result<written>
turbopuffer_store::remove(const std::string& name, std::span<const removal> removals) {
    written done;
    for (std::size_t from = 0; from < removals.size(); from += tpuf::longest_answer) {
        const auto size = std::min(tpuf::longest_answer, removals.size() - from);
        auto some = remove_some(name, removals.subspan(from, size));
        if (!some) {
            return some.error();
        }
        done.applied += some->applied;
        done.bytes += some->bytes;
    }
    return done;
}

// A condition of a delete is one version for the whole request ($ref_new is null there). One query
// tells which documents are there and how old they are; then removal_requests() has the fewest
// requests: one, unless the transaction that removes rows has also written some of them. What is
// not there when the query is answered is removed already. What changes between the query and a
// request is compared by the store again: it goes if it is old enough, and if it is not, then
// somebody has written it after the moment at which it would have been removed.
result<written>
turbopuffer_store::remove_some(const std::string& name, std::span<const removal> removals) {
    written done;
    std::vector<document_id> ids;
    auto least = removals.front().version;
    auto most = least;
    for (const auto& each : removals) {
        ids.push_back(codec_.ids().id_of(each.key));
        least = std::min(least, each.version);
        most = std::max(most, each.version);
    }
    std::vector<removal_request> requests;
    if (least == most) {
        requests.push_back({.limit = most, .indexes = {}});
        for (std::size_t i = 0; i < ids.size(); ++i) {
            requests.back().indexes.push_back(i);
        }
    } else {
        const auto found = versions_of(name, ids, most);
        if (!found) {
            return found.error().what == fault::missing ? result<written>{done}
                                                        : result<written>{found.error()};
        }
        std::vector<aged> there;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto at = found->find(ids[i]);
            if (at != found->end()) {
                there.push_back({.index = i, .found = at->second, .limit = removals[i].version});
            }
        }
        requests = removal_requests(std::move(there));
    }
    for (const auto& each : requests) {
        std::vector<document_id> some;
        for (const auto index : each.indexes) {
            some.push_back(ids[index]);
        }
        const auto removed = remove_at(name, some, each.limit);
        if (!removed) {
            return removed.error();
        }
        done.applied += *removed;
        done.bytes += body_.text().size();
    }
    return done;
}

result<std::uint64_t> turbopuffer_store::remove_at(
    const std::string& name,
    std::span<const document_id> ids,
    const version& limit
) {
    body_.clear();
    body_.begin_object();
    body_.name("deletes");
    body_.begin_array();
    for (const auto& each : ids) {
        tpuf::write_id(body_, each);
    }
    body_.end_array();
    body_.name("delete_condition");
    tpuf::write_version_limit(body_, limit);
    body_.end_object();
    const auto answer = post(name, "", "remove from");
    if (!answer) {
        return answer.error().what == fault::missing ? result<std::uint64_t>{0U}
                                                     : result<std::uint64_t>{answer.error()};
    }
    return rows_of(*answer, "rows_deleted");
}

result<bool> turbopuffer_store::clear(const std::string& name, std::uint32_t part) {
    body_.clear();
    body_.begin_object();
    body_.name("delete_by_filter");
    body_.begin_array();
    body_.string(part == 0 ? version_name : part_name);
    body_.string(part == 0 ? "NotEq" : "Eq");
    if (part == 0) {
        body_.null();
    } else {
        body_.unsigned_integer(part);
    }
    body_.end_array();
    body_.name("delete_by_filter_allow_partial");
    body_.boolean(true);
    body_.end_object();
    const auto answer = post(name, "", "clear");
    if (!answer) {
        return answer.error().what == fault::missing ? result<bool>{false}
                                                     : result<bool>{answer.error()};
    }
    const auto* const more = member(&*answer, "rows_remaining");
    return more != nullptr && more->is_bool() && more->get_bool();
}

}  // namespace weir::migration::store
