// Scripts: what is sent and what the server answers, and what must become of each answer.
//
// A line that begins with ">" sends: P B D (portal) d (statement) E C S Q F, c for CopyDone or
// CopyFail, L for an answer of the proxy's own; behind it "~" nobody, "?" client_if_error, "="
// replace. A line that begins with "<" are messages of the server. The transcript gives for each:
// its type, "+" forward, "-" swallow, "=" replace, "!" violation, then "." if the entry is
// completed, "x" if it failed, and what was dropped in parentheses. An entry that was not accepted
// is in brackets.
#include "protocol/ledger.hpp"

#include <sstream>

#include "wire_check.hpp"

namespace weir::protocol::test {
namespace {

constexpr std::string_view letters = "PBdDECSQFcL";

owed kind_of(char letter) {
    constexpr owed kinds[] = {
        owed::parse,
        owed::bind,
        owed::describe_statement,
        owed::describe_portal,
        owed::execute,
        owed::close,
        owed::sync,
        owed::query,
        owed::function_call,
        owed::copy_end,
        owed::local};
    return kinds[letters.find(letter)];
}

char letter_of(owed kind) {
    for (const char letter : letters) {
        if (kind_of(letter) == kind) {
            return letter;
        }
    }
    return '?';
}

answer_to recipient(char mark) {
    switch (mark) {
    case '~': return answer_to::nobody;
    case '?': return answer_to::client_if_error;
    case '=': return answer_to::replace;
    default: return answer_to::client;
    }
}

class script {
public:
    explicit script(std::string_view text) {
        std::istringstream lines{std::string(text)};
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string word;
            words >> word;
            const bool sends = word == ">";
            while (words >> word) {
                sends ? send(word) : answer(word[0]);
            }
        }
    }

    [[nodiscard]] const std::string& transcript() const { return out_; }

    [[nodiscard]] const ledger& book() const { return book_; }

private:
    void send(const std::string& word) {
        const char mark = word.size() > 1 ? word[1] : ' ';
        if (!book_.push({.kind = kind_of(word[0]), .to = recipient(mark)})) {
            say("[" + word + "]");
        }
        locals();
    }

    void answer(char type) {
        std::vector<ledger_entry> dropped;
        const auto outcome = book_.on_message(static_cast<std::uint8_t>(type), dropped);
        std::string text{type, "+-=!"[static_cast<int>(outcome.what)]};
        text += outcome.completed ? "." : "";
        text += outcome.failed ? "x" : "";
        if (!dropped.empty()) {
            text += '(';
            for (const auto& entry : dropped) {
                text += letter_of(entry.kind);
            }
            text += ')';
        }
        say(text);
        locals();
    }

    void locals() {
        for (ledger_entry entry; book_.take_local(entry);) {
            say(entry.to == answer_to::client ? "L+" : "L-");
        }
    }

    void say(const std::string& text) { out_ += (out_.empty() ? "" : " ") + text; }

    ledger book_;
    std::string out_;
};

struct scene {
    std::string name;
    std::string text;
    std::string transcript;
};

void check_scenes(const std::vector<scene>& scenes) {
    for (const auto& one : scenes) {
        CAPTURE(one.name);
        const script played(one.text);
        CHECK(played.transcript() == one.transcript);
        CHECK(played.book().empty());
        CHECK(played.book().size() == 0);
        CHECK(played.book().ready_owed() == 0);
        CHECK_FALSE(played.book().skipping());
        CHECK_FALSE(played.book().copy_in());
    }
}

struct pair_row {
    char kind;
    std::string_view inside;  // belongs to the answer
    std::string_view ends;    // and completes it
};

verdict wanted_verdict(bool known, char type, answer_to to) {
    const bool error = type == 'E';
    if (!known) {
        return verdict::violation;
    }
    if (error && to == answer_to::replace) {
        return verdict::replace;
    }
    const bool whole = to == answer_to::client || to == answer_to::reworded ||
                       (type == 'Z' && to == answer_to::replace);
    const bool shown = whole || (error && to == answer_to::client_if_error);
    return shown ? verdict::forward : verdict::swallow;
}

void check_pair(const pair_row& one, char type, answer_to to) {
    CAPTURE(one.kind);
    CAPTURE(static_cast<int>(type));
    const bool ends = one.ends.find(type) != std::string_view::npos;
    const bool known = ends || one.inside.find(type) != std::string_view::npos;
    ledger book;
    CHECK(book.push({.kind = kind_of(one.kind), .to = to}));
    std::vector<ledger_entry> dropped;
    const auto outcome = book.on_message(static_cast<std::uint8_t>(type), dropped);
    CHECK(outcome.what == wanted_verdict(known, type, to));
    CHECK(outcome.completed == ends);
    CHECK(outcome.failed == (known && type == 'E'));
    CHECK(book.empty() == ends);
    CHECK(dropped.empty());
}

}  // namespace

TEST_SUITE_BEGIN("protocol.ledger");

TEST_CASE("facts about the skip window and the simple protocol") {
    check_scenes({
        {"simple query of two statements", "> Q\n< T D C T D D C Z", "T+ D+ C+ T+ D+ D+ C+ Z+."},
        {"empty query", "> Q\n< I Z", "I+ Z+."},
        {"failed query skips nothing", "> Q Q\n< E Z C Z", "E+x Z+. C+ Z+."},
        {"F1: a Query in the window is swallowed",
         "> P Q S P B E S\n< E Z 1 2 D C Z",
         "E+.x(Q) Z+. 1+. 2+. D+ C+. Z+."},
        {"F1: the same sent late",
         "> P\n< E\n> Q F B S P B E S\n< Z 1 2 D C Z",
         "E+.x [Q] [F] [B] Z+. 1+. 2+. D+ C+. Z+."},
        {"F2: the second Parse fails", "> P P S\n< 1 E Z", "1+. E+.x Z+."},
        {"F3: Close of an unknown name", "> C C S\n< 3 3 Z", "3+. 3+. Z+."},
        {"F5: 26000 for the unnamed statement",
         "> P S Q B E S\n< 1 Z T D C Z E Z",
         "1+. Z+. T+ D+ C+ Z+. E+.x(E) Z+."},
        {"F7: c and f outside copy mode", "> c c Q\n< T D C Z", "T+ D+ C+ Z+."},
        {"F7: the same behind other messages", "> Q c S c c Q\n< C Z Z C Z", "C+ Z+. Z+. C+ Z+."},
        {"F11: the third of a unit fails",
         "> P B E P B E P B E S\n< 1 2 C 1 2 C 1 2 E Z",
         "1+. 2+. C+. 1+. 2+. C+. 1+. 2+. E+.x Z+."},
        {"F21: a portal in steps",
         "> P B D E\n< 1 2 T D D s\n> E\n< D C\n> S\n< Z\n> E S\n< E Z",
         "1+. 2+. T+. D+ D+ s+. D+ C+. Z+. E+.x Z+."},
        {"Describe of a statement", "> d d S\n< t T t n Z", "t+ T+. t+ n+. Z+."},
        {"function call", "> F F S\n< V Z E Z Z", "V+ Z+. E+x Z+. Z+."},
        {"a function call that fails skips nothing", "> F P S\n< E Z 1 Z", "E+x Z+. 1+. Z+."},
        {"Sync fails when it commits",
         "> P B E S Q\n< 1 2 C E Z C Z",
         "1+. 2+. C+. E+x Z+. C+ Z+."},
        {"two windows one behind the other",
         "> B E S B E S Q\n< E Z E Z C Z",
         "E+.x(E) Z+. E+.x(E) Z+. C+ Z+."},
        {"only the Sync behind the error ends the window",
         "> B E P d C Q F c L S S\n< E Z Z",
         "E+.x(EPdCQFcL) Z+. Z+."},
    });
}

TEST_CASE("facts about copying into the server") {
    check_scenes({
        {"F8: Sync right behind Execute is ignored",
         "> P B E S\n< 1 2 G\n> c S\n< C Z",
         "1+. 2+. G+ C+. Z+."},
        {"F8: everything in one write", "> P B E S c S\n< 1 2 G C Z", "1+. 2+. G+ C+. Z+."},
        {"several Syncs before the end", "> E S S S c S S\n< G C Z Z", "G+ C+. Z+. Z+."},
        {"CopyFail", "> P B E S\n< 1 2 G\n> c S\n< E Z", "1+. 2+. G+ E+.x Z+."},
        {"F9: error before the end was sent", "> E S\n< G E\n> c S\n< Z", "G+ E+.x [c] Z+."},
        {"F9: error when the end was sent", "> E S\n< G\n> c S\n< E Z", "G+ E+.x Z+."},
        {"F9: simple protocol", "> Q\n< G E Z\n> c Q\n< C Z", "G+ E+x Z+. C+ Z+."},
        {"simple protocol", "> Q\n< G\n> c\n< C Z", "G+ C+ Z+."},
        {"simple protocol in one write", "> Q c Q\n< G C Z C Z", "G+ C+ Z+. C+ Z+."},
        {"the COPY itself fails and its Sync counts",
         "> P B E S c S\n< 1 2 E Z Z",
         "1+. 2+. E+.x Z+. Z+."},
        {"the COPY itself fails in the simple protocol", "> Q c Q\n< E Z C Z", "E+x Z+. C+ Z+."},
        {"another unit instead of data", "> E S P B E S S\n< G E Z Z", "G+ E+.x(PBE) Z+. Z+."},
        {"the same sent late", "> E S\n< G\n> P B E S S\n< E Z Z", "G+ E+.x(PBE) Z+. Z+."},
        {"two copies in one query", "> Q\n< G\n> c\n< C G\n> c\n< C Z", "G+ C+ G+ C+ Z+."},
        {"two copies in one query in one write", "> Q c c S\n< G C G C Z Z", "G+ C+ G+ C+ Z+. Z+."},
        {"copy out", "> E S Q\n< H d d c C Z H d c C Z", "H+ d+ d+ c+ C+. Z+. H+ d+ c+ C+ Z+."},
    });
}

TEST_CASE("copy mode is known from CopyInResponse to the end of the data") {
    CHECK_FALSE(script("> E S").book().copy_in());
    CHECK(script("> E S\n< G").book().copy_in());
    CHECK_FALSE(script("> E S c\n< G").book().copy_in());
    CHECK_FALSE(script("> E S\n< G\n> c").book().copy_in());
    CHECK_FALSE(script("> E S\n< G E").book().copy_in());
    CHECK(script("> Q\n< G").book().copy_in());
    CHECK_FALSE(script("> Q\n< G E").book().copy_in());
    CHECK_FALSE(script("> E\n< H").book().copy_in());
    // The second copy of a query has an end of its own.
    CHECK(script("> Q\n< G\n> c\n< C G").book().copy_in());
    CHECK(script("> Q c\n< G C G").book().copy_in());
    CHECK_FALSE(script("> Q c c\n< G C G").book().copy_in());
    // A message that makes the copy fail ends it too; the next Sync will be answered.
    CHECK_FALSE(script("> E S P\n< G").book().copy_in());
    CHECK_FALSE(script("> E S\n< G\n> P").book().copy_in());
    CHECK(script("> E S\n< G\n> S L").book().copy_in());
}

TEST_CASE("answers of the proxy come in the order of the requests") {
    check_scenes({
        {"alone", "> L L", "L+ L+"},
        {"behind and between answers of the server",
         "> P L d L L S\n< 1 t T Z",
         "1+. L+ t+ T+. L+ L+ Z+."},
        {"in front of the server's", "> L P L S\n< 1 Z", "L+ 1+. L+ Z+."},
        {"dropped with their unit", "> B L E S L\n< E Z", "E+.x(LE) Z+. L+"},
        {"not accepted in the window", "> B\n< E\n> L S L\n< Z", "E+.x [L] Z+. L+"},
        {"for nobody", "> Q L~\n< C Z", "C+ Z+. L-"},
        {"behind a copy", "> E S L c S\n< G C Z", "G+ C+. L+ Z+."},
        {"between ignored Syncs", "> E S L S c S\n< G C Z", "G+ C+. L+ Z+."},
    });
}

TEST_CASE("injected messages concern the client as they say") {
    check_scenes({
        {"a replayed Parse", "> P? B E S\n< 1 2 D C Z", "1-. 2+. D+ C+. Z+."},
        {"a replayed Parse that fails", "> P? B E S\n< E Z", "E+.x(BE) Z+."},
        {"settings for nobody", "> Q~ Q\n< C C Z T C Z", "C- C- Z-. T+ C+ Z+."},
        {"settings for nobody fail", "> Q~ Q\n< E Z C Z", "E-x Z-. C+ Z+."},
        {"a Close for nobody fails with its unit", "> C~ P S\n< 3 1 Z", "3-. 1+. Z+."},
        {"an error of the proxy's own", "> P B= E S\n< 1 E Z", "1+. E=.x(E) Z+."},
        {"only the error is replaced", "> B= S\n< 2 Z", "2-. Z+."},
        {"a Query refused by the proxy", "> Q= Q\n< E Z C Z", "E=x Z+. C+ Z+."},
        {"a check", "> S~\n< Z", "Z-."},
    });
}

TEST_CASE("an orphaned ledger swallows everything and is still matched") {
    ledger book;
    for (const auto& entry :
         {ledger_entry{.kind = owed::parse, .to = answer_to::client_if_error},
          ledger_entry{.kind = owed::local},
          ledger_entry{.kind = owed::bind, .to = answer_to::replace},
          ledger_entry{.kind = owed::sync},
          ledger_entry{.kind = owed::query}}) {
        CHECK(book.push(entry));
    }
    CHECK(book.ready_owed() == 2);
    book.orphan();
    CHECK(book.size() == 5);
    CHECK(book.push({.kind = owed::query, .tag = 7}));
    std::vector<ledger_entry> dropped;
    CHECK(book.on_message('1', dropped).what == verdict::swallow);
    ledger_entry local;
    CHECK(book.take_local(local));
    CHECK(local.to == answer_to::nobody);
    CHECK(book.on_message('E', dropped).what == verdict::swallow);
    CHECK(book.on_message('Z', dropped).what == verdict::swallow);
    CHECK(book.on_message('C', dropped).what == verdict::swallow);
    CHECK(book.on_message('Z', dropped).what == verdict::swallow);
    // What is sent later is for whoever sends it.
    const auto later = book.on_message('C', dropped);
    CHECK(later.what == verdict::forward);
    CHECK(later.entry.tag == 7);
    CHECK(book.ready_owed() == 1);
}

TEST_CASE("ReadyForQuery is owed by Sync and Query and FunctionCall until it comes") {
    CHECK(script("> P B d D E C c L S Q F").book().ready_owed() == 3);
    CHECK(script("> S Q F\n< Z").book().ready_owed() == 2);
    CHECK(script("> P Q F S S\n< E").book().ready_owed() == 2);
    CHECK(script("> E S S\n< G").book().ready_owed() == 0);
}

TEST_CASE("entries come back as they were given") {
    ledger book;
    const ledger_entry first{owed::bind, answer_to::client, 3, 40, 500};
    const ledger_entry second{owed::execute, answer_to::client, 4, 41, 501};
    CHECK(book.push(first));
    CHECK(book.push(second));
    CHECK(book.front().note == 40);
    std::vector<ledger_entry> dropped;
    const auto outcome = book.on_message('E', dropped);
    CHECK(outcome.entry.kind == owed::bind);
    CHECK(outcome.entry.tag == 3);
    CHECK(outcome.entry.note == 40);
    CHECK(outcome.entry.object == 500);
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].kind == owed::execute);
    CHECK(dropped[0].tag == 4);
    CHECK(dropped[0].note == 41);
    CHECK(dropped[0].object == 501);
}

TEST_CASE("a long queue keeps its order while its front is thrown away") {
    ledger book;
    std::vector<ledger_entry> dropped;
    std::uint64_t sent = 0;
    std::uint64_t answered = 0;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 7; ++i) {
            CHECK(book.push({.kind = owed::sync, .note = sent++}));
        }
        for (int i = 0; i < (round < 40 ? 5 : 15); ++i) {
            const auto outcome = book.on_message('Z', dropped);
            CHECK(outcome.completed);
            CHECK(outcome.entry.note == answered++);
        }
    }
    CHECK(book.empty());
    CHECK(sent == 350);
    CHECK(answered == 350);
}

TEST_CASE("every pair of request and answer is forwarded or a violation as PostgreSQL has it") {
    const pair_row rows[] = {
        {'P', "", "1E"},
        {'B', "", "2E"},
        {'d', "t", "TnE"},
        {'D', "", "TnE"},
        {'E', "DGHdc", "CIsE"},
        {'C', "", "3E"},
        {'S', "E", "Z"},
        {'Q', "DGHdcCITE", "Z"},
        {'F', "VE", "Z"},
        {'L', "", ""},
    };
    for (const auto& one : rows) {
        for (int type = 0; type < 256; ++type) {
            for (const auto to :
                 {answer_to::client,
                  answer_to::nobody,
                  answer_to::client_if_error,
                  answer_to::replace,
                  answer_to::reworded}) {
                check_pair(one, static_cast<char>(type), to);
            }
        }
    }
}

TEST_CASE("whatever comes while nothing is owed is a violation") {
    for (int type = 0; type < 256; ++type) {
        ledger book;
        CHECK(book.push({.kind = owed::copy_end}));  // outside copy mode: nothing will come
        std::vector<ledger_entry> dropped;
        const auto outcome = book.on_message(static_cast<std::uint8_t>(type), dropped);
        CHECK(outcome.what == verdict::violation);
        CHECK_FALSE(outcome.completed);
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
