// The stores that must pass the contract test (contract_*_test.cpp).
//
// To add one:
//   1. declare a type here with `static candidate& get();`, give it a name with TYPE_TO_STRING_AS,
//      and add the type to WEIR_STORES: every contract test then exists for it too, as
//      "stores.<sentence><name>";
//   2. define get() in a file of its own (candidate_<name>.cpp, see candidate_emulators.cpp). It
//      makes the candidate once for the whole program, so that a run of all tests starts the server
//      once; namespaces of tests never meet, see fresh();
//   3. add that file to CMakeLists.txt.
// A store that cannot run on this machine sets `skipped` to the reason; its tests then say so and
// pass.
#pragma once

#include "migration/store/http_client.hpp"
#include "migration/store/store.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::stores {

namespace store = migration::store;

struct candidate {
    std::string skipped;  // why it cannot run here; empty: it can

    store::abilities able;               // for a layout with metric l2, compared with able()
    std::vector<store::metric> metrics;  // that it has
    bool orders_text = true;             // filters with < and > on text
    bool orders_uuid = true;             // … on uuid
    bool filters_json = true;            // IS NULL on json
    // What it says about a wrong dimension in ensure() when the namespace is empty: stores that do
    // not keep it before the first document can only refuse the write.
    bool knows_empty = true;
    std::size_t clears = 0;  // documents that one call of clear() removes; 0: all of them

    // A new object that talks to the server.
    std::function<std::unique_ptr<store::store>(const store::layout&)> make;

    // Emulators only. Gives it a body for POST /_control (see emulator.py); the answer is returned.
    std::function<std::string(const std::string& json)> control;
    std::function<std::unique_ptr<store::store>(const store::http_options&, const store::layout&)>
        make_with;
    store::http_options options;  // to start from: url and key
};

struct turbopuffer {
    static candidate& get();
};

struct qdrant {
    static candidate& get();
};

struct chroma {
    static candidate& get();
};

struct postgres {
    static candidate& get();
};

}  // namespace weir::stores

TYPE_TO_STRING_AS("turbopuffer", weir::stores::turbopuffer);
TYPE_TO_STRING_AS("qdrant", weir::stores::qdrant);
TYPE_TO_STRING_AS("chroma", weir::stores::chroma);
TYPE_TO_STRING_AS("postgres", weir::stores::postgres);

#define WEIR_STORES \
    weir::stores::turbopuffer, weir::stores::qdrant, weir::stores::chroma, weir::stores::postgres
