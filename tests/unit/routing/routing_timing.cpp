// Prints what the hot path of routing costs here: ninja routing_timing, then run it. Asserts
// nothing.
#include "routing/shape.hpp"
#include "routing/sql_parser.hpp"
#include "routing/trait_cache.hpp"

#include <chrono>
#include <cstdio>
#include <string>

namespace {

using namespace weir::routing;

template <class F>
void measure(const char* name, int rounds, F&& f) {
    using clock = std::chrono::steady_clock;
    double best = 1e18;
    for (int repeat = 0; repeat < 5; ++repeat) {
        const auto begin = clock::now();
        for (int i = 0; i < rounds; ++i) {
            f();
        }
        const std::chrono::duration<double, std::nano> spent = clock::now() - begin;
        best = spent.count() / rounds < best ? spent.count() / rounds : best;
    }
    std::printf("%-40s %10.0f ns\n", name, best);
}

std::string search_with_vector(std::size_t bytes) {
    std::string sql = "SELECT id FROM items ORDER BY e <-> '[";
    while (sql.size() < bytes) {
        sql += "0.123456,";
    }
    return sql + "1]' LIMIT 10";
}

}  // namespace

int main() {
    const std::string search =
        "SELECT id, title FROM items WHERE org = $2 ORDER BY e <=> $1 LIMIT 10";
    const std::string update =
        "UPDATE pgbench_accounts SET abalance = abalance + 123 WHERE aid = 4711;";
    const std::string join =
        "SELECT id, title, created_at FROM public.items AS i JOIN orgs o ON o.id = i.org_id "
        "WHERE o.name = 'acme' AND i.price BETWEEN 10 AND 20.5 AND i.kind IN (1,2,3,4,5) "
        "ORDER BY i.created_at DESC, i.id LIMIT 10 OFFSET 20";
    const auto large = search_with_vector(18'000);
    const auto huge = search_with_vector(60'000);
    trait_cache cache(1 << 20);
    volatile std::uint64_t sink = 0;
    const auto scan_of = [&sink](const std::string& sql) {
        return [&sink, &sql] { sink = sink + scan(sql).hi; };
    };
    measure("scan, vector search, 70 bytes", 50'000, scan_of(search));
    measure("scan, pgbench update, 71 bytes", 50'000, scan_of(update));
    measure("scan, join, 215 bytes", 50'000, scan_of(join));
    measure("scan, 18 kB vector literal", 20'000, scan_of(large));
    measure("scan, 60 kB vector literal", 10'000, scan_of(huge));
    const auto key = scan(search);
    cache.insert(key, parse(search).value);
    measure("trait cache, hit", 50'000, [&] { sink = sink + cache.find(key)->statements; });
    measure("parse, vector search", 1'000, [&] { sink = sink + parse(search).value.statements; });
    measure("parse, join", 1'000, [&] { sink = sink + parse(join).value.statements; });
    measure("parse, 18 kB vector literal", 1'000, [&] {
        sink = sink + parse(large).value.statements;
    });
}
