// PostgreSQL with pgvector, a real one.
#include "migration/store/postgres.hpp"
#include "tests/stores/candidates.hpp"
#include "tests/stores/postgres_server.hpp"

namespace weir::stores {

candidate& postgres::get() {
    static candidate made = [] {
        candidate one;
        one.able = {
            .conditional = true,
            .patches = true,
            .normalises = false,
            .exact_search = true};
        one.clears = 10'000;
        one.metrics = {store::metric::cosine, store::metric::l2, store::metric::inner_product};
        one.make = [](const store::layout& rows) {
            return store::make_postgres(address_of(shared_postgres()), rows);
        };
        return one;
    }();
    return made;
}

}  // namespace weir::stores
