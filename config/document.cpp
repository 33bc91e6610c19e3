#include "config/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace weir::config {

namespace {

// Aliases repeat whole subtrees; a few lines could otherwise stand for billions of nodes.
constexpr std::size_t max_nodes = 100'000;

struct syntax_error {
    place at;
    std::string text;
};

place place_of(const YAML::Mark& mark) {
    const auto from_one = [](int value) {
        return static_cast<std::uint32_t>(std::max(value, 0) + 1);
    };
    return {.line = from_one(mark.line), .column = from_one(mark.column)};
}

// Builds the tree from the parser's events. Throws syntax_error, which parse_document catches.
class tree_builder : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark& /*mark*/) override {}

    void OnDocumentEnd() override {}

    void OnAnchor(const YAML::Mark& /*mark*/, const std::string& /*name*/) override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        node value;
        value.at = place_of(mark);
        add(std::move(value), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            throw syntax_error{place_of(mark), "an alias stands inside its own anchor"};
        }
        count(size_of(found->second), place_of(mark));
        auto copy = found->second;
        copy.at = place_of(mark);
        add(std::move(copy), YAML::NullAnchor);
    }

    void OnScalar(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        const std::string& text
    ) override {
        refuse_tag(mark, tag);
        node value;
        value.kind = node_kind::scalar;
        value.at = place_of(mark);
        value.text = text;
        add(std::move(value), anchor);
    }

    void OnSequenceStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        YAML::EmitterStyle::value /*style*/
    ) override {
        refuse_tag(mark, tag);
        open(node_kind::list, mark, anchor);
    }

    void OnMapStart(
        const YAML::Mark& mark,
        const std::string& tag,
        YAML::anchor_t anchor,
        YAML::EmitterStyle::value /*style*/
    ) override {
        refuse_tag(mark, tag);
        open(node_kind::map, mark, anchor);
    }

    void OnSequenceEnd() override { close(); }

    void OnMapEnd() override { close(); }

    node take() { return std::move(root_); }

private:
    struct level {
        node value;
        YAML::anchor_t anchor = YAML::NullAnchor;
        bool has_key = false;  // of a map: the key is read, its value is next
        std::string key;
        place key_at;
    };

    static std::size_t size_of(const node& value) {
        std::size_t size = 1;
        for (const auto& child : value.children) {
            size += size_of(child);
        }
        return size;
    }

    static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        // "?" and "!" are the parser's own marks for plain and quoted values.
        if (!tag.empty() && tag != "?" && tag != "!") {
            throw syntax_error{
                place_of(mark),
                "a YAML tag is not supported; quote a text that starts with '!'"};
        }
    }

    void count(std::size_t more, place at) {
        nodes_ += more;
        if (nodes_ > max_nodes) {
            throw syntax_error{at, "more than " + std::to_string(max_nodes) + " values"};
        }
    }

    void open(node_kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        level next;
        next.value.kind = kind;
        next.value.at = place_of(mark);
        next.anchor = anchor;
        levels_.push_back(std::move(next));
    }

    void close() {
        auto done = std::move(levels_.back());
        levels_.pop_back();
        add(std::move(done.value), done.anchor);
    }

    void add(node value, YAML::anchor_t anchor) {
        count(1, value.at);
        if (anchor != YAML::NullAnchor) {
            anchors_[anchor] = value;
        }
        if (levels_.empty()) {
            root_ = std::move(value);
            return;
        }
        auto& parent = levels_.back();
        if (parent.value.kind == node_kind::map) {
            if (!parent.has_key) {
                set_key(parent, value);
                return;
            }
            parent.has_key = false;
            value.key = std::move(parent.key);
            value.key_at = parent.key_at;
        }
        parent.value.children.push_back(std::move(value));
    }

    static void set_key(level& parent, node& value) {
        if (value.kind != node_kind::scalar) {
            throw syntax_error{
                value.at,
                "a key is " + std::string(to_string(value.kind)) + "; expected text"};
        }
        parent.has_key = true;
        parent.key = std::move(value.text);
        parent.key_at = value.at;
    }

    node root_;
    std::vector<level> levels_;
    std::map<YAML::anchor_t, node> anchors_;
    std::size_t nodes_ = 0;
};

// yaml-cpp puts a piece of the text behind a colon in some messages. It could be part of a
// password.
std::string without_quotation(const std::string& message) {
    return message.substr(0, message.find(':'));
}

std::optional<node> parse(std::string_view yaml) {
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    tree_builder builder;
    if (!parser.HandleNextDocument(builder)) {
        return std::nullopt;
    }
    auto root = builder.take();
    tree_builder second;
    if (parser.HandleNextDocument(second)) {
        throw syntax_error{second.take().at, "a second YAML document starts here; expected one"};
    }
    return root;
}

}  // namespace

std::string_view to_string(node_kind kind) {
    switch (kind) {
    case node_kind::null: return "nothing";
    case node_kind::scalar: return "text";
    case node_kind::list: return "a list";
    case node_kind::map: return "a mapping";
    }
    return {};
}

parsed_document parse_document(std::string_view yaml, const std::string& file_name) {
    parsed_document result;
    const auto fail = [&](place at, const std::string& text) {
        result.errors.push_back({.file = file_name, .at = at, .text = "invalid YAML: " + text});
    };
    try {
        result.root = parse(yaml).value_or(node{});
    } catch (const syntax_error& e) {
        fail(e.at, e.text);
    } catch (const YAML::Exception& e) {
        fail(place_of(e.mark), without_quotation(e.msg));
    }
    return result;
}

}  // namespace weir::config
