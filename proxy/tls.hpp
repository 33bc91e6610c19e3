// TLS contexts from the configuration: one for the listener, one per cluster. Immutable once built,
// shared by all workers; a reload builds new ones.
#pragma once

#include "config/config.hpp"

#include <boost/asio/ssl/context.hpp>

#include <map>
#include <memory>
#include <string>

namespace weir::proxy {

struct tls_contexts {
    std::shared_ptr<boost::asio::ssl::context> listener;  // null: no certificate configured
    std::map<std::string, std::shared_ptr<boost::asio::ssl::context>, std::less<>>
        clusters;  // by name
};

// Throws std::runtime_error with the file's name and OpenSSL's reason; for start-up and reload
// only.
[[nodiscard]] std::shared_ptr<const tls_contexts> make_tls_contexts(const config::config& from);

}  // namespace weir::proxy
