#include "migration/verifier.hpp"

#include "migration/retry.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t page_rows = 500;
constexpr std::size_t most_examples = 100;
constexpr int looks = 6;

// The row as the store should have it, in which namespace; nothing if it has no embedding.
std::optional<operation> wanted_of(const plan& what, source_row&& row) {
    auto made = operations_of_copied(what, std::move(row), {});
    if (made.empty()) {
        return std::nullopt;
    }
    return std::move(made.front());
}

}  // namespace

verifier::verifier(
    const plan& what,
    const source_servers& servers,
    store::store& target,
    bool repair,
    ways how
)
    : plan_(what),
      servers_(servers),
      reader_(what, servers),
      store_(target),
      repair_(repair),
      ways_(std::move(how)) {}

template <typename Call>
auto verifier::asked(const Call& call) {
    for (unsigned attempt = 0;; ++attempt) {
        auto answer = call();
        if (answer.has_value() || answer.error().what == store::fault::missing) {
            return answer;
        }
        if (!passing(answer.error().what)) {
            throw std::runtime_error(answer.error().text);
        }
        ways_.sleep(pause_after(answer.error(), attempt, 0.5));
    }
}

verify_report verifier::run(verify_cursor from, verify_report so_far) {
    report_ = std::move(so_far);
    if (from.at == verify_cursor::side::source) {
        verify_source(from);
        from = {};
        from.at = verify_cursor::side::store;
        ways_.progress(report_, from);
    }
    if (from.at == verify_cursor::side::store) {
        verify_store(from);
        from = {};
        from.at = verify_cursor::side::done;
        ways_.progress(report_, from);
    }
    return report_;
}

void verifier::verify_source(verify_cursor& at) {
    for (bool more = true; more;) {
        auto page = reader_.read_page({.low = at.last, .high = {}}, page_rows);
        more = page.last.has_value();
        at.last = std::move(page.last);
        const auto rows = page.rows.size();
        settle(differing(std::move(page.rows)));
        report_.rows += rows;
        if (more) {
            ways_.progress(report_, at);
        }
    }
}

std::vector<verifier::suspect> verifier::differing(std::vector<source_row>&& rows) {
    std::map<std::string, std::vector<document>> spaces;
    for (auto& row : rows) {
        if (auto wanted = wanted_of(plan_, std::move(row))) {
            spaces[wanted->space].push_back(std::move(wanted->document));
        }
    }
    std::vector<suspect> suspects;
    for (const auto& [space, documents] : spaces) {
        std::vector<key> keys;
        keys.reserve(documents.size());
        for (const auto& one : documents) {
            keys.push_back(one.key);
        }
        const auto answer = asked([&, &in = space] {
            return store_.fetch(in, keys, {.embedding = true, .attributes = true});
        });
        std::map<std::string, const stored*> held;
        if (answer.has_value()) {
            for (const auto& one : *answer) {
                held[identity(one.key)] = &one;
            }
        }
        for (const auto& one : documents) {
            const auto found = held.find(identity(one.key));
            const auto what = found == held.end()
                                  ? difference::missing
                                  : compare(one, *found->second, plan_.layout, store_.able());
            if (what != difference::none) {
                suspects.push_back({space, one.key, what});
            }
        }
    }
    return suspects;
}

void verifier::verify_store(verify_cursor& at) {
    std::vector<std::string> spaces{plan_.name_of.before};
    if (plan_.name_of.tenant) {
        auto listed = asked([&] { return store_.namespaces(plan_.name_of.before); });
        spaces = listed.has_value() ? std::move(*listed) : std::vector<std::string>{};
        std::erase_if(spaces, [&](const std::string& space) {
            return !space.ends_with(plan_.name_of.after);
        });
    }
    std::ranges::sort(spaces);
    for (const auto& space : spaces) {
        if (space < at.space || (space == at.space && at.space_over)) {
            continue;
        }
        if (space != at.space) {
            at.next.clear();
            at.space = space;
        }
        at.space_over = false;
        while (!at.space_over) {
            const auto page = asked([&] { return store_.scan(space, at.next, page_rows, {}); });
            if (page.has_error()) {
                break;  // the namespace has gone
            }
            std::vector<suspect> suspects;
            for (const auto& one : page->documents) {
                suspects.push_back({space, one.key, difference::extra});
            }
            const auto rows = rows_of(suspects);
            std::size_t i = 0;
            std::erase_if(suspects, [&](const suspect&) { return rows[i++].has_value(); });
            report_.documents += page->documents.size();
            settle(std::move(suspects));
            at.next = page->next;
            at.space_over = at.next.empty();
            ways_.progress(report_, at);
        }
    }
}

// The documents that the source wants in these namespaces.
std::vector<std::optional<document>> verifier::rows_of(std::span<const suspect> suspects) {
    std::vector<row_reader::wanted> wanted;
    wanted.reserve(suspects.size());
    for (const auto& one : suspects) {
        wanted.push_back({&one.key, 0});
    }
    auto rows = reader_.reread(wanted);
    std::vector<std::optional<document>> documents(suspects.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i]) {
            continue;
        }
        auto made = wanted_of(plan_, std::move(*rows[i]));
        if (made && made->space == suspects[i].space) {
            documents[i] = std::move(made->document);
        }
    }
    return documents;
}

// A row may have changed between the look at the source and the look at the store. So: the row, the
// stream past everything that was written before, the document, and the row again; if the row is
// the same both times, the document shows a difference or none.
std::vector<verifier::suspect> verifier::confirmed(std::span<const suspect> suspects) {
    std::vector<suspect> wrong;
    std::vector<suspect> open(suspects.begin(), suspects.end());
    for (int look = 0; look < looks && !open.empty(); ++look) {
        const auto before = rows_of(open);
        ways_.catch_up();
        std::map<std::string, stored> held;
        std::map<std::string, std::vector<key>> spaces;
        for (const auto& one : open) {
            spaces[one.space].push_back(one.key);
        }
        for (const auto& [space, keys] : spaces) {
            auto answer = asked([&, &in = space, &of = keys] {
                return store_.fetch(in, of, {.embedding = true, .attributes = true});
            });
            for (auto& one : answer.has_value() ? *answer : std::vector<stored>{}) {
                held[space + '/' + identity(one.key)] = std::move(one);
            }
        }
        const auto after = rows_of(open);
        std::vector<suspect> again;
        for (std::size_t i = 0; i < open.size(); ++i) {
            const auto& row = before[i];
            const bool same = row.has_value() == after[i].has_value() &&
                              (!row || (row->embedding == after[i]->embedding &&
                                        row->attributes == after[i]->attributes));
            if (!same) {
                again.push_back(open[i]);
                continue;
            }
            const auto found = held.find(open[i].space + '/' + identity(open[i].key));
            auto what = difference::none;
            if (!row) {
                what = found == held.end() ? difference::none : difference::extra;
            } else if (found == held.end()) {
                what = difference::missing;
            } else {
                what = compare(*row, found->second, plan_.layout, store_.able());
            }
            if (what != difference::none) {
                wrong.push_back({open[i].space, open[i].key, what});
            }
        }
        open = std::move(again);
    }
    report_.unsettled += open.size();
    return wrong;
}

void verifier::settle(std::vector<suspect>&& suspects) {
    if (suspects.empty()) {
        return;
    }
    const auto wrong = confirmed(suspects);
    for (const auto& one : wrong) {
        auto& count = one.what == difference::missing ? report_.missing
                      : one.what == difference::extra ? report_.extra
                                                      : report_.different;
        ++count;
        if (report_.examples.size() < most_examples) {
            report_.examples.push_back(
                std::string(to_string(one.what)) + " " + one.space + "/" + to_text(one.key)
            );
        }
    }
    if (repair_ && !wrong.empty()) {
        mend(wrong);
    }
}

// The repair carries the watermark as its version: changes that come later win, and a document that
// has a newer one stays.
void verifier::mend(std::span<const suspect> wrong) {
    auto at = ways_.watermark();
    at.ordinal = std::numeric_limits<std::uint32_t>::max();
    await_snapshot(reader_.server(), servers_);
    auto rows = rows_of(wrong);
    std::vector<operation> repairs;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        operation repair;
        repair.space = wrong[i].space;
        repair.guarded = true;
        if (rows[i]) {
            repair.document = std::move(*rows[i]);
        } else {
            repair.what = operation::kind::remove;
            repair.document.key = wrong[i].key;
        }
        repair.document.version = at;
        repairs.push_back(std::move(repair));
    }
    ways_.repair(std::move(repairs));
    const auto left = confirmed(wrong).size();
    report_.unrepaired += left;
    report_.repaired += wrong.size() - left;
}

}  // namespace weir::migration
