#include "config/schema.hpp"
#include "config/schema_builder.hpp"

namespace weir::config {

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

// Stores and migrations are set up when the program starts.
std::vector<key> all_at_start(std::vector<key> keys) {
    for (auto& k : keys) {
        k.reloadable = false;
        k.children = all_at_start(std::move(k.children));
    }
    return keys;
}

// Of a store that is a PostgreSQL server.
std::vector<key> postgres_keys() {
    return {
        not_in_example(text("host", &store::host, "postgres: host name or IP address.")),
        not_in_example(
            integer("port", &store::port, {.least = 1, .most = 65535}, "postgres: TCP port.")
        ),
        not_in_example(text(
            "database",
            &store::database,
            "postgres: the database that holds the tables; the extension vector must be there."
        )),
        not_in_example(text(
            "user",
            &store::user,
            "postgres: the role that owns the tables; it needs CREATE on the database."
        )),
        not_in_example(
            text("password", &store::password, "postgres: its password.", value_type::secret)
        ),
        not_in_example(choice_of(
            "tls",
            &store::tls,
            tls_mode_names,
            "postgres: TLS as libpq's sslmode. With the other types the URL decides."
        )),
    };
}

std::vector<key> store_limits() {
    auto in_flight = integer(
        "max_in_flight",
        &store::max_in_flight,
        {.least = 1, .most = 64},
        "Writers at a time for each migration; `auto` is what the store makes use of."
    );
    in_flight.zero_word = "auto";
    in_flight.default_text = "auto";
    in_flight.example = "auto";
    return {
        duration(
            "connect_timeout",
            &store::connect_timeout,
            {.least = 100ms, .most = 5min},
            "Limit for connecting, with TLS."
        ),
        duration(
            "request_timeout",
            &store::request_timeout,
            {.least = 100ms, .most = 1h},
            "Limit for one request. A proxy that takes over a migration waits this long before it "
            "writes."
        ),
        std::move(in_flight),
        boolean(
            "gzip",
            &store::gzip,
            "Send requests compressed, to turbopuffer and qdrant; worth it over slow networks."
        ),
    };
}

std::vector<key> batch_keys() {
    return {
        integer(
            "rows",
            &batch::rows,
            {.least = 1, .most = 100000},
            "Most rows in one request; a store may take fewer."
        ),
        size(
            "bytes",
            &batch::bytes,
            {.least = 64ULL << 10, .most = 512 * mib},
            "Most bytes in one request, about; a store may take fewer."
        ),
        duration(
            "delay",
            &batch::delay,
            {.least = 0ms, .most = 10s},
            "The longest that a change waits for others to go with it."
        ),
    };
}

std::vector<key> copy_keys() {
    return {
        integer(
            "connections",
            &copy::connections,
            {.least = 1, .most = 64},
            "Connections that read the table at the start."
        ),
        integer("page", &copy::page, {.least = 1, .most = 100000}, "Rows of one read."),
    };
}

std::vector<key> source_keys() {
    return {
        required(
            text(
                "database",
                &migration::database,
                "The database, a name of those under databases."
            ),
            "app"
        ),
        required(
            text(
                "user",
                &migration::user,
                "The role that reads the changes; `MIGRATE START … DRY RUN` prints what it needs."
            ),
            "pgweir_migrate"
        ),
        example(
            text("password", &migration::password, "Its password.", value_type::secret),
            "\"${MIGRATE_PASSWORD}\""
        ),
        required(
            text(
                "table",
                &migration::table,
                "`schema.table` as in the catalog, without quotes; it may be partitioned."
            ),
            "public.semantic_groups"
        ),
        required(
            names("key", &migration::key, "The columns of its replica identity, in any order."),
            "[id]"
        ),
        required(
            text("embedding", &migration::embedding, "The column of type vector(n) or halfvec(n)."),
            "embedding"
        ),
        example(
            names(
                "attributes",
                &migration::attributes,
                "Columns that are stored with the embedding, to filter by."
            ),
            "[organization_id, topic]"
        ),
        example(
            text(
                "tenant",
                &migration::tenant,
                "The column that tells whose row it is; it is always an attribute."
            ),
            "organization_id"
        ),
    };
}

std::vector<key> target_keys() {
    return {
        required(text("store", &migration::store, "A name of those under stores."), "vectors"),
        example(
            text(
                "namespace",
                &migration::name_pattern,
                "Where the rows go in the store: one name, or one for each tenant; by default the "
                "migration's name."
            ),
            "\"org-{organization_id}\""
        ),
        required(
            choice_of(
                "metric",
                &migration::metric,
                metric_names,
                "What near means; it must agree with the operators of the searches and with the "
                "operator class of the indexes."
            ),
            "cosine"
        ),
    };
}

std::vector<key> conduct_keys() {
    return {
        choice_of(
            "capture",
            &migration::capture,
            capture_names,
            "`wal` reads changes by logical decoding; `outbox` from a table that triggers fill, "
            "where logical decoding is not allowed."
        ),
        choice_of(
            "acknowledge",
            &migration::acknowledge,
            acknowledge_names,
            "`store` answers a client's commit when the store has it; `async` does not wait."
        ),
        duration(
            "acknowledge_timeout",
            &migration::acknowledge_timeout,
            {.least = 1ms, .most = 10min},
            "How long a commit waits for the store; then it is answered with a warning."
        ),
        size(
            "max_retained_wal",
            &migration::max_retained_wal,
            {.least = 0, .most = 1ULL << 50},
            "WAL that the slot may hold back; above it the slot is dropped and the store must be "
            "filled again. 0: no limit."
        ),
        duration(
            "lease",
            &migration::lease,
            {.least = 500ms, .most = 10min},
            "How long a process that died goes on being the one that writes; then, and after the "
            "store's request_timeout, another takes over."
        ),
        inner("batch", &migration::batch, batch_keys(), "What goes into one request."),
        inner("copy", &migration::copy, copy_keys(), "How the table is read at the start."),
        later("shadow", "Which share of the searches is tried on the store too."),
        later("rank", "Whether Postgres or the store ranks the rows."),
        later("gates", "What must hold before searches are served from the store."),
    };
}

void append(std::vector<key>& keys, const std::vector<key>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
}

}  // namespace

std::vector<key> store_keys() {
    std::vector<key> keys{
        required(choice_of("type", &store::type, store_type_names, "What it is."), "turbopuffer"),
        example(
            text(
                "url",
                &store::url,
                "turbopuffer, qdrant and chroma: where it is, `http://` or `https://`."
            ),
            "\"https://gcp-us-central1.turbopuffer.com\""
        ),
        example(
            text(
                "api_key",
                &store::api_key,
                "turbopuffer, qdrant and chroma: sent with every request.",
                value_type::secret
            ),
            "\"${STORE_KEY}\""
        ),
    };
    append(keys, postgres_keys());
    keys.push_back(example(
        text(
            "ca",
            &store::ca,
            "Certificates to trust, PEM; by default the system's.",
            value_type::file
        ),
        "root.crt"
    ));
    append(keys, store_limits());
    return all_at_start(std::move(keys));
}

std::vector<key> migration_keys() {
    auto keys = source_keys();
    append(keys, target_keys());
    append(keys, conduct_keys());
    return all_at_start(std::move(keys));
}

}  // namespace weir::config
