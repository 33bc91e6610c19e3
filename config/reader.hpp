// Walks a document along the schema and fills the structs. For loader.cpp.
#pragma once

#include "config/diagnostics.hpp"
#include "config/document.hpp"
#include "config/scalar.hpp"
#include "config/schema.hpp"
#include "config/substitute.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weir::config {

// Knows keys and types only; what must hold between keys is validate.hpp.
class reader {
public:
    reader(const environment& variables, std::filesystem::path base, diagnostics& out)
        : variables_(variables), base_(std::move(base)), out_(out) {}

    // `owner` is the struct of config.hpp that `keys` belong to; `path` is empty at the top.
    void read_block(
        const std::vector<key>& keys,
        const node& given,
        void* owner,
        const std::string& path
    );

private:
    void read_key(const key& k, const node& given, void* owner, const std::string& path);
    void read_inner(const key& k, const node& given, void* owner, const std::string& path);
    void read_list(const key& k, const node& given, void* owner, const std::string& path);
    void read_map(const key& k, const node& given, void* owner, const std::string& path);
    void read_value(const key& k, const node& given, void* owner, const std::string& path);
    void read_absent(const key& k, place at, void* owner, const std::string& path);

    std::optional<key_value> names_value(const key& k, const node& given, const std::string& path);
    std::optional<key_value>
    settings_value(const key& k, const node& given, const std::string& path);
    std::optional<key_value>
    consistency_value(const key& k, const node& given, const std::string& path);
    std::optional<key_value> scalar_value(const key& k, const node& given, const std::string& path);

    // The text of a scalar with its variables replaced.
    std::optional<std::string> resolved(const key& k, const node& given, const std::string& path);

    void unknown_key(const std::vector<key>& keys, const node& given, const std::string& path);
    bool first_of_its_name(const node& map, std::size_t index, const std::string& path);
    void wrong_kind(const node& given, const std::string& path, const std::string& expected);
    void bad_value(const key& k, const node& given, const std::string& path, const conversion& bad);

    const environment& variables_;
    std::filesystem::path base_;
    diagnostics& out_;
};

}  // namespace weir::config
