#include "migration/capture/outbox_source.hpp"

#include "migration/capture/outbox_sql.hpp"
#include "migration/value_codec.hpp"
#include "protocol/byte_reader.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace weir::migration {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* no_bound = "9223372036854775807";

std::string outbox_columns(const plan& what) {
    std::string list = "id, relid, operation";
    for (const auto* prefix : {", new_", ", old_"}) {
        for (std::size_t i = 0; i < what.layout.key.size(); ++i) {
            list += prefix + std::to_string(i + 1);
        }
    }
    return what.tenant ? list + ", old_tenant" : list;
}

// Reads the columns of one row of a binary answer from left to right.
class row_cursor {
public:
    row_cursor(const sql_rows& rows, int row) : rows_(rows), row_(row) {}

    protocol::byte_reader bytes() {
        return protocol::byte_reader(protocol::as_bytes(rows_.at(row_, at_++)));
    }

    // NULL, too, if the bytes are not of this kind: then the key is not found in the table.
    value next(value_kind kind) {
        const int index = at_++;
        if (rows_.is_null(row_, index)) {
            return {};
        }
        auto read = read_value(kind, 0, value_format::binary, rows_.at(row_, index));
        return read ? std::move(*read) : value();
    }

    key next_key(const std::vector<column>& columns) {
        key made;
        made.reserve(columns.size());
        for (const auto& column : columns) {
            made.push_back(next(column.kind));
        }
        return made;
    }

private:
    const sql_rows& rows_;
    int row_;
    int at_ = 0;
};

}  // namespace

outbox_source::outbox_source(const plan& what, outbox_options options)
    : plan_(what), options_(options) {}

std::optional<sql_error> outbox_source::open(const source_address& where, std::uint64_t from) {
    position_ = from;
    confirmed_ = from;
    before_ = {};
    window_open_ = false;
    ready_.clear();
    unconfirmed_.clear();
    return session_.connect(where);
}

void outbox_source::confirm(std::uint64_t position, bool) noexcept {
    auto before = confirmed_.load();
    while (before < position && !confirmed_.compare_exchange_weak(before, position)) {
    }
    wakeup_.signal();
}

void outbox_source::stop() noexcept {
    stopped_ = true;
    wakeup_.signal();
}

source_event outbox_source::next(time_point deadline) {
    while (!stopped_) {
        if (!ready_.empty()) {
            auto event = std::move(ready_.front());
            ready_.pop_front();
            return event;
        }
        if (auto error = forget_confirmed()) {
            return std::move(*error);
        }
        const bool full = unconfirmed_.size() >= options_.most_unconfirmed;
        if (full || steady_clock::now() < next_poll_) {
            wait(full ? deadline : std::min(deadline, next_poll_));
            if (steady_clock::now() >= deadline) {
                break;
            }
            continue;
        }
        if (auto error = window_open_ ? read_batch() : open_window()) {
            return std::move(*error);
        }
        if (!window_open_ && ready_.empty()) {
            next_poll_ = steady_clock::now() + options_.poll_interval;
            return caught_up{.position = position_};
        }
    }
    return nothing{};
}

void outbox_source::wait(time_point until) const {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    pollfd watched{wakeup_.descriptor(), POLLIN, 0};
    poll(&watched, 1, static_cast<int>(std::max<milliseconds::rep>(left, 0)));
    wakeup_.drain();
}

std::optional<sql_error> outbox_source::forget_confirmed() {
    std::vector<std::string> ids;
    while (!unconfirmed_.empty() && unconfirmed_.front().position <= confirmed_) {
        auto& first = unconfirmed_.front().ids;
        ids.insert(ids.end(), first.begin(), first.end());
        unconfirmed_.pop_front();
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::array<std::optional<std::string>, 1> parameters = {text_array(ids)};
    return session_
        .run("DELETE FROM " + outbox_table(plan_) + " WHERE id = ANY ($1::bigint[])", parameters)
        .error;
}

// One statement, one snapshot: a row is behind a TRUNCATE only if that is visible with it.
std::optional<sql_error> outbox_source::open_window() {
    const auto table = outbox_table(plan_);
    const auto answer = session_.run(
        "WITH bound AS (SELECT pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot()) AS x)"
        " SELECT x, coalesce((SELECT min(id) FROM " +
        table + " WHERE operation = 't' AND xid >= x), " + no_bound + "), EXISTS (SELECT FROM " +
        table + " WHERE xid < x) FROM bound"
    );
    if (!answer) {
        return answer.error;
    }
    window_.transaction = answer.rows.at(0, 0);
    window_.id = answer.rows.at(0, 1);
    window_open_ = answer.rows.at(0, 2) == "t";
    last_id_ = 0;
    return window_open_ ? read_batch() : std::nullopt;
}

// A batch of the window, or its end.
std::optional<sql_error> outbox_source::read_batch() {
    const auto entries = read_entries();
    if (!entries) {
        return entries.error();
    }
    if (entries->empty()) {
        before_ = window_;
        window_open_ = false;
        return std::nullopt;
    }
    const auto rows = read_rows(*entries);
    if (!rows) {
        return rows.error();
    }
    batch made;
    for (const auto& each : *entries) {
        emit(each, *rows);
        made.ids.push_back(std::to_string(each.id));
    }
    last_id_ = entries->back().id;
    position_ = std::max(position_ + 1, static_cast<std::uint64_t>(last_id_));
    made.position = position_;
    unconfirmed_.push_back(std::move(made));
    ready_.emplace_back(transaction_end{.position = position_});
    return std::nullopt;
}

boost::system::result<std::vector<outbox_source::entry>, sql_error> outbox_source::read_entries() {
    const std::array<std::optional<std::string>, 6> parameters = {
        window_.transaction,
        window_.id,
        std::to_string(last_id_),
        before_.transaction,
        before_.id,
        std::to_string(options_.batch)};
    const auto answer = session_.run(
        "SELECT " + outbox_columns(plan_) + " FROM " + outbox_table(plan_) +
            " WHERE xid < $1::xid8 AND id < $2 AND id > $3 AND NOT (xid < $4::xid8 AND id < $5)"
            " ORDER BY id LIMIT $6",
        parameters,
        true
    );
    if (!answer) {
        return *answer.error;
    }
    std::vector<entry> entries;
    for (int row = 0; row < answer.rows.size(); ++row) {
        row_cursor from(answer.rows, row);
        auto& made = entries.emplace_back();
        made.id = from.bytes().i64();
        made.relation = from.bytes().u32();
        made.operation = static_cast<char>(from.bytes().u8());
        made.now = from.next_key(plan_.layout.key);
        made.before = from.next_key(plan_.layout.key);
        if (plan_.tenant && (made.operation == 'u' || made.operation == 'd')) {
            made.old_tenant = from.next(plan_.layout.attributes[*plan_.tenant].kind);
        }
    }
    return entries;
}

boost::system::result<outbox_source::rows_by_key, sql_error> outbox_source::read_rows(
    const std::vector<entry>& entries
) {
    std::set<key> wanted;
    for (const auto& each : entries) {
        if (each.operation == 'i' || each.operation == 'u') {
            wanted.insert(each.now);
        }
        if (each.operation == 'u' || each.operation == 'd') {
            wanted.insert(each.before);
        }
    }
    rows_by_key rows;
    if (wanted.empty()) {
        return rows;
    }
    std::vector<const key*> keys;
    keys.reserve(wanted.size());
    for (const auto& each : wanted) {
        keys.push_back(&each);
    }
    const auto answer = session_.run(select_by_key(plan_), key_arrays(plan_, keys), true);
    if (!answer) {
        return *answer.error;
    }
    const int place_column = static_cast<int>(row_width(plan_));
    for (int row = 0; row < answer.rows.size(); ++row) {
        auto read = read_row(plan_, answer.rows, row);
        if (!read) {
            return sql_error{"22P03", session_.address() + ": " + read.error()};
        }
        protocol::byte_reader place(protocol::as_bytes(answer.rows.at(row, place_column)));
        rows.emplace(*keys.at(place.u64() - 1), std::move(*read));
    }
    return rows;
}

void outbox_source::emit(const entry& from, const rows_by_key& rows) {
    switch (from.operation) {
    case 'i': emit_key(from, from.now, false, rows); break;
    case 'u':
        emit_key(from, from.before, true, rows);
        if (from.now != from.before) {
            emit_key(from, from.now, false, rows);
        }
        break;
    case 'd': emit_key(from, from.before, true, rows); break;
    default: {
        const emptied all{.part = from.relation == plan_.table_oid ? 0 : from.relation};
        const auto at = static_cast<std::uint64_t>(from.id);
        ready_.emplace_back(
            change{.what = all, .version = {.timeline = options_.timeline, .lsn = at, .ordinal = 0}}
        );
    }
    }
}

// `was`: the key had the old tenant.
void outbox_source::emit_key(
    const entry& from,
    const key& which,
    bool was,
    const rows_by_key& rows
) {
    change made;
    made.version = {
        .timeline = options_.timeline,
        .lsn = static_cast<std::uint64_t>(from.id),
        .ordinal = 0};
    const auto tenant = was ? from.old_tenant : std::nullopt;
    if (const auto found = rows.find(which); found != rows.end()) {
        row_written written;
        written.row = found->second;
        written.old_tenant = tenant;
        made.what = std::move(written);
    } else {
        made.what = row_deleted{.key = which, .tenant = tenant};
    }
    ready_.emplace_back(std::move(made));
}

}  // namespace weir::migration
