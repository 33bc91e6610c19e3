#include "migration/lease.hpp"

#include "migration/journal_schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::migration {

namespace {

using std::chrono::milliseconds;

// $1 is the migration. The key of the one-argument advisory lock.
constexpr const char* lock_key = "hashtextextended('pgweir.migration ' || $1, 0)";

std::string text(milliseconds what) {
    return std::to_string(what.count());
}

std::int64_t number(std::string_view digits) {
    std::int64_t found = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), found);
    return found;
}

}  // namespace

// The row as it was, before this attempt.
struct lease::previous {
    bool exists = false;
    std::uint64_t epoch = 0;
    bool same_timeline = false;
    milliseconds promised{0};   // duration and request time-out of its owner
    milliseconds remaining{0};  // until quiet_at by the server's clock; may be negative
    std::string timeline;       // the server's, not the row's
};

lease_result lease::lock(bool& locked) {
    const std::array<std::optional<std::string>, 2> parameters = {
        terms_.migration,
        text(2 * terms_.duration)};
    const auto answer = session_.run(
        std::string("SELECT pg_try_advisory_lock(") + lock_key +
            "), coalesce((SELECT valid_until + $2::bigint * interval '1 ms' < clock_timestamp() "
            "FROM pgweir.lease WHERE migration = $1), false)",
        parameters
    );
    if (!answer) {
        return {.what = lease_try::failed, .text = answer.error->text};
    }
    locked = answer.rows.at(0, 0) == "t";
    if (!locked && answer.rows.at(0, 1) == "t") {
        tear_away();
    }
    return {.what = lease_try::held, .text = "another process has the lease"};
}

// The owner's session outlives its lease: the process hangs, or its host is gone and the server has
// not noticed. The next attempt finds the lock free.
void lease::tear_away() {
    const std::array<std::optional<std::string>, 1> parameters = {terms_.migration};
    static_cast<void>(session_.run(
        std::string("SELECT pg_terminate_backend(pid) FROM pg_locks, (SELECT ") + lock_key +
            " AS key) AS ours WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND "
            "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "
            "(classid::bigint << 32 | objid::bigint) = key",
        parameters
    ));
}

std::optional<sql_error> lease::read_previous(previous& row) {
    const std::array<std::optional<std::string>, 1> parameters = {terms_.migration};
    // The name of a WAL file begins with the timeline it is written on, in hexadecimal.
    const auto answer = session_.run(
        "SELECT now.timeline, l.epoch, l.timeline = now.timeline, l.promised_ms, "
        "ceil(extract(epoch FROM l.quiet_at - clock_timestamp()) * 1000)::bigint "
        "FROM (SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)"
        "::bigint AS timeline) AS now LEFT JOIN pgweir.lease AS l ON l.migration = $1",
        parameters
    );
    if (!answer) {
        return answer.error;
    }
    row.timeline = answer.rows.at(0, 0);
    row.exists = !answer.rows.is_null(0, 1);
    row.epoch = static_cast<std::uint64_t>(number(answer.rows.at(0, 1)));
    row.same_timeline = answer.rows.at(0, 2) == "t";
    row.promised = milliseconds(number(answer.rows.at(0, 3)));
    row.remaining = milliseconds(number(answer.rows.at(0, 4)));
    return std::nullopt;
}

milliseconds lease::wait_after(const previous& row) const {
    if (!row.exists) {
        return milliseconds(0);
    }
    if (!row.same_timeline) {
        return row.promised;
    }
    return std::clamp(row.remaining, milliseconds(0), row.promised);
}

std::optional<sql_error> lease::write_row(const previous& row, clock::time_point asked) {
    // If nobody had it since, all that may be under way at the store is our own. After a failover
    // the row does not tell: a later owner's may be lost.
    const auto ours = row.exists && row.same_timeline && row.epoch == epoch();
    const auto wait = ours ? milliseconds(0) : wait_after(row);
    const std::array<std::optional<std::string>, 6> parameters = {
        terms_.migration,
        terms_.owner,
        row.timeline,
        text(terms_.duration),
        text(terms_.duration + terms_.request_timeout),
        text(wait)};
    const auto answer = session_.run(
        "INSERT INTO pgweir.lease AS l (migration, epoch, owner, timeline, promised_ms, taken_at, "
        "valid_until, quiet_at) SELECT $1, 1, $2, $3::bigint, $5::bigint, now.at, now.at + "
        "$4::bigint * interval '1 ms', now.at + greatest($5::bigint, $6::bigint) * interval '1 "
        "ms' FROM (SELECT clock_timestamp() AS at) AS now ON CONFLICT (migration) DO UPDATE SET "
        "epoch = l.epoch + 1, owner = excluded.owner, timeline = excluded.timeline, promised_ms = "
        "excluded.promised_ms, taken_at = excluded.taken_at, valid_until = excluded.valid_until, "
        "quiet_at = excluded.quiet_at RETURNING epoch",
        parameters
    );
    if (!answer) {
        return answer.error;
    }
    if (!ours) {
        from_.store((clock::now() + wait).time_since_epoch().count(), std::memory_order_release);
    }
    epoch_.store(
        static_cast<std::uint64_t>(number(answer.rows.at(0, 0))),
        std::memory_order_release
    );
    until_.store((asked + terms_.duration).time_since_epoch().count(), std::memory_order_release);
    return std::nullopt;
}

lease_result lease::try_take(const source_address& primary) {
    until_.store(0, std::memory_order_release);
    if (auto failed = session_.connect(primary)) {
        return {.what = lease_try::failed, .text = failed->text};
    }
    const auto given_up = [this](const sql_error& why) {
        session_.close();
        return lease_result{.what = lease_try::failed, .text = why.text};
    };
    // The lease must not hang on a standby that is to confirm commits. What that may lose at a
    // promotion is known by the timeline.
    const auto set = session_.run(
        "SET synchronous_commit = local; SET statement_timeout = " + text(terms_.duration) +
        "; SELECT pg_is_in_recovery()"
    );
    if (!set) {
        return given_up(*set.error);
    }
    if (set.rows.at(0, 0) == "t") {
        session_.close();
        return {.what = lease_try::standby, .text = session_.address() + ": is a standby"};
    }
    if (const auto failed = ensure_journal(session_)) {
        return given_up(*failed);
    }
    bool locked = false;
    auto result = lock(locked);
    if (!locked) {
        session_.close();
        return result;
    }
    previous row;
    if (const auto failed = read_previous(row)) {
        return given_up(*failed);
    }
    if (const auto failed = write_row(row, clock::now())) {
        return given_up(*failed);
    }
    return {.what = lease_try::taken, .text = {}};
}

std::optional<sql_error> lease::renew() {
    const auto asked = clock::now();
    const std::array<std::optional<std::string>, 4> parameters = {
        terms_.migration,
        std::to_string(epoch()),
        text(terms_.duration),
        text(terms_.duration + terms_.request_timeout)};
    const auto answer = session_.run(
        "UPDATE pgweir.lease SET valid_until = clock_timestamp() + $3::bigint * interval '1 ms', "
        "quiet_at = greatest(quiet_at, clock_timestamp() + $4::bigint * interval '1 ms') WHERE "
        "migration = $1 AND epoch = $2::bigint",
        parameters
    );
    if (!answer) {
        session_.close();
        return answer.error;
    }
    if (answer.rows.touched() != 1) {
        session_.close();
        return sql_error{.sqlstate = "55006", .text = "another process has taken the lease"};
    }
    until_.store((asked + terms_.duration).time_since_epoch().count(), std::memory_order_release);
    return std::nullopt;
}

void lease::release(bool quiet) {
    const auto waiting = clock::now() < writes_from();
    until_.store(0, std::memory_order_release);
    if (session_.connected() && quiet && !waiting) {
        const std::array<std::optional<std::string>, 2> parameters = {
            terms_.migration,
            std::to_string(epoch())};
        static_cast<void>(session_.run(
            "UPDATE pgweir.lease SET valid_until = clock_timestamp(), quiet_at = "
            "clock_timestamp() WHERE migration = $1 AND epoch = $2::bigint",
            parameters
        ));
    }
    session_.close();
}

}  // namespace weir::migration
