// What a client sends, as bytes: typed messages one behind the other, and anything else raw.
//
//     script().parse("", "select $1::text").bind("", "", {"x"}).execute("").sync().bytes()
#pragma once

#include "protocol/frontend.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::integration {

// Values of parameters; nullopt is NULL.
using parameter_values = std::vector<std::optional<std::string>>;

// Of parameters and results of a Bind.
enum class value_format : std::uint16_t { text = 0, binary = 1 };

class script {
public:
    script& query(std::string_view text);
    script& parse(
        std::string_view name,
        std::string_view text,
        const std::vector<std::uint32_t>& types = {}
    );
    script& bind(
        std::string_view portal,
        std::string_view statement,
        const parameter_values& values = {},
        value_format format = value_format::text
    );
    script& describe_statement(std::string_view name);
    script& describe_portal(std::string_view name);
    script& execute(std::string_view portal = "", std::int32_t max_rows = 0);
    script& close_statement(std::string_view name);
    script& close_portal(std::string_view name);

    script& sync() { return empty(protocol::frontend::kind::sync); }

    script& flush() { return empty(protocol::frontend::kind::flush); }

    script& terminate() { return empty(protocol::frontend::kind::terminate); }

    script& copy_done() { return empty(protocol::frontend::kind::copy_done); }

    script& copy_data(std::string_view data);
    script& copy_fail(std::string_view reason);
    // A whole message of any type.
    script& message(char type, std::string_view body);
    // A header alone, with any length word.
    script& header(char type, std::uint32_t length);
    script& raw(std::string_view bytes);
    // P B D E S of one statement, unnamed.
    script& extended(std::string_view text, const parameter_values& values = {});

    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

private:
    script& empty(protocol::frontend::kind type);

    template <class Message>
    script& add(const Message& message);

    std::string bytes_;
};

}  // namespace weir::integration
