// Functions that make the rows of the table from members of the structs in config.hpp. A row's
// default is what a default-constructed struct holds, so the two cannot differ. For schema*.cpp
// only.
#pragma once

#include "config/names.hpp"
#include "config/schema.hpp"

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::config {

struct range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

struct duration_range {
    milliseconds least = 1ms;
    milliseconds most = 7 * 24h;
};

inline constexpr duration_range or_none{.least = 0ms};

inline void set_default(key& k, const void* fresh) {
    k.default_text = print_value(k, k.get(fresh));
}

// A key whose value is stored as Stored in a member of Owner.
template <class Stored, class Owner, class Member>
key member_key(std::string name, value_type type, Member Owner::*member, std::string description) {
    key k;
    k.name = std::move(name);
    k.type = type;
    k.description = std::move(description);
    k.get = [member](const void* owner) -> key_value {
        return static_cast<Stored>(static_cast<const Owner*>(owner)->*member);
    };
    k.set = [member](void* owner, const key_value& v) {
        static_cast<Owner*>(owner)->*member = static_cast<Member>(std::get<Stored>(v));
    };
    const Owner fresh{};
    set_default(k, &fresh);
    return k;
}

// A key that may hold nothing, which is its default.
template <class Stored, class Owner>
key optional_key(
    std::string name,
    value_type type,
    std::optional<Stored> Owner::*member,
    std::string description
) {
    key k;
    k.name = std::move(name);
    k.type = type;
    k.description = std::move(description);
    k.get = [member](const void* owner) -> key_value {
        const auto& held = static_cast<const Owner*>(owner)->*member;
        return held ? key_value(*held) : key_value();
    };
    k.set = [member](void* owner, const key_value& v) {
        static_cast<Owner*>(owner)->*member = std::get<Stored>(v);
    };
    return k;
}

template <class Owner>
key boolean(std::string name, bool Owner::*member, std::string description) {
    return member_key<bool>(std::move(name), value_type::boolean, member, std::move(description));
}

template <std::unsigned_integral Number, class Owner>
key integer(std::string name, Number Owner::*member, range r, std::string description) {
    auto k = member_key<std::uint64_t>(
        std::move(name),
        value_type::integer,
        member,
        std::move(description)
    );
    k.least = r.least;
    k.most = r.most;
    return k;
}

template <std::unsigned_integral Number, class Owner>
key size(std::string name, Number Owner::*member, range r, std::string description) {
    auto k = member_key<std::uint64_t>(
        std::move(name),
        value_type::size,
        member,
        std::move(description)
    );
    k.least = r.least;
    k.most = r.most;
    return k;
}

template <class Owner>
key number(std::string name, double Owner::*member, range r, std::string description) {
    auto k =
        member_key<double>(std::move(name), value_type::number, member, std::move(description));
    k.least = r.least;
    k.most = r.most;
    return k;
}

template <class Owner>
key duration(
    std::string name,
    milliseconds Owner::*member,
    duration_range r,
    std::string description
) {
    auto k = member_key<milliseconds>(
        std::move(name),
        value_type::duration,
        member,
        std::move(description)
    );
    k.least = static_cast<std::uint64_t>(r.least.count());
    k.most = static_cast<std::uint64_t>(r.most.count());
    return k;
}

template <class Owner>
key text(
    std::string name,
    std::string Owner::*member,
    std::string description,
    value_type type = value_type::text
) {
    return member_key<std::string>(std::move(name), type, member, std::move(description));
}

template <class Owner>
key names(std::string name, std::vector<std::string> Owner::*member, std::string description) {
    return member_key<std::vector<std::string>>(
        std::move(name),
        value_type::names,
        member,
        std::move(description)
    );
}

template <class Table, class Enum>
Enum value_in(const Table& table, std::string_view name) {
    for (const auto& candidate : table) {
        if (candidate.name == name) {
            return candidate.value;
        }
    }
    return table.front().value;  // not reached: the loader lets only names of the table pass
}

template <class Table>
void add_choices(key& k, const Table& table) {
    for (const auto& candidate : table) {
        k.choices.push_back({.name = std::string(candidate.name)});
    }
}

template <class Enum, class Owner, class Table>
key choice_of(std::string name, Enum Owner::*member, const Table& table, std::string description) {
    key k;
    k.name = std::move(name);
    k.type = value_type::choice;
    k.description = std::move(description);
    add_choices(k, table);
    k.get = [member, &table](const void* owner) -> key_value {
        return std::string(name_in(table, static_cast<const Owner*>(owner)->*member));
    };
    k.set = [member, &table](void* owner, const key_value& v) {
        static_cast<Owner*>(owner)->*member =
            value_in<Table, Enum>(table, std::get<std::string>(v));
    };
    const Owner fresh{};
    set_default(k, &fresh);
    return k;
}

template <class Enum, class Owner, class Table>
key choice_of(
    std::string name,
    std::optional<Enum> Owner::*member,
    const Table& table,
    std::string description
) {
    key k;
    k.name = std::move(name);
    k.type = value_type::choice;
    k.description = std::move(description);
    add_choices(k, table);
    k.get = [member, &table](const void* owner) -> key_value {
        const auto& held = static_cast<const Owner*>(owner)->*member;
        return held ? key_value(std::string(name_in(table, *held))) : key_value();
    };
    k.set = [member, &table](void* owner, const key_value& v) {
        static_cast<Owner*>(owner)->*member =
            value_in<Table, Enum>(table, std::get<std::string>(v));
    };
    return k;
}

// A struct inside the owner.
template <class Owner, class Inner>
key inner(
    std::string name,
    Inner Owner::*member,
    std::vector<key> children,
    std::string description
) {
    key k;
    k.name = std::move(name);
    k.type = value_type::block;
    k.description = std::move(description);
    k.children = std::move(children);
    k.inner = [member](void* owner) -> void* { return &(static_cast<Owner*>(owner)->*member); };
    k.elements = [member](const void* owner) -> std::vector<const void*> {
        return {&(static_cast<const Owner*>(owner)->*member)};
    };
    return k;
}

// A vector of structs in the owner: a list in YAML, or a mapping when type is map.
template <class Owner, class Element>
key elements_of(
    std::string name,
    value_type type,
    std::vector<Element> Owner::*member,
    std::vector<key> children,
    std::string description
) {
    key k;
    k.name = std::move(name);
    k.type = type;
    k.description = std::move(description);
    k.children = std::move(children);
    k.append = [member](void* owner, const std::string& element_name) -> void* {
        auto& made = (static_cast<Owner*>(owner)->*member).emplace_back();
        if constexpr (requires { made.name; }) {
            made.name = element_name;
        }
        return &made;
    };
    k.elements = [member](const void* owner) {
        std::vector<const void*> found;
        for (const auto& element : static_cast<const Owner*>(owner)->*member) {
            found.push_back(&element);
        }
        return found;
    };
    k.label = [](const void* element) {
        if constexpr (requires(Element e) { e.name; }) {
            return static_cast<const Element*>(element)->name;
        }
        return std::string();
    };
    return k;
}

inline key later(std::string name, std::string description) {
    key k;
    k.name = std::move(name);
    k.type = value_type::later;
    k.description = std::move(description);
    return k;
}

inline key example(key k, std::string text) {
    k.example = std::move(text);
    return k;
}

inline key required(key k, std::string example_text) {
    k.required = true;
    k.example = std::move(example_text);
    return k;
}

// A key that takes effect only when the program starts.
inline key at_start(key k) {
    k.reloadable = false;
    return k;
}

// A key that the example leaves out, because it goes with another choice than the example's.
inline key not_in_example(key k) {
    k.in_example = false;
    return k;
}

// A choice whose feature is not built yet.
inline key later_choice(key k, std::string name) {
    k.choices.push_back({.name = std::move(name), .available = false});
    return k;
}

}  // namespace weir::config
