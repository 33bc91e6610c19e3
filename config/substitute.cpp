#include "config/substitute.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace weir::config {

namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::size_t max_secret_bytes = 64UL << 10;

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), follows);
}

substitution failed(std::string problem) {
    return {.text = {}, .problem = std::move(problem)};
}

substitution read_file(const std::filesystem::path& path) {
    const auto quoted = "'" + path.string() + "'";
    std::error_code status_ec;
    if (!std::filesystem::is_regular_file(path, status_ec)) {
        return failed("names the file " + quoted + ", which does not exist");
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return failed("names the file " + quoted + ", which cannot be read");
    }
    std::string text(max_secret_bytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_secret_bytes) {
        return failed("names the file " + quoted + ", which is larger than 64KiB");
    }
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    if (text.ends_with('\r')) {
        text.pop_back();
    }
    if (text.empty() || text.find('\0') != std::string::npos) {
        return failed("names the file " + quoted + ", which is empty or not text");
    }
    return {.text = std::move(text), .problem = {}};
}

}  // namespace

environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* const found = std::getenv(name.c_str());
        return found == nullptr ? std::nullopt : std::optional<std::string>(found);
    };
}

substitution expand(std::string_view raw, const environment& variables, bool secret) {
    std::string text;
    std::size_t position = 0;
    while (position < raw.size()) {
        const auto start = raw.find("${", position);
        if (start == std::string_view::npos) {
            break;
        }
        if (start > position && raw[start - 1] == '$') {
            text.append(raw.substr(position, start - 1 - position)).append("${");
            position = start + 2;
            continue;
        }
        const auto end = raw.find('}', start);
        const auto name = end == std::string_view::npos ? std::string_view()
                                                        : raw.substr(start + 2, end - start - 2);
        if (!is_variable_name(name)) {
            return failed(
                "has a '${' without a variable's name and '}' ('$${' stands for '${' itself)"
            );
        }
        const auto found = variables(std::string(name));
        if (!found) {
            const auto whole = start == 0 && end + 1 == raw.size();
            return failed(
                secret && !whole
                    ? "names an environment variable that is not set"
                    : "names the environment variable '" + std::string(name) + "', which is not set"
            );
        }
        text.append(raw.substr(position, start - position)).append(*found);
        position = end + 1;
    }
    text.append(raw.substr(std::min(position, raw.size())));
    return {.text = std::move(text), .problem = {}};
}

substitution
read_secret(std::string_view raw, const environment& variables, const std::filesystem::path& base) {
    if (!raw.starts_with(file_prefix)) {
        return expand(raw, variables, true);
    }
    auto path = expand(raw.substr(file_prefix.size()), variables, false);
    if (!path) {
        return path;
    }
    return read_file(base / path.text);
}

}  // namespace weir::config
