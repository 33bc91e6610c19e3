// What the console understands: one table of commands, each with its columns and its function, and
// from tokens to one of them or the error that says why not.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/console/answer.hpp"
#include "proxy/console/lexer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::proxy {
class worker;
}

namespace weir::proxy::console {

struct request {
    worker& home;
    const std::string& user;
    const tokens& arguments;  // behind the command's own words
};

enum class transaction_step : std::uint8_t { none, begin, end };

struct command {
    std::string_view words;  // upper case, as HELP prints them
    std::string_view arguments{};
    std::string_view help{};   // empty: not listed
    bool needs_admin = false;  // else those who may look may run it
    std::string_view tag = "SHOW";
    transaction_step step = transaction_step::none;
    // Null: takes no arguments.
    std::optional<protocol::diagnostic> (*check)(const tokens& arguments) = nullptr;
    // Null: answers without rows.
    fields (*columns)(const tokens& arguments) = nullptr;
    // `request` lives until the answer is there.
    asio::awaitable<answer> (*run)(const request& what) = nullptr;
};

[[nodiscard]] std::span<const command> all_commands();

// 42601 with the hint that every one of them has.
[[nodiscard]] protocol::diagnostic syntax_error(std::string message);

struct call {
    const command* what = nullptr;
    tokens arguments;

    [[nodiscard]] fields columns() const {
        return what->columns == nullptr ? fields() : what->columns(arguments);
    }
};

struct resolved {
    call value;
    std::optional<protocol::diagnostic> error;  // 42601, or 0A000 for what may come later
};

[[nodiscard]] resolved resolve(const tokens& words);

}  // namespace weir::proxy::console
