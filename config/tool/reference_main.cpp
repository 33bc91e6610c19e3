// Prints what is made from the configuration schema:
//   weir_config_reference            docs/configuration.md
//   weir_config_reference --schema   JSON Schema for editors
//   weir_config_reference --example  a YAML file that sets every key
#include "config/reference.hpp"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    std::string text;
    if (wanted.empty()) {
        text = weir::config::reference_page();
    } else if (wanted == "--schema") {
        text = weir::config::json_schema();
    } else if (wanted == "--example") {
        text = weir::config::example_file();
    } else {
        std::fputs("usage: weir_config_reference [--schema | --example]\n", stderr);
        return 2;
    }
    return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
}
