// A client's own names for prepared statements and portals, the unnamed ones included. Changed when
// a message is sent; undo records take back what an error made undone. Pure; one thread.
#pragma once

#include "proxy/result_digest.hpp"
#include "proxy/statement.hpp"
#include "routing/router.hpp"
#include "routing/shape.hpp"
#include "routing/traits.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::proxy::client {

// What is known of a text: enough to route it and to foresee what it leaves behind.
struct known_text {
    routing::shape shape;
    std::shared_ptr<const routing::traits> traits;
    routing::route_override asked{};  // by a hint in the text
};

// What stands behind a name of the client's.
struct named_statement {
    statement_ptr what;
    std::uint64_t parsed_at = 0;  // the client's Parse, in the worker's order of events
    result_digest told = 0;       // the columns that the client has been told of since

    explicit operator bool() const noexcept { return what != nullptr; }
};

// The unnamed statement must survive a change of server between two units, so its text is kept.
struct unnamed_statement {
    std::uint64_t version = 0;  // 0: there is none. Unique in the worker, never reused
    std::string text;
    std::string oids;
    known_text known;
    result_digest told = 0;    // as of a named one, by Describe of the statement alone
    bool changed = false;      // it has other columns now than the client was told of
    bool deallocates = false;  // DEALLOCATE of a name of the client's own; the server has an empty
                               // text in its place
};

struct text_hash {
    using is_transparent = void;

    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

template <class Value>
using name_map = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

// A portal remembers what its statement does, and the settings whose values came with Bind.
struct portal {
    known_text known;
    std::vector<routing::setting_effect> settings;  // only where Bind gave the values
    bool deallocates = false;                       // as its statement
    // Of its statement, if that is a named one whose columns the client does not know yet.
    std::string untold;
    std::uint64_t untold_id = 0;
};

class statements {
public:
    // Valid until the name is erased.
    [[nodiscard]] named_statement* find(std::string_view name) {
        const auto found = named_.find(name);
        return found == named_.end() ? nullptr : &found->second;
    }

    void set(std::string_view name, named_statement what) {
        named_.insert_or_assign(std::string(name), std::move(what));
    }

    // What was there.
    named_statement erase(std::string_view name) {
        const auto found = named_.find(name);
        if (found == named_.end()) {
            return {};
        }
        auto gone = std::move(found->second);
        named_.erase(found);
        return gone;
    }

    // All named ones, which are gone from here then; and back, unless the name has been used again.
    [[nodiscard]] name_map<named_statement> take_names() { return std::exchange(named_, {}); }

    void put_back(const name_map<named_statement>& names) {
        named_.insert(names.begin(), names.end());
    }

    void drop_unnamed() {
        unnamed.version = 0;
        if (unnamed.text.capacity() > 4096) {
            std::string().swap(unnamed.text);
        }
    }

    [[nodiscard]] portal& bind(std::string_view name) {
        if (name.empty()) {
            return unnamed_portal_;
        }
        return portals_[std::string(name)];
    }

    // Null: never bound as far as is known; the server will say so.
    [[nodiscard]] const portal* find_portal(std::string_view name) const {
        if (name.empty()) {
            return unnamed_portal_.known.traits ? &unnamed_portal_ : nullptr;
        }
        const auto found = portals_.find(name);
        return found == portals_.end() ? nullptr : &found->second;
    }

    // Portals end with their transaction.
    void transaction_ended() {
        if (!portals_.empty()) {
            portals_.clear();
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return named_.size(); }

    unnamed_statement unnamed;

private:
    name_map<named_statement> named_;
    name_map<portal> portals_;
    portal unnamed_portal_;
};

}  // namespace weir::proxy::client
