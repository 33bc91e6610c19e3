#include "migration/store/http_client.hpp"

#include "migration/store/gzip.hpp"
#include "migration/store/url.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <utility>

namespace weir::migration::store {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using std::chrono::milliseconds;
using tcp = asio::ip::tcp;
using request = http::request<http::span_body<const char>>;
using parser = http::response_parser<http::string_body>;

constexpr std::size_t least_to_compress = 1024;
constexpr std::uint32_t header_limit = 64 * 1024;

// Waits longer than this are of no use to anybody, whatever the store says.
constexpr double longest_wait = 24.0 * 3600 * 1000;

std::optional<double> number_in(std::string_view text) {
    double read = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(read)) {
        return std::nullopt;
    }
    return read;
}

milliseconds wait_of(double wanted) {
    return milliseconds{static_cast<std::int64_t>(std::clamp(wanted, 0.0, longest_wait))};
}

// RFC 9110 section 10.2.3: seconds, or a date. turbopuffer says milliseconds in a header of its
// own.
std::optional<milliseconds> retry_after(const parser::value_type& answer) {
    const auto text = [&](std::string_view name) {
        const auto found = answer[beast::string_view(name.data(), name.size())];
        return std::string(found.data(), found.size());
    };
    if (const auto exact = number_in(text("retry-after-ms"))) {
        return wait_of(*exact);
    }
    const auto after = text("retry-after");
    if (const auto seconds = number_in(after)) {
        return wait_of(*seconds * 1000);
    }
    std::tm date{};
    const auto* const end = strptime(after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (end == nullptr || *end != '\0') {
        return std::nullopt;
    }
    return wait_of(std::difftime(timegm(&date), std::time(nullptr)) * 1000);
}

// The peer has gone, rather than us losing patience with it.
bool gone(const error_code& why) {
    return why == http::error::end_of_stream || why == asio::error::eof ||
           why == asio::error::connection_reset || why == asio::error::broken_pipe ||
           why == asio::error::connection_aborted || why == ssl::error::stream_truncated;
}

}  // namespace

class http_client::implementation {
public:
    explicit implementation(http_options options)
        : options_(std::move(options)), url_(parse_url(options_.url)) {
        if (url_.tls) {
            trust();
        }
    }

    [[nodiscard]] const std::string& address() const noexcept { return url_.address; }

    result<http_answer> send(const http_request& what) {
        auto message = prepare(what);
        for (;;) {
            const bool reused = connected_ && still_open();
            if (!reused) {
                if (const auto why = connect()) {
                    disconnect();
                    return unreachable(*why);
                }
            }
            auto received = open_parser();
            const auto why = url_.tls ? exchange(*secure_, message, *received)
                                      : exchange(*plain_, message, *received);
            if (!why) {
                return finish(*received);
            }
            const bool silent = buffer_.size() == 0 && !received->got_some();
            disconnect();
            if (!reused || !silent || !gone(why)) {
                return unreachable(explain(why, options_.request_timeout));
            }
        }
    }

private:
    void trust() {
        try {
            tls_.set_verify_mode(ssl::verify_peer);
            tls_.set_options(
                ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                ssl::context::no_tlsv1_1
            );
            if (options_.ca.empty()) {
                tls_.set_default_verify_paths();
            } else {
                tls_.load_verify_file(options_.ca);
            }
        } catch (const boost::system::system_error& e) {
            throw std::runtime_error("cannot use CA file " + options_.ca + ": " + e.what());
        }
    }

    request prepare(const http_request& what) {
        const bool compress = options_.gzip && what.body.size() > least_to_compress;
        compressed_ = compress ? gzip(what.body) : std::string();
        const auto body = compress ? std::string_view(compressed_) : what.body;
        request made(
            http::string_to_verb(beast::string_view(what.method.data(), what.method.size())),
            url_.path + what.target,
            11
        );
        made.set(http::field::host, url_.host_header);
        made.set(http::field::user_agent, "pgweir");
        made.set(http::field::accept, "application/json");
        for (const auto& [name, value] : options_.headers) {
            made.set(name, value);
        }
        if (!body.empty()) {
            made.set(http::field::content_type, "application/json");
        }
        if (compress) {
            made.set(http::field::content_encoding, "gzip");
        }
        made.body() = {body.data(), body.size()};
        made.prepare_payload();
        return made;
    }

    [[nodiscard]] std::unique_ptr<parser> open_parser() const {
        auto made = std::make_unique<parser>();
        made->body_limit(options_.max_answer);
        made->header_limit(header_limit);
        return made;
    }

    // Starts an operation and runs the loop until its handler has been called. The handler owns
    // what it writes to: a cancelled look-up of a name may end long after we have left.
    template <typename Initiate>
    error_code wait(const Initiate& initiate) {
        struct ending {
            error_code why;
            bool reached = false;
        };

        const auto end = std::make_shared<ending>();
        initiate([end](const error_code& why, auto&&...) {
            end->why = why;
            end->reached = true;
        });
        io_.restart();
        while (!end->reached && io_.run_one() > 0) {
        }
        return end->reached ? end->why : error_code(asio::error::operation_aborted);
    }

    std::optional<std::string> connect() {
        disconnect();
        std::string why;
        const auto found = resolve(why);
        if (found.empty()) {
            return why;
        }
        if (url_.tls) {
            secure_.emplace(io_, tls_);
        } else {
            plain_.emplace(io_);
        }
        auto& stream = transport();
        stream.expires_after(options_.connect_timeout);
        if (const auto ec =
                wait([&](auto handler) { stream.async_connect(found, std::move(handler)); })) {
            return explain(ec, options_.connect_timeout);
        }
        error_code ignored;
        stream.socket().set_option(tcp::no_delay(true), ignored);
        stream.socket().set_option(asio::socket_base::keep_alive(true), ignored);
        if (url_.tls) {
            if (const auto ec = handshake()) {
                return "TLS: " + explain(ec, options_.connect_timeout);
            }
        }
        connected_ = true;
        return std::nullopt;
    }

    tcp::resolver::results_type resolve(std::string& why) {
        struct ending {
            error_code why;
            tcp::resolver::results_type found;
            bool reached = false;
        };

        const auto end = std::make_shared<ending>();
        tcp::resolver resolver(io_);
        resolver.async_resolve(
            url_.host,
            url_.port,
            [end](const error_code& ec, tcp::resolver::results_type found) {
                end->why = ec;
                end->found = std::move(found);
                end->reached = true;
            }
        );
        io_.restart();
        const auto until = std::chrono::steady_clock::now() + options_.connect_timeout;
        while (!end->reached && io_.run_one_until(until) > 0) {
        }
        if (!end->reached) {
            why = "its name was not resolved in time";
        } else if (end->why) {
            why = end->why.message();
        }
        return end->found;
    }

    error_code handshake() {
        // RFC 6066 section 3: no addresses in the server name.
        error_code not_numeric;
        asio::ip::make_address(url_.host, not_numeric);
        if (not_numeric) {
            SSL_set_tlsext_host_name(secure_->native_handle(), url_.host.c_str());
        }
        secure_->set_verify_callback(ssl::host_name_verification(url_.host));
        return wait([&](auto handler) {
            secure_->async_handshake(ssl::stream_base::client, std::move(handler));
        });
    }

    template <typename Stream>
    error_code exchange(Stream& stream, request& message, parser& received) {
        transport().expires_after(options_.request_timeout);
        http::request_serializer<http::span_body<const char>> serializer(message);
        const auto write_why =
            wait([&](auto handler) { http::async_write(stream, serializer, std::move(handler)); });
        if (write_why && !gone(write_why)) {
            return write_why;
        }
        // A server that refuses a large body may answer and close before it has read all of it.
        const auto read_why = wait([&](auto handler) {
            http::async_read(stream, buffer_, received, std::move(handler));
        });
        return read_why && write_why ? write_why : read_why;
    }

    http_answer finish(parser& received) {
        auto message = received.release();
        http_answer answer;
        answer.status = message.result_int();
        answer.retry_after = retry_after(message);
        answer.body = std::move(message.body());
        // Bytes beyond the answer belong to nothing we asked for.
        if (!message.keep_alive() || buffer_.size() > 0) {
            disconnect();
        } else {
            transport().expires_never();
        }
        return answer;
    }

    // Servers close connections that are idle: seen here, nothing has to be sent twice.
    bool still_open() {
        std::array<char, 1> byte{};
        const auto got =
            ::recv(transport().socket().native_handle(), byte.data(), 1, MSG_PEEK | MSG_DONTWAIT);
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }

    beast::tcp_stream& transport() {
        return url_.tls ? beast::get_lowest_layer(*secure_) : *plain_;
    }

    void disconnect() {
        connected_ = false;
        secure_.reset();
        plain_.reset();
        buffer_.clear();
    }

    static std::string explain(const error_code& why, milliseconds limit) {
        if (why == beast::error::timeout) {
            return "no answer within " + std::to_string(limit.count()) + " ms";
        }
        if (why == http::error::end_of_stream) {
            return "closed without an answer";
        }
        return why.message();
    }

    [[nodiscard]] error unreachable(const std::string& why) const {
        auto text = url_.address + ": " + why;
        std::replace(text.begin(), text.end(), '\n', ' ');
        return {.what = fault::unreachable, .text = std::move(text)};
    }

    http_options options_;
    url url_;
    asio::io_context io_{1};
    ssl::context tls_{ssl::context::tls_client};
    std::optional<beast::tcp_stream> plain_;
    std::optional<beast::ssl_stream<beast::tcp_stream>> secure_;
    beast::flat_buffer buffer_;
    std::string compressed_;  // the body that is being sent
    bool connected_ = false;
};

http_client::http_client(http_options options)
    : implementation_(std::make_unique<implementation>(std::move(options))) {}

http_client::~http_client() = default;

result<http_answer> http_client::send(const http_request& what) {
    return implementation_->send(what);
}

const std::string& http_client::address() const noexcept {
    return implementation_->address();
}

}  // namespace weir::migration::store
