// SQL text -> traits, by PostgreSQL's own parser. The slow path: a miss in the trait cache.
#pragma once

#include "routing/traits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

struct parsed {
    traits value;
    std::string error;  // why the text was not understood, empty if it was; for SHOW ROUTE, never
                        // for a client
};

// Any thread, several at a time. Costs tens of microseconds for an ordinary statement; the caller
// keeps texts above max_parse_bytes, texts whose shape is not complete, and texts that are read
// with standard_conforming_strings off away. A text that cannot be parsed (newer syntax, no SQL at
// all, nested too deeply) gives kind and reason unparsed. Its pin says what its words hint at:
// prepared_by_sql, listen, load, temporary_table or hold_cursor keep the session on its server
// until it ends, unparsed until the end of the transaction.
[[nodiscard]] parsed parse(std::string_view sql);

// Traits of a text that is not to be parsed, because it is too long or for one of the reasons
// above.
[[nodiscard]] traits unparsed_traits(std::string_view sql);

// The settings that this very text changes, for traits::settings_from_text. Parses the text.
[[nodiscard]] std::vector<setting_effect> read_settings(std::string_view sql);

}  // namespace weir::routing
