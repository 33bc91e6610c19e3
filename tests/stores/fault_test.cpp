// What adapters say when the store misbehaves; emulators only.
#include "tests/stores/contract.hpp"

#include <chrono>
#include <string>

namespace weir::stores {
namespace {

using std::chrono::milliseconds;

// A namespace with one document, and the emulator told to misbehave until the end of the test.
struct trouble {
    trouble(candidate& which, const std::string& faults) : which_(which), name(fresh("fault")) {
        options = which.options;
        options.request_timeout = milliseconds{400};
        const auto calm = which.make(table());
        must(calm->ensure(name));
        must(calm->upsert(name, std::vector{row(1, at(10))}));
        which.control(R"({"faults": [)" + faults + "]}");
    }

    trouble(const trouble&) = delete;
    trouble& operator=(const trouble&) = delete;

    ~trouble() { which_.control(R"({"faults": []})"); }

    [[nodiscard]] std::unique_ptr<store::store> open() const {
        return which_.make_with(options, table());
    }

    // How often the emulator was asked since the last question.
    [[nodiscard]] std::string requests() const { return which_.control(R"({"take": "requests"})"); }

    candidate& which_;
    std::string name;
    store::http_options options;
};

#define WEIR_EMULATORS weir::stores::turbopuffer, weir::stores::qdrant

TEST_CASE_TEMPLATE("429 is throttled for as long as Retry-After says", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    const trouble now(
        candidate,
        R"({"kind": "status", "status": 429, "headers": {"Retry-After": "7"}})"
    );
    const auto got = now.open()->upsert(now.name, std::vector{row(2, at(10))});
    REQUIRE(fault_of(got) == fault::throttled);
    CHECK(got.error().retry_after == milliseconds{7000});
    CHECK(now.open()->count(now.name).error().retry_after == milliseconds{7000});
}

TEST_CASE_TEMPLATE("503 is throttled and 500 has failed", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    {
        const trouble now(candidate, R"({"kind": "status", "status": 503})");
        const auto got = now.open()->count(now.name);
        CHECK(fault_of(got) == fault::throttled);
        CHECK(!got.error().retry_after);
    }
    for (const auto* status : {"500", "502", "504", "507", "408", "409"}) {
        CAPTURE(status);
        const trouble now(
            candidate,
            R"({"kind": "status", "status": )" + std::string(status) + "}"
        );
        CHECK(fault_of(now.open()->upsert(now.name, std::vector{row(2, at(10))})) == fault::failed);
    }
}

TEST_CASE("turbopuffer's retry-after-ms is taken to the millisecond") {
    auto& candidate = turbopuffer::get();
    const trouble now(
        candidate,
        R"({"kind": "status", "status": 429,
            "headers": {"retry-after-ms": "125", "Retry-After": "7"}})"
    );
    CHECK(now.open()->count(now.name).error().retry_after == milliseconds{125});
}

TEST_CASE_TEMPLATE("refused for good is refused", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    for (const auto* status : {"400", "422"}) {
        CAPTURE(status);
        const trouble now(
            candidate,
            R"({"kind": "status", "status": )" + std::string(status) + R"(, "body": "no\nway"})"
        );
        const auto got = now.open()->upsert(now.name, std::vector{row(2, at(10))});
        CHECK(fault_of(got) == fault::refused);
        CHECK(got.error().text.find("no way") != std::string::npos);
        CHECK(got.error().text.find(status) != std::string::npos);
        CHECK(got.error().text.find(now.name) != std::string::npos);
    }
    const trouble now(candidate, R"({"kind": "status", "status": 413})");
    CHECK(fault_of(now.open()->upsert(now.name, std::vector{row(2, at(10))})) == fault::too_large);
}

TEST_CASE_TEMPLATE("a wrong key is denied and not shown", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    const trouble now(candidate, "");
    auto options = now.options;
    options.headers[0].second = "Bearer very-secret";
    const auto got = candidate.make_with(options, table())->count(now.name);
    CHECK(fault_of(got) == fault::denied);
    CHECK(got.error().text.find("very-secret") == std::string::npos);
    const trouble forbidden(candidate, R"({"kind": "status", "status": 403})");
    CHECK(fault_of(forbidden.open()->count(forbidden.name)) == fault::denied);
}

TEST_CASE_TEMPLATE("an answer that comes too late is unreachable", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    const trouble now(candidate, R"({"kind": "slow", "seconds": 3, "count": 1})");
    const auto at_store = now.open();
    CHECK(fault_of(at_store->count(now.name)) == fault::unreachable);
    // On a connection of its own, not mistaken for the late answer.
    CHECK(must(at_store->count(now.name)) == 1);
}

TEST_CASE_TEMPLATE("a reset, a half answer, and no answer are unreachable", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    for (const auto* kind : {"reset", "half", "drop"}) {
        CAPTURE(kind);
        const trouble now(candidate, R"({"kind": ")" + std::string(kind) + R"(", "count": 2})");
        const auto at_store = now.open();
        CHECK(fault_of(at_store->count(now.name)) == fault::unreachable);
        CHECK(
            fault_of(at_store->upsert(now.name, std::vector{row(2, at(9))})) == fault::unreachable
        );
        // Carried out or not: the same request again makes it right.
        must(at_store->upsert(now.name, std::vector{row(2, at(9))}));
        CHECK(must(at_store->count(now.name)) == 2);
        check_same(row(2, at(9)), one(*at_store, now.name, key_of(2)), at_store->able());
    }
}

TEST_CASE_TEMPLATE("a connection closed while idle is not noticed", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    const trouble now(candidate, R"({"kind": "close", "count": 3})");
    const auto at_store = now.open();
    for (int i = 0; i < 8; ++i) {
        CHECK(must(at_store->count(now.name)) == 1);
    }
}

TEST_CASE_TEMPLATE("nothing is tried again inside", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    for (const auto* fault : {R"({"kind": "status", "status": 500})", R"({"kind": "half"})"}) {
        const trouble now(candidate, fault);
        const auto at_store = now.open();
        static_cast<void>(now.requests());
        CHECK(!at_store->upsert(now.name, std::vector{row(2, at(10))}));
        CHECK(now.requests() == "1");
    }
}

TEST_CASE_TEMPLATE("a server that is gone is unreachable and found again", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    auto options = candidate.options;
    options.url = "http://127.0.0.1:1";
    const auto got = candidate.make_with(options, table())->count("any");
    CHECK(fault_of(got) == fault::unreachable);
    CHECK(got.error().text.find("127.0.0.1:1") != std::string::npos);
}

TEST_CASE_TEMPLATE("bodies may go compressed", S, WEIR_EMULATORS) {
    auto& candidate = S::get();
    auto options = candidate.options;
    options.gzip = true;
    const auto at_store = candidate.make_with(options, table(128));
    const auto name = fresh("gzip");
    must(at_store->ensure(name));
    std::vector<document> rows;
    for (std::int64_t id = 0; id < 200; ++id) {
        rows.push_back(row(id, at(10), 128));
    }
    static_cast<void>(candidate.control(R"({"take": "compressed"})"));
    must(at_store->upsert(name, rows));
    CHECK(candidate.control(R"({"take": "compressed"})") == "1");
    check_same(rows[100], one(*at_store, name, key_of(100)), at_store->able());
}

}  // namespace
}  // namespace weir::stores
