#include "migration/writer.hpp"

#include "tests/unit/migration/memory_store.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace weir::migration {
namespace {

using kind = operation::kind;

class rows_in_memory final : public row_reader {
public:
    std::map<std::int64_t, source_row> rows;
    std::vector<std::uint32_t> awaited;

    std::vector<std::optional<source_row>> reread(std::span<const wanted> keys) override {
        std::vector<std::optional<source_row>> found;
        for (const auto& one : keys) {
            awaited.push_back(one.transaction);
            const auto held = rows.find(std::get<std::int64_t>(one.key->front()));
            found.push_back(held == rows.end() ? std::nullopt : std::optional(held->second));
        }
        return found;
    }
};

class journal_in_memory final : public safekeeping {
public:
    std::map<std::string, version> graves;
    std::vector<dead_letter> letters;

    void bury(std::span<const grave> all) override {
        for (const auto& one : all) {
            graves[one.space + "/" + one.key] = one.version;
        }
    }

    std::vector<std::optional<version>>
    buried(const std::string& space, std::span<const std::string> keys) override {
        std::vector<std::optional<version>> found;
        for (const auto& one : keys) {
            const auto held = graves.find(space + "/" + one);
            found.push_back(held == graves.end() ? std::nullopt : std::optional(held->second));
        }
        return found;
    }

    void set_aside(std::span<const dead_letter> all) override {
        letters.insert(letters.end(), all.begin(), all.end());
    }
};

struct bench {
    migration::plan plan;
    memory_store target;
    rows_in_memory source;
    journal_in_memory journal;
    writing_rules rules;
    tally count;
    std::vector<std::int64_t> pauses;

    bench() {
        plan.name = "m";
        plan.layout.key = {{"id", value_kind::integer, "bigint"}};
        plan.layout.attributes = {{"n", value_kind::integer, "bigint"}};
        plan.layout.dimensions = 2;
        plan.name_of.before = "s";
        rules.may_write = [] {};
        rules.sleep = [this](std::chrono::milliseconds time) { pauses.push_back(time.count()); };
    }

    void carry_out(std::vector<operation>&& all) {
        writer one(plan, target, source, journal, rules, count);
        one.carry_out(std::move(all));
    }

    [[nodiscard]] const stored* held(std::int64_t id) const {
        const auto space = target.spaces.find("s");
        if (space == target.spaces.end()) {
            return nullptr;
        }
        const auto found = space->second.find(identity({id}));
        return found == space->second.end() ? nullptr : &found->second;
    }
};

operation make(kind what, std::int64_t id, std::uint64_t lsn, std::int64_t n = 0) {
    operation made;
    made.what = what;
    made.space = "s";
    made.document.key = {id};
    made.document.version = {1, lsn, 0};
    made.transaction = static_cast<std::uint32_t>(lsn);
    if (what == kind::upsert) {
        made.document.embedding = {1, 2};
    }
    if (what == kind::upsert || what == kind::patch) {
        made.document.attributes = {n};
    }
    return made;
}

std::vector<operation> list(operation one) {
    std::vector<operation> all;
    all.push_back(std::move(one));
    return all;
}

operation copied(std::int64_t id, std::uint64_t lsn) {
    auto made = make(kind::upsert, id, lsn);
    made.copied = true;
    return made;
}

source_row row(std::int64_t id, std::int64_t n) {
    source_row made;
    made.key = {id};
    made.embedding = {{3, 4}};
    made.attributes = {n};
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("migration.writer");

TEST_CASE("a namespace is made before it is written and only once") {
    bench on;
    writer one(on.plan, on.target, on.source, on.journal, on.rules, on.count);
    one.carry_out(list(make(kind::upsert, 1, 10)));
    one.carry_out(list(make(kind::remove, 1, 11)));
    CHECK(on.target.log == std::vector<std::string>{"ensure s", "upsert s 1", "remove s 1"});
}

TEST_CASE("B139 a copied row does not replace what the stream has written") {
    bench on;
    on.rules.copying = true;
    on.carry_out(list(make(kind::upsert, 1, 20, 7)));
    on.carry_out(list(copied(1, 10)));
    REQUIRE(on.held(1) != nullptr);
    CHECK(on.held(1)->version == version{1, 20, 0});
    CHECK(on.count.outdated == 1);
}

TEST_CASE("B139 a copied row does not bring back what the stream has deleted") {
    for (const bool conditional : {false, true}) {
        bench on;
        on.target.able_now.conditional = conditional;
        on.rules.copying = true;
        on.carry_out(list(make(kind::remove, 1, 20)));
        on.carry_out(list(copied(1, 10)));
        CHECK(on.held(1) == nullptr);
        CHECK(on.journal.graves.size() == 1);
    }
}

TEST_CASE("tombstones are left only while the copy runs") {
    bench on;
    on.carry_out(list(make(kind::remove, 1, 20)));
    CHECK(on.journal.graves.empty());
}

TEST_CASE("after a restart older changes look at the store first") {
    bench on;
    on.carry_out(list(make(kind::upsert, 1, 30, 7)));
    on.rules.guarded_until = 100;
    on.carry_out(list(make(kind::upsert, 1, 20, 5)));
    CHECK(on.held(1)->attributes == std::vector<value>{std::int64_t{7}});
    on.carry_out(list(make(kind::upsert, 1, 31, 9)));
    CHECK(on.held(1)->attributes == std::vector<value>{std::int64_t{9}});
    on.target.log.clear();
    on.carry_out(list(make(kind::upsert, 1, 101, 9)));
    CHECK(on.target.log == std::vector<std::string>{"ensure s", "upsert s 1"});
}

TEST_CASE("a patch of an absent document becomes the row as it is now") {
    bench on;
    on.source.rows[1] = row(1, 9);
    on.carry_out(list(make(kind::patch, 1, 20, 8)));
    REQUIRE(on.held(1) != nullptr);
    CHECK(on.held(1)->embedding == std::vector<float>{3, 4});
    CHECK(on.held(1)->attributes == std::vector<value>{std::int64_t{9}});
    CHECK(on.held(1)->version == version{1, 20, 0});
    CHECK(on.source.awaited == std::vector<std::uint32_t>{20});
}

TEST_CASE("a row that is gone when it is read again is left to its own removal") {
    bench on;
    on.carry_out(list(make(kind::upsert, 1, 10)));
    on.carry_out(list(make(kind::reread, 1, 20)));
    CHECK(on.held(1)->version == version{1, 10, 0});
    on.source.rows[1] = row(1, 9);
    on.source.rows[1].embedding.reset();
    on.carry_out(list(make(kind::reread, 1, 21)));
    CHECK(on.held(1) == nullptr);
}

TEST_CASE("faults that pass are waited out as the store asks") {
    bench on;
    on.target.faults = {
        {store::fault::throttled, "slow down", std::chrono::milliseconds(9000)},
        {store::fault::unreachable, "gone", {}},
        {store::fault::failed, "broken", {}}};
    on.carry_out(list(make(kind::upsert, 1, 10)));
    CHECK(on.held(1) != nullptr);
    REQUIRE(on.pauses.size() == 3);
    CHECK(on.pauses[0] == 9000);
    CHECK(on.count.retries == 3);
    CHECK(on.count.trouble().empty());
    CHECK(on.journal.letters.empty());
}

TEST_CASE("a namespace that has vanished is made again") {
    bench on;
    on.target.faults = {{store::fault::missing, "no such namespace", {}}};
    on.carry_out(list(make(kind::upsert, 1, 10)));
    CHECK(
        on.target.log ==
        std::vector<std::string>{"ensure s", "upsert s 1", "ensure s", "upsert s 1"}
    );
}

TEST_CASE("B145 a poison row is set aside and the others are written") {
    bench on;
    on.target.poison = {5};
    std::vector<operation> all;
    for (std::int64_t id = 0; id < 16; ++id) {
        all.push_back(make(kind::upsert, id, 10 + static_cast<std::uint64_t>(id)));
    }
    on.carry_out(std::move(all));
    CHECK(on.target.spaces["s"].size() == 15);
    REQUIRE(on.journal.letters.size() == 1);
    CHECK(on.journal.letters[0].key == key{std::int64_t{5}});
    CHECK(on.journal.letters[0].version == version{1, 15, 0});
    CHECK(on.journal.letters[0].operation == "upsert");
    CHECK(on.journal.letters[0].reason == "it will not have this");
}

TEST_CASE("a request that is too large is halved") {
    bench on;
    on.target.faults = {{store::fault::too_large, "too large", {}}};
    std::vector<operation> all;
    all.push_back(make(kind::upsert, 1, 10));
    all.push_back(make(kind::upsert, 2, 11));
    on.carry_out(std::move(all));
    CHECK(
        on.target.log ==
        std::vector<std::string>{"ensure s", "upsert s 2", "upsert s 1", "upsert s 1"}
    );
}

TEST_CASE("a call holds no more than the store takes") {
    bench on;
    on.target.able_now.max_documents = 2;
    std::vector<operation> all;
    for (std::int64_t id = 0; id < 5; ++id) {
        all.push_back(make(kind::upsert, id, 10));
    }
    on.carry_out(std::move(all));
    CHECK(
        on.target.log ==
        std::vector<std::string>{"ensure s", "upsert s 2", "upsert s 2", "upsert s 1"}
    );
}

TEST_CASE("without the lease nothing is written") {
    bench on;
    on.rules.may_write = [] { throw stopped(); };
    CHECK_THROWS_AS(on.carry_out(list(make(kind::upsert, 1, 10))), stopped);
    CHECK(on.target.log.empty());
}

TEST_CASE("B138 clearing takes every namespace of the migration and no other") {
    bench on;
    on.plan.name_of = {.before = "org-", .tenant = true, .after = "-x"};
    for (const auto* name : {"org-1-x", "org-2-x", "org-3", "other"}) {
        auto one = make(kind::upsert, 1, 10);
        one.space = name;
        on.carry_out(list(std::move(one)));
    }
    writer sweeper(on.plan, on.target, on.source, on.journal, on.rules, on.count);
    sweeper.clear(0, [] {});
    CHECK(on.target.spaces["org-1-x"].empty());
    CHECK(on.target.spaces["org-2-x"].empty());
    CHECK(on.target.spaces["org-3"].size() == 1);
    CHECK(on.target.spaces["other"].size() == 1);
}

TEST_CASE("clearing goes on only while it may write") {
    bench on;
    std::vector<operation> all;
    for (std::int64_t id = 0; id < 10; ++id) {
        all.push_back(make(kind::upsert, id, 10));
    }
    on.carry_out(std::move(all));
    on.target.most_cleared = 3;
    int looks = 0;
    writer sweeper(on.plan, on.target, on.source, on.journal, on.rules, on.count);
    on.rules.may_write = [&] {
        if (++looks > 3) {  // one of them to list the namespaces
            throw stopped();
        }
    };
    int beats = 0;
    CHECK_THROWS_AS(sweeper.clear(0, [&] { ++beats; }), stopped);
    CHECK(on.target.spaces["s"].size() == 4);
    CHECK(beats == 3);
    on.rules.may_write = [] {};
    sweeper.clear(0, [] {});
    CHECK(on.target.spaces["s"].empty());
}

TEST_SUITE_END();

}  // namespace weir::migration
