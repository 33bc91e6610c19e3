// Requests to a store that speaks JSON: answers are parsed, refusals become errors.
#pragma once

#include "migration/store/error.hpp"
#include "migration/store/http_client.hpp"
#include "migration/store/json_reader.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace weir::migration::store {

// How an HTTP status is to be understood; not for those of success.
[[nodiscard]] fault fault_of_status(unsigned status) noexcept;

// Threads: one at a time. Blocks, see http_client.
class json_client {
public:
    // `store` is the kind of store, for messages: "qdrant".
    json_client(http_options options, std::string store);

    // `purpose` is for messages: "upsert to org-17". An answer of 200 or 201 is parsed (null if it
    // is empty); every other status is an error. 202 (not ready yet) is fault::failed; an answer
    // that is no JSON is fault::unreachable, since the request may have been carried out.
    [[nodiscard]] result<boost::json::value>
    call(const http_request& what, std::string_view purpose);

    // An error of this store with its name and address.
    [[nodiscard]] error make_error(fault what, std::string_view purpose, std::string_view why)
        const;

private:
    http_client client_;
    std::string store_;
};

}  // namespace weir::migration::store
