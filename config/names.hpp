// How the enumerations of config.hpp are written in YAML. One table each, for reading and for
// printing.
#pragma once

#include "config/config.hpp"

#include <array>
#include <string_view>

namespace weir::config {

template <class Enum>
struct named {
    std::string_view name;
    Enum value;
};

inline constexpr std::array tls_mode_names{
    named<tls_mode>{"disable", tls_mode::disable},
    named<tls_mode>{"allow", tls_mode::allow},
    named<tls_mode>{"prefer", tls_mode::prefer},
    named<tls_mode>{"require", tls_mode::require},
    named<tls_mode>{"verify-ca", tls_mode::verify_ca},
    named<tls_mode>{"verify-full", tls_mode::verify_full}};

inline constexpr std::array pool_mode_names{
    named<pool_mode>{"transaction", pool_mode::transaction},
    named<pool_mode>{"session", pool_mode::session}};

inline constexpr std::array auth_method_names{
    named<auth_method>{"scram-sha-256", auth_method::scram_sha_256},
    named<auth_method>{"md5", auth_method::md5},
    named<auth_method>{"trust", auth_method::trust},
    named<auth_method>{"reject", auth_method::reject}};

inline constexpr std::array targets_names{
    named<targets>{"primary", targets::primary},
    named<targets>{"replicas", targets::replicas},
    named<targets>{"replicas_then_primary", targets::replicas_then_primary}};

inline constexpr std::array log_level_names{
    named<log_level>{"debug", log_level::debug},
    named<log_level>{"info", log_level::info},
    named<log_level>{"warning", log_level::warning},
    named<log_level>{"error", log_level::error}};

inline constexpr std::array store_type_names{
    named<store_type>{"turbopuffer", store_type::turbopuffer},
    named<store_type>{"qdrant", store_type::qdrant},
    named<store_type>{"chroma", store_type::chroma},
    named<store_type>{"postgres", store_type::postgres}};

inline constexpr std::array metric_names{
    named<metric>{"cosine", metric::cosine},
    named<metric>{"l2", metric::l2},
    named<metric>{"inner_product", metric::inner_product}};

inline constexpr std::array capture_names{
    named<capture>{"wal", capture::wal},
    named<capture>{"outbox", capture::outbox}};

inline constexpr std::array acknowledge_names{
    named<acknowledge>{"async", acknowledge::async},
    named<acknowledge>{"store", acknowledge::store}};

template <class Table, class Enum>
constexpr std::string_view name_in(const Table& table, Enum value) {
    for (const auto& candidate : table) {
        if (candidate.value == value) {
            return candidate.name;
        }
    }
    return {};
}

constexpr std::string_view to_string(tls_mode value) {
    return name_in(tls_mode_names, value);
}

constexpr std::string_view to_string(pool_mode value) {
    return name_in(pool_mode_names, value);
}

constexpr std::string_view to_string(auth_method value) {
    return name_in(auth_method_names, value);
}

constexpr std::string_view to_string(targets value) {
    return name_in(targets_names, value);
}

constexpr std::string_view to_string(log_level value) {
    return name_in(log_level_names, value);
}

constexpr std::string_view to_string(store_type value) {
    return name_in(store_type_names, value);
}

constexpr std::string_view to_string(metric value) {
    return name_in(metric_names, value);
}

constexpr std::string_view to_string(capture value) {
    return name_in(capture_names, value);
}

constexpr std::string_view to_string(acknowledge value) {
    return name_in(acknowledge_names, value);
}

}  // namespace weir::config
