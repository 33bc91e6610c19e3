// Texts of prepared statements, shared by all clients and servers of one worker. One thread.
//
// The key is the whole text with the parameter types, and the client's search_path where it differs
// from the server's default: the same words can mean another table there. Never a bare hash.
#pragma once

#include "routing/router.hpp"
#include "routing/shape.hpp"
#include "routing/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::proxy {

struct statement {
    std::uint64_t id = 0;     // never reused while the process lives
    std::string server_name;  // "weir_<worker>_<id>"
    std::string text;
    std::string oids;  // as on the wire: four bytes each
    routing::shape shape;
    std::shared_ptr<const routing::traits> traits;
    routing::route_override asked;  // by a hint in the text
    mutable bool proven = false;    // some server has accepted the text
    std::string stand_in;           // what servers get instead of the text, where it is not theirs

    [[nodiscard]] const std::string& to_send() const noexcept {
        return stand_in.empty() ? text : stand_in;
    }
};

using statement_ptr = std::shared_ptr<const statement>;

class statement_registry {
public:
    // `limit`: bytes of text this worker may hold.
    statement_registry(unsigned worker, std::size_t limit) : worker_(worker), limit_(limit) {}

    statement_registry(const statement_registry&) = delete;
    statement_registry& operator=(const statement_registry&) = delete;

    struct request {
        std::string_view text;
        std::string_view oids;
        std::string_view search_path;  // empty: the server's default
    };

    // The statement if somebody has it already.
    [[nodiscard]] statement_ptr find(const request& wanted);
    // A new one; null when the limit is reached.
    [[nodiscard]] statement_ptr add(
        const request& wanted,
        const routing::shape& shape,
        std::shared_ptr<const routing::traits> traits,
        const routing::route_override& asked = {},
        std::string stand_in = {}
    );

    [[nodiscard]] std::size_t bytes() const noexcept { return shared_->bytes; }

    [[nodiscard]] std::size_t size() const noexcept { return shared_->known.size(); }

private:
    // Outlives the registry for as long as a statement does: its last owner takes it out.
    struct shared_state {
        std::unordered_map<std::string, std::weak_ptr<const statement>> known;
        std::size_t bytes = 0;
    };

    void make_key(const request& wanted);

    unsigned worker_;
    std::size_t limit_;
    std::uint64_t next_ = 1;
    std::string key_;
    std::shared_ptr<shared_state> shared_ = std::make_shared<shared_state>();
};

}  // namespace weir::proxy
