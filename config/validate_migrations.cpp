#include "config/name_pattern.hpp"
#include "config/names.hpp"
#include "config/suggest.hpp"
#include "config/validate.hpp"

#include <algorithm>

namespace weir::config {

namespace {

// A slot's name has 63 characters, and "pgweir_" stands before the migration's.
constexpr std::size_t longest_name = 50;
constexpr std::uint64_t least_retained = 64ULL << 20;

bool is_slot_text(const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Element>
std::vector<std::string> names_of(const std::vector<Element>& elements) {
    std::vector<std::string> names;
    names.reserve(elements.size());
    for (const auto& one : elements) {
        names.push_back(one.name);
    }
    return names;
}

class migration_check {
public:
    migration_check(const config& c, const migration& one, diagnostics& out)
        : path_("migrations." + one.name), c_(c), one_(one), out_(out) {}

    void run() {
        if (out_.broken(path_)) {
            return;
        }
        check_name();
        check_database();
        check_table();
        check_columns();
        check_store();
        check_pattern();
        check_conduct();
    }

private:
    void report(const std::string& name, const std::string& what) {
        const auto own = path_ + "." + name;
        if (!out_.broken(own)) {
            out_.report(own, own + " " + what);
        }
    }

    void check_name() {
        if (!is_slot_text(one_.name) || one_.name.size() > longest_name) {
            out_.report(
                path_,
                path_ +
                    " is no name for a migration, since its slot bears it too; expected at "
                    "most " +
                    std::to_string(longest_name) + " of a to z, 0 to 9 and _"
            );
        }
    }

    void check_database() {
        const auto known = names_of(c_.databases);
        if (out_.broken("databases") || known.empty()) {
            return;
        }
        if (one_.database == "*") {
            report("database", "is '*', which is no database; expected its name");
        } else if (!holds(known, one_.database) && !holds(known, "*")) {
            report(
                "database",
                "names the unknown database '" + one_.database + "'; expected " + one_of(known) +
                    suggestion(one_.database, known)
            );
        }
    }

    void check_table() {
        const auto dot = one_.table.find('.');
        if (dot == std::string::npos || dot == 0 || dot + 1 == one_.table.size()) {
            report(
                "table",
                "is '" + one_.table + "'; expected schema and table, such as public.documents"
            );
        }
    }

    // A column may stand once in a list, and the embedding in none.
    void check_list(const std::string& name, const std::vector<std::string>& columns) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& column = columns[i];
            const auto end = columns.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::find(columns.begin(), end, column) != end) {
                report(name, "names '" + column + "' twice; expected each column once");
            } else if (column == one_.embedding) {
                report(name, "names '" + column + "', which is the embedding; expected others");
            }
        }
    }

    void check_columns() {
        if (one_.key.empty()) {
            report("key", "is empty; expected at least one column");
        }
        check_list("key", one_.key);
        check_list("attributes", one_.attributes);
        if (!one_.tenant.empty() && one_.tenant == one_.embedding) {
            report("tenant", "is the embedding '" + one_.tenant + "'; expected another column");
        }
    }

    void check_store() {
        const auto known = names_of(c_.stores);
        if (out_.broken("stores")) {
            return;
        }
        const auto found = std::find_if(c_.stores.begin(), c_.stores.end(), [&](const store& s) {
            return s.name == one_.store;
        });
        if (found == c_.stores.end()) {
            const auto expected = known.empty() ? "a store under stores" : one_of(known);
            report(
                "store",
                "names the unknown store '" + one_.store + "'; expected " + expected +
                    suggestion(one_.store, known)
            );
        } else if (found->type == store_type::turbopuffer && one_.metric == metric::inner_product) {
            report(
                "metric",
                "is inner_product, which turbopuffer does not have; expected cosine or l2"
            );
        }
    }

    void check_pattern() {
        const auto pattern = parse_name_pattern(one_.name_pattern);
        if (!pattern) {
            report(
                "namespace",
                "is '" + one_.name_pattern +
                    "'; expected letters, digits, '-', '_' and '.', with {" +
                    (one_.tenant.empty() ? "tenant" : one_.tenant) + "} at most once"
            );
        } else if (!pattern->column.empty() && one_.tenant.empty()) {
            report(
                "namespace",
                "names the column '" + pattern->column +
                    "', and there is no tenant; expected tenant: " + pattern->column
            );
        } else if (!pattern->column.empty() && pattern->column != one_.tenant) {
            report(
                "namespace",
                "names the column '" + pattern->column + "'; expected the tenant, {" + one_.tenant +
                    "}"
            );
        }
    }

    void check_conduct() {
        if (one_.capture == capture::outbox && one_.acknowledge == acknowledge::store) {
            report(
                "acknowledge",
                "store cannot be had with capture: outbox, whose order agrees with the commits' "
                "for one key only; expected async"
            );
        }
        if (one_.max_retained_wal != 0 && one_.max_retained_wal < least_retained) {
            report("max_retained_wal", "is too small to work with; expected 0 or at least 64MiB");
        }
    }

    std::string path_;
    const config& c_;
    const migration& one_;
    diagnostics& out_;
};

// Two migrations that write to one namespace would delete each other's rows.
void check_overlap(const migration& earlier, const migration& later, diagnostics& out) {
    const auto own = "migrations." + later.name + ".namespace";
    const auto first = parse_name_pattern(earlier.name_pattern);
    const auto second = parse_name_pattern(later.name_pattern);
    if (!first || !second || earlier.store != later.store || out.broken(own) ||
        !overlap(*first, *second)) {
        return;
    }
    out.report(
        own,
        concat(
            {own,
             " '",
             later.name_pattern,
             "' may be the same as that of migrations.",
             earlier.name,
             ", '",
             earlier.name_pattern,
             "', in the same store; expected names that cannot meet"}
        )
    );
}

}  // namespace

void validate_migrations(const config& c, diagnostics& out) {
    for (std::size_t i = 0; i < c.migrations.size(); ++i) {
        migration_check(c, c.migrations[i], out).run();
        for (std::size_t before = 0; before < i; ++before) {
            check_overlap(c.migrations[before], c.migrations[i], out);
        }
    }
}

}  // namespace weir::config
