#include "migration/store/gzip.hpp"

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>

#include <cstdint>

namespace weir::migration::store {
namespace {

namespace zlib = boost::beast::zlib;

void append_little_endian(std::string& text, std::uint32_t what) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        text += static_cast<char>(what >> shift & 0xFF);
    }
}

}  // namespace

std::string gzip(std::string_view what) {
    // No name, no time, unknown system.
    std::string made("\x1F\x8B\x08\x00\x00\x00\x00\x00\x00\xFF", 10);
    const auto header = made.size();
    zlib::deflate_stream deflate;
    deflate.reset(1, 15, 8, zlib::Strategy::normal);  // the fastest level: digits shrink anyway
    made.resize(header + deflate.upper_bound(what.size()) + 64);
    zlib::z_params in;
    in.next_in = what.data();
    in.avail_in = what.size();
    in.next_out = made.data() + header;
    in.avail_out = made.size() - header;
    boost::beast::error_code finished;  // end_of_stream, since the room is enough
    deflate.write(in, zlib::Flush::finish, finished);
    made.resize(header + in.total_out);
    boost::crc_32_type sum;
    sum.process_bytes(what.data(), what.size());
    append_little_endian(made, sum.checksum());
    append_little_endian(made, static_cast<std::uint32_t>(what.size()));
    return made;
}

}  // namespace weir::migration::store
