#include "config/schema.hpp"

#include "config/scalar.hpp"
#include "config/schema_builder.hpp"

namespace weir::config {

namespace {

// The two parts of http share one text, so neither is a plain member.
key http_listen() {
    key k;
    k.name = "listen";
    k.type = value_type::endpoint;
    k.description = "Address and port for /metrics, /healthz and /readyz, or `off`.";
    k.example = "127.0.0.1:9632";
    k.get = [](const void* owner) -> key_value {
        const auto& h = *static_cast<const http*>(owner);
        return h.enabled ? print_host_port(h.address, h.port) : std::string("off");
    };
    k.set = [](void* owner, const key_value& v) {
        auto& h = *static_cast<http*>(owner);
        const auto given = parse_host_port(std::get<std::string>(v));
        h.enabled = given.has_value();
        if (given) {
            h.address = given->host;
            h.port = given->port;
        }
    };
    const http fresh{};
    set_default(k, &fresh);
    return at_start(k);
}

key http_block() {
    auto k = inner(
        "http",
        &config::http,
        {http_listen()},
        "The HTTP listener; `http: off` is short for `http: {listen: off}`."
    );
    k.shorthand = "listen";
    return k;
}

key workers_key() {
    auto k = at_start(integer(
        "workers",
        &config::workers,
        {.least = 1, .most = 1024},
        "Worker threads; `auto` is one per processor core."
    ));
    k.zero_word = "auto";
    k.default_text = "auto";
    k.example = "auto";
    return k;
}

key log_format() {
    key k;
    k.name = "format";
    k.type = value_type::choice;
    k.description = "Lines for people or JSON objects for machines, one event each.";
    k.choices = {{.name = "text"}, {.name = "json"}};
    k.get = [](const void* owner) -> key_value {
        return std::string(static_cast<const log*>(owner)->json ? "json" : "text");
    };
    k.set = [](void* owner, const key_value& v) {
        static_cast<log*>(owner)->json = std::get<std::string>(v) == "json";
    };
    const log fresh{};
    set_default(k, &fresh);
    return k;
}

std::vector<key> log_keys() {
    return {
        choice_of(
            "level",
            &log::level,
            log_level_names,
            "The least important kind of line that is written."
        ),
        log_format(),
        boolean(
            "connections",
            &log::connections,
            "Write a line for each login and disconnect of a client."
        ),
    };
}

std::vector<key> database_keys() {
    return {
        required(
            text("cluster", &database::cluster, "The cluster that holds this database."),
            "main"
        ),
        later_choice(
            choice_of(
                "pool_mode",
                &database::pool_mode,
                pool_mode_names,
                "When a server connection goes back to its pool: after each transaction, or when "
                "the client leaves."
            ),
            "statement"
        ),
        example(
            text(
                "database",
                &database::server_database,
                "Its name on the servers; by default the name that clients use."
            ),
            "app_production"
        ),
    };
}

std::vector<key> user_keys() {
    return {
        required(
            text("name", &user::name, "The name that clients log in with, and that servers see."),
            "app"
        ),
        example(
            text(
                "password",
                &user::secret,
                "Plain text, `md5` with 32 hex digits, or a SCRAM-SHA-256 verifier.",
                value_type::secret
            ),
            "\"${APP_PASSWORD}\""
        ),
        later("pool_mode", "As under databases, for one user."),
    };
}

std::vector<key> auth_rule_keys() {
    return {
        required(
            names("database", &auth_rule::databases, "Names of databases; `all` is every one."),
            "all"
        ),
        required(names("user", &auth_rule::users, "Names of users; `all` is every one."), "all"),
        example(
            text(
                "address",
                &auth_rule::address,
                "Clients' addresses in CIDR form, `all`, or `local` for the Unix socket."
            ),
            "10.0.0.0/8"
        ),
        later_choice(
            choice_of(
                "method",
                &auth_rule::method,
                auth_method_names,
                "How the client proves who it is; `trust` asks for nothing and is refused except "
                "for loopback and `local`."
            ),
            "cert"
        ),
    };
}

std::vector<key> authentication_keys() {
    return {
        elements_of(
            "rules",
            value_type::list,
            &authentication::rules,
            auth_rule_keys(),
            "The first rule that fits a client decides; without any rule everybody uses "
            "scram-sha-256."
        ),
        later("query", "Look up users in a database."),
    };
}

std::vector<key> console_keys() {
    return {
        example(
            names("admin", &console::admin, "Users who may run every command of the console."),
            "[app]"
        ),
        example(names("stats", &console::stats, "Users who may run its SHOW commands."), "[app]"),
    };
}

std::vector<key> routing_keys() {
    constexpr std::uint64_t mib = 1ULL << 20;
    return {
        elements_of(
            "rules",
            value_type::list,
            &routing::rules,
            rule_keys(),
            "The first rule that fits a statement decides. Without one, vector searches are "
            "`bounded` by lag.max "
            "and everything else is `strong`."
        ),
        example(
            names(
                "safe_functions",
                &routing::safe_functions,
                "Functions of yours that only read, so that a replica may run them: `schema.name` "
                "or `name`."
            ),
            "[features.score]"
        ),
        at_start(size(
            "trait_cache",
            &routing::trait_cache_bytes,
            {.least = mib, .most = 65536 * mib},
            "Memory for what is known about statements, over all workers."
        )),
        at_start(size(
            "statement_cache",
            &routing::statement_bytes,
            {.least = mib, .most = 65536 * mib},
            "Memory for the texts of prepared statements, over all workers."
        )),
        at_start(size(
            "max_parse_bytes",
            &routing::max_parse_bytes,
            {.least = 1024, .most = 1024 * mib},
            "A longer statement is not parsed; it runs on the primary."
        )),
        later("lazy_begin", "Answer BEGIN without a server."),
    };
}

std::vector<key> make_schema() {
    return {
        inner("listen", &config::listen, listen_keys(), "Where clients connect."),
        http_block(),
        workers_key(),
        elements_of(
            "clusters",
            value_type::map,
            &config::clusters,
            cluster_keys(),
            "Groups of servers that replicate one primary, by name; at least one."
        ),
        elements_of(
            "databases",
            value_type::map,
            &config::databases,
            database_keys(),
            "Databases that clients may name, and where they are; the name `\"*\"` is every other "
            "one."
        ),
        elements_of("users", value_type::list, &config::users, user_keys(), "Who may log in."),
        inner(
            "authentication",
            &config::authentication,
            authentication_keys(),
            "How clients log in."
        ),
        inner(
            "console",
            &config::console,
            console_keys(),
            "Who may use the console, the virtual database `pgweir`."
        ),
        inner("routing", &config::routing, routing_keys(), "Which server answers which statement."),
        inner("log", &config::log, log_keys(), "What is written to standard error."),
        at_start(elements_of(
            "stores",
            value_type::map,
            &config::stores,
            store_keys(),
            "Vector stores, by name."
        )),
        at_start(elements_of(
            "migrations",
            value_type::map,
            &config::migrations,
            migration_keys(),
            "Tables whose embeddings are written to a vector store too, by a name of lower-case "
            "letters, digits and `_`. Before `MIGRATE START` only a lease is taken, in the schema "
            "pgweir."
        )),
    };
}

}  // namespace

const std::vector<key>& schema() {
    static const std::vector<key> keys = make_schema();
    return keys;
}

}  // namespace weir::config
