// The command line of pgweir.
#pragma once

namespace weir::proxy::cli {

// Exit codes of every command: 0; 1 when something failed at run time; 2 when the configuration or
// the command line is wrong.
constexpr int exit_failure = 1;
constexpr int exit_configuration = 2;

[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace weir::proxy::cli
