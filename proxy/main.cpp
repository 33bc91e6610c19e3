#include "proxy/cli/cli.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    try {
        return weir::proxy::cli::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pgweir: %s\n", error.what());
    } catch (...) {
        std::fputs("pgweir: unexpected failure\n", stderr);
    }
    return weir::proxy::cli::exit_failure;
}
