// libpq's handles with an owner. No PGconn* or PGresult* crosses a file's border.
#pragma once

#include <libpq-fe.h>

#include <memory>

namespace weir::proxy {

struct pq_deleter {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }

    void operator()(PGresult* result) const noexcept { PQclear(result); }

    void operator()(PGnotify* notify) const noexcept { PQfreemem(notify); }
};

using pq_connection = std::unique_ptr<PGconn, pq_deleter>;
using pq_result = std::unique_ptr<PGresult, pq_deleter>;
using pq_notify = std::unique_ptr<PGnotify, pq_deleter>;

}  // namespace weir::proxy
