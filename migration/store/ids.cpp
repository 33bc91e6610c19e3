#include "migration/store/ids.hpp"

#include "migration/store/json_writer.hpp"

#include <boost/json.hpp>
#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir::migration::store {
namespace {

namespace json = boost::json;

// 5d9a3c1e-7f40-4e0b-9c55-706777656972, made once; its last bytes are "pgweir".
constexpr std::array<unsigned char, 16> name_space{
    0x5D,
    0x9A,
    0x3C,
    0x1E,
    0x7F,
    0x40,
    0x4E,
    0x0B,
    0x9C,
    0x55,
    0x70,
    0x67,
    0x77,
    0x65,
    0x69,
    0x72};

constexpr char digest_mark = '~';

struct writing {
    json_writer& out;

    void operator()(std::monostate) const { out.null(); }

    void operator()(bool what) const { out.boolean(what); }

    void operator()(std::int64_t what) const { out.integer(what); }

    void operator()(double what) const {
        if (std::isnan(what)) {
            out.string("NaN");
        } else if (std::isinf(what)) {
            out.string(what < 0 ? "-Infinity" : "Infinity");
        } else {
            out.real(what == 0 ? 0.0 : what);  // -0 and 0 are one key
        }
    }

    void operator()(const std::string& what) const { out.string(what); }
};

std::optional<value> real_from(const json::value& from) {
    if (from.is_number()) {
        return from.to_number<double>();
    }
    if (!from.is_string()) {
        return std::nullopt;
    }
    using reals = std::numeric_limits<double>;
    const std::string_view text = from.get_string();
    if (text == "NaN") {
        return reals::quiet_NaN();
    }
    return text == "-Infinity" ? -reals::infinity() : reals::infinity();
}

std::optional<value> value_from(const json::value& from, value_kind kind) {
    switch (kind) {
    case value_kind::boolean:
        return from.is_bool() ? std::optional<value>(from.get_bool()) : std::nullopt;
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date:
        return from.is_int64() ? std::optional<value>(from.get_int64()) : std::nullopt;
    case value_kind::real: return real_from(from);
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: break;
    }
    if (!from.is_string()) {
        return std::nullopt;
    }
    const auto& text = from.get_string();
    return std::string(text.data(), text.size());
}

std::optional<key> number_key(const document_id& id) {
    if (const auto* number = std::get_if<std::uint64_t>(&id)) {
        return key{static_cast<std::int64_t>(*number)};
    }
    const auto& text = std::get<std::string>(id);
    std::int64_t read = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (fault != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return key{read};
}

}  // namespace

std::string canonical_text(const key& what) {
    json_writer out;
    out.begin_array();
    for (const auto& part : what) {
        std::visit(writing{out}, part);
    }
    out.end_array();
    return out.text();
}

std::optional<key> key_from_text(std::string_view text, const std::vector<column>& columns) {
    json::error_code fault;
    const auto parsed = json::parse({text.data(), text.size()}, fault);
    if (fault || !parsed.is_array() || parsed.get_array().size() != columns.size()) {
        return std::nullopt;
    }
    key read;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        auto part = value_from(parsed.get_array()[i], columns[i].kind);
        if (!part) {
            return std::nullopt;
        }
        read.push_back(*std::move(part));
    }
    return read;
}

std::string uuid_of(std::string_view name) {
    std::string text(name_space.begin(), name_space.end());
    text += name;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
        throw std::runtime_error("SHA-1 is not available");
    }
    digest[6] = (digest[6] & 0x0F) | 0x50;  // version 5
    digest[8] = (digest[8] & 0x3F) | 0x80;  // variant of RFC 4122
    constexpr std::string_view hex = "0123456789abcdef";
    std::string made;
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            made += '-';
        }
        made += hex[digest[i] >> 4];
        made += hex[digest[i] & 15];
    }
    return made;
}

id_map::id_map(std::vector<column> columns, id_rules rules)
    : columns_(std::move(columns)), rules_(rules) {
    if (columns_.size() != 1) {
        return;
    }
    const auto kind = columns_.front().kind;
    if (kind == value_kind::integer && (rules_.numbers || rules_.longest_text > 0)) {
        kind_ = rules_.numbers ? id_kind::number : id_kind::text;
        digest_ = false;
    } else if (kind == value_kind::uuid) {
        digest_ = false;
    } else if (kind == value_kind::text && rules_.longest_text > 0) {
        kind_ = id_kind::text;
    }
}

bool id_map::fits(const std::string& text) const {
    return !text.empty() && text.size() <= rules_.longest_text && text.front() != digest_mark;
}

bool id_map::is_digest(const key& what) const {
    if (kind_ == id_kind::text && digest_) {
        return !fits(std::get<std::string>(what.front()));
    }
    return digest_;
}

document_id id_map::id_of(const key& what) const {
    if (kind_ == id_kind::number) {
        return static_cast<std::uint64_t>(std::get<std::int64_t>(what.front()));
    }
    if (is_digest(what)) {
        const auto digest = uuid_of(canonical_text(what));
        return kind_ == id_kind::text ? digest_mark + digest : digest;
    }
    if (const auto* number = std::get_if<std::int64_t>(&what.front())) {
        return std::to_string(*number);
    }
    return std::get<std::string>(what.front());
}

std::optional<key> id_map::key_of(const document_id& id, std::string_view beside) const {
    if (!beside.empty()) {
        return key_from_text(beside, columns_);
    }
    if (columns_.size() == 1 && columns_.front().kind == value_kind::integer && !digest_) {
        return number_key(id);
    }
    const auto* text = std::get_if<std::string>(&id);
    if (text == nullptr || (digest_ && (kind_ != id_kind::text || !fits(*text)))) {
        return std::nullopt;  // somebody else's document
    }
    return key{*text};
}

}  // namespace weir::migration::store
