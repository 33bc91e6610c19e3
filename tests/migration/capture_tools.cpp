#include "tests/migration/capture_tools.hpp"

#include "routing/position.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace weir::migration::test {

using integration::cluster;

namespace {

std::string described(const std::vector<float>& numbers) {
    std::ostringstream text;
    const bool equal = std::all_of(numbers.begin(), numbers.end(), [&](float each) {
        return each == numbers.front();
    });
    if (equal) {
        text << numbers.front() << 'x' << numbers.size();
        return text.str();
    }
    for (const float number : numbers) {
        text << (text.tellp() == 0 ? '[' : ',') << number;
    }
    text << ']';
    return text.str();
}

std::string described(const row_written& what) {
    const auto& row = what.row;
    auto text = (what.inserted ? "insert " : "update ") + to_text(row.key) + " e=";
    text += row.embedding_unknown ? "?" : row.embedding ? described(*row.embedding) : "NULL";
    for (std::size_t i = 0; i < row.attributes.size(); ++i) {
        const bool known = std::count(row.unknown.begin(), row.unknown.end(), i) == 0;
        text += ' ' + (known ? to_text(row.attributes[i]) : std::string("?"));
    }
    if (what.old_key) {
        text += " old=" + to_text(*what.old_key);
    }
    if (what.old_tenant) {
        text += " was=" + to_text(*what.old_tenant);
    }
    return text;
}

std::string described(const row_deleted& what) {
    return "delete " + to_text(what.key) + (what.tenant ? " was=" + to_text(*what.tenant) : "");
}

std::string described(const emptied& what) {
    return what.part == 0 ? "empty" : "empty " + std::to_string(what.part);
}

std::string described(const unusable& what) {
    return "unusable: " + what.reason;
}

}  // namespace

source_address capture_address() {
    const auto& servers = cluster::shared();
    source_address where;
    where.host = servers.primary().at.host;
    where.port = servers.primary().at.port;
    where.user = "postgres";
    where.password = servers.password("postgres");
    where.database = servers.database();
    return where;
}

integration::pq_connection capture_session() {
    const auto& servers = cluster::shared();
    return {servers.primary().at, integration::login_as(servers, "postgres")};
}

plan captured_plan(std::size_t dimensions) {
    plan made;
    made.name = "captured";
    made.schema = "public";
    made.table = "captured";
    made.embedding = "e";
    made.layout.key = {{.name = "id", .kind = value_kind::integer, .type = "bigint"}};
    made.layout.attributes = {
        {.name = "org", .kind = value_kind::integer, .type = "integer"},
        {.name = "title", .kind = value_kind::text, .type = "text"}};
    made.layout.dimensions = dimensions;
    made.tenant = 0;
    return made;
}

std::string captured_table(std::size_t dimensions) {
    return "CREATE TABLE public.captured (id bigint PRIMARY KEY, org integer, title text, e "
           "vector(" +
           std::to_string(dimensions) + "))";
}

std::string filled(double number, std::size_t dimensions) {
    std::ostringstream text;
    text << "array_fill(" << number << "::real, ARRAY[" << dimensions << "])::vector";
    return text.str();
}

std::string described(const change& what) {
    return std::visit([](const auto& each) { return described(each); }, what.what);
}

texts described(const std::vector<change>& all) {
    texts made;
    for (const auto& each : all) {
        made.push_back(described(each));
    }
    return made;
}

reading read_to(change_source& from, std::uint64_t lsn) {
    reading read;
    const auto deadline = std::chrono::steady_clock::now() + integration::patience;
    while (read.reached < lsn && !read.error) {
        auto event = from.next(deadline);
        if (auto* one = std::get_if<change>(&event)) {
            read.changes.push_back(std::move(*one));
        } else if (const auto* end = std::get_if<transaction_end>(&event)) {
            read.ends.push_back(*end);
            read.reached = end->position;
        } else if (const auto* all = std::get_if<caught_up>(&event)) {
            read.reached = std::max(read.reached, all->position);
        } else if (auto* error = std::get_if<sql_error>(&event)) {
            read.error = std::move(*error);
        } else {
            FAIL("the stream is silent");
        }
    }
    return read;
}

captured::captured(const std::string& ddl, plan what, const std::string& before_slot)
    : plan_(std::move(what)), session_(capture_session()) {
    clean_up();
    run(ddl);
    const auto table = plan_.schema + '.' + plan_.table;
    const auto oid = value("SELECT '" + table + "'::regclass::oid");
    plan_.table_oid = static_cast<std::uint32_t>(std::stoul(oid));
    run("CREATE PUBLICATION capture_test FOR TABLE " + table);
    if (!before_slot.empty()) {
        run(before_slot);
    }
    replication_stream maker;
    REQUIRE_FALSE(maker.connect(capture_address()));
    const auto point = maker.create_slot(slot, false);
    REQUIRE_MESSAGE(point.has_value(), point.error().text);
    reached_ = *point;
    confirmed_ = *point;
    come_back();
}

captured::~captured() {
    go_down();
    clean_up();
}

void captured::clean_up() {
    const bool dropped = integration::wait_until([&] {
        return session_
            .try_query(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                " WHERE slot_name = 'capture_test'"
            )
            .ok();
    });
    CHECK(dropped);
    session_.query(
        "DROP PUBLICATION IF EXISTS capture_test;"
        " DROP TABLE IF EXISTS public.captured, public.captured_now, public.detached,"
        " public.other, public.child CASCADE;"
        " DROP TYPE IF EXISTS public.mood; DROP SCHEMA IF EXISTS pgweir CASCADE"
    );
}

std::vector<change> captured::changes() {
    auto read = read_to(*source_, lsn_of(value("SELECT pg_current_wal_flush_lsn()")));
    CHECK_MESSAGE(!read.error, read.error->text);
    reached_ = std::max(reached_, read.reached);
    return std::move(read.changes);
}

void captured::confirm() {
    confirmed_ = reached_;
    source_->confirm(confirmed_, true);
    const bool told = integration::wait_until([&] {
        const auto event = source_->next(std::chrono::steady_clock::now());
        CHECK_FALSE(std::holds_alternative<change>(event));
        return confirmed_at_server() >= confirmed_;
    });
    CHECK(told);
}

std::uint64_t captured::confirmed_at_server() {
    return lsn_of(value(
        "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'capture_test'"
    ));
}

void captured::go_down() {
    source_.reset();
}

void captured::come_back() {
    source_ =
        std::make_unique<wal_source>(plan_, [this](std::uint32_t oid) { return is_ours(oid); });
    std::optional<sql_error> error;
    const bool open = integration::wait_until([&] {  // the old walsender may take a moment to go
        error = source_->open(
            capture_address(),
            {.slot = slot, .publications = {"capture_test"}, .from = confirmed_}
        );
        return !error || error->sqlstate != "55006";
    });
    REQUIRE_MESSAGE((open && !error), error->text);
}

bool captured::is_ours(std::uint32_t oid) {
    return session_.value(
               "SELECT " + std::to_string(oid) +
               " IN (SELECT relid FROM pg_partition_tree('public.captured'))"
           ) == "t";
}

std::uint64_t lsn_of(const std::string& text) {
    const auto read = routing::parse_lsn(text);
    REQUIRE_MESSAGE(read, text);
    return read->value;
}

}  // namespace weir::migration::test
