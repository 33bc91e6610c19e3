// Chroma, the real server: see chroma_server and chroma_test.cpp.
#include "migration/store/chroma.hpp"
#include "tests/stores/candidates.hpp"
#include "tests/stores/chroma_process.hpp"

#include <memory>

namespace weir::stores {

candidate& chroma::get() {
    static candidate made = [] {
        candidate one;
#ifndef __x86_64__
        one.skipped = "there is no Chroma for this processor";
        return one;
#endif
        auto running = std::make_shared<chroma_process>();
        one.able = {
            .conditional = false,
            .patches = true,
            .normalises = false,
            .exact_search = false};
        one.metrics = {store::metric::cosine, store::metric::l2, store::metric::inner_product};
        one.orders_text = false;
        one.orders_uuid = false;
        one.clears = 2000;
        // Holds the server, too: it runs as long as the candidate is there.
        one.make = [running](const store::layout& rows) {
            return store::make_chroma({.url = running->url()}, rows);
        };
        return one;
    }();
    return made;
}

}  // namespace weir::stores
