// A connection to the PostgreSQL that is a store: a bound for every statement, faults for errors.
#pragma once

#include "migration/sql.hpp"
#include "migration/store/error.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::migration::store {

// What an error with this SQLSTATE means for the caller. Empty: no connection.
[[nodiscard]] fault fault_of(std::string_view sqlstate);

// Threads: one at a time. Connects when it is first used and after a connection was lost.
class postgres_session {
public:
    postgres_session(source_address where, std::chrono::milliseconds timeout)
        : where_(std::move(where)), timeout_(timeout) {}

    // One statement; parameters and answer are binary. `what` is for the error's text, as "upsert".
    [[nodiscard]] result<sql_rows>
    run(std::string_view what, const std::string& text, std::span<const std::string> parameters);

    // Statements without parameters, in one transaction; the last one's answer, as text. A
    // `timeout` of zero: as long as it takes.
    [[nodiscard]] result<sql_rows>
    run_script(std::string_view what, const std::string& text, std::chrono::milliseconds timeout);

    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return timeout_; }

    // OID of the type vector; 0: the database lacks the extension. Known once connected.
    [[nodiscard]] std::uint32_t vector_type() const noexcept { return vector_; }

    // Connects if need be.
    [[nodiscard]] result<void> connect();
    // Finds out where the extension is, and looks for operators there.
    [[nodiscard]] result<void> find_extension();

private:
    using deadline = std::chrono::steady_clock::time_point;

    [[nodiscard]] result<sql_rows> answer(std::string_view what, deadline until);
    [[nodiscard]] bool flush(deadline until);
    [[nodiscard]] bool wait_for_answer(deadline until);
    [[nodiscard]] error lost(std::string_view what, bool late);
    [[nodiscard]] error failure(std::string_view what, PGresult* result);

    sql_session session_;
    source_address where_;
    std::chrono::milliseconds timeout_;
    std::uint32_t vector_ = 0;
};

}  // namespace weir::migration::store
