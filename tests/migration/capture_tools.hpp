// What tests of change capture share: a table on the real server, read through a slot or an outbox,
// and changes as short texts.
#pragma once

#include "migration/capture/outbox_source.hpp"
#include "migration/capture/wal_source.hpp"
#include "migration/plan.hpp"
#include "tests/integration/support/cluster.hpp"
#include "tests/integration/support/libpq.hpp"
#include "tests/integration/support/wait.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration::test {

using texts = std::vector<std::string>;

// The shared primary, as a superuser.
[[nodiscard]] source_address capture_address();
[[nodiscard]] integration::pq_connection capture_session();

// Table public.captured: key id (bigint), attributes org (the tenant) and title, embedding e.
[[nodiscard]] plan captured_plan(std::size_t dimensions);

// As SQL: `create table public.captured (…)` for captured_plan().
[[nodiscard]] std::string captured_table(std::size_t dimensions);

// A vector of equal numbers, as SQL.
[[nodiscard]] std::string filled(double number, std::size_t dimensions);

// "insert 1 e=0.5x3 17 hello", "update 2 e=? 17 ? old=1 was=16", "delete 1 was=16", "empty",
// "empty 16400" (an OID), "unusable: why". A vector of equal numbers is written number x length.
[[nodiscard]] std::string described(const change& what);
[[nodiscard]] texts described(const std::vector<change>& all);

// Reads until `until` says that enough has come; fails the test when that does not happen.
struct reading {
    std::vector<change> changes;
    std::vector<transaction_end> ends;
    std::uint64_t reached = 0;  // highest position of an end or caught_up
    std::optional<sql_error> error;
};

// Everything that was committed before the call; `reached` is not confirmed by it.
[[nodiscard]] reading read_to(change_source& from, std::uint64_t lsn);

// A table with publication and slot, and who reads them. Cleaned up before and after.
class captured {
public:
    // `ddl` makes the table that `what` names. `before_slot` runs between both.
    explicit captured(const std::string& ddl, plan what, const std::string& before_slot = {});
    ~captured();
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;

    // One transaction, unless the text says otherwise.
    void run(const std::string& sql) { session_.query(sql); }

    std::string value(const std::string& sql) { return session_.value(sql); }

    [[nodiscard]] integration::pq_connection& session() { return session_; }

    // All changes since the last call.
    std::vector<change> changes();

    texts seen() { return described(changes()); }

    // Tells the server that everything read so far is safe, and waits until it says so.
    void confirm();
    [[nodiscard]] std::uint64_t confirmed_at_server();

    // The reader goes, and comes back at what was confirmed.
    void go_down();
    void come_back();

    [[nodiscard]] wal_source& source() { return *source_; }

    [[nodiscard]] plan& what() { return plan_; }

    // Whether a relation is a partition of the table, as the catalog has it.
    bool is_ours(std::uint32_t oid);

    static constexpr const char* slot = "capture_test";

private:
    void clean_up();

    plan plan_;
    integration::pq_connection session_;
    std::unique_ptr<wal_source> source_;
    std::uint64_t reached_ = 0;
    std::uint64_t confirmed_ = 0;
};

[[nodiscard]] std::uint64_t lsn_of(const std::string& text);

}  // namespace weir::migration::test
