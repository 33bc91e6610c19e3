#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

#include <charconv>

namespace weir::migration::store {
namespace {

namespace json = boost::json;

// Builds the document from the parser's events (names as Boost.JSON wants them).
struct builder {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    json::value_stack stack;

    bool on_document_begin(json::error_code&) { return true; }

    bool on_document_end(json::error_code&) { return true; }

    bool on_object_begin(json::error_code&) { return true; }

    bool on_object_end(std::size_t size, json::error_code&) {
        stack.push_object(size);
        return true;
    }

    bool on_array_begin(json::error_code&) { return true; }

    bool on_array_end(std::size_t size, json::error_code&) {
        stack.push_array(size);
        return true;
    }

    bool on_key_part(json::string_view text, std::size_t, json::error_code&) {
        stack.push_chars(text);
        return true;
    }

    bool on_key(json::string_view text, std::size_t, json::error_code&) {
        stack.push_key(text);
        return true;
    }

    bool on_string_part(json::string_view text, std::size_t, json::error_code&) {
        stack.push_chars(text);
        return true;
    }

    bool on_string(json::string_view text, std::size_t, json::error_code&) {
        stack.push_string(text);
        return true;
    }

    bool on_number_part(json::string_view, json::error_code&) { return true; }

    bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
        stack.push_int64(number);
        return true;
    }

    bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
        stack.push_uint64(number);
        return true;
    }

    // The text is whole, because the parser is given everything at once. What is out of range keeps
    // the parser's answer: infinity or zero.
    bool on_double(double number, json::string_view text, json::error_code&) {
        double exact = 0;
        const auto* const last = text.data() + text.size();
        const auto [end, fault] = std::from_chars(text.data(), last, exact);
        stack.push_double(fault == std::errc{} && end == last ? exact : number);
        return true;
    }

    bool on_bool(bool what, json::error_code&) {
        stack.push_bool(what);
        return true;
    }

    bool on_null(json::error_code&) {
        stack.push_null();
        return true;
    }

    bool on_comment_part(json::string_view, json::error_code&) { return true; }

    bool on_comment(json::string_view, json::error_code&) { return true; }
};

}  // namespace

std::optional<json::value> parse_json(std::string_view text) {
    json::basic_parser<builder> parser{json::parse_options{}};
    parser.handler().stack.reset();
    json::error_code fault;
    const auto read = parser.write_some(false, text.data(), text.size(), fault);
    if (fault || text.find_first_not_of(" \t\r\n", read) != std::string_view::npos) {
        return std::nullopt;
    }
    return parser.handler().stack.release();
}

const json::value* member(const json::value* of, std::string_view name) noexcept {
    const auto* object = object_of(of);
    return object == nullptr ? nullptr : object->if_contains({name.data(), name.size()});
}

const json::array* array_of(const json::value* what) noexcept {
    return what == nullptr ? nullptr : what->if_array();
}

const json::object* object_of(const json::value* what) noexcept {
    return what == nullptr ? nullptr : what->if_object();
}

std::optional<std::string_view> text_of(const json::value* what) noexcept {
    const auto* text = what == nullptr ? nullptr : what->if_string();
    if (text == nullptr) {
        return std::nullopt;
    }
    return std::string_view(text->data(), text->size());
}

std::optional<std::int64_t> integer_of(const json::value* what) noexcept {
    if (what == nullptr || !what->is_int64()) {
        return std::nullopt;
    }
    return what->get_int64();
}

std::optional<std::uint64_t> unsigned_of(const json::value* what) noexcept {
    if (what != nullptr && what->is_uint64()) {
        return what->get_uint64();
    }
    const auto number = integer_of(what);
    if (!number || *number < 0) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(*number);
}

std::optional<double> number_of(const json::value* what) noexcept {
    if (what == nullptr || !what->is_number()) {
        return std::nullopt;
    }
    return what->is_double()  ? what->get_double()
           : what->is_int64() ? static_cast<double>(what->get_int64())
                              : static_cast<double>(what->get_uint64());
}

std::optional<std::vector<float>> vector_of(const json::value* what) {
    const auto* numbers = array_of(what);
    if (numbers == nullptr) {
        return std::nullopt;
    }
    std::vector<float> read;
    read.reserve(numbers->size());
    for (const auto& each : *numbers) {
        const auto number = number_of(&each);
        if (!number) {
            return std::nullopt;
        }
        read.push_back(static_cast<float>(*number));
    }
    return read;
}

}  // namespace weir::migration::store
