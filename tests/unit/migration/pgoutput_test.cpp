#include "migration/capture/pgoutput.hpp"

#include "tests/unit/migration/pgoutput_bytes.hpp"

#include <doctest/doctest.h>

#include <random>

namespace weir::migration::pgoutput {
namespace {

using namespace std::string_view_literals;
using protocol::errc;

template <class Message>
Message decoded(const test::sent& bytes) {
    const auto read = decode(bytes);
    REQUIRE(read.has_value());
    const auto* message = std::get_if<Message>(&*read);
    REQUIRE(message != nullptr);
    return *message;
}

boost::system::error_code error_of(const test::sent& bytes) {
    const auto read = decode(bytes);
    return read ? boost::system::error_code() : read.error();
}

const test::sent_tuple full_row = {
    test::binary("\1\2\3\4"),
    test::text("seven"),
    test::null(),
    test::unchanged(),
    test::binary("")};

std::vector<test::sent> one_of_each() {
    const std::vector<test::sent_column> columns = {
        {"id", 23, -1, true},
        {"e", 16'500, 1536, false}};
    return {
        test::begin(0x1122334455667788, 700),
        test::commit(8, 9),
        test::message_bytes('O').u64(7).cstring("node_a").get(),
        test::message_bytes('M').u8(1).u64(7).cstring("topic").u32(3).raw("abc").get(),
        test::relation(99, columns),
        test::type(16'500, "public", "vector"),
        test::insert(99, full_row),
        test::update(99, 0, {}, full_row),
        test::update(99, 'K', {test::text("1"), test::null()}, full_row),
        test::update(99, 'O', full_row, full_row),
        test::erase(99, 'K', {test::text("1"), test::null()}),
        test::erase(99, 'O', full_row),
        test::truncate({99, 98}, 3)};
}

}  // namespace

TEST_SUITE_BEGIN("migration.pgoutput");

TEST_CASE("Begin and Commit and Origin are read") {
    const auto first = decoded<begin>(test::begin(0x1122334455667788, 700));
    CHECK(first.final_lsn == 0x1122334455667788);
    CHECK(first.committed_at == 5);
    CHECK(first.transaction == 700);
    const auto last = decoded<commit>(test::commit(8, 9));
    CHECK(last.commit_lsn == 8);
    CHECK(last.end_lsn == 9);
    CHECK(last.committed_at == 6);
    const auto bytes = test::message_bytes('O').u64(7).cstring("node_a").get();
    const auto from = decoded<origin>(bytes);
    CHECK(from.commit_lsn == 7);
    CHECK(from.name == "node_a"sv);
}

TEST_CASE("a message of pg_logical_emit_message is read") {
    const auto bytes =
        test::message_bytes('M').u8(1).u64(7).cstring("topic").u32(3).raw("abc").get();
    const auto read = decoded<emitted>(bytes);
    CHECK(read.transactional);
    CHECK(read.lsn == 7);
    CHECK(read.prefix == "topic"sv);
    CHECK(read.content == "abc"sv);
}

TEST_CASE("Relation and Type are read") {
    const auto bytes = test::relation(99, {{"id", 23, -1, true}, {"e", 16'500, 1536, false}});
    const auto read = decoded<relation>(bytes);
    CHECK(read.id == 99);
    CHECK(read.schema == "public"sv);
    CHECK(read.name == "items"sv);
    CHECK(read.identity == 'd');
    REQUIRE(read.columns.size() == 2);
    CHECK(read.columns[0].identity);
    CHECK(read.columns[0].name == "id"sv);
    CHECK(read.columns[0].type == 23);
    CHECK(read.columns[0].modifier == -1);
    CHECK_FALSE(read.columns[1].identity);
    CHECK(read.columns[1].name == "e"sv);
    CHECK(read.columns[1].modifier == 1536);
    const auto name_bytes = test::type(16'500, "public", "vector");
    const auto named = decoded<type>(name_bytes);
    CHECK(named.id == 16'500);
    CHECK(named.schema == "public"sv);
    CHECK(named.name == "vector"sv);
}

TEST_CASE("tuples keep their fields' kinds and bytes") {
    const auto bytes = test::insert(99, full_row);
    const auto read = decoded<insert>(bytes);
    CHECK(read.relation == 99);
    REQUIRE(read.row.size() == 5);
    CHECK(read.row[0].kind == field_kind::binary);
    CHECK(read.row[0].bytes == "\1\2\3\4"sv);
    CHECK(read.row[1].kind == field_kind::text);
    CHECK(read.row[1].bytes == "seven"sv);
    CHECK(read.row[2].kind == field_kind::null);
    CHECK(read.row[3].kind == field_kind::unchanged);
    CHECK(read.row[4].kind == field_kind::binary);
    CHECK(read.row[4].bytes.empty());
}

TEST_CASE("updates and deletes tell which old tuple they have") {
    CHECK(decoded<update>(test::update(99, 0, {}, full_row)).before == old_kind::none);
    const auto key_bytes = test::update(99, 'K', {test::text("1"), test::null()}, full_row);
    const auto key_update = decoded<update>(key_bytes);
    CHECK(key_update.before == old_kind::key);
    REQUIRE(key_update.old.size() == 2);
    CHECK(key_update.old[0].bytes == "1"sv);
    CHECK(key_update.row.size() == 5);
    CHECK(decoded<update>(test::update(99, 'O', full_row, full_row)).before == old_kind::full);
    CHECK(decoded<erase>(test::erase(99, 'K', {test::text("1")})).before == old_kind::key);
    CHECK(decoded<erase>(test::erase(99, 'O', full_row)).before == old_kind::full);
}

TEST_CASE("Truncate names its relations and options") {
    const auto read = decoded<truncate>(test::truncate({99, 98}, 2));
    CHECK_FALSE(read.cascade);
    CHECK(read.restart_identity);
    CHECK(read.relations == std::vector<std::uint32_t>{99, 98});
    CHECK(decoded<truncate>(test::truncate({1}, 1)).cascade);
}

TEST_CASE("every message cut anywhere or continued is an error") {
    for (const auto& whole : one_of_each()) {
        CAPTURE(static_cast<char>(whole.front()));
        CHECK_FALSE(error_of(whole));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            CAPTURE(size);
            // On the heap with exactly this size, so that the address sanitizer sees a read beyond.
            CHECK(error_of(test::sent(whole.begin(), whole.begin() + static_cast<long>(size))));
        }
        auto longer = whole;
        longer.push_back('n');
        CHECK(error_of(longer) == errc::trailing_bytes);
    }
}

TEST_CASE("counts and kinds that cannot be are errors") {
    CHECK(error_of(test::message_bytes('S').u32(1).get()) == errc::unexpected_message);
    CHECK(error_of(test::message_bytes('I').u32(1).u8('K').u16(0).get()) == errc::bad_value);
    CHECK(error_of(test::message_bytes('I').u32(1).u8('N').u16(0xffff).get()) == errc::bad_count);
    CHECK(error_of(test::message_bytes('I').u32(1).u8('N').u16(0x7fff).get()) == errc::truncated);
    CHECK(
        error_of(test::message_bytes('I').u32(1).u8('N').u16(1).u8('x').get()) == errc::bad_value
    );
    CHECK(
        error_of(test::message_bytes('I').u32(1).u8('N').u16(1).u8('b').u32(0xffffffff).get()) ==
        errc::bad_count
    );
    CHECK(
        error_of(test::message_bytes('I').u32(1).u8('N').u16(1).u8('b').u32(0x7fffffff).get()) ==
        errc::truncated
    );
    CHECK(error_of(test::message_bytes('U').u32(1).u8('x').u16(0).get()) == errc::bad_value);
    CHECK(error_of(test::message_bytes('D').u32(1).u8('N').u16(0).get()) == errc::bad_value);
    CHECK(error_of(test::message_bytes('T').u32(0x7fffffff).u8(0).get()) == errc::truncated);
    CHECK(error_of(test::message_bytes('T').u32(0x80000000).u8(0).get()) == errc::bad_count);
    CHECK(error_of({}) == errc::truncated);
}

TEST_CASE("random and damaged bytes never crash the decoder") {
    std::mt19937 random(11);
    const auto all = one_of_each();
    std::size_t good = 0;
    for (int round = 0; round < 200'000; ++round) {
        auto bytes = all[random() % all.size()];
        for (unsigned damage = random() % 4; damage > 0; --damage) {
            bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        }
        bytes.resize(bytes.size() - random() % 2);
        const test::sent exact(bytes.begin(), bytes.end());
        good += decode(exact).has_value() ? 1 : 0;
        test::sent noise(random() % 40);
        for (auto& byte : noise) {
            byte = static_cast<std::uint8_t>(random());
        }
        good += decode(noise).has_value() ? 1 : 0;
    }
    CHECK(good > 0);
}

TEST_SUITE_END();

}  // namespace weir::migration::pgoutput
