// SQLSTATE: the five-character codes of errors and notices.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::protocol {

class sqlstate {
public:
    // "00000", successful completion.
    constexpr sqlstate() noexcept = default;

    // From a literal; a wrong length does not compile.
    // NOLINTNEXTLINE(google-explicit-constructor): `sqlstate code = "08006"` is what is wanted.
    consteval sqlstate(const char (&literal)[6]) noexcept
        : code_{literal[0], literal[1], literal[2], literal[3], literal[4]} {}

    // From a message: digits and capital letters, exactly five.
    [[nodiscard]] static constexpr std::optional<sqlstate> parse(std::string_view text) noexcept {
        sqlstate parsed;
        if (text.size() != parsed.code_.size()) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < text.size(); ++i) {
            const bool known =
                (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'A' && text[i] <= 'Z');
            if (!known) {
                return std::nullopt;
            }
            parsed.code_[i] = text[i];
        }
        return parsed;
    }

    // Valid as long as this object is.
    [[nodiscard]] constexpr std::string_view text() const noexcept {
        return {code_.data(), code_.size()};
    }

    // The first two characters: 08 connection, 53 resources, 57 operator intervention …
    [[nodiscard]] constexpr std::string_view error_class() const noexcept {
        return text().substr(0, 2);
    }

    friend constexpr bool operator==(const sqlstate&, const sqlstate&) = default;
    friend constexpr auto operator<=>(const sqlstate&, const sqlstate&) = default;

private:
    std::array<char, 5> code_{'0', '0', '0', '0', '0'};
};

// The codes this program makes or looks for, under PostgreSQL's names.
namespace sqlstates {

inline constexpr sqlstate successful_completion = "00000";
inline constexpr sqlstate warning = "01000";
inline constexpr sqlstate connection_exception = "08000";
inline constexpr sqlstate unable_to_connect = "08001";
inline constexpr sqlstate rejected_connection = "08004";
inline constexpr sqlstate connection_failure = "08006";
inline constexpr sqlstate protocol_violation = "08P01";
inline constexpr sqlstate feature_not_supported = "0A000";
inline constexpr sqlstate invalid_parameter_value = "22023";
inline constexpr sqlstate invalid_transaction_state = "25000";
inline constexpr sqlstate active_transaction = "25001";
inline constexpr sqlstate read_only_transaction = "25006";
inline constexpr sqlstate no_active_transaction = "25P01";
inline constexpr sqlstate in_failed_transaction = "25P02";
inline constexpr sqlstate invalid_statement_name = "26000";
inline constexpr sqlstate invalid_authorization = "28000";
inline constexpr sqlstate invalid_password = "28P01";
inline constexpr sqlstate invalid_cursor_name = "34000";
inline constexpr sqlstate invalid_catalog_name = "3D000";
inline constexpr sqlstate serialization_failure = "40001";
inline constexpr sqlstate insufficient_privilege = "42501";
inline constexpr sqlstate syntax_error = "42601";
inline constexpr sqlstate undefined_object = "42704";
inline constexpr sqlstate duplicate_statement = "42P05";
inline constexpr sqlstate insufficient_resources = "53000";
inline constexpr sqlstate out_of_memory = "53200";
inline constexpr sqlstate too_many_connections = "53300";
inline constexpr sqlstate limit_exceeded = "54000";
inline constexpr sqlstate wrong_object_state = "55000";
inline constexpr sqlstate query_canceled = "57014";
inline constexpr sqlstate admin_shutdown = "57P01";
inline constexpr sqlstate crash_shutdown = "57P02";
inline constexpr sqlstate cannot_connect_now = "57P03";
inline constexpr sqlstate idle_session_timeout = "57P05";
inline constexpr sqlstate idle_in_transaction_timeout = "25P03";
inline constexpr sqlstate system_error = "58000";
inline constexpr sqlstate config_file_error = "F0000";
inline constexpr sqlstate internal_error = "XX000";

}  // namespace sqlstates
}  // namespace weir::protocol
