#include "config/schema.hpp"
#include "config/schema_builder.hpp"

namespace weir::config {

namespace {

std::vector<key> server_keys() {
    return {
        required(text("host", &server::host, "Host name or IP address."), "10.0.0.1"),
        integer("port", &server::port, {.least = 1, .most = 65535}, "TCP port."),
        example(
            text(
                "name",
                &server::name,
                "Name in metrics, the console and the log; by default host:port."
            ),
            "alpha"
        ),
        example(
            text(
                "zone",
                &server::zone,
                "A label for where the server stands; it does not change the choice yet."
            ),
            "b"
        ),
        number(
            "weight",
            &server::weight,
            {.least = 0, .most = 1000},
            "Share of the reads relative to the other replicas, before lag is counted; 0 gives it "
            "none."
        ),
    };
}

std::vector<key> monitor_keys() {
    return {
        required(
            text(
                "user",
                &monitor::user,
                "The role that watches the servers; it needs pg_monitor and REPLICATION."
            ),
            "pgweir"
        ),
        example(
            text("password", &monitor::password, "Its password.", value_type::secret),
            "\"${MONITOR_PASSWORD}\""
        ),
        text("database", &monitor::database, "The database it connects to."),
        duration(
            "interval",
            &monitor::interval,
            {.least = 10ms, .most = 1min},
            "How often each server is asked for its role and position."
        ),
    };
}

std::vector<key> lag_keys() {
    return {
        duration(
            "max",
            &lag::max,
            {.least = 1ms, .most = 24h},
            "A replica that is further behind serves nothing."
        ),
        duration(
            "half",
            &lag::half,
            {.least = 1ms, .most = 24h},
            "The lag that halves a replica's share of the reads."
        ),
        duration(
            "slow_start",
            &lag::slow_start,
            {.least = 0ms, .most = 24h},
            "How long a new or recovered replica takes to get from 10 % of its share to all of it; "
            "0: no time."
        ),
    };
}

std::vector<key> failover_keys() {
    return {
        duration(
            "wait",
            &failover::wait,
            {.least = 0ms, .most = 1h},
            "How long statements wait for a primary while none is known; 0: not at all."
        ),
        later("on_two_primaries", "What to do while two servers accept writes."),
    };
}

std::vector<key> pool_limits() {
    return {
        integer("size", &pool::size, {.least = 1, .most = 10000}, "Most connections of a pool."),
        integer("min", &pool::min, {.least = 0, .most = 10000}, "Connections that are kept open."),
        integer(
            "max_waiting",
            &pool::max_waiting,
            {.least = 0, .most = 1000000},
            "Most clients that wait for a connection; the next one gets an error."
        ),
        duration(
            "lifetime",
            &pool::lifetime,
            {},
            "A connection this old is closed when it is idle."
        ),
        duration(
            "idle_timeout",
            &pool::idle_timeout,
            {},
            "A connection above min that was idle this long is closed."
        ),
        duration(
            "queue_timeout",
            &pool::queue_timeout,
            {},
            "A client that waited this long for a connection gets an error."
        ),
        duration(
            "connect_timeout",
            &pool::connect_timeout,
            {},
            "Limit for connecting and logging in to a server."
        ),
    };
}

std::vector<key> pool_keys() {
    auto keys = pool_limits();
    keys.push_back(duration(
        "check_after",
        &pool::check_after,
        or_none,
        "A connection that was idle this long is tried before use; 0: never."
    ));
    keys.push_back(duration(
        "idle_transaction_timeout",
        &pool::idle_transaction_timeout,
        or_none,
        "A client that leaves a transaction idle this long is disconnected; 0: no limit."
    ));
    keys.push_back(duration(
        "client_idle_timeout",
        &pool::client_idle_timeout,
        or_none,
        "A client that is idle outside a transaction this long is disconnected; 0: no limit."
    ));
    keys.push_back(integer(
        "max_prepared_statements",
        &pool::max_prepared_statements,
        {.least = 1, .most = 100000},
        "Prepared statements kept on each server connection; the least used goes first."
    ));
    keys.push_back(later("reserve", "Further connections for clients that wait long."));
    keys.push_back(later("reserve_timeout", "How long such a client waits first."));
    return keys;
}

}  // namespace

std::vector<key> tls_keys(const std::string& mode_description) {
    return {
        choice_of("mode", &tls::mode, tls_mode_names, mode_description),
        example(
            text(
                "certificate",
                &tls::certificate,
                "Our certificate with its chain, PEM.",
                value_type::file
            ),
            "server.crt"
        ),
        example(
            text("key", &tls::key, "The certificate's private key, PEM.", value_type::file),
            "server.key"
        ),
        example(
            text(
                "ca",
                &tls::ca,
                "Certificates that verify-ca and verify-full trust, PEM.",
                value_type::file
            ),
            "root.crt"
        ),
    };
}

std::vector<key> listen_keys() {
    return {
        at_start(text(
            "address",
            &listen::address,
            "Address to listen on; `0.0.0.0` or `::` is every one."
        )),
        at_start(integer(
            "port",
            &listen::port,
            {.least = 1, .most = 65535},
            "TCP port, and part of the Unix socket's name."
        )),
        at_start(example(
            text(
                "unix_socket",
                &listen::unix_socket,
                "Directory for the Unix socket `.s.PGSQL.<port>`; by default there is none.",
                value_type::directory
            ),
            "/run/pgweir"
        )),
        integer(
            "max_clients",
            &listen::max_clients,
            {.least = 1, .most = 1000000},
            "Most clients at a time."
        ),
        duration(
            "login_timeout",
            &listen::login_timeout,
            {.least = 100ms, .most = 1h},
            "Limit for a client's login."
        ),
        inner(
            "tls",
            &listen::tls,
            tls_keys(
                "TLS towards clients, as in libpq; the verify modes ask clients for a certificate."
            ),
            "TLS towards clients."
        ),
    };
}

std::vector<key> cluster_keys() {
    return {
        elements_of(
            "servers",
            value_type::list,
            &cluster::servers,
            server_keys(),
            "The servers, at least one. Which one is the primary is found by asking them."
        ),
        inner("monitor", &cluster::monitor, monitor_keys(), "How the servers are watched."),
        inner(
            "lag",
            &cluster::lag,
            lag_keys(),
            "What a replica's lag means for its share of the reads."
        ),
        inner(
            "failover",
            &cluster::failover,
            failover_keys(),
            "What happens while there is no primary."
        ),
        inner(
            "tls",
            &cluster::tls,
            tls_keys("TLS towards servers, as libpq's sslmode."),
            "TLS towards the servers."
        ),
        inner(
            "pool",
            &cluster::pool,
            pool_keys(),
            "Limits of each pool, that is of one server, database and user. Counts are over all "
            "workers."
        ),
    };
}

}  // namespace weir::config
