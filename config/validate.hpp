// What must hold between the keys of a configuration: names that exist, limits that fit each other,
// rules that can match, files that are there.
#pragma once

#include "config/config.hpp"
#include "config/diagnostics.hpp"

namespace weir::config {

// Adds an error for each check that fails; a check that rests on a broken key is left out.
// Looks at the file system for certificates and directories only.
void validate(const config& c, diagnostics& out);

// Parts of it.
void validate_rules(const config& c, diagnostics& out);
void validate_access(const config& c, diagnostics& out);
void validate_stores(const config& c, diagnostics& out);
void validate_migrations(const config& c, diagnostics& out);
void check_pem_file(const std::string& path, const std::string& file, diagnostics& out);

}  // namespace weir::config
