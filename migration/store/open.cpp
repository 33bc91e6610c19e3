#include "migration/store/open.hpp"

#include "migration/store/chroma.hpp"
#include "migration/store/postgres.hpp"
#include "migration/store/qdrant.hpp"
#include "migration/store/turbopuffer.hpp"

namespace weir::migration::store {
namespace {

http_options options_of(const config::store& from) {
    http_options made;
    made.url = from.url;
    made.ca = from.ca;
    made.connect_timeout = from.connect_timeout;
    made.request_timeout = from.request_timeout;
    made.gzip = from.gzip;
    return made;
}

http_options with_header(http_options to, const char* name, const std::string& value) {
    if (!value.empty()) {
        to.headers.emplace_back(name, value);
    }
    return to;
}

std::string bearer(const std::string& key) {
    return key.empty() ? key : "Bearer " + key;
}

std::string sslmode_of(config::tls_mode mode) {
    switch (mode) {
    case config::tls_mode::disable: return "disable";
    case config::tls_mode::allow: return "allow";
    case config::tls_mode::prefer: return "prefer";
    case config::tls_mode::require: return "require";
    case config::tls_mode::verify_ca: return "verify-ca";
    case config::tls_mode::verify_full: break;
    }
    return "verify-full";
}

}  // namespace

std::unique_ptr<store> open(const config::store& from, const layout& documents) {
    const auto http = options_of(from);
    switch (from.type) {
    case config::store_type::turbopuffer:
        return make_turbopuffer(
            with_header(http, "Authorization", bearer(from.api_key)),
            documents
        );
    case config::store_type::qdrant:
        return make_qdrant(with_header(http, "api-key", from.api_key), documents);
    case config::store_type::chroma:
        return make_chroma(with_header(http, "x-chroma-token", from.api_key), documents);
    case config::store_type::postgres: break;
    }
    source_address where;
    where.host = from.host;
    where.port = from.port;
    where.user = from.user;
    where.password = from.password;
    where.database = from.database;
    where.sslmode = sslmode_of(from.tls);
    where.sslrootcert = from.ca;
    return make_postgres(where, documents, from.request_timeout);
}

}  // namespace weir::migration::store
