#include "migration/journal.hpp"
#include "migration/journal_text.hpp"

namespace weir::migration {

namespace {

// Of a document. Namespaces have no blanks. A digest, because a key of text may be longer than an
// index takes.
constexpr const char* digest = "sha256(convert_to(namespace || ' ' || key, 'UTF8'))";

}  // namespace

journal_result<void> journal::bury(std::span<const safekeeping::grave> graves) {
    std::vector<std::string> spaces;
    std::vector<std::string> keys;
    std::vector<std::string> versions;
    for (const auto& grave : graves) {
        spaces.push_back(grave.space);
        keys.push_back(grave.key);
        versions.push_back(to_text(grave.version));
    }
    const auto written = fenced(
        std::string("INSERT INTO pgweir.tombstone AS t (migration, digest, namespace, key, "
                    "version) SELECT DISTINCT ON (digest) $1, digest, namespace, key, version "
                    "FROM (SELECT namespace, key, version COLLATE \"C\" AS version, ") +
            digest +
            " AS digest FROM unnest($3::text[], $4::text[], $5::text[]) AS given (namespace, key, "
            "version)) AS given WHERE EXISTS (SELECT FROM fence) ORDER BY digest, version DESC ON "
            "CONFLICT (migration, digest) DO UPDATE SET version = excluded.version WHERE t.version "
            "< excluded.version",
        {text_array(spaces), text_array(keys), text_array(versions)}
    );
    if (!written) {
        return written.error();
    }
    return {};
}

journal_result<std::vector<std::optional<version>>>
journal::buried(const std::string& space, std::span<const std::string> keys) {
    const auto rows = read(
        std::string("SELECT given.number, t.version FROM (SELECT number, ") + digest +
            " AS digest FROM (SELECT $2 AS namespace, key, number FROM unnest($3::text[]) WITH "
            "ORDINALITY AS given (key, number)) AS given) AS given JOIN pgweir.tombstone AS t ON "
            "t.migration = $1 AND t.digest = given.digest",
        {space, text_array(keys)}
    );
    if (!rows) {
        return rows.error();
    }
    std::vector<std::optional<version>> found(keys.size());
    for (int row = 0; row < rows->size(); ++row) {
        const auto number = number_of(rows->at(row, 0));
        if (number >= 1 && number <= found.size()) {
            found[number - 1] = parse_version(rows->at(row, 1));
        }
    }
    return found;
}

journal_result<std::uint64_t> journal::drop_tombstones(std::uint64_t limit) {
    return fenced(
        "DELETE FROM pgweir.tombstone WHERE migration = $1 AND EXISTS (SELECT FROM fence) AND "
        "digest IN (SELECT digest FROM pgweir.tombstone WHERE migration = $1 LIMIT $3::bigint)",
        {std::to_string(limit)}
    );
}

}  // namespace weir::migration
