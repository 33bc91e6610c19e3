// Changes of one table from its outbox (see outbox_sql.hpp), by polling.
//
// Order. Ids and transaction ids are given before the commit, so a row with a lower id may come to
// light after one with a higher id. Only rows whose transaction id lies below the oldest that is
// still running are read: no more of those can come. What is readable at one moment is a window; it
// is read to its end in the order of ids, then the next is opened. A row behind a TRUNCATE that is
// not readable yet waits for it.
//
// Rows are read again by key, so each change is what the table holds at that moment: a key that is
// there is a row_written with its embedding, one that is not is a row_deleted. A change of key is
// two changes. Versions are {timeline, id, 0}; a change with an older version than one handed out
// before may follow it, and is to lose.
#pragma once

#include "migration/capture/row_select.hpp"
#include "migration/capture/source.hpp"
#include "migration/capture/wakeup.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct outbox_options {
    std::uint32_t timeline = 0;                    // of the versions
    std::size_t batch = 500;                       // rows of the outbox that are read at once
    std::size_t most_unconfirmed = 64;             // batches, then reading waits
    std::chrono::milliseconds poll_interval{100};  // when there is nothing
};

class outbox_source final : public change_source {
public:
    // `what` must outlive this object.
    explicit outbox_source(const plan& what, outbox_options options = {});

    // Positions begin above `from`: the last one that was confirmed, of an earlier object.
    [[nodiscard]] std::optional<sql_error>
    open(const source_address& where, std::uint64_t from = 0);

    // A transaction_end is the end of a batch; each poll that finds nothing is a caught_up. What is
    // confirmed is deleted from the outbox by the next call.
    [[nodiscard]] source_event next(time_point deadline) override;
    void confirm(std::uint64_t position, bool at_once) noexcept override;
    void stop() noexcept override;

private:
    struct entry {
        std::int64_t id = 0;
        std::uint32_t relation = 0;
        char operation = 0;
        key now;
        key before;
        std::optional<value> old_tenant;
    };

    // Rows below both bounds; as text, as SQL has them.
    struct window {
        std::string transaction = "0";
        std::string id = "0";
    };

    struct batch {
        std::uint64_t position = 0;
        std::vector<std::string> ids;
    };

    using fault = std::optional<sql_error>;
    using rows_by_key = std::map<key, source_row>;

    [[nodiscard]] fault forget_confirmed();
    [[nodiscard]] fault open_window();
    [[nodiscard]] fault read_batch();
    [[nodiscard]] boost::system::result<std::vector<entry>, sql_error> read_entries();
    [[nodiscard]] boost::system::result<rows_by_key, sql_error> read_rows(
        const std::vector<entry>& entries
    );
    void emit(const entry& from, const rows_by_key& rows);
    void emit_key(const entry& from, const key& which, bool was, const rows_by_key& rows);
    void wait(time_point until) const;

    const plan& plan_;
    outbox_options options_;
    sql_session session_;
    wakeup wakeup_;
    std::atomic<std::uint64_t> confirmed_ = 0;
    std::atomic<bool> stopped_ = false;
    window before_;  // read to its end
    window window_;
    bool window_open_ = false;
    time_point next_poll_;
    std::int64_t last_id_ = 0;  // of the window
    std::uint64_t position_ = 0;
    std::deque<source_event> ready_;
    std::deque<batch> unconfirmed_;
};

}  // namespace weir::migration
