#include "config/diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::config {

std::string to_string(const error& e) {
    if (e.at.line == 0) {
        return e.file + ": " + e.text;
    }
    return e.file + ":" + std::to_string(e.at.line) + ":" + std::to_string(e.at.column) + ": " +
           e.text;
}

std::string concat(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const auto part : parts) {
        text.append(part);
    }
    return text;
}

std::string parent_path(const std::string& path) {
    const auto cut = path.find_last_of(".[");
    return cut == std::string::npos ? std::string() : path.substr(0, cut);
}

void diagnostics::note(const std::string& path, place at) {
    places_.insert_or_assign(path, at);
}

place diagnostics::find(const std::string& path) const {
    for (auto candidate = path; !candidate.empty(); candidate = parent_path(candidate)) {
        const auto found = places_.find(candidate);
        if (found != places_.end()) {
            return found->second;
        }
    }
    return {.line = 1, .column = 1};
}

void diagnostics::report(const std::string& path, place at, std::string text) {
    broken_.insert(path);
    errors_.push_back({.file = {}, .at = at, .text = std::move(text)});
}

bool diagnostics::broken(const std::string& path) const {
    for (auto candidate = path; !candidate.empty(); candidate = parent_path(candidate)) {
        if (broken_.contains(candidate)) {
            return true;
        }
    }
    return false;
}

bool diagnostics::damaged(const std::string& path) const {
    if (broken(path)) {
        return true;
    }
    const auto has_child = [&](char separator) {
        const auto prefix = path + separator;
        const auto first = broken_.lower_bound(prefix);
        return first != broken_.end() && first->starts_with(prefix);
    };
    return has_child('.') || has_child('[');
}

std::vector<error> diagnostics::take(const std::string& file_name) {
    auto errors = std::exchange(errors_, {});
    std::stable_sort(errors.begin(), errors.end(), [](const error& a, const error& b) {
        return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
    });
    for (auto& e : errors) {
        e.file = file_name;
    }
    return errors;
}

}  // namespace weir::config
