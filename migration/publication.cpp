#include "migration/publication.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::migration {

namespace {

using parameter = std::optional<std::string>;

std::uint32_t oid_of(std::string_view digits) {
    std::uint32_t oid = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), oid);
    return oid;
}

std::string create_statement(const plan& what) {
    return "CREATE PUBLICATION " + quoted_name(object_name(what.name)) + " FOR TABLE ONLY " +
           quoted_name(what.schema) + "." + quoted_name(what.table) +
           " WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = "
           "false)";
}

}  // namespace

std::string object_name(const std::string& migration) {
    return "pgweir_" + migration;
}

leaves_answer leaves_of(sql_session& session, std::uint32_t table_oid) {
    const std::array<parameter, 1> parameters = {std::to_string(table_oid)};
    // A table without partitions is in no tree.
    const auto answer = session.run(
        "SELECT c.oid, c.oid::regclass FROM pg_class AS c WHERE c.relkind <> 'p' AND (c.oid = "
        "$1::oid OR c.oid IN (SELECT relid FROM pg_partition_tree($1::oid::regclass) WHERE "
        "isleaf)) ORDER BY c.oid",
        parameters
    );
    if (!answer) {
        return {.leaves = {}, .error = answer.error};
    }
    leaves_answer found;
    for (int row = 0; row < answer.rows.size(); ++row) {
        found.leaves.push_back(
            {.oid = oid_of(answer.rows.at(row, 0)), .name = std::string(answer.rows.at(row, 1))}
        );
    }
    return found;
}

leaf_changes changes_of(std::span<const std::uint32_t> handled, std::span<const leaf> present) {
    leaf_changes changes;
    for (const auto& one : present) {
        if (std::find(handled.begin(), handled.end(), one.oid) == handled.end()) {
            changes.added.push_back(one);
        }
    }
    for (const auto oid : handled) {
        const auto same = [&](const leaf& one) { return one.oid == oid; };
        if (std::none_of(present.begin(), present.end(), same)) {
            changes.removed.push_back(oid);
        }
    }
    return changes;
}

publication_answer find_publication(sql_session& session, const plan& what) {
    const std::array<parameter, 2> parameters = {
        object_name(what.name),
        std::to_string(what.table_oid)};
    // Row filters and column lists (15+) are columns of pg_publication_rel: as JSON, so that older
    // servers take the statement too.
    const auto answer = session.run(
        "SELECT p.puballtables, p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate, "
        "p.pubviaroot, (SELECT count(*) FROM pg_publication_rel AS r WHERE r.prpubid = p.oid), "
        "(SELECT count(*) FROM pg_publication_rel AS r WHERE r.prpubid = p.oid AND r.prrelid = "
        "$2::oid AND to_jsonb(r)->>'prqual' IS NULL AND to_jsonb(r)->>'prattrs' IS NULL) FROM "
        "pg_publication AS p WHERE p.pubname = $1",
        parameters
    );
    if (!answer) {
        return {.state = {}, .difference = {}, .error = answer.error};
    }
    if (answer.rows.size() == 0) {
        return {};
    }
    const auto at = [&](int column) { return answer.rows.at(0, column); };
    std::string difference;
    if (at(0) == "t") {
        difference = "it is for all tables";
    } else if (at(4) != "1") {
        difference = "it does not hold all rows and columns of the table";
    } else if (at(3) != "1") {
        difference = "it holds other tables too";
    } else if (at(1) != "t") {
        difference = "it does not publish insert, update, delete and truncate";
    } else if (at(2) == "t") {
        difference = "publish_via_partition_root is on";
    }
    if (difference.empty()) {
        return {.state = publication_state::fits, .difference = {}, .error = {}};
    }
    return {.state = publication_state::other, .difference = std::move(difference), .error = {}};
}

std::optional<sql_error> ensure_publication(sql_session& session, const plan& what) {
    const auto found = find_publication(session, what);
    if (found.error || found.state == publication_state::fits) {
        return found.error;
    }
    if (found.state == publication_state::other) {
        return sql_error{
            .sqlstate = "42710",
            .text = session.address() + ": publication " + object_name(what.name) +
                    " is there already and does not fit: " + found.difference};
    }
    return session.run(create_statement(what)).error;
}

std::optional<sql_error> drop_publication(sql_session& session, const std::string& name) {
    auto answer = session.run("DROP PUBLICATION IF EXISTS " + quoted_name(name));
    if (!answer && answer.error->sqlstate == "42501") {
        return std::nullopt;
    }
    return answer.error;
}

}  // namespace weir::migration
