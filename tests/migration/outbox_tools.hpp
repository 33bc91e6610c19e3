// A table on the real server with its outbox, for tests.
#pragma once

#include "migration/capture/outbox_sql.hpp"
#include "tests/migration/capture_tools.hpp"

#include <doctest/doctest.h>

namespace weir::migration::test {

// The table with its outbox, and who reads that.
class outboxed {
public:
    explicit outboxed(const std::string& ddl, plan what, outbox_options with = {})
        : what_(std::move(what)), with_(with), session_(capture_session()) {
        clean_up();
        run(ddl);
        const auto oid = value("SELECT 'public.captured'::regclass::oid");
        what_.table_oid = static_cast<std::uint32_t>(std::stoul(oid));
        REQUIRE_FALSE(admin_.connect(capture_address()));
        install();
        reopen();
    }

    ~outboxed() { clean_up(); }

    outboxed(const outboxed&) = delete;
    outboxed& operator=(const outboxed&) = delete;

    void install() {
        const auto error = install_outbox(admin_, what_);
        REQUIRE_MESSAGE(!error, error->text);
    }

    void run(const std::string& sql) { session_.query(sql); }

    std::string value(const std::string& sql) { return session_.value(sql); }

    std::string waiting() { return value("SELECT count(*) FROM " + outbox_table(what_)); }

    void reopen() {
        position_ = 0;
        source_ = std::make_unique<outbox_source>(what_, with_);
        REQUIRE_FALSE(source_->open(capture_address()));
    }

    // Everything that can be read now; confirmed unless `keep`.
    std::vector<change> changes(bool keep = false) {
        const auto next = [&] {
            return source_->next(std::chrono::steady_clock::now() + integration::patience);
        };
        std::vector<change> all;
        auto event = next();
        for (; !std::holds_alternative<caught_up>(event); event = next()) {
            if (const auto* end = std::get_if<transaction_end>(&event)) {
                move_to(end->position);
            } else {
                all.push_back(std::get<change>(std::move(event)));
            }
        }
        if (!keep) {
            source_->confirm(position_, true);
        }
        return all;
    }

    texts seen() { return described(changes()); }

    [[nodiscard]] outbox_source& source() { return *source_; }

    [[nodiscard]] sql_session& admin() { return admin_; }

    [[nodiscard]] plan& what() { return what_; }

private:
    void move_to(std::uint64_t position) {
        CHECK(position > position_);
        position_ = position;
    }

    void clean_up() {
        session_.query(
            "DROP TABLE IF EXISTS public.captured, public.detached CASCADE;"
            " DROP SCHEMA IF EXISTS pgweir CASCADE"
        );
    }

    plan what_;
    outbox_options with_;
    integration::pq_connection session_;
    sql_session admin_;
    std::unique_ptr<outbox_source> source_;
    std::uint64_t position_ = 0;
};

}  // namespace weir::migration::test
