#include "proxy/console/describe.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace weir::proxy::console {

cell wall_time(steady_time at, steady_time now) {
    if (at == steady_time{}) {
        return {};
    }
    using std::chrono::system_clock;
    const auto ago = std::chrono::duration_cast<system_clock::duration>(now - at);
    const std::time_t seconds = system_clock::to_time_t(system_clock::now() - ago);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
    return std::string(text.data(), size);
}

std::pair<std::string, std::int64_t> split_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return {std::string(text), 0};
    }
    std::int64_t port = 0;
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    auto address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    return {std::string(address), port};
}

wait_cells wait_of(std::chrono::steady_clock::duration waited) {
    const auto all = std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
    const auto whole = std::max<std::int64_t>(all, 0);
    return {.seconds = whole / 1'000'000, .microseconds = whole % 1'000'000};
}

answer incomplete() {
    protocol::diagnostic why;
    why.code = protocol::sqlstates::query_canceled;
    why.message = "a worker did not answer in time";
    why.hint = "It may have stopped because pgweir is shutting down; else ask again.";
    return failed(std::move(why));
}

}  // namespace weir::proxy::console
