// A byte stream to a client or a server: TCP or Unix socket, with or without TLS. Belongs to one
// worker thread.
//
// Reading is awaited. Writing is not: write() collects, flush() sends what the kernel takes at once
// and lets the rest follow in the background; whoever produces much asks pending() and awaits
// drain().
#pragma once

#include "metrics/probe.hpp"
#include "protocol/frame.hpp"
#include "proxy/asio.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/signal.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::proxy {

class stream : public std::enable_shared_from_this<stream> {
public:
    using tls_socket = asio::ssl::stream<socket&>;

    // Producers stop above high_water and go on below low_water.
    static constexpr std::size_t high_water = 256U << 10;
    static constexpr std::size_t low_water = 64U << 10;

    stream(asio::io_context& io, socket&& s);

    // Where the bytes read and written are counted; nowhere until this is called. `probe` must
    // outlive the stream.
    void
    count_in(metrics::worker_probe& probe, metrics::direction in, metrics::direction out) noexcept {
        probe_ = &probe;
        in_ = in;
        out_way_ = out;
    }

    // More bytes behind those in `into`. Other than success: the peer is gone (asio::error::eof for
    // an orderly end).
    [[nodiscard]] asio::awaitable<error_code> read(input_buffer& into);

    void write(protocol::bytes_view bytes);
    // As write and flush; large pieces go to the kernel without a copy when nothing is waiting
    // before them.
    void write_now(protocol::bytes_view bytes);
    void flush();

    [[nodiscard]] std::size_t pending() const noexcept {
        return out_.size() - sent_ + in_flight_.size();
    }

    // Until at most `low` bytes wait, or the stream is closed. The caller keeps the stream alive.
    [[nodiscard]] asio::awaitable<void> drain(std::size_t low);

    // Ends both directions at once; reads in progress answer operation_aborted.
    void close() noexcept;
    // Sends what is pending, then closes.
    void close_after_flush();
    // The reader sees the end of the stream; what is being written goes on.
    void stop_reading() noexcept;

    [[nodiscard]] bool open() const noexcept { return open_; }

    [[nodiscard]] asio::awaitable<error_code> accept_tls(asio::ssl::context& context);
    // `host` is sent as SNI when it is a name. Whether a certificate must come from a trusted
    // authority was set up in `context`; `verify_host`: it must also be for `host`.
    [[nodiscard]] asio::awaitable<error_code>
    connect_tls(asio::ssl::context& context, const std::string& host, bool verify_host);

    [[nodiscard]] bool encrypted() const noexcept { return tls_ != nullptr; }

    // What was wrong with the certificate of the peer when a handshake failed for that; otherwise
    // empty.
    [[nodiscard]] const std::string& tls_fault() const noexcept { return tls_fault_; }

    [[nodiscard]] socket& lowest() noexcept { return socket_; }

    // The peer has closed, as far as the kernel knows, looking only; for streams nobody reads right
    // now.
    [[nodiscard]] bool peer_gone() noexcept;

    [[nodiscard]] std::size_t memory() const noexcept {
        return out_.capacity() + in_flight_.capacity();
    }

    [[nodiscard]] asio::io_context& io() noexcept { return io_; }

private:
    // Sends directly; true if everything went out.
    [[nodiscard]] bool send_some(protocol::bytes_view& bytes);
    void send_in_background();
    void written(const error_code& ec);
    void fail() noexcept;

    void counted_in(std::size_t n) noexcept {
        if (probe_ != nullptr) {
            probe_->bytes(in_, n);
        }
    }

    void counted_out(std::size_t n) noexcept {
        if (probe_ != nullptr) {
            probe_->bytes(out_way_, n);
        }
    }

    asio::io_context& io_;
    metrics::worker_probe* probe_ = nullptr;
    metrics::direction in_{};
    metrics::direction out_way_{};
    socket socket_;
    std::unique_ptr<tls_socket> tls_;
    std::string tls_fault_;
    std::vector<std::uint8_t> out_;        // collected
    std::size_t sent_ = 0;                 // of out_
    std::vector<std::uint8_t> in_flight_;  // TLS: what the running write uses
    signal drained_;
    std::size_t drain_to_ = 0;
    bool writing_ = false;
    bool open_ = true;
    bool close_when_sent_ = false;
    bool maybe_more_ = true;  // the last receive filled its buffer
};

}  // namespace weir::proxy
