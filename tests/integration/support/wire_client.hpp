// A client that speaks PostgreSQL's protocol over a blocking socket: it logs in, sends whatever
// bytes it is given, cut as the test likes, and reads messages with a deadline. It keeps no state
// of the session, so it can misbehave.
#pragma once

#include "protocol/backend.hpp"
#include "tests/integration/support/file_descriptor.hpp"
#include "tests/integration/support/libpq.hpp"
#include "tests/integration/support/script.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::integration {

struct message {
    char type = 0;
    std::string body;

    // As in cases and facts: "1", "T", "Z(I)", "E(42P05)".
    [[nodiscard]] std::string kind() const;

    // SQLSTATE of an error or a notice, "" otherwise.
    [[nodiscard]] std::string code() const { return field('C'); }

    // A field of an error or a notice.
    [[nodiscard]] std::string field(char type) const;
    // Column of a DataRow from 0; NULL is nullopt.
    [[nodiscard]] std::optional<std::string> column(std::size_t index) const;
    // Tag of a CommandComplete.
    [[nodiscard]] std::string tag() const;

    friend bool operator==(const message&, const message&) = default;
};

using messages = std::vector<message>;

// "1 2 T D C Z(I)".
[[nodiscard]] std::string kinds(const messages& of);
// The same with what the messages say: rows, tags, fields of errors except the place in the source.
// For comparing.
[[nodiscard]] std::string details(const messages& of);

class wire_client {
public:
    // Connected, nothing sent.
    explicit wire_client(const endpoint& to) : socket_(dial(to)) {}

    // Logged in. Throws std::runtime_error with the server's error.
    wire_client(const endpoint& to, const login& as);

    // Startup packet and password, up to ReadyForQuery or the end; all messages that came.
    messages log_in(
        const login& as,
        const std::vector<std::pair<std::string, std::string>>& more_parameters = {}
    );

    // From now on log_in() sends in pieces of that size.
    void set_piece_size(std::size_t size) noexcept { piece_size_ = size; }

    void send(std::string_view bytes) const { write_all(socket_, bytes); }

    void send(const script& what) const { send(what.bytes()); }

    // In pieces that end at these offsets, in ascending order; each goes out as a segment of its
    // own.
    void send_cut(std::string_view bytes, const std::vector<std::size_t>& at) const;
    // In pieces of that size.
    void send_pieces(std::string_view bytes, std::size_t size) const;

    // The next message; nullopt at the end of the stream. Throws when nothing comes in time.
    [[nodiscard]] std::optional<message> try_read(milliseconds limit = patience);
    // The next message. Throws when the stream ends.
    message read(milliseconds limit = patience);  // NOLINT(modernize-use-nodiscard)
    // Up to and including that many ReadyForQuery.
    messages read_ready(  // NOLINT(modernize-use-nodiscard)
        std::size_t count = 1,
        milliseconds limit = patience
    );
    // Up to and including the first message of that type.
    messages read_to(char type, milliseconds limit = patience);  // NOLINT(modernize-use-nodiscard)
    // Everything up to the end of the stream.
    messages read_to_end(milliseconds limit = patience);  // NOLINT(modernize-use-nodiscard)
    // Everything that comes until the peer is silent for that long; also at the end of the stream.
    messages read_quiet(milliseconds silence);  // NOLINT(modernize-use-nodiscard)

    // Sends, and reads up to that many ReadyForQuery.
    messages ask(const script& what, std::size_t ready = 1) {  // NOLINT(modernize-use-nodiscard)
        send(what);
        return read_ready(ready);
    }

    // First column of the first row of a simple query; throws on an error.
    std::string value(std::string_view sql);  // NOLINT(modernize-use-nodiscard)

    [[nodiscard]] const file_descriptor& socket() const noexcept { return socket_; }

    // Body of the BackendKeyData of the login; "" before.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    // Sends a CancelRequest for this session over a connection of its own, and waits until that is
    // closed by the other side.
    void cancel(const endpoint& to) const;

    void close() { socket_ = file_descriptor(); }

    // Gone with RST instead of FIN.
    void reset();

private:
    [[nodiscard]] std::optional<message> cut_one();

    file_descriptor socket_;
    std::string input_;
    std::size_t used_ = 0;  // bytes of input_ already handed out
    std::string key_;
    std::size_t piece_size_ = SIZE_MAX;  // of what log_in() sends
};

}  // namespace weir::integration
