// SQL text: the shape scan reads nothing outside of it and is the same for the same text at another
// place; a hint is a part of the text; what the parser makes of it does not depend on the scan.
#include "routing/hints.hpp"
#include "routing/lexer.hpp"
#include "routing/shape.hpp"
#include "routing/sql_parser.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>
#include <vector>

namespace weir::fuzz {
namespace {

using namespace routing;

void scan_one(std::string_view sql, bool plain) {
    const auto once = scan(sql, {.standard_conforming_strings = plain});
    // Behind a byte of another kind, so that a read before or beyond the text would show.
    std::vector<char> copy(sql.begin(), sql.end());
    const auto again = scan({copy.data(), copy.size()}, {.standard_conforming_strings = plain});
    claim(
        once.same_as(again) && once.statements == again.statements,
        "the same text, the same shape"
    );
    claim(
        once.hint.offset <= sql.size() && once.hint.length <= sql.size() - once.hint.offset,
        "a hint is a part of the text"
    );
    (void)parse_hints(sql.substr(once.hint.offset, once.hint.length));
    lexer tokens(sql, plain);
    std::uint32_t behind = 0;
    while (true) {
        const auto next = tokens.next();
        if (next.kind == token_kind::end) {
            break;
        }
        claim(
            next.begin >= behind && next.end > next.begin && next.end <= sql.size(),
            "tokens come one behind the other"
        );
        behind = next.end;
    }
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace weir::fuzz;
    const std::string_view sql(reinterpret_cast<const char*>(data), size);
    scan_one(sql, true);
    scan_one(sql, false);
    // PostgreSQL's parser takes texts that end at a zero.
    if (sql.find('\0') == std::string_view::npos && size < 4096) {
        (void)parse(sql);
        (void)read_settings(sql);
    }
    (void)unparsed_traits(sql);
    return 0;
}
