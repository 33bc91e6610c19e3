// A PostgreSQL with pgvector that is a store, for tests.
#pragma once

#include "migration/sql.hpp"
#include "tests/integration/support/cluster.hpp"

#include <string>
#include <string_view>

namespace weir::stores {

// The one that ctest has started for these tests (PGWEIR_TEST_CLUSTER); one of this program's own
// when it is run by hand.
[[nodiscard]] integration::cluster& shared_postgres();

// One of the test's own, to be broken.
[[nodiscard]] integration::cluster own_postgres(std::string_view name);

// Where the user (the database's owner) logs in.
[[nodiscard]] migration::source_address
address_of(const integration::cluster& servers, const std::string& user = "app");

// What SQL answers there, past the adapter: lines of fields with '|' between them.
// NOLINTNEXTLINE(modernize-use-nodiscard)
std::string query_postgres(const std::string& text, const std::string& database = "app");

}  // namespace weir::stores
