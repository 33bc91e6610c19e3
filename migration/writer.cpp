#include "migration/writer.hpp"

#include "migration/retry.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weir::migration {
namespace {

using kind = operation::kind;

constexpr std::size_t most_ensured = 10'000;

// The operations by namespace, in it in their order.
std::map<std::string, std::vector<operation*>> by_space(std::vector<operation>& all) {
    std::map<std::string, std::vector<operation*>> spaces;
    for (auto& one : all) {
        spaces[one.space].push_back(&one);
    }
    return spaces;
}

std::vector<key> keys_of(std::span<operation* const> some) {
    std::vector<key> keys;
    keys.reserve(some.size());
    for (const auto* one : some) {
        keys.push_back(one->document.key);
    }
    return keys;
}

std::vector<document> documents_of(std::span<operation* const> some) {
    std::vector<document> documents;
    documents.reserve(some.size());
    for (auto* one : some) {
        documents.push_back(std::move(one->document));
    }
    return documents;
}

std::size_t size_of(const document& what) {
    std::size_t size = what.embedding.size() * sizeof(float);
    for (const auto& attribute : what.attributes) {
        const auto* text = std::get_if<std::string>(&attribute);
        size += text != nullptr ? text->size() + sizeof(value) : sizeof(value);
    }
    return size;
}

std::size_t size_of(const removal&) {
    return sizeof(removal);
}

// How many from the front one call may hold; one at least.
template <typename Item>
std::size_t fitting(const store::abilities& able, std::span<const Item> all) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (const auto& one : all) {
        bytes += size_of(one);
        if (count > 0 && ((able.max_bytes != 0 && bytes > able.max_bytes) ||
                          (able.max_documents != 0 && count >= able.max_documents))) {
            break;
        }
        ++count;
    }
    return count;
}

std::vector<operation*> only(std::span<operation* const> some, kind what) {
    std::vector<operation*> chosen;
    for (auto* one : some) {
        if (one->what == what) {
            chosen.push_back(one);
        }
    }
    return chosen;
}

constexpr const char* name_of(const document& what) {
    return what.embedding.empty() ? "patch" : "upsert";
}

constexpr const char* name_of(const removal&) {
    return "remove";
}

}  // namespace

writer::writer(
    const plan& what,
    store::store& target,
    row_reader& source,
    safekeeping& journal,
    writing_rules& rules,
    tally& count
)
    : plan_(what),
      store_(target),
      source_(source),
      journal_(journal),
      rules_(rules),
      tally_(count) {}

void writer::wait_out(const std::string& space, const store::error& why, unsigned& attempt) {
    ++tally_.retries;
    tally_.trouble(why.text);
    if (why.what == store::fault::missing) {
        ensured_.erase(space);
    }
    const auto random = std::generate_canonical<double, 32>(random_);
    rules_.sleep(pause_after(why, attempt++, random));
}

template <typename Call>
auto writer::persist(const std::string& space, const Call& call) {
    for (unsigned attempt = 0;;) {
        rules_.may_write();
        if (!space.empty() && !ensured_.contains(space)) {
            const auto made = store_.ensure(space);
            if (made.has_error() && made.error().what == store::fault::refused &&
                plan_.name_of.tenant) {
                return decltype(call())(made.error());  // of one tenant: its rows are set aside
            }
            if (made.has_error()) {
                // A namespace that cannot be made stops its rows, not for ever: somebody may mend
                // the store, and nothing is lost meanwhile.
                wait_out(space, made.error(), attempt);
                continue;
            }
            if (ensured_.size() >= most_ensured) {
                ensured_.clear();
            }
            ensured_.insert(space);
        }
        auto answer = call();
        if (answer.has_value() || answer.error().what == store::fault::refused ||
            answer.error().what == store::fault::too_large) {
            if (attempt != 0) {
                tally_.trouble({});
            }
            return answer;
        }
        wait_out(space, answer.error(), attempt);
    }
}

void writer::carry_out(std::vector<operation>&& batch) {
    auto all = collapsed(std::move(batch));
    drop_outdated(all);
    read_again(all);
    if (rules_.copying) {
        leave_tombstones(all);
    }
    for (auto& [space, some] : by_space(all)) {
        send(space, some);
    }
}

void writer::drop_outdated(operations& all) {
    const bool copied = std::ranges::any_of(all, &operation::copied);
    const bool guarded = std::ranges::any_of(all, [&](const operation& one) {
        return one.guarded || one.document.version.lsn <= rules_.guarded_until;
    });
    if (copied) {
        drop_buried(all);
    }
    if ((copied || guarded) && !store_.able().conditional) {
        drop_older_than_store(all);
    }
}

void writer::drop_buried(operations& all) {
    std::unordered_set<const operation*> dropped;
    for (auto& [space, some] : by_space(all)) {
        std::erase_if(some, [](const operation* one) { return !one->copied; });
        std::vector<std::string> keys;
        keys.reserve(some.size());
        for (const auto* one : some) {
            keys.push_back(to_text(one->document.key));
        }
        const auto graves = journal_.buried(space, keys);
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (graves[i] && *graves[i] > some[i]->document.version) {
                dropped.insert(some[i]);
            }
        }
    }
    tally_.outdated += dropped.size();
    std::erase_if(all, [&](const operation& one) { return dropped.contains(&one); });
}

void writer::drop_older_than_store(operations& all) {
    std::unordered_set<const operation*> dropped;
    for (auto& [space, some] : by_space(all)) {
        const auto keys = keys_of(some);
        std::map<std::string, version> there;
        const std::size_t most = std::max<std::size_t>(1, store_.able().max_documents);
        for (std::size_t from = 0; from < keys.size(); from += most) {
            const auto part = std::span(keys).subspan(from, std::min(most, keys.size() - from));
            const auto found =
                persist(space, [&, at = space] { return store_.fetch(at, part, {}); });
            if (found.has_error()) {
                continue;  // refused: what is written will be, too, and is set aside then
            }
            for (const auto& one : *found) {
                there[identity(one.key)] = one.version;
            }
        }
        for (const auto* one : some) {
            const auto found = there.find(identity(one->document.key));
            if (found != there.end() && found->second > one->document.version) {
                dropped.insert(one);
            }
        }
    }
    tally_.outdated += dropped.size();
    std::erase_if(all, [&](const operation& one) { return dropped.contains(&one); });
}

// A row that has gone meanwhile has a removal of its own on the way, and one that has moved to
// another namespace its own writing there.
void writer::read_again(operations& all) {
    std::vector<operation*> some;
    std::vector<row_reader::wanted> wanted;
    for (auto& one : all) {
        if (one.what == kind::reread) {
            some.push_back(&one);
            wanted.push_back({&one.document.key, one.transaction});
        }
    }
    if (some.empty()) {
        return;
    }
    auto rows = source_.reread(wanted);
    tally_.reread += rows.size();
    std::unordered_set<const operation*> gone;
    for (std::size_t i = 0; i < some.size(); ++i) {
        auto& one = *some[i];
        if (!rows[i]) {
            gone.insert(&one);
            continue;
        }
        if (!rows[i]->embedding) {
            one.what = kind::remove;
            continue;
        }
        auto fresh = operations_of_copied(plan_, std::move(*rows[i]), one.document.version);
        if (fresh.front().space != one.space) {
            gone.insert(&one);
            continue;
        }
        one.what = kind::upsert;
        one.document = std::move(fresh.front().document);
    }
    std::erase_if(all, [&](const operation& one) { return gone.contains(&one); });
}

void writer::leave_tombstones(const operations& all) {
    std::vector<safekeeping::grave> graves;
    for (const auto& one : all) {
        if (one.what == kind::remove) {
            graves.push_back({one.space, to_text(one.document.key), one.document.version});
        }
    }
    if (!graves.empty()) {
        rules_.may_write();
        journal_.bury(graves);
    }
}

void writer::send(const std::string& space, std::span<operation*> some) {
    send_removals(space, only(some, kind::remove));
    send_patches(space, only(some, kind::patch));
    send_upserts(space, only(some, kind::upsert));
    for (const auto* one : some) {
        ++(one->copied ? tally_.rows_copied : tally_.rows_streamed);
    }
}

template <typename Item, typename Call>
void writer::in_parts(const std::string& space, std::span<const Item> all, const Call& call) {
    while (!all.empty()) {
        const auto part = all.first(fitting(store_.able(), all));
        all = all.subspan(part.size());
        const auto answer = persist(space, [&] { return call(part); });
        if (answer.has_value()) {
            tally_.bytes += answer->bytes;
        } else if (part.size() == 1) {
            const auto& one = part.front();
            set_aside({space, one.key, one.version, name_of(one), answer.error().text});
        } else {
            in_parts(space, part.first(part.size() / 2), call);
            in_parts(space, part.subspan(part.size() / 2), call);
        }
    }
}

void writer::set_aside(dead_letter&& letter) {
    journal_.set_aside({&letter, 1});
    ++tally_.dead_letters;
}

void writer::send_upserts(const std::string& space, std::span<operation* const> some) {
    const auto documents = documents_of(some);
    in_parts(space, std::span(documents), [&](std::span<const document> part) {
        return store_.upsert(space, part);
    });
}

void writer::send_removals(const std::string& space, std::span<operation* const> some) {
    std::vector<removal> removals;
    removals.reserve(some.size());
    for (const auto* one : some) {
        removals.push_back({one->document.key, one->document.version});
    }
    in_parts(space, std::span<const removal>(removals), [&](std::span<const removal> part) {
        return store_.remove(space, part);
    });
}

// A patch that meets no document (the copy has not come to it, or it was set aside) becomes the
// whole row.
void writer::send_patches(const std::string& space, std::span<operation* const> some) {
    const auto documents = documents_of(some);
    std::unordered_set<std::string> absent;
    in_parts(space, std::span(documents), [&](std::span<const document> part) {
        auto answer = store_.patch(space, part);
        if (answer.has_value()) {
            for (const auto& missing : answer->absent) {
                absent.insert(identity(missing));
            }
        }
        return answer;
    });
    operations whole;
    for (std::size_t i = 0; i < some.size() && !absent.empty(); ++i) {
        if (absent.contains(identity(documents[i].key))) {
            operation again;
            again.what = kind::reread;
            again.space = space;
            again.document.key = documents[i].key;
            again.document.version = documents[i].version;
            again.transaction = some[i]->transaction;
            whole.push_back(std::move(again));
        }
    }
    read_again(whole);
    if (rules_.copying) {
        leave_tombstones(whole);
    }
    std::vector<operation*> pointers;
    pointers.reserve(whole.size());
    for (auto& one : whole) {
        pointers.push_back(&one);
    }
    send_removals(space, only(pointers, kind::remove));
    send_upserts(space, only(pointers, kind::upsert));
}

void writer::clear(std::uint32_t part, const std::function<void()>& meanwhile) {
    const auto listed = persist({}, [&] {
        return plan_.name_of.tenant
                   ? store_.namespaces(plan_.name_of.before)
                   : store::result<std::vector<std::string>>(std::vector{plan_.name_of.before});
    });
    if (listed.has_error()) {
        throw std::runtime_error("cannot list namespaces: " + listed.error().text);
    }
    for (const auto& space : *listed) {
        if (!space.ends_with(plan_.name_of.after)) {
            continue;
        }
        for (unsigned attempt = 0;;) {
            meanwhile();
            rules_.may_write();
            const auto more = store_.clear(space, part);
            if (more.has_error() && more.error().what != store::fault::missing) {
                wait_out(space, more.error(), attempt);
                continue;
            }
            if (std::exchange(attempt, 0) != 0) {
                tally_.trouble({});
            }
            if (more.has_error() || !*more) {
                break;
            }
        }
    }
}

}  // namespace weir::migration
