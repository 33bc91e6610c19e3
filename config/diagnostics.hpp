// The errors of one load, and where in the text each key stands. Paths are those of error texts:
// clusters.main.servers[2].port, list elements counted from 1.
#pragma once

#include "config/error.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::config {

class diagnostics {
public:
    // Remembers where the value of `path` stands.
    void note(const std::string& path, place at);

    // The place of `path`, or of the nearest thing around it that was noted.
    [[nodiscard]] place find(const std::string& path) const;

    // Adds an error. The path counts as broken from here on.
    void report(const std::string& path, place at, std::string text);

    void report(const std::string& path, std::string text) {
        const auto at = find(path);
        report(path, at, std::move(text));
    }

    // Whether `path` or something around it has an error, so that its value means nothing and a
    // check that rests on it would only repeat the complaint.
    [[nodiscard]] bool broken(const std::string& path) const;

    // The same, or something inside `path` has an error.
    [[nodiscard]] bool damaged(const std::string& path) const;

    // All errors in the order of the text.
    [[nodiscard]] std::vector<error> take(const std::string& file_name);

private:
    std::map<std::string, place> places_;
    std::set<std::string> broken_;
    std::vector<error> errors_;
};

// The path without its last part; empty for a key of the top level.
[[nodiscard]] std::string parent_path(const std::string& path);

}  // namespace weir::config
