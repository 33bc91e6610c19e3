// A configuration: bad input gives errors, each with a place in the text, and never an exception.
#include "config/loader.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace weir;
    const std::string_view yaml(reinterpret_cast<const char*>(data), size);
    const config::environment none = [](const std::string&) {
        return std::optional<std::string>();
    };
    const auto read = config::load(yaml, "pgweir.yaml", none);
    fuzz::claim(read.value.has_value() == read.errors.empty(), "a configuration, or errors");
    (void)config::print_errors(read.errors);
    return 0;
}
