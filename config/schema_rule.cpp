#include "config/schema.hpp"
#include "config/schema_builder.hpp"

namespace weir::config {

namespace {

key kind_key() {
    auto k = text(
        "kind",
        &rule_match::kind,
        "Whether the statement reads or writes.",
        value_type::choice
    );
    k.choices = {{.name = "read"}, {.name = "write"}};
    return example(k, "read");
}

// What is looked at in the statement, then who sends it.
std::vector<key> match_keys() {
    auto keys = std::vector<key>{
        example(
            optional_key(
                "vector",
                value_type::boolean,
                &rule_match::vector,
                "Whether it is a nearest-neighbour search."
            ),
            "true"
        ),
        kind_key(),
        example(
            names(
                "tables",
                &rule_match::tables,
                "Patterns such as `features.*`; every table that the statement names must fit one."
            ),
            "[\"features.*\"]"
        ),
        example(
            names(
                "functions",
                &rule_match::functions,
                "Patterns; one of the statement's functions must fit one."
            ),
            "[\"features.*\"]"
        ),
    };
    auto session = std::vector<key>{
        example(
            text(
                "database",
                &rule_match::database,
                "Pattern for the database that the client named."
            ),
            "app"
        ),
        example(text("user", &rule_match::user, "Pattern for the client's user."), "app"),
        example(
            text(
                "application_name",
                &rule_match::application_name,
                "Pattern for its application_name."
            ),
            "report*"
        ),
        example(
            text(
                "shape",
                &rule_match::shape,
                "The statement's shape, 32 hex digits as SHOW ROUTE prints them."
            ),
            "0123456789abcdef0123456789abcdef"
        ),
        later("tenant", "Which tenant the statement works for."),
    };
    keys.insert(keys.end(), session.begin(), session.end());
    return keys;
}

key consistency_key() {
    auto k = optional_key(
        "consistency",
        value_type::consistency,
        &rule::consistency,
        "What a read may miss: `strong` nothing (primary), `{bounded: 5s}` at most the last 5 s, "
        "`eventual` at most "
        "lag.max. The session's own writes are always seen."
    );
    k.choices = {
        {.name = "strong"},
        {.name = "bounded"},
        {.name = "eventual"},
        {.name = "latest", .available = false},
        {.name = "session", .available = false}};
    return example(k, "{bounded: 5s}");
}

key settings_key() {
    return example(
        member_key<setting_list>(
            "settings",
            value_type::settings,
            &rule::settings,
            "Server settings for these statements only, such as `hnsw.ef_search: 100`."
        ),
        "{hnsw.ef_search: 100}"
    );
}

}  // namespace

std::vector<key> rule_keys() {
    return {
        required(
            text("name", &rule::name, "Name in metrics and SHOW ROUTE."),
            "nearest neighbours"
        ),
        inner(
            "match",
            &rule::match,
            match_keys(),
            "What a statement must be like: all that is given here must hold; a rule that gives "
            "nothing fits every one. "
            "In patterns `*` is any text and `?` any character."
        ),
        consistency_key(),
        example(
            choice_of(
                "targets",
                &rule::targets,
                targets_names,
                "Where these reads may run; `replicas` gives an error rather than use the primary."
            ),
            "replicas_then_primary"
        ),
        settings_key(),
        later("timeout", "Limit for a statement."),
        later("max_concurrency", "Most statements of this rule at a time."),
        later("queue_timeout", "How long a statement waits for its turn."),
        later("priority", "Which rule's statements go first."),
        later("transactions", "Whether a transaction may begin on a replica."),
        later("stale_writes", "Whether writes may follow reads of a replica in a transaction."),
        later("own_writes", "Whether a session's own writes must be seen."),
        later("wait", "How long to wait for a replica to catch up."),
        later("retry", "Whether a failed read runs again elsewhere."),
        later("multiplex", "Whether reads of several clients share a connection."),
        later("promote", "Whether simple queries are turned into prepared ones."),
        later("record", "Share of the searches that are written to the search log."),
    };
}

}  // namespace weir::config
