#include "proxy/client/login.hpp"

#include "protocol/backend.hpp"
#include "protocol/startup.hpp"
#include "proxy/client/authentication.hpp"
#include "proxy/client/encryption_requests.hpp"
#include "proxy/client/rejection.hpp"
#include "proxy/client/startup_request.hpp"
#include "proxy/client_error.hpp"
#include "proxy/printable.hpp"
#include "proxy/worker_context.hpp"

#include <boost/asio/steady_timer.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace weir::proxy::client {
namespace {

using protocol::diagnostic;
namespace sqlstates = protocol::sqlstates;

constexpr std::size_t length_size = 4;
// The highest minor version of protocol 3 that is spoken.
constexpr std::uint16_t newest_minor = 0;
constexpr std::array<std::string_view, 2> console_databases{"pgweir", "pgbouncer"};

rejection refuse(protocol::sqlstate code, std::string message, std::string detail = {}) {
    rejection made;
    made.reason = message;
    made.told = diagnostic{
        .level = protocol::severity::fatal,
        .code = code,
        .message = std::move(message),
        .detail = std::move(detail),
        .hint = {}};
    return made;
}

rejection close_silently(std::string reason) {
    rejection made;
    made.reason = std::move(reason);
    return made;
}

rejection refuse_packet(const protocol::error_code& ec) {
    if (ec == protocol::errc::bad_startup_layout) {
        return refuse(
            sqlstates::protocol_violation,
            "invalid startup packet layout: expected terminator as last byte"
        );
    }
    return close_silently("malformed first packet: " + ec.message());
}

bool is_known(const config::config& from, std::string_view database) {
    const auto fits = [&](const config::database& each) {
        return each.name == database || each.name == "*";
    };
    return std::find(console_databases.begin(), console_databases.end(), database) !=
               console_databases.end() ||
           std::any_of(from.databases.begin(), from.databases.end(), fits);
}

bool demands_tls(config::tls_mode mode) {
    return mode == config::tls_mode::require || mode == config::tls_mode::verify_ca ||
           mode == config::tls_mode::verify_full;
}

// One log-in. Lives in the frame of log_in().
class login {
public:
    login(worker_context& worker, stream& peer, input_buffer& input, const peer_address& address)
        : worker_(worker),
          peer_(peer),
          input_(input),
          address_(address),
          config_(worker.config),
          tls_(worker.tls) {}

    [[nodiscard]] asio::awaitable<login_outcome> run();

private:
    using refusal = std::optional<rejection>;

    // Up to a StartupMessage in startup_ or a cancel request in outcome_.
    asio::awaitable<refusal> first_packets();
    // The one behind which no further first packet comes.
    [[nodiscard]] refusal last_packet(const protocol::first_packet& packet, first_step step);
    // One packet without its length into packet_.
    asio::awaitable<refusal> read_packet();
    asio::awaitable<refusal> accept_tls();
    void start(const protocol::startup_message& message);
    // What is wrong with it before anybody has proved anything.
    [[nodiscard]] refusal check_startup(const protocol::startup_message& message) const;
    asio::awaitable<refusal> admit();
    asio::awaitable<void> end(const rejection& why);
    [[nodiscard]] rejection refuse_version(protocol::protocol_version version);
    void write_answer(char byte);

    [[nodiscard]] bool offers_tls() const {
        return tls_ && tls_->listener && !address_.local &&
               config_->listen.tls.mode != config::tls_mode::disable;
    }

    worker_context& worker_;
    stream& peer_;
    input_buffer& input_;
    const peer_address& address_;
    const config_ptr config_;
    const std::shared_ptr<const tls_contexts> tls_;
    std::vector<std::uint8_t> packet_;
    refusal startup_refused_;
    std::optional<diagnostic> bad_settings_;
    login_outcome outcome_;
};

asio::awaitable<login_outcome> login::run() {
    auto refused = co_await first_packets();
    if (!refused && outcome_.what == login_outcome::kind::session) {
        refused = co_await admit();
    }
    if (refused) {
        co_await end(*refused);
        outcome_ = login_outcome{};
    }
    input_.keep();
    co_return std::move(outcome_);
}

asio::awaitable<login::refusal> login::first_packets() {
    encryption_requests requests(offers_tls());
    while (true) {
        auto unread = co_await read_packet();
        if (unread) {
            co_return unread;
        }
        const auto packet = protocol::decode_first_packet(packet_);
        if (!packet) {
            co_return refuse_packet(packet.error());
        }
        const auto step = requests.next(*packet, !input_.empty());
        if (step == first_step::answer_no) {
            write_answer('N');
        } else if (step == first_step::accept_tls) {
            auto failed = co_await accept_tls();
            if (failed) {
                co_return failed;
            }
        } else {
            co_return last_packet(*packet, step);
        }
    }
}

login::refusal login::last_packet(const protocol::first_packet& packet, first_step step) {
    switch (step) {
    case first_step::start:
        start(std::get<protocol::startup_message>(packet));
        return startup_refused_;
    case first_step::cancel: {
        const auto& request = std::get<protocol::cancel_request>(packet);
        outcome_.what = login_outcome::kind::cancel;
        outcome_.cancel_pid = request.pid;
        outcome_.cancel_key = request.key;
        return std::nullopt;
    }
    case first_step::unsupported:
        return refuse_version(std::get<protocol::unsupported_version>(packet).version);
    case first_step::injected:
        return refuse(
            sqlstates::protocol_violation,
            "received unencrypted data after SSL or GSSAPI encryption request",
            "This could be either a client-software bug or evidence of an attempted "
            "man-in-the-middle attack."
        );
    case first_step::accept_tls:
    case first_step::answer_no:
    case first_step::close: break;
    }
    return close_silently("asked twice for the same kind of encryption");
}

asio::awaitable<login::refusal> login::read_packet() {
    while (true) {
        const auto bytes = input_.view();
        const auto size = protocol::first_packet_size(bytes);
        if (!size && size.error() != protocol::errc::truncated) {
            co_return close_silently("invalid length of startup packet");
        }
        if (size && bytes.size() >= *size) {
            packet_.assign(
                bytes.begin() + length_size,
                bytes.begin() + static_cast<std::ptrdiff_t>(*size)
            );
            input_.consume(*size);
            co_return std::nullopt;
        }
        const auto read_ec = co_await peer_.read(input_);
        if (read_ec) {
            co_return close_silently({});
        }
    }
}

asio::awaitable<login::refusal> login::accept_tls() {
    write_answer('S');
    co_await peer_.drain(0);
    const auto tls_ec = co_await peer_.accept_tls(*tls_->listener);
    if (tls_ec) {
        co_return close_silently("TLS handshake failed: " + tls_ec.message());
    }
    co_return std::nullopt;
}

rejection login::refuse_version(protocol::protocol_version version) {
    auto message = "unsupported frontend protocol " + std::to_string(version.major) + "." +
                   std::to_string(version.minor) + ": server supports 3.0 to 3." +
                   std::to_string(newest_minor);
    if (version.major >= 3) {
        return refuse(sqlstates::feature_not_supported, std::move(message));
    }
    // Before 3.0 an error was a line of text, and PostgreSQL still answers so.
    std::vector<std::uint8_t> out;
    protocol::byte_writer writer(out);
    writer.u8('E');
    writer.cstring("FATAL:  " + message + "\n");
    peer_.write(out);
    peer_.flush();
    return close_silently(std::move(message));
}

void login::write_answer(char byte) {
    const auto answer = static_cast<std::uint8_t>(byte);
    peer_.write({&answer, 1});
    peer_.flush();
}

void login::start(const protocol::startup_message& message) {
    outcome_.what = login_outcome::kind::session;
    outcome_.user = message.user();
    outcome_.database = message.database();
    const auto negotiated = protocol::negotiate(message, newest_minor);
    if (negotiated.needed) {
        std::vector<std::uint8_t> out;
        protocol::byte_writer writer(out);
        protocol::encode_negotiation(writer, negotiated);
        peer_.write(out);
    }
    startup_refused_ = check_startup(message);
    auto settings = read_startup_settings(message);
    if (settings) {
        outcome_.settings = std::move(*settings);
    } else {
        bad_settings_ = settings.error();
    }
}

login::refusal login::check_startup(const protocol::startup_message& message) const {
    if (message.user().empty()) {
        return refuse(
            sqlstates::invalid_authorization,
            "no PostgreSQL user name specified in startup packet"
        );
    }
    if (message.wants_replication()) {
        return refuse(
            sqlstates::feature_not_supported,
            "replication connections are not supported by pgweir",
            "Connect to the server itself."
        );
    }
    if (demands_tls(config_->listen.tls.mode) && !address_.local && !peer_.encrypted()) {
        rejection made;
        made.told = client_fatal({.code = errc::tls_required, .context = {}, .diagnostic = {}});
        made.reason = "the client did not ask for TLS";
        return made;
    }
    return std::nullopt;
}

asio::awaitable<login::refusal> login::admit() {
    auto refused = co_await authenticate(worker_, peer_, input_, address_, outcome_);
    if (refused) {
        co_return refused;
    }
    // As with PostgreSQL, only somebody who has proved who he is learns what there is.
    if (!is_known(*config_, outcome_.database)) {
        co_return refuse(
            sqlstates::invalid_catalog_name,
            "database \"" + outcome_.database + "\" does not exist"
        );
    }
    if (bad_settings_) {
        rejection made;
        made.told = bad_settings_;
        made.reason = bad_settings_->message;
        co_return made;
    }
    peer_.flush();
    co_return std::nullopt;
}

asio::awaitable<void> login::end(const rejection& why) {
    if (!why.reason.empty() && outcome_.user.empty()) {
        spdlog::warn("connection from {} refused: {}", address_.text, printable(why.reason));
    } else if (!why.reason.empty()) {
        spdlog::warn(
            "log-in of user {} to database {} from {} refused: {}",
            printable(outcome_.user),
            printable(outcome_.database),
            address_.text,
            printable(why.reason)
        );
    }
    if (!why.told) {
        peer_.close();
        co_return;
    }
    if (why.delayed) {
        input_.keep();
        peer_.flush();
        asio::steady_timer delay(worker_.io, failure_delay);
        [[maybe_unused]] const auto [wait_ec] = co_await delay.async_wait(use_tuple);
    }
    worker_.probe.error(why.told->code.text(), metrics::error_origin::proxy);
    std::vector<std::uint8_t> out;
    protocol::byte_writer writer(out);
    protocol::backend::encode_error(writer, *why.told);
    peer_.write(out);
    peer_.close_after_flush();
}

}  // namespace

asio::awaitable<login_outcome> log_in(
    worker_context& worker,
    std::shared_ptr<stream> peer,
    input_buffer& input,
    peer_address address
) {
    login one(worker, *peer, input, address);
    auto outcome = co_await one.run();
    co_return outcome;
}

}  // namespace weir::proxy::client
