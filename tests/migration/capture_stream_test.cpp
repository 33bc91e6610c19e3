// The stream itself: transactions, positions, what the server is told, errors.
#include "migration/wal_end.hpp"
#include "tests/migration/capture_tools.hpp"

#include <doctest/doctest.h>

#include <future>

namespace weir::migration {

using integration::wait_until;
using test::captured;
using test::captured_plan;
using test::captured_table;
using test::lsn_of;
using test::read_to;
using test::texts;

namespace {

std::string one_row(int id) {
    return "INSERT INTO captured VALUES (" + std::to_string(id) + ", 17, 'one', '[1,2,3]')";
}

auto soon() {
    return std::chrono::steady_clock::now() + integration::patience;
}

// The error of a stream that is to be opened with this request.
sql_error refusal(const start_request& request) {
    replication_stream stream;
    REQUIRE_FALSE(stream.connect(test::capture_address()));
    auto error = stream.start(request);
    REQUIRE(error);
    return *error;
}

}  // namespace

TEST_SUITE_BEGIN("migration.capture_stream");

TEST_CASE("what is rolled back is never seen") {
    captured at(captured_table(3), captured_plan(3));
    at.run("BEGIN;" + one_row(1) + "; ROLLBACK");
    at.run("BEGIN;" + one_row(2) + "; SAVEPOINT a;" + one_row(3) + "; ROLLBACK TO a; COMMIT");
    CHECK_FALSE(at.session().try_query("BEGIN;" + one_row(4) + ';' + one_row(4) + "; COMMIT").ok());
    at.run("ROLLBACK");
    CHECK(at.seen() == texts{"insert 2 e=[1,2,3] 17 one"});
}

TEST_CASE("transactions come in the order of their commits with versions that grow") {
    captured at(captured_table(3), captured_plan(3));
    auto other = test::capture_session();
    other.query("BEGIN;" + one_row(1));
    const auto first_id = other.value("SELECT pg_current_xact_id()");
    at.run("BEGIN;" + one_row(2) + ';' + one_row(3) + "; COMMIT");
    const auto between = lsn_of(at.value("SELECT pg_current_wal_insert_lsn()"));
    other.query("COMMIT");
    const auto all = read_to(at.source(), lsn_of(at.value("SELECT pg_current_wal_flush_lsn()")));
    CHECK(
        test::described(all.changes) ==
        texts{"insert 2 e=[1,2,3] 17 one", "insert 3 e=[1,2,3] 17 one", "insert 1 e=[1,2,3] 17 one"}
    );
    REQUIRE(all.changes.size() == 3);
    REQUIRE(all.ends.size() == 2);
    const auto& versions = all.changes;
    CHECK(versions[0].version.timeline == at.source().server().timeline);
    CHECK(versions[0].version.lsn == versions[1].version.lsn);
    CHECK(versions[0].version.ordinal == 0);
    CHECK(versions[1].version.ordinal == 1);
    CHECK(versions[1].version.lsn < between);
    CHECK(versions[2].version.lsn >= between);
    CHECK(versions[2].version.ordinal == 0);
    CHECK(all.ends[0].position > versions[0].version.lsn);
    CHECK(all.ends[0].position <= between);
    CHECK(all.ends[1].position > versions[2].version.lsn);
    CHECK(std::to_string(all.ends[1].transaction) == first_id);
    CHECK(versions[2].transaction == all.ends[1].transaction);
    // Committed within the last hour, by the server's clock.
    const auto now = std::stoll(at.value("SELECT (extract(epoch FROM now()) * 1000000)::bigint"));
    CHECK(now - all.ends[1].committed_at < 3'600'000'000);
    CHECK(all.ends[1].committed_at <= now);
}

TEST_CASE("what is not confirmed is read again with the same versions") {
    captured at(captured_table(3), captured_plan(3));
    at.run("CREATE TABLE public.other (id int)");
    at.run("BEGIN;" + one_row(1) + "; INSERT INTO other VALUES (1);" + one_row(2) + "; COMMIT");
    const auto first = at.changes();
    at.go_down();
    at.come_back();
    const auto second = at.changes();
    REQUIRE(first.size() == 2);
    REQUIRE(second.size() == 2);
    CHECK((first[0].version == second[0].version));
    CHECK((first[1].version == second[1].version));
    at.confirm();
    at.go_down();
    at.come_back();
    at.run(one_row(3));
    CHECK(at.seen() == texts{"insert 3 e=[1,2,3] 17 one"});
}

TEST_CASE("a large transaction is handed out change by change") {
    captured at(captured_table(3), captured_plan(3));
    at.run("INSERT INTO captured SELECT n, n % 7, 'one', '[1,2,3]' FROM generate_series(1, 20000) n"
    );
    const auto all = read_to(at.source(), lsn_of(at.value("SELECT pg_current_wal_flush_lsn()")));
    REQUIRE(all.changes.size() == 20'000);
    CHECK(all.ends.size() == 1);
    std::uint32_t expected = 0;
    for (const auto& each : all.changes) {
        const auto& row = std::get<row_written>(each.what).row;
        REQUIRE((row.key.front() == value(std::int64_t{expected} + 1)));
        REQUIRE(each.version.ordinal == expected);
        ++expected;
    }
}

TEST_CASE("B140 a quiet table's slot moves while others are written") {
    captured at(captured_table(3), captured_plan(3));
    const auto restart = [&] {
        return lsn_of(at.value(
            "SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = 'capture_test'"
        ));
    };
    const auto first_restart = restart();
    const auto first_confirmed = at.confirmed_at_server();
    auto as = integration::login_as(integration::cluster::shared(), "postgres");
    as.database = "postgres";
    integration::pq_connection elsewhere(integration::cluster::shared().primary().at, as);
    at.run("CREATE TABLE public.other (id int)");
    elsewhere.query("CREATE TEMP TABLE warm_up (id int)");
    const bool moved = wait_until([&] {
        at.run("INSERT INTO other SELECT generate_series(1, 1000)");
        elsewhere.query("CREATE TABLE elsewhere (id int); DROP TABLE elsewhere");
        // What lets a slot forget WAL: the server logs which transactions run.
        at.run("CHECKPOINT");
        CHECK(at.seen().empty());
        at.confirm();
        return restart() > first_restart;
    });
    CHECK(moved);
    CHECK(at.confirmed_at_server() > first_confirmed);
    at.run(one_row(1));
    CHECK(at.seen() == texts{"insert 1 e=[1,2,3] 17 one"});
}

TEST_CASE("the end of the WAL is reached when the last record has filled its page") {
    captured at(captured_table(3), captured_plan(3));
    sql_session session;
    REQUIRE_FALSE(session.connect(test::capture_address()).has_value());
    // A message is 55 bytes longer than its text. Somebody else may write in between.
    const auto filled = wait_until([&] {
        at.run(
            "SELECT pg_logical_emit_message(false, 'x', repeat('x', room::int - 55)) FROM (SELECT "
            "8192 - (pg_current_wal_insert_lsn() - '0/0') % 8192 AS room) AS of_page WHERE room > "
            "400"
        );
        const auto next = lsn_of(at.value("SELECT pg_current_wal_insert_lsn()"));
        if (next % 8192 != 24 && next % 8192 != 40) {
            at.run("SELECT pg_logical_emit_message(false, 'x', repeat('x', 4000))");
            return false;
        }
        const auto end = wal_end_of(session.run(wal_end_question).rows);
        REQUIRE(end);
        CHECK(*end == next - next % 8192);
        CHECK_FALSE(read_to(at.source(), *end).error.has_value());
        return true;
    });
    CHECK(filled);
}

TEST_CASE("stop ends a wait of another thread") {
    captured at(captured_table(3), captured_plan(3));
    static_cast<void>(at.seen());
    auto waiting = std::async(std::launch::async, [&] {
        for (;;) {
            auto event = at.source().next(soon());
            if (!std::holds_alternative<caught_up>(event)) {
                return event;
            }
        }
    });
    at.source().stop();
    CHECK(std::holds_alternative<nothing>(waiting.get()));
    CHECK(std::holds_alternative<nothing>(at.source().next(soon())));
}

TEST_CASE("the server is told at once when that is asked for while the reader waits") {
    captured at(captured_table(3), captured_plan(3));
    at.run(one_row(1));
    const auto all = read_to(at.source(), lsn_of(at.value("SELECT pg_current_wal_flush_lsn()")));
    auto waiting = std::async(std::launch::async, [&] {
        while (std::holds_alternative<caught_up>(at.source().next(soon()))) {
        }
    });
    const auto end = all.ends.back().position;
    CHECK(at.confirmed_at_server() < end);
    at.source().confirm(end, true);
    CHECK(wait_until([&] { return at.confirmed_at_server() == end; }));
    at.source().confirm(end - 1, true);  // never back
    at.source().stop();
    waiting.get();
    CHECK(at.confirmed_at_server() == end);
}

TEST_CASE("a reader that does not read is kept by the server as long as it says it lives") {
    captured at(captured_table(3), captured_plan(3));
    at.go_down();
    at.run("ALTER ROLE postgres SET wal_sender_timeout = '900ms'");
    at.come_back();
    at.run("ALTER ROLE postgres RESET wal_sender_timeout");
    // More than the server can send without being read from.
    at.run(
        "INSERT INTO captured SELECT n, 17, repeat('x', 500), NULL FROM generate_series(1, 40000) n"
    );
    const auto heard = [&] {
        return at.value(
            "SELECT max(reply_time) FROM pg_stat_replication WHERE application_name = 'pgweir "
            "migration'"
        );
    };
    std::string before;
    const auto heard_again = [&] {
        at.source().keep_alive();
        return heard() != before;
    };
    for (int times = 0; times < 6; ++times) {  // each after a third of the time-out
        before = heard();
        const bool again = wait_until(heard_again);
        CHECK(again);
    }
    CHECK(at.changes().size() == 40'000);
}

TEST_CASE("making a slot waits for running transactions and stop leaves none") {
    auto session = test::capture_session();
    session.query("BEGIN; SELECT pg_current_xact_id()");
    replication_stream maker;
    REQUIRE_FALSE(maker.connect(test::capture_address()));
    auto made =
        std::async(std::launch::async, [&] { return maker.create_slot("capture_waiting", false); });
    const char* const count =
        "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'capture_waiting'";
    auto watcher = test::capture_session();
    CHECK(wait_until([&] { return watcher.value(count) == "1"; }));
    maker.stop();
    const auto point = made.get();
    REQUIRE(point.has_error());
    CHECK(point.error().text.ends_with(": stopped"));
    CHECK(wait_until([&] { return watcher.value(count) == "0"; }));
    session.query("COMMIT");
}

TEST_CASE("errors of the stream are values with the server's codes") {
    captured at(captured_table(3), captured_plan(3));
    CHECK(refusal({.slot = "no_such_slot", .publications = {"capture_test"}}).sqlstate == "42704");
    CHECK(refusal({.slot = captured::slot, .publications = {"capture_test"}}).sqlstate == "55006");
    at.run(
        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = "
        "'capture_test'"
    );
    const auto ended = read_to(at.source(), UINT64_MAX);
    REQUIRE(ended.error);
    CHECK(ended.error->sqlstate == "57P01");
    CHECK(ended.error->text.find("terminating connection") != std::string::npos);
    CHECK(std::holds_alternative<sql_error>(at.source().next(soon())));
    at.come_back();
    at.run("DROP PUBLICATION capture_test");
    at.run(one_row(1));
    const auto missing = read_to(at.source(), UINT64_MAX);
    REQUIRE(missing.error);
    CHECK(missing.error->sqlstate == "42704");
    CHECK(missing.error->text.find("capture_test") != std::string::npos);
    auto wrong = test::capture_address();
    wrong.password += "x";
    replication_stream stream;
    const auto refused = stream.connect(wrong);
    REQUIRE(refused);
    CHECK(refused->text.find("password authentication failed") != std::string::npos);
    CHECK(refused->text.find(wrong.password) == std::string::npos);
}

TEST_CASE("names of slots and publications are quoted") {
    captured at(captured_table(3), captured_plan(3));
    const auto error = refusal({.slot = "a\"b'c", .publications = {"x"}});
    CHECK(error.text.find("a\"b'c") != std::string::npos);
    at.run("DROP PUBLICATION IF EXISTS \"Odd, 'name\"\"\"");
    at.run("CREATE PUBLICATION \"Odd, 'name\"\"\" FOR TABLE captured");
    at.go_down();
    wal_source source(at.what(), {});
    CHECK(wait_until([&] {
        return !source.open(
            test::capture_address(),
            {.slot = captured::slot, .publications = {"Odd, 'name\""}}
        );
    }));
    at.run(one_row(1));
    const auto all = read_to(source, lsn_of(at.value("SELECT pg_current_wal_flush_lsn()")));
    CHECK(test::described(all.changes) == texts{"insert 1 e=[1,2,3] 17 one"});
    at.run("DROP PUBLICATION \"Odd, 'name\"\"\"");
}

TEST_CASE("a promoted server tells its timeline and where the one before ended") {
    const auto servers = integration::cluster::start_own("capture", "--replicas 1");
    servers.catch_up();
    const auto& replica = servers.nodes().at(1);
    servers.tool("promote " + replica.name);
    auto where = test::capture_address();
    where.port = replica.at.port;
    replication_stream stream;
    REQUIRE_FALSE(stream.connect(where));
    const auto server = stream.identify();
    REQUIRE(server.has_value());
    CHECK(server->timeline == 2);
    CHECK(server->system_identifier != 0);
    const auto history = stream.timeline_history(2);
    REQUIRE(history.has_value());
    REQUIRE(history->size() == 1);
    CHECK(history->front().timeline == 1);
    CHECK(history->front().end > 0);
    CHECK(history->front().end <= server->flushed);
    CHECK(stream.timeline_history(1)->empty());
    CHECK(stream.timeline_history(9).has_error());
    CHECK(stream.identify().has_value());  // the connection lives on
}

TEST_SUITE_END();

}  // namespace weir::migration
