#include "tests/integration/support/wire_client.hpp"

#include "protocol/auth.hpp"
#include "protocol/scram_client.hpp"
#include "protocol/startup.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>

namespace weir::integration {
namespace {

namespace backend = protocol::backend;

protocol::byte_span bytes_of(const message& from) {
    return protocol::as_bytes(from.body);
}

std::string random_nonce() {
    static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device source;
    std::string nonce(24, ' ');
    std::generate(nonce.begin(), nonce.end(), [&] { return letters[source() % letters.size()]; });
    return nonce;
}

std::string password_message(std::string_view value) {
    return script().message('p', std::string(value) + '\0').bytes();
}

// One login's answers to the server's requests.
class authenticator {
public:
    explicit authenticator(const login& as) : as_(as), scram_(random_nonce()) {}

    // What to send; nullopt when nothing is asked for.
    std::optional<std::string> answer(const backend::authentication& asked) {
        using kind = backend::authentication_kind;
        switch (asked.method) {
        case kind::cleartext_password: return password_message(as_.password);
        case kind::md5_password: {
            const auto known = protocol::secret::parse(as_.password);
            return password_message(*known->md5_answer(as_.user, asked.data));
        }
        case kind::sasl: return first_scram();
        case kind::sasl_continue: return final_scram(asked.data);
        case kind::sasl_final:
            if (scram_.check_server(asked.data)) {
                throw std::runtime_error("the server does not know the password");
            }
            return std::nullopt;
        default: return std::nullopt;
        }
    }

private:
    std::string first_scram() {
        const auto data = scram_.first_message();
        std::string body = "SCRAM-SHA-256";
        body.append(4, '\0').push_back(static_cast<char>(data.size()));
        return script().message('p', body + data).bytes();
    }

    std::string final_scram(std::string_view challenge) {
        const auto read = scram_.read_challenge(challenge);
        if (!read) {
            throw std::runtime_error("SCRAM: " + read.error().message());
        }
        const auto keys = protocol::derive_keys(as_.password, read->salt, read->iterations);
        return script().message('p', *scram_.final_message(*keys)).bytes();
    }

    const login& as_;
    protocol::scram_client scram_;
};

std::string
startup_packet(const login& as, const std::vector<std::pair<std::string, std::string>>& more) {
    protocol::startup_message startup;
    startup.version = {.major = 3, .minor = 0};
    startup.parameters = {{"user", as.user}, {"database", as.database}};
    startup.parameters.insert(startup.parameters.end(), more.begin(), more.end());
    std::vector<std::uint8_t> bytes;
    protocol::byte_writer writer(bytes);
    startup.encode(writer);
    return std::string(protocol::as_text(bytes));
}

// Zeros as bars. Of errors and notices without the place in the server's source, which the proxy's
// own errors do not have.
void append_fields(std::string& to, const message& from) {
    std::string_view left = from.body;
    const bool fields = from.type == 'E' || from.type == 'N';
    to += '{';
    while (!left.empty()) {
        const auto part = left.substr(0, left.find('\0'));
        left.remove_prefix(std::min(part.size() + 1, left.size()));
        if (!fields || part.empty() || std::string_view("FLR").find(part[0]) == part.npos) {
            to.append(part).append("|");
        }
    }
    to += '}';
}

}  // namespace

std::string message::kind() const {
    std::string text(1, type);
    if (type == 'Z' || type == 'E') {
        text += '(' + (type == 'Z' ? body : code()) + ')';
    }
    return text;
}

std::string message::field(char wanted) const {
    if (type != 'E' && type != 'N') {
        return {};
    }
    const auto fields = backend::response_fields::decode(bytes_of(*this));
    return fields ? std::string(fields->field(wanted)) : "undecodable";
}

std::optional<std::string> message::column(std::size_t index) const {
    protocol::byte_reader reader(bytes_of(*this));
    const auto count = reader.u16();
    if (type != 'D' || index >= count) {
        throw std::out_of_range("no column " + std::to_string(index) + " in " + kind());
    }
    for (std::size_t i = 0; i < index; ++i) {
        const auto skipped = reader.i32();
        static_cast<void>(reader.bytes(static_cast<std::size_t>(std::max(skipped, 0))));
    }
    const auto size = reader.i32();
    if (size < 0) {
        return std::nullopt;
    }
    return std::string(reader.bytes(static_cast<std::size_t>(size)));
}

std::string message::tag() const {
    return body.substr(0, body.find('\0'));
}

std::string kinds(const messages& of) {
    std::string text;
    for (const auto& each : of) {
        text += (text.empty() ? "" : " ") + each.kind();
    }
    return text;
}

std::string details(const messages& of) {
    std::string text;
    for (const auto& each : of) {
        text += (text.empty() ? "" : " ") + each.kind();
        if (each.type != 'Z') {
            append_fields(text, each);
        }
    }
    return text;
}

wire_client::wire_client(const endpoint& to, const login& as) : socket_(dial(to)) {
    const auto came = log_in(as);
    if (came.empty() || came.back().type != 'Z') {
        throw std::runtime_error("login: " + details(came));
    }
}

messages wire_client::log_in(
    const login& as,
    const std::vector<std::pair<std::string, std::string>>& more_parameters
) {
    send_pieces(startup_packet(as, more_parameters), piece_size_);
    authenticator answers(as);
    messages came;
    while (auto next = try_read()) {
        came.push_back(*next);
        if (next->type == 'K') {
            key_ = next->body;
        }
        if (next->type == 'Z') {
            break;
        }
        if (next->type != 'R') {
            continue;
        }
        const auto asked = backend::authentication::decode(bytes_of(*next));
        if (const auto reply = answers.answer(*asked)) {
            send_pieces(*reply, piece_size_);
        }
    }
    return came;
}

void wire_client::send_cut(std::string_view bytes, const std::vector<std::size_t>& at) const {
    std::size_t from = 0;
    for (const auto end : at) {
        send(bytes.substr(from, end - from));
        from = end;
        // Gives the peer the time to read it, so that the next piece arrives by itself.
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    send(bytes.substr(from));
}

void wire_client::send_pieces(std::string_view bytes, std::size_t size) const {
    std::vector<std::size_t> at;
    for (std::size_t end = size; end < bytes.size(); end += size) {
        at.push_back(end);
    }
    send_cut(bytes, at);
}

std::optional<message> wire_client::cut_one() {
    const std::string_view left = std::string_view(input_).substr(used_);
    if (left.size() < 5) {
        return std::nullopt;
    }
    protocol::byte_reader reader(protocol::as_bytes(left.substr(1, 4)));
    const std::size_t length = reader.u32();
    if (length < 4 || length > (1U << 30U)) {
        throw std::runtime_error("the stream is lost, length " + std::to_string(length));
    }
    if (left.size() < length + 1) {
        return std::nullopt;
    }
    message made{.type = left[0], .body = std::string(left.substr(5, length - 4))};
    used_ += length + 1;
    return made;
}

std::optional<message> wire_client::try_read(milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (true) {
        if (auto made = cut_one()) {
            return made;
        }
        input_.erase(0, used_);
        used_ = 0;
        const auto more = read_some(socket_, std::size_t{256} * 1024, until);
        if (more.empty()) {
            if (!input_.empty()) {
                throw std::runtime_error("the stream ends inside a message");
            }
            return std::nullopt;
        }
        input_ += more;
    }
}

message wire_client::read(milliseconds limit) {
    auto next = try_read(limit);
    if (!next) {
        throw std::runtime_error("the connection was closed");
    }
    return std::move(*next);
}

messages wire_client::read_ready(std::size_t count, milliseconds limit) {
    messages came;
    while (count > 0) {
        try {
            came.push_back(read(limit));
        } catch (const std::exception& error) {
            throw std::runtime_error(std::string(error.what()) + " after: " + kinds(came));
        }
        count -= came.back().type == 'Z' ? 1 : 0;
    }
    return came;
}

messages wire_client::read_to(char type, milliseconds limit) {
    messages came;
    do {
        came.push_back(read(limit));
    } while (came.back().type != type);
    return came;
}

messages wire_client::read_to_end(milliseconds limit) {
    messages came;
    while (auto next = try_read(limit)) {
        came.push_back(std::move(*next));
    }
    return came;
}

messages wire_client::read_quiet(milliseconds silence) {
    messages came;
    try {
        while (auto next = try_read(silence)) {
            came.push_back(std::move(*next));
        }
    } catch (const std::runtime_error&) {
        // Silent for long enough.
    }
    return came;
}

std::string wire_client::value(std::string_view sql) {
    const auto came = ask(script().query(sql));
    for (const auto& each : came) {
        if (each.type == 'D') {
            return each.column(0).value_or("");
        }
    }
    throw std::runtime_error("no row: " + details(came));
}

void wire_client::cancel(const endpoint& to) const {
    protocol::byte_reader reader(protocol::as_bytes(key_));
    protocol::cancel_request request;
    request.pid = reader.i32();
    request.key = reader.rest();
    std::vector<std::uint8_t> bytes;
    protocol::byte_writer writer(bytes);
    request.encode(writer);
    const auto socket = dial(to);
    write_all(socket, protocol::as_text(bytes));
    static_cast<void>(read_some(socket, 1, std::chrono::steady_clock::now() + patience));
}

void wire_client::reset() {
    reset_on_close(socket_);
    close();
}

}  // namespace weir::integration
