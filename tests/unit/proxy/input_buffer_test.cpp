#include "proxy/input_buffer.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace weir::proxy::test {

namespace {

std::string text(const input_buffer& buffer) {
    const auto view = buffer.view();
    return {view.begin(), view.end()};
}

// What a read does.
void receive(input_buffer& buffer, std::string_view bytes) {
    const auto room = buffer.prepare();
    REQUIRE(room.size() >= bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    buffer.received(bytes.size());
}

struct worker {
    explicit worker(std::size_t size) : scratch(size) {}

    std::vector<std::uint8_t> scratch;
};

}  // namespace

TEST_SUITE_BEGIN("proxy.input_buffer");

TEST_CASE("bytes are read into the scratch space and cost no memory") {
    worker home(16);
    input_buffer buffer(home.scratch);
    CHECK(buffer.empty());
    CHECK(buffer.prepare().size() == 16);
    receive(buffer, "0123456789");
    CHECK(text(buffer) == "0123456789");
    CHECK(buffer.view().data() == home.scratch.data());
    buffer.consume(4);
    CHECK(text(buffer) == "456789");
    buffer.consume(6);
    CHECK(buffer.empty());
    CHECK(buffer.memory() == 0);
}

TEST_CASE("a small rest moves to the front of the scratch space") {
    worker home(16);
    input_buffer buffer(home.scratch);
    receive(buffer, "0123456789abcdef");
    buffer.consume(10);
    const auto room = buffer.prepare();
    CHECK(room.size() == 10);
    CHECK(text(buffer) == "abcdef");
    CHECK(buffer.view().data() == home.scratch.data());
    receive(buffer, "ghij");
    CHECK(text(buffer) == "abcdefghij");
    CHECK(buffer.memory() == 0);
}

TEST_CASE("a rest of more than half the scratch space gets memory that grows") {
    worker home(16);
    input_buffer buffer(home.scratch);
    receive(buffer, "0123456789abcdef");
    buffer.consume(2);
    CHECK(buffer.prepare().size() >= 14);
    CHECK(text(buffer) == "23456789abcdef");
    CHECK(buffer.view().data() != home.scratch.data());
    receive(buffer, "ghijklmnopqrst");
    CHECK(text(buffer) == "23456789abcdefghijklmnopqrst");
    CHECK(buffer.prepare().size() >= 28);
    CHECK(text(buffer) == "23456789abcdefghijklmnopqrst");
    CHECK(buffer.memory() >= 56);
}

TEST_CASE("what is kept does not change when another connection uses the scratch space") {
    worker home(16);
    input_buffer mine(home.scratch);
    input_buffer other(home.scratch);
    receive(mine, "0123456789");
    mine.consume(3);
    mine.keep();
    receive(other, "XXXXXXXXXXXXXXXX");
    CHECK(text(mine) == "3456789");
    mine.keep();
    CHECK(text(mine) == "3456789");
    other.consume(16);
    receive(mine, "abc");
    CHECK(text(mine) == "3456789abc");
    CHECK(mine.view().data() == home.scratch.data());
}

TEST_CASE("a kept rest can be consumed and kept again") {
    worker home(16);
    input_buffer buffer(home.scratch);
    receive(buffer, "0123456789");
    buffer.keep();
    buffer.consume(9);
    buffer.keep();
    CHECK(text(buffer) == "9");
    buffer.consume(1);
    CHECK(buffer.empty());
}

TEST_CASE("large memory is given up when nothing is left to keep") {
    worker home(4096);
    input_buffer buffer(home.scratch);
    receive(buffer, std::string(4000, 'x'));
    buffer.keep();
    CHECK(buffer.memory() >= 4000);
    buffer.consume(4000);
    buffer.keep();
    CHECK(buffer.memory() == 0);
    receive(buffer, "short");
    buffer.keep();
    CHECK(buffer.memory() > 0);
    CHECK(buffer.memory() <= 512);
    buffer.consume(5);
    buffer.keep();
    CHECK(buffer.memory() > 0);  // too little to be worth it
}

TEST_CASE("a read into own memory leaves the scratch space to others") {
    worker home(16);
    input_buffer mine(home.scratch);
    receive(mine, "0123456789");
    mine.consume(7);
    const auto room = mine.prepare_own(8);
    CHECK(room.size() == 8);
    input_buffer other(home.scratch);
    receive(other, "XXXXXXXXXXXXXXXX");
    CHECK(text(mine) == "789");
    std::copy_n("abcd", 4, room.begin());
    mine.received(4);
    CHECK(text(mine) == "789abcd");
    mine.consume(5);
    const auto more = mine.prepare_own(4);
    CHECK(more.size() == 4);
    CHECK(text(mine) == "cd");
    std::copy_n("ef", 2, more.begin());
    mine.received(2);
    CHECK(text(mine) == "cdef");
}

TEST_CASE("any order of reads and waits gives the bytes as they came") {
    std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same order in every run
    for (int round = 0; round < 300; ++round) {
        worker home(64);
        input_buffer buffers[2] = {input_buffer(home.scratch), input_buffer(home.scratch)};
        std::string came[2];
        std::string used[2];
        for (int i = 0; i < 200; ++i) {
            const auto which = random() % 2;
            auto& buffer = buffers[which];
            // One connection runs at a time and keeps its rest before another one does.
            const bool own = random() % 4 == 0;
            const auto room = own ? buffer.prepare_own(1 + random() % 40) : buffer.prepare();
            const auto size = 1 + random() % std::min<std::size_t>(room.size(), 200);
            for (std::size_t at = 0; at < size; ++at) {
                room[at] = static_cast<std::uint8_t>('a' + random() % 26);
                came[which] += static_cast<char>(room[at]);
            }
            buffer.received(size);
            const auto eaten = random() % (buffer.view().size() + 1);
            used[which] += text(buffer).substr(0, eaten);
            buffer.consume(eaten);
            buffer.keep();
            std::fill(home.scratch.begin(), home.scratch.end(), std::uint8_t{'#'});
        }
        for (const auto which : {0, 1}) {
            CHECK(used[which] + text(buffers[which]) == came[which]);
        }
    }
}

TEST_CASE("bytes that are put back come first wherever the others are") {
    worker home(16);
    input_buffer buffer(home.scratch);
    buffer.put_back({'a', 'b'});
    CHECK(text(buffer) == "ab");
    buffer.consume(1);
    buffer.put_back({'x'});
    CHECK(text(buffer) == "xb");
    buffer.consume(2);
    receive(buffer, "cd");
    buffer.put_back({'a', 'b'});
    CHECK(text(buffer) == "abcd");
    receive(buffer, "ef");
    CHECK(text(buffer) == "abcdef");
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
