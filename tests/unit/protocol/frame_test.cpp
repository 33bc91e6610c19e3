#include "protocol/frame.hpp"

#include <algorithm>
#include <random>

#include "wire_check.hpp"

namespace weir::protocol::test {
namespace {

// A message put together again from its parts.
struct delivered {
    std::uint8_t type = 0;
    std::string bytes;
    std::size_t first = 0;  // bytes of its first part
    std::uint32_t length = 0;
    bool in_pieces = false;
    bool complete = false;
    friend bool operator==(const delivered&, const delivered&) = default;
};

std::string message(char type, std::string_view body) {
    return encoded([&](byte_writer& writer) {
        const auto open = writer.message(type);
        writer.bytes(body);
    });
}

buffer header(char type, std::uint32_t length) {
    buffer out;
    byte_writer writer(out);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u32(length);
    return out;
}

part_kind first_part(side from, char type, std::uint32_t length) {
    frame_cutter cutter(from);
    return cutter.next(header(type, length)).kind;
}

void add(std::vector<delivered>& all, const frame_part& part) {
    if (part.kind == part_kind::body) {
        REQUIRE_FALSE(all.empty());
        CHECK(all.back().in_pieces);
        CHECK_FALSE(all.back().complete);
        CHECK(all.back().type == part.type);
        CHECK(all.back().length == part.length);
        all.back().bytes += as_text(part.bytes);
    } else {
        CHECK(part.last == (part.kind == part_kind::whole));
        all.push_back(
            {.type = part.type,
             .bytes = std::string(as_text(part.bytes)),
             .first = part.bytes.size(),
             .length = part.length,
             .in_pieces = part.kind == part_kind::head}
        );
    }
    all.back().complete = part.last;
}

frame_part next_part(frame_cutter& cutter, bytes_view bytes) {
    const auto part = cutter.next(bytes);
    REQUIRE(part.kind != part_kind::violation);
    const bool incomplete = part.kind == part_kind::incomplete;
    CHECK(part.bytes.empty() == incomplete);
    CHECK(part.bytes.data() == (incomplete ? nullptr : bytes.data()));
    CHECK((incomplete || cutter.in_body() != part.last));
    return part;
}

// Takes every part there is of `bytes`, and says how many bytes they had.
std::size_t take_parts(frame_cutter& cutter, bytes_view bytes, std::vector<delivered>& all) {
    std::size_t used = 0;
    for (auto part = next_part(cutter, bytes); part.kind != part_kind::incomplete;
         part = next_part(cutter, bytes.subspan(used))) {
        used += part.bytes.size();
        add(all, part);
    }
    return used;
}

// Cuts the stream as if the bytes had come up to each of `ends`, one after the other.
std::vector<delivered>
cut(side from, std::string_view stream, std::vector<std::size_t> ends, frame_limits limits = {}) {
    const buffer raw = exact(stream);
    std::vector<delivered> all;
    frame_cutter cutter(from, limits);
    std::size_t used = 0;
    ends.push_back(raw.size());
    for (const auto end : ends) {
        used += take_parts(cutter, bytes_view(raw).subspan(used, end - used), all);
    }
    CHECK(used == raw.size());
    return all;
}

// The same, with pieces of one message not told apart.
std::vector<delivered> joined(std::vector<delivered> all) {
    for (auto& one : all) {
        one.first = 0;
        one.in_pieces = false;
    }
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("protocol.frame");

TEST_CASE("two cuts at every place leave every small message of a client as it was") {
    const std::string stream =
        message('P', bytes("\0select 1\0\0\0")) + message('B', bytes("\0\0\0\0\0\0\0\0")) +
        message('D', bytes("P\0")) + message('E', bytes("\0\0\0\0\0")) + message('S', "") +
        message('Q', bytes("Z\0\0\0\x05I\0")) + message('X', "");
    const auto wanted = cut(side::frontend, stream, {});
    REQUIRE(wanted.size() == 7);
    CHECK(wanted[0].bytes == message('P', bytes("\0select 1\0\0\0")));
    CHECK(wanted[4].bytes == bytes("S\0\0\0\x04"));
    CHECK(wanted[6].type == 'X');
    for (std::size_t first = 0; first <= stream.size(); ++first) {
        for (std::size_t second = first; second <= stream.size(); ++second) {
            CHECK(cut(side::frontend, stream, {first, second}) == wanted);
        }
    }
}

TEST_CASE("bytes that come one by one give the same messages on both sides") {
    const std::string row = bytes("\0\x01\0\0\0\x06Z\0\0\0\x05I");
    const std::string answer = message('1', "") + message('T', bytes("\0\0")) + message('D', row) +
                               message('D', row) + message('C', bytes("SELECT 2\0")) +
                               message('Z', "I");
    std::vector<std::size_t> each(answer.size());
    for (std::size_t i = 0; i < each.size(); ++i) {
        each[i] = i;
    }
    const auto wanted = cut(side::backend, answer, {});
    REQUIRE(wanted.size() == 6);
    CHECK(wanted[3].bytes == message('D', row));
    const auto got = cut(side::backend, answer, each);
    CHECK(joined(got) == joined(wanted));
    CHECK(got[2].first == header_size);
    CHECK(got[4].first == 14);
}

TEST_CASE("lengths below 4 are violations whatever the type and the side") {
    for (const char type : std::string_view("QPBdSDZx\0", 9)) {
        for (const std::uint32_t length : {0U, 1U, 2U, 3U}) {
            CHECK(first_part(side::frontend, type, length) == part_kind::violation);
            CHECK(first_part(side::backend, type, length) == part_kind::violation);
        }
        CHECK(first_part(side::frontend, type, 4) == part_kind::whole);
        CHECK(first_part(side::backend, type, 4) == part_kind::whole);
    }
}

TEST_CASE("a client's large messages end where PostgreSQL's allocations do") {
    CHECK(large_message_limit == 0x3FFF'FFFE);
    for (const char type : std::string_view("QPBFdp")) {
        CAPTURE(type);
        CHECK(first_part(side::frontend, type, 10'001) != part_kind::violation);
        CHECK(first_part(side::frontend, type, 0x3FFF'FFFE) != part_kind::violation);
        CHECK(first_part(side::frontend, type, 0x3FFF'FFFF) == part_kind::violation);
        CHECK(first_part(side::frontend, type, 0x8000'0000) == part_kind::violation);
        CHECK(first_part(side::frontend, type, 0xFFFF'FFFF) == part_kind::violation);
    }
}

TEST_CASE("a client's small messages end at 10000 and so do unknown ones") {
    for (const char type : std::string_view("CDEHSXcfz\0", 10)) {
        CAPTURE(type);
        CHECK(first_part(side::frontend, type, 10'000) == part_kind::incomplete);
        CHECK(first_part(side::frontend, type, 10'001) == part_kind::violation);
    }
}

TEST_CASE("a server may send what fits into its buffers") {
    for (const char type : std::string_view("DdTtVECSZ")) {
        CAPTURE(type);
        CHECK(first_part(side::backend, type, 0x4000'0002) != part_kind::violation);
        CHECK(first_part(side::backend, type, 0x4000'0003) == part_kind::violation);
        CHECK(first_part(side::backend, type, 0xFFFF'FFFF) == part_kind::violation);
    }
}

TEST_CASE("a violation consumes nothing and needs the whole header to be seen") {
    const buffer raw = header('Q', 3);
    for (std::size_t size = 0; size < header_size; ++size) {
        frame_cutter cutter(side::frontend);
        CHECK(cutter.next(bytes_view(raw).first(size)).kind == part_kind::incomplete);
    }
    frame_cutter cutter(side::frontend);
    const auto part = cutter.next(raw);
    CHECK(part.kind == part_kind::violation);
    CHECK(part.type == 'Q');
    CHECK(part.bytes.empty());
    CHECK_FALSE(cutter.in_body());
}

TEST_CASE("only data of a server comes in pieces; a description ends an answer and is kept whole") {
    for (int type = 0; type < 256; ++type) {
        const auto kind = first_part(side::backend, static_cast<char>(type), 100);
        const bool large =
            std::string_view("DdV").find(static_cast<char>(type)) != std::string_view::npos;
        CHECK(kind == (large ? part_kind::head : part_kind::incomplete));
    }
}

TEST_CASE("of a client only copied data and function calls are passed on from the header") {
    for (int type = 0; type < 256; ++type) {
        const auto kind = first_part(side::frontend, static_cast<char>(type), 100);
        CHECK(kind == (type == 'd' || type == 'F' ? part_kind::head : part_kind::incomplete));
    }
}

TEST_CASE("a large Bind is cut behind its first 16 kB and not before") {
    const std::string whole = message('B', std::string(40'000, 'b'));
    const auto early = cut(side::frontend, whole, {5, 100, bind_head - 1, bind_head, 20'000});
    REQUIRE(early.size() == 1);
    CHECK(early[0].first == bind_head);
    CHECK(early[0].in_pieces);
    CHECK(early[0].complete);
    CHECK(early[0].length == 40'005);
    CHECK(early[0].bytes == whole);
    // One that is no larger is waited for.
    const std::string small = message('B', std::string(bind_head - header_size, 'b'));
    const auto kept = cut(side::frontend, small, {5, bind_head - 1});
    REQUIRE(kept.size() == 1);
    CHECK_FALSE(kept[0].in_pieces);
}

TEST_CASE("Query and Parse are kept whole up to the given size") {
    const frame_limits limits{.whole_text = 50'000};
    for (const char type : {'Q', 'P'}) {
        const std::string fits = message(type, std::string(50'000 - header_size, 'q'));
        const auto kept = cut(side::frontend, fits, {5, bind_head, 49'999}, limits);
        REQUIRE(kept.size() == 1);
        CHECK_FALSE(kept[0].in_pieces);
        CHECK(kept[0].length == 50'000);
        const std::string above = message(type, std::string(50'001 - header_size, 'q'));
        const auto pieces = cut(side::frontend, above, {5, bind_head - 1, bind_head + 7}, limits);
        REQUIRE(pieces.size() == 1);
        CHECK(pieces[0].first == bind_head + 7);
        CHECK(pieces[0].bytes == above);
    }
}

TEST_CASE("a body in pieces never takes bytes of the next message") {
    const std::string stream = message('d', "0123456789") + message('c', "");
    const buffer raw = exact(stream);
    frame_cutter cutter(side::frontend);
    CHECK(cutter.next(bytes_view(raw).first(8)).kind == part_kind::head);
    CHECK(cutter.in_body());
    CHECK(cutter.next({}).kind == part_kind::incomplete);
    const auto rest = cutter.next(bytes_view(raw).subspan(8));
    CHECK(rest.kind == part_kind::body);
    CHECK(rest.last);
    CHECK(as_text(rest.bytes) == "3456789");
    CHECK_FALSE(cutter.in_body());
    const auto end = cutter.next(bytes_view(raw).subspan(15));
    CHECK(end.kind == part_kind::whole);
    CHECK(end.type == 'c');
    CHECK(end.body().empty());
}

TEST_CASE("the body of a head begins behind its header") {
    const buffer raw = exact(message('D', "row").substr(0, 7));
    frame_cutter cutter(side::backend);
    const auto part = cutter.next(raw);
    CHECK(part.kind == part_kind::head);
    CHECK(as_text(part.body()) == "ro");
    CHECK(part.length == 8);
}

TEST_CASE("random streams cut at random places give the same messages") {
    std::mt19937 random(20'260'101);  // NOLINT(cert-msc51-cpp): the same streams in every run
    const auto below = [&](std::size_t n) { return random() % n; };
    const std::string_view client_types = "QPBDECSHdcfFX";
    const std::string_view server_types = "123CdcGHDIEVntsZTNSA";
    for (int round = 0; round < 400; ++round) {
        const auto from = round % 2 == 0 ? side::frontend : side::backend;
        const auto types = from == side::frontend ? client_types : server_types;
        std::string stream;
        for (auto n = 1 + below(12); n-- > 0;) {
            const char type = types[below(types.size())];
            const bool large = std::string_view("QPBdDTF").find(type) != std::string_view::npos &&
                               (from == side::backend || type != 'D') && below(4) == 0;
            stream += message(type, std::string(below(large ? 60'000 : 40), type));
        }
        std::vector<std::size_t> ends(below(20));
        std::generate(ends.begin(), ends.end(), [&] { return below(stream.size() + 1); });
        std::sort(ends.begin(), ends.end());
        const frame_limits limits{.whole_text = 30'000};
        const auto pieces = cut(from, stream, ends, limits);
        CHECK(joined(pieces) == joined(cut(from, stream, {}, limits)));
        for (const auto& one : pieces) {
            CHECK(one.bytes.size() == one.length);
            if (one.in_pieces && from == side::frontend && one.type != 'd' && one.type != 'F') {
                CHECK(one.first >= bind_head);
            }
        }
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
