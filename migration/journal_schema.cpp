#include "migration/journal_schema.hpp"

namespace weir::migration {

namespace {

// One implicit transaction. The lock keeps two makers apart: IF NOT EXISTS alone does not.
constexpr const char* lock = "SELECT pg_advisory_xact_lock(hashtextextended('pgweir.journal', 0));";

constexpr const char* tables = R"(
CREATE TABLE IF NOT EXISTS pgweir.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS pgweir.lease (
    migration text PRIMARY KEY,
    epoch bigint NOT NULL,
    owner text NOT NULL,
    timeline bigint NOT NULL,
    promised_ms bigint NOT NULL,
    taken_at timestamptz NOT NULL,
    valid_until timestamptz NOT NULL,
    quiet_at timestamptz NOT NULL,
    UNIQUE (migration, epoch));
CREATE TABLE IF NOT EXISTS pgweir.migration (
    name text PRIMARY KEY,
    phase text NOT NULL,
    reason text NOT NULL DEFAULT '',
    slot text NOT NULL,
    publication text NOT NULL,
    system_identifier numeric(20) NOT NULL DEFAULT 0,
    timeline bigint NOT NULL DEFAULT 0,
    consistent_point pg_lsn NOT NULL DEFAULT '0/0',
    confirmed pg_lsn NOT NULL DEFAULT '0/0',
    sent pg_lsn NOT NULL DEFAULT '0/0',
    history bigint NOT NULL DEFAULT 0,
    fingerprint jsonb NOT NULL,
    leaves text[] NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS pgweir.copy_range (
    migration text,
    number integer,
    low text[],
    high text[],
    last text[],
    rows bigint NOT NULL DEFAULT 0,
    done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (migration, number));
CREATE TABLE IF NOT EXISTS pgweir.tombstone (
    migration text,
    digest bytea,
    namespace text NOT NULL,
    key text NOT NULL,
    version text COLLATE "C" NOT NULL,
    PRIMARY KEY (migration, digest));
CREATE TABLE IF NOT EXISTS pgweir.dead_letter (
    migration text,
    digest bytea,
    namespace text NOT NULL,
    key text NOT NULL,
    key_columns text[] NOT NULL,
    version text COLLATE "C" NOT NULL,
    operation text NOT NULL,
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts integer NOT NULL DEFAULT 1,
    PRIMARY KEY (migration, digest));
CREATE TABLE IF NOT EXISTS pgweir.verify (
    migration text PRIMARY KEY,
    repair boolean NOT NULL,
    over boolean NOT NULL,
    failure text NOT NULL,
    side text NOT NULL,
    cursor text[],
    rows bigint NOT NULL,
    documents bigint NOT NULL,
    missing bigint NOT NULL,
    extra bigint NOT NULL,
    different bigint NOT NULL,
    repaired bigint NOT NULL,
    unrepaired bigint NOT NULL,
    unsettled bigint NOT NULL,
    changed_at timestamptz NOT NULL);
INSERT INTO pgweir.meta (version) VALUES (2) ON CONFLICT DO NOTHING;
)";

std::optional<sql_error> make(sql_session& session, bool schema_is_there) {
    std::string script = lock;
    if (!schema_is_there) {
        script += "CREATE SCHEMA IF NOT EXISTS pgweir;";
    }
    return session.run(script + tables).error;
}

std::optional<sql_error> check_version(sql_session& session) {
    const auto found = session.run("SELECT version FROM pgweir.meta");
    if (!found) {
        return found.error;
    }
    const auto version = found.rows.size() == 1 ? std::string(found.rows.at(0, 0)) : "none";
    if (version != std::to_string(journal_version)) {
        return sql_error{
            .sqlstate = "0A000",
            .text = session.address() + ": schema pgweir has version " + version +
                    "; this program works with version " + std::to_string(journal_version)};
    }
    return std::nullopt;
}

}  // namespace

std::optional<sql_error> ensure_journal(sql_session& session) {
    const auto found = session.run(
        "SELECT to_regclass('pgweir.meta') IS NOT NULL, to_regnamespace('pgweir') IS NOT NULL"
    );
    if (!found) {
        return found.error;
    }
    if (found.rows.at(0, 0) != "t") {
        if (auto failed = make(session, found.rows.at(0, 1) == "t")) {
            return failed;
        }
    }
    return check_version(session);
}

}  // namespace weir::migration
