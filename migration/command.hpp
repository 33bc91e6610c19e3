// What operators ask of migrations (`MIGRATE …` in the console, `pgweir migrate …`), and the
// answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

enum class verb : std::uint8_t {
    start,
    status,
    pause,
    resume,
    verify,
    repair,
    dead_letters,
    remove
};

struct command {
    verb what = verb::status;
    std::string migration;  // status: empty for all
    bool dry_run = false;   // start, remove: only say what would be done
    bool force = false;     // start: although preflight refuses what may be forced
    bool retry = false;     // dead_letters: write them again
};

struct reply {
    bool done = true;
    std::string text;  // of an error: what is wrong
    std::string hint;  // of an error: what to do
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};

[[nodiscard]] inline reply refused(std::string text, std::string hint = {}) {
    return {
        .done = false,
        .text = std::move(text),
        .hint = std::move(hint),
        .columns = {},
        .rows = {}};
}

// One row and column: what has been done.
[[nodiscard]] inline reply done(std::string text) {
    return {
        .done = true,
        .text = {},
        .hint = {},
        .columns = {"result"},
        .rows = {{std::move(text)}}};
}

}  // namespace weir::migration
