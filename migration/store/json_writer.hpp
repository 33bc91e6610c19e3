// JSON (RFC 8259) written straight into one text. A document model would turn every number of a
// vector into a double, which takes twice the bytes and three times the time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// Commas are set by the writer; whether names, values and ends are in a right order is the caller's
// care. Threads: one at a time.
class json_writer {
public:
    void reserve(std::size_t bytes) { text_.reserve(bytes); }

    // Keeps the memory.
    void clear() {
        text_.clear();
        comma_ = false;
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    void begin_object() { open('{'); }

    void end_object() { close('}'); }

    void begin_array() { open('['); }

    void end_array() { close(']'); }

    // Of the member whose value comes next.
    void name(std::string_view name);

    // UTF-8, taken as it is; quotes, backslashes and control characters are escaped.
    void string(std::string_view what);
    void integer(std::int64_t what);
    void unsigned_integer(std::uint64_t what);
    // The shortest text that reads as the same number, always with a point or an exponent, so that
    // a store takes it for a fraction. Not finite: null.
    void real(double what);

    void boolean(bool what) { raw(what ? "true" : "false"); }

    void null() { raw("null"); }

    // A JSON text.
    void raw(std::string_view json);

    // An array of numbers, each the shortest text that reads as the same float. All are finite.
    void vector(std::span<const float> what);
    // A string: base64 of the numbers as little-endian IEEE 754, 4 bytes each.
    void vector_base64(std::span<const float> what);

private:
    void open(char bracket);
    void close(char bracket);
    void separate();
    void escape(unsigned char byte);

    std::string text_;
    bool comma_ = false;  // one is due before the next name or value
};

// The numbers that vector_base64() wrote; nullopt if the text is no such thing.
[[nodiscard]] std::optional<std::vector<float>> vector_from_base64(std::string_view text);

}  // namespace weir::migration::store
