#include "migration/store/postgres_session.hpp"

#include <poll.h>

#include <algorithm>
#include <climits>
#include <vector>

namespace weir::migration::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// False when the time is over.
bool wait_for(int socket, short events, steady_clock::time_point until) {
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
        if (left <= 0) {
            return false;
        }
        pollfd one{.fd = socket, .events = events, .revents = 0};
        if (poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, INT_MAX))) > 0) {
            return true;  // ready, or broken: the next call tells
        }
    }
}

// A search through HNSW goes on until enough rows pass the filter. pgvector before 0.8 does not
// know the first setting.
constexpr const char* settings = "SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 100";

}  // namespace

fault fault_of(std::string_view sqlstate) {
    const auto group = sqlstate.substr(0, 2);
    if (sqlstate.empty() || group == "08" || sqlstate == "57P01" || sqlstate == "57P02" ||
        sqlstate == "57P03") {
        return fault::unreachable;
    }
    if (sqlstate == "53300") {  // too many connections
        return fault::throttled;
    }
    if (sqlstate == "42501" || group == "28") {
        return fault::denied;
    }
    if (sqlstate == "42P01" || sqlstate == "3F000") {
        return fault::missing;
    }
    for (const std::string_view final : {"0A", "21", "22", "23", "42", "44", "54", "P0"}) {
        if (group == final) {
            return fault::refused;
        }
    }
    return fault::failed;
}

error postgres_session::lost(std::string_view what, bool late) {
    error made{fault::unreachable, "postgres " + session_.address() + ": " + std::string(what)};
    made.text += late ? ": no answer in time" : ": connection lost";
    session_.close();
    return made;
}

error postgres_session::failure(std::string_view what, PGresult* result) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char* said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == nullptr || said == nullptr) {
        return lost(what, false);
    }
    error made{fault_of(state), "postgres " + session_.address() + ": " + std::string(what) + ": "};
    made.text += said;
    std::ranges::replace(made.text, '\n', ' ');
    if (made.what == fault::unreachable) {
        session_.close();
    }
    return made;
}

result<void> postgres_session::connect() {
    if (session_.connected()) {
        return {};
    }
    vector_ = 0;
    if (const auto trouble = session_.connect(where_)) {
        return error{fault_of(trouble->sqlstate), "postgres " + trouble->text};
    }
    if (PQsetnonblocking(session_.get(), 1) != 0) {
        return lost("connect", false);
    }
    if (const auto set = run_script("set", settings, timeout_);
        set.has_error() && !session_.connected()) {
        return set.error();
    }
    return find_extension();
}

result<void> postgres_session::find_extension() {
    const auto found = run_script(
        "find pgvector",
        "SELECT t.oid, set_config('search_path', "
        "'pg_catalog, ' || quote_ident(n.nspname), false) FROM pg_catalog.pg_extension AS e "
        "JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace "
        "JOIN pg_catalog.pg_type AS t ON t.typnamespace = n.oid AND t.typname = 'vector' "
        "WHERE e.extname = 'vector'",
        timeout_
    );
    if (found.has_error()) {
        return found.error();
    }
    if (found->size() == 1) {
        vector_ = static_cast<std::uint32_t>(std::stoul(std::string(found->at(0, 0))));
    }
    return {};
}

bool postgres_session::flush(deadline until) {
    for (;;) {
        const int left = PQflush(session_.get());
        if (left <= 0) {
            return left == 0;
        }
        // The server may have to say something before it reads on.
        if (!wait_for(PQsocket(session_.get()), POLLIN | POLLOUT, until) ||
            PQconsumeInput(session_.get()) == 0) {
            return false;
        }
    }
}

bool postgres_session::wait_for_answer(deadline until) {
    while (PQisBusy(session_.get()) != 0) {
        if (!wait_for(PQsocket(session_.get()), POLLIN, until) ||
            PQconsumeInput(session_.get()) == 0) {
            return false;
        }
    }
    return true;
}

result<sql_rows> postgres_session::answer(std::string_view what, deadline until) {
    if (!flush(until)) {
        return lost(what, steady_clock::now() >= until);
    }
    pq_result last;
    for (;;) {
        if (!wait_for_answer(until)) {
            return lost(what, steady_clock::now() >= until);
        }
        pq_result next(PQgetResult(session_.get()));
        if (!next) {
            break;
        }
        last = std::move(next);
    }
    const auto status = PQresultStatus(last.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        return failure(what, last.get());
    }
    return sql_rows(std::move(last));
}

result<sql_rows> postgres_session::run(
    std::string_view what,
    const std::string& text,
    std::span<const std::string> parameters
) {
    const auto until = steady_clock::now() + timeout_;
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& parameter : parameters) {
        values.push_back(parameter.data());
        lengths.push_back(static_cast<int>(parameter.size()));
    }
    const std::vector<int> binary(parameters.size(), 1);
    const int sent = PQsendQueryParams(
        session_.get(),
        text.c_str(),
        static_cast<int>(values.size()),
        nullptr,
        values.data(),
        lengths.data(),
        binary.data(),
        1
    );
    if (sent == 0) {
        return lost(what, false);
    }
    return answer(what, until);
}

result<sql_rows> postgres_session::run_script(
    std::string_view what,
    const std::string& text,
    std::chrono::milliseconds timeout
) {
    const auto until =
        steady_clock::now() + (timeout == timeout.zero() ? std::chrono::hours(24 * 365) : timeout);
    if (PQsendQuery(session_.get(), text.c_str()) == 0) {
        return lost(what, false);
    }
    return answer(what, until);
}

}  // namespace weir::migration::store
