#include "proxy/console/console.hpp"

#include "protocol/byte_writer.hpp"
#include "proxy/client_error.hpp"
#include "proxy/console/commands.hpp"
#include "proxy/console/conversation.hpp"
#include "proxy/random_bytes.hpp"
#include "proxy/worker.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::proxy::console {

namespace {

namespace backend = protocol::backend;

enum class rights : std::uint8_t { none, look, all };

bool names(const std::vector<std::string>& users, const std::string& user) {
    return std::find(users.begin(), users.end(), user) != users.end();
}

rights rights_of(const config::console& from, const std::string& user) {
    if (names(from.admin, user)) {
        return rights::all;
    }
    return names(from.stats, user) ? rights::look : rights::none;
}

protocol::diagnostic no_rights(const config::console& from, const std::string& user) {
    protocol::diagnostic why;
    why.level = protocol::severity::fatal;
    why.code = protocol::sqlstates::insufficient_privilege;
    why.message = "user \"" + user + "\" may not use the console";
    const bool nobody = from.admin.empty() && from.stats.empty();
    why.hint = nobody ? "Nobody may yet: name users in console.admin or console.stats of the "
                        "configuration."
                      : "Only the users named in console.admin and console.stats may.";
    return why;
}

protocol::diagnostic needs_admin(const command& what) {
    protocol::diagnostic why;
    why.code = protocol::sqlstates::insufficient_privilege;
    why.message = std::string(what.words) + " is for the users named in console.admin only";
    return why;
}

void encode_welcome(protocol::byte_writer& writer, const std::string& user) {
    for (const auto& [name, value] : session_parameters(user)) {
        backend::parameter_status{name, value}.encode(writer);
    }
    // Nothing runs long enough here to be canceled; drivers want a key all the same.
    const auto key = random_bytes(4);
    backend::backend_key_data{1, key ? std::string_view(*key) : std::string_view("\0\0\0\0", 4)}
        .encode(writer);
    backend::ready_for_query{}.encode(writer);
}

asio::awaitable<answer> run(worker& home, const std::string& user, const call& what) {
    const auto may = rights_of(home.config->console, user);
    if (may == rights::none || (may == rights::look && what.what->needs_admin)) {
        co_return failed(needs_admin(*what.what));
    }
    if (what.what->needs_admin) {
        spdlog::info("console: user={} runs {}", user, what.what->words);
    }
    const request asked{.home = home, .user = user, .arguments = what.arguments};
    auto made = co_await what.what->run(asked);
    co_return made;
}

void send(stream& peer, std::vector<std::uint8_t>& bytes) {
    peer.write(bytes);
    peer.flush();
    bytes.clear();
}

// Everything that has been received. False: the conversation is over.
asio::awaitable<bool>
answer_all(stream& peer, input_buffer& input, protocol::frame_cutter& cutter, conversation& talk) {
    for (;;) {
        input.keep();
        const auto part = cutter.next(input.view());
        if (part.kind == protocol::part_kind::incomplete) {
            co_return true;
        }
        if (part.kind == protocol::part_kind::violation) {
            co_return false;
        }
        const bool goes_on = co_await talk.take(part);
        input.consume(part.bytes.size());
        send(peer, talk.output());
        if (!goes_on) {
            co_return false;
        }
        if (peer.pending() > stream::high_water) {
            co_await peer.drain(stream::low_water);
        }
        if (!peer.open()) {
            co_return false;
        }
    }
}

}  // namespace

bool is_console(std::string_view database) noexcept {
    return database == "pgweir" || database == "pgbouncer";
}

asio::awaitable<void>
serve(worker& home, std::shared_ptr<stream> peer, input_buffer& input, std::string user) {
    conversation talk([&home, &user](const call& what) { return run(home, user, what); });
    protocol::byte_writer writer(talk.output());
    if (rights_of(home.config->console, user) == rights::none) {
        backend::encode_error(writer, no_rights(home.config->console, user));
        send(*peer, talk.output());
        co_return;
    }
    encode_welcome(writer, user);
    send(*peer, talk.output());
    protocol::frame_cutter cutter(protocol::side::frontend);
    bool goes_on = true;
    while (goes_on) {
        goes_on = co_await answer_all(*peer, input, cutter, talk);
        if (goes_on) {
            const auto read_ec = co_await peer->read(input);
            goes_on = !read_ec;
        }
    }
    if (home.shared.stopping) {
        backend::encode_error(writer, client_fatal({errc::shutting_down, {}, std::nullopt}));
        send(*peer, talk.output());
    }
}

}  // namespace weir::proxy::console
