// The configuration as plain values, with every default visible. Built by config/loader, read-only
// afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::config {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// libpq's sslmode, for both sides. Towards clients only disable, allow, prefer, require, verify_ca
// and verify_full (the last two ask for a client certificate) have a meaning.
enum class tls_mode : std::uint8_t { disable, allow, prefer, require, verify_ca, verify_full };

struct tls {
    tls_mode mode = tls_mode::disable;
    std::string certificate;  // PEM file
    std::string key;          // PEM file
    std::string ca;           // PEM file, what verify_ca and verify_full trust
};

struct listen {
    std::string address = "127.0.0.1";
    std::uint16_t port = 6432;
    std::string unix_socket;  // directory of the socket .s.PGSQL.<port>; empty: none
    std::uint32_t max_clients = 1000;
    milliseconds login_timeout = 60s;
    weir::config::tls tls;
};

struct http {
    std::string address = "127.0.0.1";
    std::uint16_t port = 9632;
    bool enabled = true;
};

struct server {
    std::string name;  // unique in its cluster; default "host:port"
    std::string host;
    std::uint16_t port = 5432;
    std::string zone;
    double weight = 1.0;
};

struct monitor {
    std::string user;
    std::string password;  // resolved secret
    std::string database = "postgres";
    milliseconds interval = 200ms;
};

struct lag {
    milliseconds max = 10s;
    milliseconds half = 1s;
    milliseconds slow_start = 30s;
};

struct failover {
    milliseconds wait = 30s;
};

// Limits of one pool: one (server, database, user). Counts are over all workers.
struct pool {
    std::uint32_t size = 20;
    std::uint32_t min = 0;
    std::uint32_t max_waiting = 10000;
    milliseconds lifetime = 1h;
    milliseconds idle_timeout = 10min;
    milliseconds queue_timeout = 120s;
    milliseconds connect_timeout = 15s;
    milliseconds check_after = 30s;  // an idle server is checked after this long; 0: never
    milliseconds idle_transaction_timeout = 0ms;  // 0: none
    milliseconds client_idle_timeout = 0ms;       // 0: none
    std::uint32_t max_prepared_statements = 200;  // kept per server connection
};

struct cluster {
    std::string name;
    std::vector<server> servers;
    weir::config::monitor monitor;
    weir::config::lag lag;
    weir::config::failover failover;
    weir::config::tls tls;
    weir::config::pool pool;
};

enum class pool_mode : std::uint8_t { transaction, session };

struct database {
    std::string name;  // "*" matches any other name
    std::string cluster;
    std::string server_database;  // name on the server; empty: the client's
    weir::config::pool_mode pool_mode = weir::config::pool_mode::transaction;
};

struct user {
    std::string name;
    // Plain text, "md5" + 32 hex digits, or a SCRAM-SHA-256 verifier. Resolved; never printed.
    std::string secret;
};

enum class auth_method : std::uint8_t { scram_sha_256, md5, trust, reject };

// First match wins, like pg_hba.conf.
struct auth_rule {
    std::vector<std::string> databases;  // "all" matches every one
    std::vector<std::string> users;
    std::string address = "all";  // CIDR, "all", or "local" for the Unix socket
    auth_method method = auth_method::scram_sha_256;
};

struct authentication {
    std::vector<auth_rule> rules;  // empty: scram-sha-256 for everybody
};

struct console {
    std::vector<std::string> admin;  // users who may run every console command
    std::vector<std::string> stats;  // users who may run SHOW
};

enum class consistency_level : std::uint8_t { strong, bounded, eventual };

struct consistency {
    consistency_level level = consistency_level::strong;
    milliseconds bound = 0ms;  // for bounded: the oldest staleness that may be served
    friend bool operator==(const consistency&, const consistency&) = default;
};

enum class targets : std::uint8_t { primary, replicas, replicas_then_primary };

struct rule_match {
    std::optional<bool> vector;
    std::string kind;  // "read" or "write"; empty: any
    // Schema-qualified globs: "features.*"; every named relation must match one.
    std::vector<std::string> tables;
    std::vector<std::string> functions;  // globs; one of the statement's functions must match
    std::string database;                // glob; empty: any
    std::string user;                    // glob; empty: any
    std::string application_name;        // glob; empty: any
    std::string shape;                   // 32 hex digits as SHOW ROUTE prints; empty: any
};

struct rule {
    std::string name;
    rule_match match;
    std::optional<weir::config::consistency> consistency;
    std::optional<weir::config::targets> targets;
    std::vector<std::pair<std::string, std::string>> settings;  // settings for the statement only
};

struct routing {
    std::vector<rule> rules;
    // User functions that may run on a replica: "schema.name" or "name".
    std::vector<std::string> safe_functions;
    std::uint64_t trait_cache_bytes = 64ULL << 20;  // over all workers
    std::uint64_t statement_bytes = 64ULL << 20;    // prepared statement texts, over all workers
    std::uint32_t max_parse_bytes = 1U << 20;
};

enum class log_level : std::uint8_t { debug, info, warning, error };

struct log {
    log_level level = log_level::info;
    bool json = false;
    bool connections = true;  // a line per client login and disconnect
};

enum class store_type : std::uint8_t { turbopuffer, qdrant, chroma, postgres };

// A vector store. turbopuffer, qdrant and chroma are reached by `url`, postgres by host and port.
struct store {
    std::string name;
    store_type type = store_type::turbopuffer;
    std::string url;      // "http://host:port/path" or "https://…"
    std::string api_key;  // resolved secret; empty: none is sent
    std::string host;
    std::uint16_t port = 5432;
    std::string database;
    std::string user;
    std::string password;  // resolved secret
    tls_mode tls = tls_mode::disable;
    std::string ca;  // PEM file to trust; empty: the system's
    milliseconds connect_timeout = 10s;
    milliseconds request_timeout = 30s;
    std::uint32_t max_in_flight = 0;  // writers at a time for a migration; 0: what the store takes
    bool gzip = false;
    friend bool operator==(const store&, const store&) = default;
};

enum class metric : std::uint8_t { cosine, l2, inner_product };
enum class capture : std::uint8_t { wal, outbox };
enum class acknowledge : std::uint8_t { async, store };

// When changes are sent: as soon as one of the limits is reached.
struct batch {
    std::uint32_t rows = 500;
    std::uint64_t bytes = 8ULL << 20;
    milliseconds delay = 20ms;  // the longest that a change waits for others
    friend bool operator==(const batch&, const batch&) = default;
};

// How the rows are read that are there when a migration starts.
struct copy {
    std::uint32_t connections = 2;
    std::uint32_t page = 1000;  // rows of one read
    friend bool operator==(const copy&, const copy&) = default;
};

struct migration {
    std::string name;  // part of the names of the slot and the publication
    std::string database;
    std::string user;
    std::string password;  // resolved secret
    std::string table;     // "schema.table", as it is in the catalog, without quotes
    std::vector<std::string> key;
    std::string embedding;
    std::vector<std::string> attributes;
    std::string tenant;  // empty: none
    std::string store;
    std::string name_pattern;  // of the store's namespaces, see name_pattern.hpp
    weir::config::metric metric = weir::config::metric::cosine;
    weir::config::capture capture = weir::config::capture::wal;
    weir::config::acknowledge acknowledge = weir::config::acknowledge::async;
    milliseconds acknowledge_timeout = 5s;
    std::uint64_t max_retained_wal = 16ULL << 30;  // bytes; 0: no limit
    milliseconds lease = 10s;
    weir::config::batch batch;
    weir::config::copy copy;
    friend bool operator==(const migration&, const migration&) = default;
};

struct config {
    weir::config::listen listen;
    weir::config::http http;
    std::uint32_t workers = 0;  // 0: as many as there are cores
    std::vector<cluster> clusters;
    std::vector<database> databases;
    std::vector<user> users;
    weir::config::authentication authentication;
    weir::config::console console;
    weir::config::routing routing;
    weir::config::log log;
    std::vector<store> stores;
    std::vector<migration> migrations;
};

}  // namespace weir::config
