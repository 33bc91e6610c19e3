#include "migration/runner_parts.hpp"

#include "migration/publication.hpp"

#include <stdexcept>
#include <utility>

namespace weir::migration {

std::vector<copy_range> ranges_of(std::vector<std::vector<std::string>> cuts) {
    std::vector<copy_range> ranges(cuts.size() + 1);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        ranges[i].number = static_cast<std::int32_t>(i);
        if (i > 0) {
            ranges[i].keys.low = cuts[i - 1];
        }
        if (i < cuts.size()) {
            ranges[i].keys.high = cuts[i];
        }
    }
    return ranges;
}

std::optional<bool> is_partition(primary& server, std::uint32_t table, std::uint32_t relation) {
    const std::vector<std::optional<std::string>> oids{
        std::to_string(table),
        std::to_string(relation)};
    const auto answer = server.run(
        "SELECT EXISTS (SELECT FROM pg_partition_tree($1::oid) WHERE relid = $2::oid)",
        oids
    );
    if (!answer) {
        return std::nullopt;
    }
    return answer.rows.at(0, 0) == "t";
}

std::vector<std::uint32_t> leaf_oids(sql_session& session, const plan& what) {
    std::vector<std::uint32_t> oids;
    if (!what.partitioned) {
        return oids;
    }
    const auto present = leaves_of(session, what.table_oid);
    if (present.error) {
        throw std::runtime_error(present.error->text);
    }
    for (const auto& one : present.leaves) {
        oids.push_back(one.oid);
    }
    return oids;
}

}  // namespace weir::migration
