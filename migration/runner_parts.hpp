// What the runner's files share.
#pragma once

#include "migration/copier.hpp"
#include "migration/journal.hpp"
#include "migration/plan.hpp"
#include "migration/primary.hpp"
#include "migration/runner.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

// How the reason of a phase begins that waits for somebody to free the disk.
inline constexpr std::string_view too_much_wal = "too much WAL";

// A stale migration that is not resynchronised by itself: the disk may be as full as before; or it
// is another cluster's, and the store may still be of use to those of the first.
[[nodiscard]] inline bool waits_for_resume(const migration_record& record) {
    return record.reason.starts_with(too_much_wal) || record.reason.starts_with(other_cluster);
}

// What the governing thread holds on to while it has the lease.
struct runner::governed {
    governed(const source_servers& servers, const std::string& name, std::uint64_t lease_epoch)
        : server(servers), records(server, name, lease_epoch), epoch(lease_epoch) {}

    primary server;
    journal records;
    std::uint64_t epoch;
};

// Cuts as ranges, numbered from 0.
[[nodiscard]] std::vector<copy_range> ranges_of(std::vector<std::vector<std::string>> cuts);

// Nothing if the server cannot be asked now.
[[nodiscard]] std::optional<bool>
is_partition(primary& server, std::uint32_t table, std::uint32_t relation);

// The partitions that a stream which begins now handles.
[[nodiscard]] std::vector<std::uint32_t> leaf_oids(sql_session& session, const plan& what);

}  // namespace weir::migration
