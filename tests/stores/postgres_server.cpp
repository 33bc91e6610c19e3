#include "tests/stores/postgres_server.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace weir::stores {

integration::cluster own_postgres(std::string_view name) {
    setenv("PGWEIR_CLUSTER_TOOL", WEIR_CLUSTER_TOOL, 0);
    setenv("PGWEIR_BUILD_DIR", std::filesystem::temp_directory_path().c_str(), 0);
    return integration::cluster::start_own(
        "stores-" + std::string(name) + "-" + std::to_string(getpid()),
        "--replicas 0"
    );
}

integration::cluster& shared_postgres() {
    if (std::getenv("PGWEIR_TEST_CLUSTER") != nullptr) {
        return integration::cluster::shared();
    }
    static auto own = own_postgres("shared");
    return own;
}

migration::source_address address_of(const integration::cluster& servers, const std::string& user) {
    migration::source_address where;
    where.host = servers.primary().at.host;
    where.port = servers.primary().at.port;
    where.user = user;
    where.password = servers.password(user);
    where.database = servers.database();
    return where;
}

std::string query_postgres(const std::string& text, const std::string& database) {
    auto where = address_of(shared_postgres(), "postgres");
    where.database = database;
    migration::sql_session session;
    const auto failed = session.connect(where);
    REQUIRE_MESSAGE(!failed, (failed ? failed->text : ""));
    const auto answer = session.run(text);
    REQUIRE_MESSAGE(!answer.error, (answer.error ? answer.error->text : ""));
    std::string lines;
    for (int row = 0; row < answer.rows.size(); ++row) {
        for (int column = 0; column < PQnfields(answer.rows.get()); ++column) {
            lines += (column == 0 ? "" : "|") + std::string(answer.rows.at(row, column));
        }
        lines += "\n";
    }
    return lines;
}

}  // namespace weir::stores
