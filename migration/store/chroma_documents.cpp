#include "migration/store/chroma_documents.hpp"

#include "migration/plan.hpp"
#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace weir::migration::store {
namespace {

namespace json = boost::json;
using test = condition::test;

constexpr std::size_t longest_id = 512;  // bytes
constexpr std::string_view place_name = "pgweir_place";

// FNV-1a, and the last step of MurmurHash3, since keys differ in their last bytes.
std::int64_t place_of(std::string_view id) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char byte : id) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
    }
    hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
    hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53;
    return static_cast<std::int64_t>((hash ^ (hash >> 33)) >> 2);
}

const char* sign_of(test op) {
    switch (op) {
    case test::less: return "$lt";
    case test::less_equal: return "$lte";
    case test::greater: return "$gt";
    case test::greater_equal: return "$gte";
    case test::equal:
    case test::is_null: break;
    }
    return "$eq";
}

// {"name": {"$op": …}} but for the value, which `put` writes.
template <typename Put>
void put_test(json_writer& out, std::string_view name, test op, const Put& put) {
    out.begin_object();
    out.name(name);
    out.begin_object();
    out.name(sign_of(op));
    put();
    out.end_object();
    out.end_object();
}

struct operand_writer {
    json_writer& out;

    void operator()(bool what) const { out.boolean(what); }

    void operator()(std::int64_t what) const { out.integer(what); }

    void operator()(double what) const { out.real(what); }

    void operator()(const std::string& what) const { out.string(what); }
};

// Chroma's parser is a few last bits off for numbers of many digits or with a large exponent. It is
// exact where neither the digits nor the power of ten need rounding.
std::optional<std::string> exact_text(const value& what) {
    const auto* number = std::get_if<double>(&what);
    if (number == nullptr || !std::isfinite(*number) || *number == 0) {
        return std::nullopt;
    }
    std::array<char, 32> text{};
    const auto end = std::to_chars(
                         text.data(),
                         text.data() + text.size(),
                         *number,
                         std::chars_format::scientific
    )
                         .ptr;
    const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
    constexpr std::size_t most_digits = 15;
    const auto mark = written.find('e');
    const auto digits = mark - (written.find('.') < mark ? 1 : 0) - (*number < 0 ? 1 : 0);
    const double size = std::abs(*number);
    if (digits <= most_digits && size >= 1e-7 && size < 1e15) {
        return std::nullopt;
    }
    return std::string(written);
}

double distance_of(metric what, double answered) {
    switch (what) {
    case metric::l2: return std::sqrt(std::max(0.0, answered));
    case metric::cosine: return answered;
    case metric::inner_product: break;
    }
    return answered - 1;
}

// The answer to one query is an array of one array.
const json::array* only(const json::value& answer, std::string_view name) {
    const auto* outer = array_of(member(&answer, name));
    return outer == nullptr || outer->size() != 1 ? nullptr : array_of(&outer->front());
}

bool fits(const json::array* some, const json::array* ids) {
    return some != nullptr && some->size() == ids->size();
}

}  // namespace

chroma_documents::chroma_documents(const layout& rows)
    : rows_(rows),
      codec_(rows, id_map(rows.key, {.numbers = false, .longest_text = longest_id}), 0) {
    for (std::size_t i = 0; i < rows.attributes.size(); ++i) {
        null_names_.push_back("pgweir_null_" + codec_.name(i));
        const bool real = rows.attributes[i].kind == value_kind::real;
        real_names_.push_back(real ? "pgweir_real_" + codec_.name(i) : "");
    }
}

std::string chroma_documents::id_of(const key& what) const {
    return std::get<std::string>(codec_.ids().id_of(what));
}

std::string chroma_documents::flaw_of(const document& what) const {
    if (what.embedding.size() != rows_.dimensions) {
        return "key " + to_text(what.key) + ": " + std::to_string(what.embedding.size()) +
               " dimensions instead of " + std::to_string(rows_.dimensions);
    }
    if (!std::ranges::all_of(what.embedding, [](float each) { return std::isfinite(each); })) {
        return "key " + to_text(what.key) + ": the embedding has a number that is not finite";
    }
    return {};
}

void chroma_documents::put_metadata(json_writer& out, std::span<const document> documents) const {
    out.name("metadatas");
    out.begin_array();
    for (const auto& one : documents) {
        out.begin_object();
        codec_.write(out, one, true);
        for (std::size_t i = 0; i < null_names_.size(); ++i) {
            out.name(null_names_[i]);
            out.raw(is_null(one.attributes[i]) ? "true" : "null");
            if (!real_names_[i].empty()) {
                const auto exact = exact_text(one.attributes[i]);
                out.name(real_names_[i]);
                exact ? out.string(*exact) : out.null();
            }
        }
        out.name(place_name);
        out.integer(place_of(id_of(one.key)));
        out.end_object();
    }
    out.end_array();
}

void chroma_documents::put_bound(json_writer& out, std::size_t attribute, const bound& what) const {
    if (what.op == test::is_null) {
        put_test(out, null_names_[attribute], test::equal, [&] { out.boolean(true); });
        return;
    }
    put_test(out, codec_.name(attribute), what.op, [&] {
        std::visit(operand_writer{out}, what.operand);
    });
}

chroma_documents::outcome
chroma_documents::put_filter(json_writer& out, const std::vector<condition>& filter) const {
    std::vector<bound> bounds;
    for (const auto& one : filter) {
        bounds.push_back(bound_of(one, rows_, codec_.longest_text()));
        const auto& made = bounds.back();
        const bool ordered = made.op != test::equal && made.op != test::is_null;
        if (made.is == bound::state::never) {
            return outcome::never;
        }
        if (made.is == bound::state::foreign ||
            (ordered && std::holds_alternative<std::string>(made.operand))) {
            return outcome::foreign;
        }
    }
    if (filter.empty()) {
        return outcome::written;
    }
    out.name("where");
    if (filter.size() == 1) {
        put_bound(out, filter.front().attribute, bounds.front());
        return outcome::written;
    }
    out.begin_object();
    out.name("$and");
    out.begin_array();
    for (std::size_t i = 0; i < filter.size(); ++i) {
        put_bound(out, filter[i].attribute, bounds[i]);
    }
    out.end_array();
    out.end_object();
    return outcome::written;
}

void chroma_documents::put_range(json_writer& out, std::int64_t from, std::int64_t to) {
    out.begin_object();
    out.name("$and");
    out.begin_array();
    put_test(out, place_name, test::greater_equal, [&] { out.integer(from); });
    put_test(out, place_name, test::less, [&] { out.integer(to); });
    out.end_array();
    out.end_object();
}

void chroma_documents::put_part(json_writer& out, std::uint32_t part) {
    put_test(out, part_name, test::equal, [&] { out.integer(part); });
}

void chroma_documents::read_reals(const json::value& metadata, std::vector<value>& into) const {
    for (std::size_t i = 0; i < into.size(); ++i) {
        if (real_names_[i].empty()) {
            continue;
        }
        const auto text = text_of(member(&metadata, real_names_[i])).value_or("");
        double number = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{}) {
            into[i] = number;
        }
    }
}

std::optional<std::vector<stored>> chroma_documents::read(const json::value& answer, fields wanted)
    const {
    const auto* ids = array_of(member(&answer, "ids"));
    const auto* metadatas = array_of(member(&answer, "metadatas"));
    const auto* embeddings = array_of(member(&answer, "embeddings"));
    if (ids == nullptr || !fits(metadatas, ids) || (wanted.embedding && !fits(embeddings, ids))) {
        return std::nullopt;
    }
    std::vector<stored> all;
    all.reserve(ids->size());
    for (std::size_t i = 0; i < ids->size(); ++i) {
        const auto id = text_of(&(*ids)[i]);
        const auto* metadata = object_of(&(*metadatas)[i]);
        stored made;
        if (!id || metadata == nullptr ||
            !codec_.read(*metadata, std::string(*id), wanted.attributes, made)) {
            continue;
        }
        if (wanted.embedding) {
            auto embedding = vector_of(&(*embeddings)[i]);
            if (!embedding) {
                return std::nullopt;
            }
            made.embedding = *std::move(embedding);
        }
        read_reals((*metadatas)[i], made.attributes);
        all.push_back(std::move(made));
    }
    return all;
}

std::optional<std::vector<hit>> chroma_documents::read_hits(const json::value& answer) const {
    const auto* ids = only(answer, "ids");
    const auto* distances = only(answer, "distances");
    const auto* metadatas = only(answer, "metadatas");
    if (ids == nullptr || !fits(distances, ids) || (stores_keys() && !fits(metadatas, ids))) {
        return std::nullopt;
    }
    std::vector<hit> found;
    for (std::size_t i = 0; i < ids->size(); ++i) {
        const auto distance = number_of(&(*distances)[i]);
        if (!distance) {
            return std::nullopt;
        }
        const auto* metadata = stores_keys() ? &(*metadatas)[i] : nullptr;
        auto key = codec_.ids().key_of(
            std::string(text_of(&(*ids)[i]).value_or("")),
            text_of(member(metadata, key_name)).value_or("")
        );
        if (key) {
            found.push_back({*std::move(key), distance_of(rows_.metric, *distance)});
        }
    }
    return found;
}

}  // namespace weir::migration::store
