// A server that lies: its log-in, and its answers to a client's statements. Whatever it sends, the
// client gets whole messages and no more answers than it has asked for, and a connection that was
// lied to is not used again.
#include "protocol/backend.hpp"
#include "protocol/frame.hpp"
#include "protocol/frontend.hpp"
#include "proxy/stream.hpp"
#include "proxy/upstream/client_link.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/upstream/start_up.hpp"
#include "proxy/worker_context.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

namespace weir::fuzz {
namespace {

using namespace proxy;
using upstream::connection;
using upstream::purpose;
using buffer = std::vector<std::uint8_t>;

void log_in(std::span<const std::uint8_t> bytes) {
    scram_cache cache;
    upstream::authenticator::options options;
    options.user = "ann";
    options.secret = "pencil";
    options.nonce = "nonce";
    upstream::start_up session(options, cache);
    buffer out;
    session.begin("app", out);
    protocol::frame_cutter cutter(protocol::side::backend);
    while (true) {
        const auto part = cutter.next(bytes);
        if (part.kind != protocol::part_kind::whole) {
            return;
        }
        bytes = bytes.subspan(part.bytes.size());
        out.clear();
        if (session.on_message(static_cast<char>(part.type), part.body(), out)) {
            return;
        }
        // The password in clear may not go out, and the proof of a server cannot be guessed.
        const std::string_view sent(reinterpret_cast<const char*>(out.data()), out.size());
        claim(sent.find("pencil") == std::string_view::npos, "no password without TLS");
        if (session.ready()) {
            return;
        }
    }
}

struct pair {
    explicit pair(asio::io_context& io) {
        claim(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0,
            "socketpair"
        );
        proxy::socket ours(io, asio::generic::stream_protocol(AF_UNIX, 0), ends[0]);
        mine = std::make_shared<proxy::stream>(io, std::move(ours));
    }

    pair(const pair&) = delete;
    pair& operator=(const pair&) = delete;

    ~pair() { ::close(ends[1]); }

    std::array<int, 2> ends{};
    std::shared_ptr<proxy::stream> mine;
};

struct owner final : upstream::connection_owner {
    void became_idle(connection& /*which*/) override { ++idle; }

    void became_closed(connection& /*which*/, const failure& /*why*/) override { ++closed; }

    int idle = 0;
    int closed = 0;
};

// A client that releases its connection when nothing is owed.
struct client final : upstream::client_link {
    explicit client(std::shared_ptr<proxy::stream> to) : out_(std::move(to)) {}

    void deliver(protocol::bytes_view bytes) override {
        claim(!gone, "nothing comes behind the end");
        got.insert(got.end(), bytes.begin(), bytes.end());
    }

    void settled(std::uint64_t /*note*/, outcome /*how*/, protocol::bytes_view /*frame*/) override {
        claim(open_notes > 0, "an outcome for each note");
        --open_notes;
    }

    bool takes_back(std::uint64_t /*note*/) override { return false; }

    void reword(std::uint64_t /*note*/, std::uint8_t /*type*/) override {}

    void parameter_changed(
        std::string_view /*name*/,
        std::string_view /*value*/,
        protocol::bytes_view frame
    ) override {
        deliver(frame);
    }

    bool keeps_ready(protocol::backend::transaction_status /*status*/) override { return false; }

    void ready(protocol::backend::transaction_status /*status*/) override {
        ++ready_seen;
        if (which->reusable()) {
            linked = false;
            which->release();
        }
    }

    void injected_done(const failure* /*why*/) override {}

    void error_seen(const protocol::backend::response_fields& /*fields*/) override {}

    void lost(const failure& /*why*/) override {
        gone = true;
        linked = false;
    }

    std::shared_ptr<proxy::stream> out() override { return out_; }

    [[nodiscard]] std::uint32_t own_pid() const noexcept override { return 7; }

    std::shared_ptr<connection> which;
    buffer got;
    int ready_seen = 0;
    int open_notes = 0;
    bool gone = false;
    bool linked = true;

private:
    std::shared_ptr<proxy::stream> out_;
};

// Sends what the input chooses; how many ReadyForQuery that asks for.
int ask(input& from, connection& server, client& asks) {
    using protocol::owed;
    int ready = 0;
    for (int left = from.byte() % 8; left > 0; --left) {
        constexpr std::array kinds{
            owed::parse,
            owed::bind,
            owed::describe_statement,
            owed::execute,
            owed::close,
            owed::sync,
            owed::query,
            owed::sync,
            owed::function_call};
        const auto kind = kinds[from.byte() % kinds.size()];
        protocol::ledger_entry entry;
        entry.kind = kind;
        if (from.byte() % 4 == 0) {
            entry.tag = upstream::tag(purpose::noted);
            entry.note = 1;
        }
        const std::array<std::uint8_t, 5> frame{'S', 0, 0, 0, 4};
        if (server.send(entry, frame)) {
            asks.open_notes += entry.note != 0 ? 1 : 0;
            ready +=
                kind == owed::sync || kind == owed::query || kind == owed::function_call ? 1 : 0;
        }
    }
    server.flush();
    return ready;
}

void check_whole(const buffer& got, bool lost) {
    protocol::frame_cutter cutter(protocol::side::backend);
    std::span<const std::uint8_t> rest(got);
    while (!rest.empty()) {
        const auto part = cutter.next(rest);
        claim(
            part.kind != protocol::part_kind::violation,
            "what the client gets has right lengths"
        );
        if (part.kind == protocol::part_kind::incomplete) {
            break;
        }
        rest = rest.subspan(part.bytes.size());
    }
    claim(lost || (rest.empty() && !cutter.in_body()), "the client gets whole messages");
}

void answers(input& from) {
    const auto settings = std::make_shared<config::config>();
    worker_context worker(0, settings);
    owner pool;
    {
        pair to_server(worker.io);
        pair to_client(worker.io);
        const auto server = std::make_shared<connection>(worker, pool, to_server.mine, 4);
        server->parameters = std::make_shared<const parameter_map>();
        client asks(to_client.mine);
        asks.which = server;
        server->start();
        server->reserve(1);
        server->attach(asks);
        const int ready = ask(from, *server, asks);
        const auto lies = from.piece(32U << 10);
        claim(
            ::send(to_server.ends[1], lies.data(), lies.size(), 0) ==
                static_cast<ssize_t>(lies.size()),
            "send"
        );
        ::shutdown(to_server.ends[1], SHUT_WR);
        while (worker.io.poll() != 0) {
        }
        claim(asks.ready_seen <= ready, "no more ends than were asked for");
        check_whole(asks.got, asks.gone);
        if (asks.linked) {
            server->abandon(false, false);
        }
        while (worker.io.poll() != 0) {
        }
        server->close(failure{});
        worker.io.restart();
        while (worker.io.poll() != 0) {
        }
        asks.which.reset();
    }
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace weir::fuzz;
    input from({data, size});
    if ((from.byte() & 1) != 0) {
        log_in(from.rest());
    } else {
        answers(from);
    }
    return 0;
}
