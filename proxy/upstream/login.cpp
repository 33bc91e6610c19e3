#include "proxy/upstream/login.hpp"

#include "protocol/base64.hpp"
#include "protocol/startup.hpp"
#include "proxy/login_message.hpp"
#include "proxy/printable.hpp"
#include "proxy/random_bytes.hpp"
#include "proxy/upstream/dial.hpp"
#include "proxy/upstream/start_up.hpp"
#include "proxy/upstream/time_limit.hpp"
#include "proxy/upstream/transport.hpp"
#include "proxy/worker_context.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::upstream {
namespace {

using problem = std::optional<failure>;

constexpr std::size_t nonce_size = 18;

// One log-in. Lives in the frame of log_in().
class login {
public:
    login(worker_context& worker, const pool_target& target, std::chrono::milliseconds limit)
        : worker_(worker),
          target_(target),
          server_(target.cluster->servers[target.server]),
          tls_(worker.tls),
          limit_(worker.io, limit),
          limit_length_(limit),
          input_(worker.scratch) {}

    [[nodiscard]] asio::awaitable<logged_in> run();

private:
    // Everything over one connection.
    asio::awaitable<problem> attempt(transport how);
    asio::awaitable<problem> ask_for_tls(transport how);
    asio::awaitable<problem> handshake();
    asio::awaitable<problem> begin_session();
    asio::awaitable<problem> exchange();

    void keep_what_was_said();

    [[nodiscard]] std::shared_ptr<asio::ssl::context> tls_context() const;
    [[nodiscard]] std::string place() const;
    [[nodiscard]] failure fail(errc code, std::string_view text, std::string_view hint = {}) const;
    [[nodiscard]] failure refused_by_server(protocol::diagnostic&& told) const;
    [[nodiscard]] failure unreadable(const login_message& message) const;

    worker_context& worker_;
    const pool_target& target_;
    const config::server& server_;
    const std::shared_ptr<const tls_contexts> tls_;
    time_limit limit_;
    std::chrono::milliseconds limit_length_;
    input_buffer input_;
    std::vector<std::uint8_t> out_;
    std::optional<start_up> session_;
    logged_in outcome_;
    const char* doing_ = "connecting";  // for the message when the time is over
    bool encrypted_ = false;            // TLS is in use or being set up
    bool other_may_work_ = false;       // see next_transport()
    bool tls_not_offered_ = false;
};

asio::awaitable<logged_in> login::run() {
    const auto mode = target_.cluster->tls.mode;
    std::optional<transport> how = first_transport(mode, is_unix_host(server_.host));
    problem refused;
    while (how) {
        auto failed = co_await attempt(*how);
        if (!failed) {
            co_return std::move(outcome_);
        }
        if (outcome_.stream) {
            outcome_.stream->close();
        }
        // That there is no TLS explains nothing if it was only the second choice.
        if (!refused || !tls_not_offered_) {
            refused = std::move(failed);
        }
        how =
            limit_.over() ? std::nullopt : next_transport(mode, *how, encrypted_, other_may_work_);
    }
    logged_in none;
    none.refused = std::move(refused);
    co_return none;
}

asio::awaitable<problem> login::attempt(transport how) {
    outcome_ = logged_in{};
    session_.reset();
    out_.clear();
    input_ = input_buffer(worker_.scratch);
    encrypted_ = other_may_work_ = tls_not_offered_ = false;
    doing_ = "connecting";
    auto dialled = co_await dial(worker_.io, server_, limit_);
    if (limit_.over() || !dialled.stream) {
        co_return fail(errc::server_unavailable, dialled.problem);
    }
    outcome_.stream = std::move(dialled.stream);
    const time_limit::step step(limit_, [to = outcome_.stream] { to->close(); });
    if (how != transport::plain) {
        auto failed = co_await ask_for_tls(how);
        if (failed) {
            co_return failed;
        }
    }
    auto failed = co_await begin_session();
    if (!failed && limit_.over()) {  // in the same turn: the stream is closed
        failed = fail(errc::server_unavailable, {});
    }
    co_return failed;
}

asio::awaitable<problem> login::ask_for_tls(transport how) {
    doing_ = "asking for TLS";
    protocol::byte_writer writer(out_);
    protocol::ssl_request::encode(writer);
    outcome_.stream->write(out_);
    outcome_.stream->flush();
    out_.clear();
    while (input_.empty()) {
        const auto read_ec = co_await outcome_.stream->read(input_);
        if (read_ec) {
            co_return fail(
                errc::server_unavailable,
                "no answer to SSLRequest: " + read_ec.message()
            );
        }
    }
    const char answer = static_cast<char>(input_.view()[0]);
    // More than the one byte cannot have come from somebody who waits for our handshake.
    const bool alone = input_.view().size() == 1;
    input_.consume(input_.view().size());
    if (answer == 'S' && alone) {
        encrypted_ = true;
        auto failed = co_await handshake();
        co_return failed;
    }
    if (answer == 'N' && alone) {
        if (how == transport::tls_if_offered) {
            co_return std::nullopt;
        }
        tls_not_offered_ = true;
        co_return fail(
            errc::server_unavailable,
            "the server does not offer TLS, which tls.mode of the cluster asks for"
        );
    }
    if (answer == 'S' || answer == 'N') {
        co_return fail(
            errc::server_protocol,
            "unencrypted bytes came behind the answer to SSLRequest"
        );
    }
    if (answer ==
        'E') {  // could not even start a process for us; what it says is not to be trusted
        encrypted_ = other_may_work_ = true;
        co_return fail(errc::server_unavailable, "the server answered SSLRequest with an error");
    }
    co_return fail(
        errc::server_protocol,
        "the answer to SSLRequest is neither S nor N: not a PostgreSQL server?"
    );
}

asio::awaitable<problem> login::handshake() {
    doing_ = "in the TLS handshake";
    const auto context = tls_context();
    if (!context) {
        co_return fail(errc::server_unavailable, "TLS is not set up for this cluster");
    }
    const bool check_name = target_.cluster->tls.mode == config::tls_mode::verify_full;
    auto& stream = *outcome_.stream;
    const auto tls_ec = co_await stream.connect_tls(*context, server_.host, check_name);
    if (tls_ec) {
        other_may_work_ = true;
        const auto& fault = stream.tls_fault();
        co_return fail(
            errc::server_unavailable,
            "TLS handshake failed: " + (fault.empty() ? tls_ec.message() : fault)
        );
    }
    co_return std::nullopt;
}

asio::awaitable<problem> login::begin_session() {
    const auto nonce = random_bytes(nonce_size);
    if (!nonce) {
        co_return fail(errc::server_unavailable, "no random numbers for authentication");
    }
    authenticator::options options;
    options.user = target_.user;
    options.secret = target_.secret;
    options.nonce = protocol::base64_encode(protocol::as_bytes(*nonce));
    options.encrypted = outcome_.stream->encrypted();
    session_.emplace(std::move(options), worker_.scram);
    session_->begin(target_.database, out_);
    auto failed = co_await exchange();
    if (!failed) {
        keep_what_was_said();
    }
    other_may_work_ = session_->refused_by_rule();
    co_return failed;
}

asio::awaitable<problem> login::exchange() {
    // Behind ReadyForQuery only what a server may say at any time is taken; there is hardly ever
    // anything.
    while (!session_->ready() || !input_.empty()) {
        outcome_.stream->write(out_);
        outcome_.stream->flush();
        out_.clear();
        const std::string_view allowed = session_->ready() ? "NS" : "";
        const auto message = co_await read_login_message(*outcome_.stream, input_, allowed);
        if (message.ec) {
            co_return unreadable(message);
        }
        auto wrong = session_->on_message(message.type, message.body, out_);
        if (wrong && wrong->told) {
            co_return refused_by_server(std::move(*wrong->told));
        }
        if (wrong) {
            co_return fail(wrong->ours.code, wrong->ours.text, wrong->ours.hint);
        }
    }
    co_return std::nullopt;
}

void login::keep_what_was_said() {
    auto& said = session_->said();
    outcome_.who.server = server_.name;
    outcome_.who.host = server_.host;
    outcome_.who.port = server_.port;
    outcome_.who.pid = said.pid;
    outcome_.who.key = std::move(said.key);
    outcome_.parameters = std::move(said.parameters);
    outcome_.hot_standby = said.hot_standby;
}

std::shared_ptr<asio::ssl::context> login::tls_context() const {
    if (!tls_) {
        return nullptr;
    }
    const auto found = tls_->clusters.find(target_.cluster->name);
    return found == tls_->clusters.end() ? nullptr : found->second;
}

std::string login::place() const {
    const auto address = server_.host + ":" + std::to_string(server_.port);
    return server_.name.empty() || server_.name == address ? address
                                                           : server_.name + " (" + address + ")";
}

failure login::fail(errc code, std::string_view text, std::string_view hint) const {
    const std::string doing = session_ ? session_->doing() : doing_;
    failure made;
    if (limit_.over()) {
        made.code = errc::server_unavailable;
        made.context = place() + ": no success within connect_timeout (" +
                       std::to_string(limit_length_.count()) + " ms), " + doing;
        return made;
    }
    made.code = code;
    made.context = place() + ": " + std::string(text);
    if (code == errc::server_refused) {
        protocol::diagnostic told;
        told.level = protocol::severity::fatal;
        told.code = protocol::sqlstates::invalid_authorization;
        told.message = "log-in to " + place() + " is not possible: " + std::string(text);
        told.hint = hint;
        made.context = place() + ": " + doing;
        made.diagnostic = std::move(told);
    } else if (code == errc::server_protocol) {
        made.context += ", " + doing;
    }
    return made;
}

failure login::refused_by_server(protocol::diagnostic&& told) const {
    failure made;
    made.code = errc::server_refused;
    made.context = place() + ": " + session_->doing();
    made.diagnostic = std::move(told);
    return made;
}

failure login::unreadable(const login_message& message) const {
    if (message.ec == protocol::errc::bad_length ||
        message.ec == protocol::errc::unexpected_message) {
        return fail(errc::server_protocol, "impossible message " + printable({&message.type, 1}));
    }
    const auto why =
        message.ec == asio::error::eof ? "the server closed the connection" : message.ec.message();
    return fail(errc::server_unavailable, std::string(why) + ", " + session_->doing());
}

}  // namespace

asio::awaitable<logged_in> log_in(worker_context& worker, pool_target target, config::pool limits) {
    login one(worker, target, limits.connect_timeout);
    auto outcome = co_await one.run();
    co_return outcome;
}

connection_ptr make_connection(
    worker_context& worker,
    connection_owner& owner,
    const pool_target& target,
    const config::pool& limits,
    logged_in&& outcome
) {
    static_cast<void>(target);
    auto made = std::make_shared<connection>(
        worker,
        owner,
        std::move(outcome.stream),
        limits.max_prepared_statements
    );
    made->who = std::move(outcome.who);
    made->parameters = worker.parameters.make(std::move(outcome.parameters));
    made->hot_standby = outcome.hot_standby;
    made->created = worker.coarse_now;
    made->idle_since = worker.coarse_now;
    return made;
}

}  // namespace weir::proxy::upstream
