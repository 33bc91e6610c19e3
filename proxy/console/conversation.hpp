// The console's side of the protocol: from a client's messages to commands, from answers to
// messages. Simple and extended protocol. Transactions do nothing but keep portals, which drivers
// that fetch in pieces count on; an error does not make them fail.
//
// The commands themselves are run by a function that is passed in, so that this is tested without a
// server.
#pragma once

#include "protocol/frame.hpp"
#include "protocol/frontend.hpp"
#include "proxy/asio.hpp"
#include "proxy/console/command.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy::console {

class conversation {
public:
    // The call lives until the answer is there.
    using runner = std::function<asio::awaitable<answer>(const call& what)>;

    // Prepared statements and portals that one client may have.
    static constexpr std::size_t named_max = 1000;

    explicit conversation(runner run) : run_(std::move(run)) {}

    // One whole message, whose bytes stay valid until the answer is there. False: the conversation
    // is over, once what output() holds has been sent.
    [[nodiscard]] asio::awaitable<bool> take(const protocol::frame_part& message);

    // What is to be sent; clear it when it is.
    [[nodiscard]] std::vector<std::uint8_t>& output() noexcept { return output_; }

private:
    // A statement that was prepared: no command in it, or one.
    struct statement {
        std::optional<call> what;
    };

    struct portal {
        std::shared_ptr<const statement> from;
        formats as;
        std::optional<answer> result;  // once it has been executed
        std::size_t sent = 0;
    };

    using bytes = protocol::byte_span;

    [[nodiscard]] asio::awaitable<void> query(bytes body);
    [[nodiscard]] asio::awaitable<bool> run_simple(const tokens& words);
    void parse(bytes body);
    void bind(bytes body);
    void describe(bytes body);
    [[nodiscard]] asio::awaitable<void> execute(bytes body);
    [[nodiscard]] asio::awaitable<void> run_portal(portal& which, std::int32_t max_rows);
    void close(bytes body);
    void sync();
    void ran(const command& what);
    [[nodiscard]] bool over(std::string_view why);

    void describe_columns(const std::optional<call>& what, const formats& as);
    void send_error(const protocol::diagnostic& what);
    // In the extended protocol: what follows is ignored up to Sync.
    void fail(const protocol::diagnostic& what);
    void fail(protocol::sqlstate code, std::string message);
    void fail_protocol(std::string_view message);

    runner run_;
    std::vector<std::uint8_t> output_;
    protocol::byte_writer writer_{output_};
    std::map<std::string, std::shared_ptr<const statement>, std::less<>> statements_;
    std::map<std::string, portal, std::less<>> portals_;
    bool skipping_ = false;
    bool in_transaction_ = false;
};

}  // namespace weir::proxy::console
