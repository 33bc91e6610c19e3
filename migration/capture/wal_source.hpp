// Changes of one table from a logical replication slot: the stream, its decoder and the translator
// together. Whole transactions in commit order; each change is handed out as it comes, so a large
// transaction is never held as a whole.
#pragma once

#include "migration/capture/replication_stream.hpp"
#include "migration/capture/source.hpp"
#include "migration/capture/translator.hpp"
#include "migration/plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir::migration {

class wal_source final : public change_source {
public:
    // `what` must outlive this object. `history` is added to the timeline in versions.
    wal_source(const plan& what, translator::membership ask, std::uint32_t history = 0);

    // Logs in and begins to read. Versions get the server's timeline.
    [[nodiscard]] std::optional<sql_error>
    open(const source_address& where, const start_request& request);

    // Of the server, once open.
    [[nodiscard]] const system_identity& server() const noexcept { return server_; }

    // See translator::set_relation(). After open(), on the thread that calls next().
    void set_relation(std::uint32_t oid, bool ours);

    [[nodiscard]] source_event next(time_point deadline) override;

    void keep_alive() override { stream_.keep_alive(); }

    void confirm(std::uint64_t position, bool at_once) noexcept override;

    void stop() noexcept override { stream_.stop(); }

private:
    [[nodiscard]] source_event decode(const wal_message& from);
    [[nodiscard]] source_event take_ready();

    const plan& plan_;
    translator::membership ask_;
    const std::uint32_t history_;
    replication_stream stream_;
    system_identity server_;
    std::optional<translator> translator_;
    // Of the last message: one, or one for each relation of a TRUNCATE.
    std::vector<change> ready_;
    std::size_t taken_ = 0;
};

}  // namespace weir::migration
