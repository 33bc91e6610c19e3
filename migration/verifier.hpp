// Holds the store against the source, both ways, while both are written to, and mends what differs.
#pragma once

#include "migration/comparison.hpp"
#include "migration/operation.hpp"
#include "migration/source_reader.hpp"
#include "migration/store/store.hpp"
#include "migration/verify_progress.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir::migration {

// Threads: one.
class verifier {
public:
    struct ways {
        // A version that every change which is in the store already does not exceed, and every
        // later one does.
        std::function<version()> watermark;
        // Waits until what was committed before the call is in the store. Throws `stopped`.
        std::function<void()> catch_up;
        // Hands the operations to the lanes and waits until they are carried out.
        std::function<void(std::vector<operation>&&)> repair;
        // After each page.
        std::function<void(const verify_report&, const verify_cursor&)> progress;
        // Waits; throws `stopped`.
        std::function<void(std::chrono::milliseconds)> sleep;
    };

    verifier(
        const plan& what,
        const source_servers& servers,
        store::store& target,
        bool repair,
        ways how
    );

    // Throws `stopped`, or std::runtime_error if the store or the source refuses.
    verify_report run(verify_cursor from, verify_report so_far);

private:
    struct suspect {
        std::string space;
        migration::key key;
        difference what = difference::none;
    };

    void verify_source(verify_cursor& at);
    void verify_store(verify_cursor& at);
    [[nodiscard]] std::vector<suspect> differing(std::vector<source_row>&& rows);
    void settle(std::vector<suspect>&& suspects);
    // What is wrong with it in the end: looked at again with the stream past the row's last change.
    [[nodiscard]] std::vector<suspect> confirmed(std::span<const suspect> suspects);
    void mend(std::span<const suspect> wrong);
    [[nodiscard]] std::vector<std::optional<document>> rows_of(std::span<const suspect> suspects);
    template <typename Call>
    auto asked(const Call& call);

    const plan& plan_;
    const source_servers& servers_;
    source_reader reader_;
    store::store& store_;
    const bool repair_;
    const ways ways_;
    verify_report report_;
};

}  // namespace weir::migration
