// What is known of a unit before any of it is sent: everything up to Sync, or one simple Query. The
// decision where it goes is made for the unit as a whole, so that one write anywhere sends all of
// it to the primary.
#pragma once

#include "proxy/client/statements.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy::client {

struct unit {
    // Texts in the order of their Query or Parse messages, so that none is looked at twice.
    std::vector<known_text> texts;
    std::size_t next_text = 0;
    // Names that Parse messages of the unit will make: index into texts.
    std::vector<std::pair<std::string, std::size_t>> named;
    std::vector<statement_ptr> known_statements;  // of its Parse messages, while known_parses holds

    std::size_t scanned = 0;  // bytes of the input that belong to it so far
    const known_text* decisive =
        nullptr;  // the text the route is decided for; null: nothing that needs one
    known_text decisive_copy;
    bool several = false;       // more than one, and they do not agree: primary
    bool write = false;         // something in it must have the primary whatever its text
    bool executes = false;      // Execute, Query or FunctionCall in it
    bool needs_server = false;  // not answered by the proxy alone
    bool known_parses =
        true;          // nothing but Parse of texts that some server has accepted, and Close
    bool cut = false;  // decided before its end was there: a large message, too much, or Flush

    void clear() {
        texts.clear();
        next_text = 0;
        named.clear();
        known_statements.clear();
        scanned = 0;
        decisive = nullptr;
        several = write = executes = needs_server = cut = false;
        known_parses = true;
    }

    // One more statement is going to run.
    void runs(const known_text& what) {
        if (decisive == nullptr) {
            decisive_copy = what;
            decisive = &decisive_copy;
            return;
        }
        if (decisive->shape.hi == what.shape.hi && decisive->shape.lo == what.shape.lo) {
            return;
        }
        several = true;
        if (what.traits && !what.traits->replica_by_syntax()) {
            decisive_copy = what;
        }
    }
};

}  // namespace weir::proxy::client
