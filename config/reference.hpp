// The pages that are made from the schema: docs/configuration.md, and a JSON Schema for editors.
#pragma once

#include <string>

namespace weir::config {

// The whole of docs/configuration.md.
[[nodiscard]] std::string reference_page();

// Every available key with its description, as a YAML file that loads (given the files and
// variables it names).
[[nodiscard]] std::string example_file();

// JSON Schema, draft 2020-12.
[[nodiscard]] std::string json_schema();

}  // namespace weir::config
