#include "routing/sql_names.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {

namespace {

using enum primary_reason;

// The first rule that fits holds: longer prefixes before shorter ones.
constexpr std::array function_rules = {
    name_rule{"nextval", false, writes},
    name_rule{"setval", false, writes},
    name_rule{"lo_", true, writes},
    name_rule{"loread", false, writes},
    name_rule{"lowrite", false, writes},
    name_rule{"pg_notify", false, notification},
    name_rule{"currval", false, node_dependent},
    name_rule{"lastval", false, node_dependent},
    name_rule{"setseed", false, session_state, pin_reason::function},
    // A standby accepts these and locks nothing that anybody else can see.
    name_rule{"pg_advisory_xact_", true, other},
    name_rule{"pg_try_advisory_xact_", true, other},
    name_rule{"pg_advisory_unlock", true, session_state},
    name_rule{"pg_advisory_lock", true, session_state, pin_reason::advisory_lock},
    name_rule{"pg_try_advisory_lock", true, session_state, pin_reason::advisory_lock},
    // What these leave behind belongs to one server process.
    name_rule{"pg_create_physical_replication_slot", false, session_state, pin_reason::function},
    name_rule{"pg_create_logical_replication_slot", false, session_state, pin_reason::function},
    name_rule{"pg_copy_physical_replication_slot", false, session_state, pin_reason::function},
    name_rule{"pg_copy_logical_replication_slot", false, session_state, pin_reason::function},
    name_rule{"pg_replication_origin_session_", true, session_state, pin_reason::function},
    name_rule{"pg_backup_start", false, session_state, pin_reason::function},
    name_rule{"pg_start_backup", false, session_state, pin_reason::function},
    name_rule{"pg_backup_", true, node_dependent},
    name_rule{"pg_stop_backup", false, node_dependent},
    name_rule{"pg_create_restore_point", false, writes},
    name_rule{"pg_logical_emit_message", false, writes},
    name_rule{"pg_switch_wal", false, writes},
    name_rule{"pg_promote", false, node_dependent},
    name_rule{"pg_is_in_recovery", false, node_dependent},
    name_rule{"pg_is_wal_replay_paused", false, node_dependent},
    name_rule{"pg_wal_replay_", true, node_dependent},
    name_rule{"pg_get_wal_", true, node_dependent},
    name_rule{"pg_get_replication_", true, node_dependent},
    name_rule{"pg_last_", true, node_dependent},
    name_rule{"pg_current_", true, node_dependent},
    name_rule{"pg_walfile_name", true, node_dependent},
    name_rule{"pg_control_", true, node_dependent},
    name_rule{"pg_export_snapshot", false, node_dependent},
    name_rule{"pg_xact_", true, node_dependent},
    name_rule{"txid_", true, node_dependent},
    name_rule{"pg_stat_", true, node_dependent},
    name_rule{"pg_replication_", true, node_dependent},
    name_rule{"pg_logical_", true, node_dependent},
    name_rule{"pg_show_", true, node_dependent},
    name_rule{"pg_settings_get_flags", false, node_dependent},
    name_rule{"pg_lock_status", false, node_dependent},
    name_rule{"pg_blocking_pids", false, node_dependent},
    name_rule{"pg_safe_snapshot_blocking_pids", false, node_dependent},
    name_rule{"pg_isolation_test_session_is_blocked", false, node_dependent},
    name_rule{"pg_backend_pid", false, node_dependent},
    name_rule{"pg_cancel_backend", false, node_dependent},
    name_rule{"pg_terminate_backend", false, node_dependent},
    name_rule{"pg_log_backend_memory_contexts", false, node_dependent},
    name_rule{"pg_get_backend_memory_contexts", false, node_dependent},
    name_rule{"pg_get_shmem_allocations", false, node_dependent},
    name_rule{"pg_postmaster_start_time", false, node_dependent},
    name_rule{"pg_conf_load_time", false, node_dependent},
    name_rule{"pg_reload_conf", false, node_dependent},
    name_rule{"pg_rotate_logfile", true, node_dependent},
    name_rule{"pg_hba_file_rules", false, node_dependent},
    name_rule{"pg_ident_file_mappings", false, node_dependent},
    name_rule{"pg_config", false, node_dependent},
    name_rule{"pg_ls_", true, node_dependent},
    name_rule{"pg_read_", true, node_dependent},
    name_rule{"pg_tablespace_location", false, node_dependent},
    name_rule{"pg_prepared_", true, node_dependent},
    name_rule{"pg_cursor", false, node_dependent},
    name_rule{"pg_timezone_", true, node_dependent},
    name_rule{"pg_listening_channels", false, node_dependent},
    name_rule{"pg_notification_queue_usage", false, node_dependent},
    name_rule{"pg_my_temp_schema", false, node_dependent},
    name_rule{"pg_is_other_temp_schema", false, node_dependent},
    name_rule{"pg_trigger_depth", false, node_dependent},
    name_rule{"inet_server_", true, node_dependent},
    name_rule{"inet_client_", true, node_dependent},
};

constexpr name_rule nothing_special{};

struct relation_rule {
    std::string_view name;
    bool is_prefix = false;
};

constexpr std::array relation_rules = {
    relation_rule{"pg_stat_", true},
    relation_rule{"pg_statio_", true},
    relation_rule{"pg_locks"},
    relation_rule{"pg_settings"},
    relation_rule{"pg_file_settings"},
    relation_rule{"pg_hba_file_rules"},
    relation_rule{"pg_ident_file_mappings"},
    relation_rule{"pg_config"},
    relation_rule{"pg_cursors"},
    relation_rule{"pg_prepared_statements"},
    relation_rule{"pg_prepared_xacts"},
    relation_rule{"pg_replication_slots"},
    relation_rule{"pg_replication_origin_status"},
    relation_rule{"pg_backend_memory_contexts"},
    relation_rule{"pg_shmem_allocations"},
    relation_rule{"pg_shmem_allocations_numa"},
    relation_rule{"pg_wait_events"},
    relation_rule{"pg_aios"},
};

// Settings a client sets for itself. All of them are ordinary session settings of PostgreSQL 14 to
// 17 whose default rarely differs between servers of a cluster and whose value a client asks for in
// ordinary queries.
constexpr std::array session_settings = {
    std::string_view{"application_name"},
    std::string_view{"bytea_output"},
    std::string_view{"client_encoding"},
    std::string_view{"client_min_messages"},
    std::string_view{"datestyle"},
    std::string_view{"default_text_search_config"},
    std::string_view{"extra_float_digits"},
    std::string_view{"intervalstyle"},
    std::string_view{"lc_monetary"},
    std::string_view{"lc_numeric"},
    std::string_view{"lc_time"},
    std::string_view{"lock_timeout"},
    std::string_view{"role"},
    std::string_view{"row_security"},
    std::string_view{"search_path"},
    std::string_view{"session_authorization"},
    std::string_view{"standard_conforming_strings"},
    std::string_view{"statement_timeout"},
    std::string_view{"timezone"},
};

template <class Rule>
bool fits(const Rule& rule, std::string_view name) noexcept {
    return rule.is_prefix ? name.substr(0, rule.name.size()) == rule.name : name == rule.name;
}

}  // namespace

const name_rule& function_rule(std::string_view name) noexcept {
    const auto found =
        std::find_if(function_rules.begin(), function_rules.end(), [name](const auto& rule) {
            return fits(rule, name);
        });
    return found == function_rules.end() ? nothing_special : *found;
}

bool is_node_dependent_relation(std::string_view name) noexcept {
    return std::any_of(relation_rules.begin(), relation_rules.end(), [name](const auto& rule) {
        return fits(rule, name);
    });
}

bool is_session_setting(std::string_view name) noexcept {
    // A name with a dot belongs to an extension or to the application itself.
    return name.find('.') != std::string_view::npos ||
           std::find(session_settings.begin(), session_settings.end(), name) !=
               session_settings.end();
}

}  // namespace weir::routing
