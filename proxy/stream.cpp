#include "proxy/stream.hpp"

#include "proxy/certificate.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace weir::proxy {
namespace {

constexpr std::size_t direct_size = 8U << 10;
constexpr std::size_t tls_read = 16U << 10;
constexpr std::size_t keep_capacity = 4U << 10;

error_code last_error() {
    return {errno, boost::system::system_category()};
}

}  // namespace

stream::stream(asio::io_context& io, socket&& s) : io_(io), socket_(std::move(s)), drained_(io) {
    error_code ignored;
    socket_.native_non_blocking(true, ignored);
}

asio::awaitable<error_code> stream::read(input_buffer& into) {
    if (tls_) {
        const auto room = into.prepare_own(tls_read);
        const auto target = asio::buffer(room.data(), room.size());
        const auto [read_ec, n] = co_await tls_->async_read_some(target, use_tuple);
        into.received(n);
        counted_in(n);
        if (read_ec == asio::ssl::error::stream_truncated) {
            co_return asio::error::eof;
        }
        co_return read_ec;
    }
    for (;;) {
        if (!open_) {
            co_return asio::error::operation_aborted;
        }
        if (maybe_more_) {
            const auto room = into.prepare();
            const auto n = ::recv(socket_.native_handle(), room.data(), room.size(), 0);
            if (n > 0) {
                into.received(static_cast<std::size_t>(n));
                counted_in(static_cast<std::size_t>(n));
                maybe_more_ = static_cast<std::size_t>(n) == room.size();
                co_return error_code{};
            }
            if (n == 0) {
                co_return asio::error::eof;
            }
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                co_return last_error();
            }
        }
        into.keep();
        const auto [wait_ec] = co_await socket_.async_wait(socket::wait_read, use_tuple);
        if (wait_ec) {
            co_return wait_ec;
        }
        maybe_more_ = true;
    }
}

bool stream::send_some(protocol::bytes_view& bytes) {
    while (!bytes.empty()) {
        const auto n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                fail();
            }
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

void stream::write(protocol::bytes_view bytes) {
    if (open_) {
        counted_out(bytes.size());
        out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
}

void stream::write_now(protocol::bytes_view bytes) {
    if (!tls_ && !writing_ && open_ && out_.empty() && bytes.size() >= direct_size) {
        const auto before = bytes.size();
        const bool all = send_some(bytes);
        counted_out(before - bytes.size());
        if (all) {
            return;
        }
    }
    write(bytes);
    if (bytes.size() >= direct_size) {
        flush();
    }
}

void stream::flush() {
    if (writing_ || !open_ || out_.empty()) {
        return;
    }
    if (!tls_) {
        protocol::bytes_view rest{out_.data() + sent_, out_.size() - sent_};
        const bool all = send_some(rest);
        sent_ = out_.size() - rest.size();
        if (all) {
            out_.clear();
            sent_ = 0;
            if (out_.capacity() > keep_capacity) {
                std::vector<std::uint8_t>().swap(out_);
            }
            return;
        }
        if (!open_) {
            return;
        }
        if (sent_ >= low_water) {  // a reader so slow that all is never sent must not let this grow
            out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
            sent_ = 0;
        }
    }
    send_in_background();
}

void stream::send_in_background() {
    writing_ = true;
    if (tls_) {
        in_flight_.swap(out_);
        out_.clear();
        asio::async_write(
            *tls_,
            asio::buffer(in_flight_),
            [self = shared_from_this()](const error_code& ec, std::size_t) {
                self->in_flight_.clear();
                if (self->in_flight_.capacity() > keep_capacity) {
                    std::vector<std::uint8_t>().swap(self->in_flight_);
                }
                self->written(ec);
            }
        );
        return;
    }
    socket_.async_wait(socket::wait_write, [self = shared_from_this()](const error_code& ec) {
        self->written(ec);
    });
}

void stream::written(const error_code& ec) {
    writing_ = false;
    if (ec) {
        fail();
        return;
    }
    flush();
    if (drained_.waiting() && pending() <= drain_to_) {
        drained_.notify();
    }
    if (close_when_sent_ && pending() == 0) {
        close();
    }
}

asio::awaitable<void> stream::drain(std::size_t low) {
    flush();
    while (open_ && pending() > low) {
        // A server's reader and the end of the session may wait at the same time.
        drain_to_ = drained_.waiting() ? std::max(drain_to_, low) : low;
        drained_.clear();
        co_await drained_.wait();
    }
}

void stream::fail() noexcept {
    close();
}

void stream::close() noexcept {
    if (!std::exchange(open_, false)) {
        return;
    }
    error_code ignored;
    socket_.shutdown(socket::shutdown_both, ignored);
    socket_.close(ignored);
    out_.clear();
    sent_ = 0;
    if (drained_.waiting()) {
        drained_.notify();
    }
}

void stream::stop_reading() noexcept {
    error_code ignored;
    socket_.shutdown(socket::shutdown_receive, ignored);
}

void stream::close_after_flush() {
    flush();
    if (pending() == 0) {
        close();
    } else {
        close_when_sent_ = true;
    }
}

bool stream::peer_gone() noexcept {
    if (!open_) {
        return true;
    }
    char byte = 0;
    const auto n = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

asio::awaitable<error_code> stream::accept_tls(asio::ssl::context& context) {
    tls_ = std::make_unique<tls_socket>(socket_, context);
    const auto [handshake_ec] =
        co_await tls_->async_handshake(asio::ssl::stream_base::server, use_tuple);
    co_return handshake_ec;
}

asio::awaitable<error_code>
stream::connect_tls(asio::ssl::context& context, const std::string& host, bool verify_host) {
    tls_ = std::make_unique<tls_socket>(socket_, context);
    auto* const ssl = tls_->native_handle();
    if (!is_address(host)) {  // RFC 6066, section 3
        SSL_set_tlsext_host_name(ssl, host.c_str());
    }
    if (verify_host && !expect_host(ssl, host)) {
        co_return asio::error::invalid_argument;
    }
    if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE) {
        tls_->set_verify_callback([this](bool good, asio::ssl::verify_context& about) {
            if (!good) {
                tls_fault_ = describe_certificate_fault(about.native_handle());
            }
            return good;
        });
    }
    const auto [handshake_ec] =
        co_await tls_->async_handshake(asio::ssl::stream_base::client, use_tuple);
    co_return handshake_ec;
}

}  // namespace weir::proxy
