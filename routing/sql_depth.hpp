// How deep a text's parse tree can get, before anything builds it.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::routing {

// libpg_query writes its tree and protobuf-c reads it by recursion, up to about 2 kB of stack a
// level. A text beyond this bound is not parsed: 1 MB of "1+1+1…" would end the process. 1 000
// levels need about 2 MB.
constexpr std::size_t max_nesting = 1'000;

// An upper bound of the tree's depth, from the tokens alone: every bracket, and in its current
// element every operator and every word that nests without brackets. Long lists, AND/OR chains and
// many statements count little. Stops counting once the result is above max_nesting. Pure.
[[nodiscard]] std::size_t nesting_bound(std::string_view sql);

}  // namespace weir::routing
