// turbopuffer and Qdrant cannot be run here: their emulators, see emulator.py.
#include "migration/store/qdrant.hpp"
#include "migration/store/turbopuffer.hpp"
#include "tests/stores/candidates.hpp"
#include "tests/stores/server.hpp"

#include <utility>

namespace weir::stores {
namespace {

constexpr const char* api_key = "emulator-key";

using factory = std::unique_ptr<store::store> (*)(const store::http_options&, const store::layout&);

candidate emulator(const char* file, std::pair<std::string, std::string> header, factory make) {
    auto running = std::make_shared<server>(std::vector<std::string>{
        WEIR_PYTHON,
        std::string(WEIR_STORES_FOLDER) + "/" + file,
        "--api-key",
        api_key});
    candidate made;
    made.options.url = running->url();
    made.options.headers = {std::move(header)};
    made.make_with = make;
    made.make = [options = made.options, make](const store::layout& layout) {
        return make(options, layout);
    };
    // Holds the server, too: it runs as long as the candidate is there.
    made.control = [running](const std::string& json) {
        store::http_client client({.url = running->url()});
        auto answer = client.send({.target = "/_control", .body = json});
        REQUIRE(answer.has_value());
        REQUIRE(answer->status == 200);
        return answer->body;
    };
    return made;
}

}  // namespace

candidate& turbopuffer::get() {
    static candidate made = [] {
        auto one = emulator(
            "turbopuffer_emulator.py",
            {"Authorization", std::string("Bearer ") + api_key},
            store::make_turbopuffer
        );
        one.able = {
            .conditional = true,
            .patches = true,
            .normalises = false,
            .exact_search = true};
        one.metrics = {store::metric::cosine, store::metric::l2};
        one.filters_json = false;
        one.knows_empty = false;
        return one;
    }();
    return made;
}

candidate& qdrant::get() {
    static candidate made = [] {
        auto one = emulator("qdrant_emulator.py", {"api-key", api_key}, store::make_qdrant);
        one.able = {
            .conditional = false,
            .patches = true,
            .normalises = false,
            .exact_search = true};
        one.metrics = {store::metric::cosine, store::metric::l2, store::metric::inner_product};
        one.orders_text = false;
        one.orders_uuid = false;
        return one;
    }();
    return made;
}

}  // namespace weir::stores
