// The `options` parameter of a startup packet: settings in the form of server command-line
// switches.
#pragma once

#include "protocol/diagnostic.hpp"

#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace weir::protocol {

struct startup_setting {
    std::string name;  // as given, but '_' for every '-'
    std::string value;
    friend bool operator==(const startup_setting&, const startup_setting&) = default;
};

// Splits and reads the text as PostgreSQL does: words end at white space, a backslash takes the
// next character as it is; `-c name=value`, `-cname=value` and `--name=value` are settings, in this
// order, and a name may come twice. PostgreSQL knows some more switches (-d, -E, -S …); they would
// be dropped silently here, so every other word gives the FATAL that the client is to see, which
// names it.
[[nodiscard]] boost::system::result<std::vector<startup_setting>, diagnostic> parse_startup_options(
    std::string_view text
);

}  // namespace weir::protocol
