#include "proxy/monitor_query.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace weir::proxy {
namespace {

// CASE keeps the functions apart that fail on the wrong kind of server. The receiver's timeline is
// empty while no receiver runs; the timeline of a primary is in the name of its WAL file, in hex.
constexpr std::string_view sample_sql =
    "SELECT r.standby, c.system_identifier,"
    " CASE WHEN r.standby THEN (SELECT received_tli::text FROM pg_stat_wal_receiver)"
    " ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,"
    " CASE WHEN r.standby THEN pg_last_wal_replay_lsn() END,"
    " CASE WHEN r.standby THEN pg_last_wal_receive_lsn() END,"
    " CASE WHEN NOT r.standby THEN pg_current_wal_insert_lsn() END,"
    " CASE WHEN r.standby THEN pg_get_wal_replay_pause_state() END,"
    " current_setting('server_version_num')"
    " FROM (SELECT pg_is_in_recovery() AS standby OFFSET 0) r, pg_control_system() c";

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
    T value{};
    const auto* end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || ec != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return value;
}

// An empty text is position 0: unknown.
bool read_lsn(std::string_view text, routing::lsn& into) {
    if (text.empty()) {
        return true;
    }
    const auto parsed = routing::parse_lsn(text);
    if (parsed) {
        into = *parsed;
    }
    return parsed.has_value();
}

}  // namespace

std::string_view monitor_sql() {
    return sample_sql;
}

std::string_view heartbeat_sql() {
    return "SELECT pg_logical_emit_message(true, 'pgweir', '')";
}

routing::timeline_id decimal_timeline(std::string_view text) {
    return {number<std::uint32_t>(text).value_or(0)};
}

routing::server_sample sample_of(const monitor_row& row) {
    const auto& [standby, system, timeline, replay, receive, insert, pause, version] = row;
    routing::server_sample sample;
    sample.in_recovery = standby == "t";
    sample.system_identifier = number<std::uint64_t>(system).value_or(0);
    sample.timeline = sample.in_recovery
                          ? decimal_timeline(timeline)
                          : routing::timeline_id{number<std::uint32_t>(timeline, 16).value_or(0)};
    sample.replay_paused = sample.in_recovery && pause != "not paused";
    sample.server_version = number<int>(version).value_or(0);
    const bool positions = read_lsn(replay, sample.replayed) &&
                           read_lsn(receive, sample.received) && read_lsn(insert, sample.inserted);
    if ((standby != "t" && standby != "f") || sample.system_identifier == 0 || !positions) {
        sample.error = "the server's answer about itself cannot be read";
    }
    return sample;
}

}  // namespace weir::proxy
