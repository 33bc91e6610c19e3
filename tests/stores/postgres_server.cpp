#include "tests/stores/postgres_server.hpp"

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

}  // namespace weir::stores
