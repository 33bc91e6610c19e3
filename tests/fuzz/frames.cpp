// A stream of messages: cut at other places it gives the same messages, no piece reaches beyond
// what came, and no body makes a decoder read outside of it. What decodes is the same after
// encoding.
#include "protocol/backend.hpp"
#include "protocol/frame.hpp"
#include "protocol/frontend.hpp"
#include "protocol/print.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace weir::fuzz {
namespace {

using namespace protocol;

struct message {
    std::uint8_t type = 0;
    std::vector<std::uint8_t> bytes;
    bool complete = false;
};

struct cut {
    std::vector<message> messages;
    bool lost = false;
};

// `sizes` says how many bytes come at a time, from the front again at its end.
cut cut_up(side from, std::span<const std::uint8_t> stream, std::span<const std::uint8_t> sizes) {
    cut result;
    frame_cutter cutter(from, {.whole_text = 512});
    std::size_t used = 0;
    std::size_t come = 0;
    for (std::size_t turn = 0; come < stream.size(); ++turn) {
        const std::size_t more =
            sizes.empty() ? stream.size() : std::size_t{sizes[turn % sizes.size()]} + 1;
        come = std::min(stream.size(), come + more);
        while (true) {
            const bool inside = cutter.in_body();
            const auto part = cutter.next(stream.subspan(used, come - used));
            if (part.kind == part_kind::incomplete) {
                break;
            }
            if (part.kind == part_kind::violation) {
                result.lost = true;
                return result;
            }
            claim(part.bytes.size() <= come - used, "a part is of what came");
            claim(!part.bytes.empty(), "a part has bytes");
            used += part.bytes.size();
            if (!inside) {
                result.messages.push_back({part.type, {}, false});
            }
            auto& last = result.messages.back();
            claim(last.type == part.type, "pieces are of their message");
            last.bytes.insert(last.bytes.end(), part.bytes.begin(), part.bytes.end());
            last.complete = part.last;
        }
    }
    return result;
}

template <typename Message>
void round_trip(byte_span body) {
    const auto decoded = Message::decode(body);
    if (!decoded) {
        return;
    }
    if constexpr (requires(byte_writer & writer) { decoded->encode(writer); }) {
        std::vector<std::uint8_t> bytes;
        byte_writer writer(bytes);
        decoded->encode(writer);
        const auto again = Message::decode(byte_span(bytes).subspan(header_size));
        claim(again.has_value() && *again == *decoded, "encoded and decoded it is the same");
    }
}

void decode_all(byte_span body) {
    round_trip<frontend::query>(body);
    round_trip<frontend::parse>(body);
    round_trip<frontend::bind_head>(body);
    round_trip<frontend::bind>(body);
    round_trip<frontend::describe>(body);
    round_trip<frontend::close>(body);
    round_trip<frontend::execute>(body);
    round_trip<frontend::function_call>(body);
    round_trip<frontend::password>(body);
    round_trip<frontend::sasl_initial_response>(body);
    round_trip<frontend::sasl_response>(body);
    round_trip<frontend::copy_fail>(body);
    round_trip<backend::authentication>(body);
    round_trip<backend::parameter_status>(body);
    round_trip<backend::backend_key_data>(body);
    round_trip<backend::ready_for_query>(body);
    round_trip<backend::command_complete>(body);
    round_trip<backend::notification_response>(body);
    round_trip<backend::negotiate_protocol_version>(body);
    if (const auto bound = frontend::bind::decode(body)) {
        for (std::size_t number = 0; number < 4; ++number) {
            (void)frontend::read_bind_parameter(bound->tail, number);
        }
    }
    if (const auto parsed = frontend::parse::decode(body)) {
        for (std::size_t i = 0; i < parsed->oid_count(); ++i) {
            (void)parsed->oid(i);
        }
    }
    if (const auto fields = backend::response_fields::decode(body)) {
        (void)fields->sqlstate();
        (void)fields->is_fatal();
        (void)fields->message();
    }
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace weir::fuzz;
    input from({data, size});
    const auto direction = (from.byte() & 1) != 0 ? side::frontend : side::backend;
    const auto sizes = from.piece(from.byte() % 8);
    const auto stream = from.rest();
    const auto whole = cut_up(direction, stream, {});
    const auto pieces = cut_up(direction, stream, sizes);
    claim(whole.messages.size() == pieces.messages.size(), "as many messages however it is cut");
    claim(whole.lost == pieces.lost, "lost or not however it is cut");
    for (std::size_t i = 0; i < whole.messages.size(); ++i) {
        const auto& one = whole.messages[i];
        const auto& other = pieces.messages[i];
        // The last one may still be coming, and more or less of it be given out.
        if (one.complete || other.complete) {
            claim(one.bytes == other.bytes && one.complete == other.complete, "the same message");
        }
        if (one.complete && one.bytes.size() >= header_size) {
            const auto body = byte_span(one.bytes).subspan(header_size);
            decode_all(body);
            (void)print_frontend(static_cast<char>(one.type), body);
            (void)print_backend(static_cast<char>(one.type), body);
        }
    }
    return 0;
}
