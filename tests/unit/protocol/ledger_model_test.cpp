// The ledger against a small model of PostgreSQL's reply rules. A random stream of requests is
// given to the model directly, and to the model behind a ledger with answers under way for as long
// as chance has it. The client must see the same both times.
#include "protocol/ledger.hpp"

#include <deque>
#include <random>

#include "wire_check.hpp"

namespace weir::protocol::test {
namespace {

enum class way : std::uint8_t {
    plain,
    local,     // a Parse or Close that the proxy answers itself
    replayed,  // a message behind a Parse that the proxy puts in front of it
    refused,   // the proxy's own error in the place of the message
};

struct request {
    std::uint64_t id = 0;
    char type = 'S';
    way how = way::plain;
    bool fails = false;
    unsigned rows = 0;
    unsigned copies = 0;  // Execute: at most one
};

struct answer {
    char type = 0;
    std::uint64_t id = 0;
};

using answers = std::deque<answer>;

// What PostgreSQL answers to messages in order (tcop/postgres.c and commands/copyfromparse.c).
class server {
public:
    void take(const request& got, answers& out) {
        if (skipping_) {
            if (got.type == 'S') {
                skipping_ = false;
                out.push_back({'Z', got.id});
            }
        } else if (copies_left_ != 0) {
            take_copy(got, out);
        } else {
            take_command(got, out);
        }
    }

private:
    void take_copy(const request& got, answers& out) {
        if (got.type == 'S' || got.type == 'H' || (got.type == 'd' && !got.fails)) {
            return;
        }
        if (got.type != 'c' || got.fails) {
            copies_left_ = 0;
            fail(copying_, out);
            return;
        }
        out.push_back({'C', copying_.id});
        if (--copies_left_ != 0) {
            out.push_back({'G', copying_.id});
        } else if (copying_.type == 'Q') {
            out.push_back({'Z', copying_.id});
        }
    }

    void take_command(const request& got, answers& out) {
        if (got.type == 'd' || got.type == 'c' || got.type == 'H') {
            return;
        }
        if (got.fails) {
            fail(got, out);
            return;
        }
        if (got.copies != 0) {
            copying_ = got;
            copies_left_ = got.copies;
            out.push_back({'G', got.id});
            return;
        }
        for (const char type : usual(got)) {
            out.push_back({type, got.id});
        }
    }

    static std::string usual(const request& got) {
        switch (got.type) {
        case 'P': return "1";
        case 'B': return "2";
        case 'C': return "3";
        case 'D': return got.rows == 0 ? "n" : "T";
        case 't': return got.rows == 0 ? "tn" : "tT";
        case 'E': return std::string(got.rows, 'D') + "Cs"[got.rows % 2];
        case 'Q': return got.rows == 0 ? "IZ" : "T" + std::string(got.rows, 'D') + "CZ";
        case 'F': return "VZ";
        default: return "Z";
        }
    }

    void fail(const request& of, answers& out) {
        out.push_back({'E', of.id});
        if (of.type == 'Q' || of.type == 'F' || of.type == 'S') {
            out.push_back({'Z', of.id});
        } else {
            skipping_ = true;
        }
    }

    bool skipping_ = false;
    unsigned copies_left_ = 0;
    request copying_;
};

class random_source {
public:
    explicit random_source(std::uint32_t seed) : engine_(seed) {}

    std::size_t below(std::size_t n) { return engine_() % n; }

    bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::mt19937 engine_;
};

class stream_maker {
public:
    explicit stream_maker(random_source& random) : random_(random) {}

    std::deque<request> make() {
        for (auto n = 1 + random_.below(40); n-- > 0;) {
            add_one();
        }
        add({.type = 'S'});
        return std::move(made_);
    }

private:
    void add(request one) {
        one.id = made_.size() + 1;
        made_.push_back(one);
    }

    void add_one() {
        constexpr std::string_view types = "PPBBDtEEECQFHSScd";
        request one{.type = types[random_.below(types.size())]};
        one.rows = static_cast<unsigned>(random_.below(4));
        one.fails = one.type != 'H' && one.type != 'c' && one.type != 'd' && random_.one_in(10);
        if ((one.type == 'P' || one.type == 'C') && random_.one_in(4)) {
            one.how = way::local;
            one.fails = false;
        } else if ((one.type == 'B' || one.type == 't') && random_.one_in(4)) {
            one.how = random_.one_in(3) ? way::refused : way::replayed;
            one.fails = one.fails || one.how == way::refused;
        }
        if ((one.type == 'E' || one.type == 'Q') && random_.one_in(5)) {
            add_copy(one);
            return;
        }
        add(one);
    }

    void add_copy(request one) {
        one.copies = one.type == 'Q' ? 1 + static_cast<unsigned>(random_.below(3)) : 1;
        add(one);
        for (auto early = one.type == 'E' ? random_.below(3) : 0; early-- > 0;) {
            add({.type = "SH"[random_.below(2)]});
        }
        if (one.type == 'E' && random_.one_in(4)) {
            add({.type = 'P'});  // makes the copy fail
            return;
        }
        for (auto left = one.copies; left-- > 0;) {
            for (auto n = random_.below(4); n-- > 0;) {
                add({.type = 'd', .fails = random_.one_in(8)});
            }
            add({.type = 'c', .fails = random_.one_in(6)});
        }
        if (one.type == 'E') {
            add({.type = 'S'});
        }
    }

    random_source& random_;
    std::deque<request> made_;
};

owed kind_of(char type) {
    switch (type) {
    case 'P': return owed::parse;
    case 'B': return owed::bind;
    case 'D': return owed::describe_portal;
    case 't': return owed::describe_statement;
    case 'E': return owed::execute;
    case 'C': return owed::close;
    case 'Q': return owed::query;
    case 'F': return owed::function_call;
    case 'c': return owed::copy_end;
    default: return owed::sync;
    }
}

std::string shown(const answer& one) {
    return one.type + std::to_string(one.id) + ' ';
}

// A ledger between the client and the model, with queues in both directions.
class proxy {
public:
    proxy(std::deque<request> stream, random_source& random)
        : requests_(std::move(stream)), random_(random) {}

    std::string run() {
        while (!requests_.empty() || !to_server_.empty() || !to_proxy_.empty()) {
            switch (random_.below(3)) {
            case 0: take_request(); break;
            case 1: serve(); break;
            default: take_answer(); break;
            }
        }
        CHECK(book_.empty());
        CHECK(book_.ready_owed() == 0);
        CHECK_FALSE(book_.skipping());
        CHECK_FALSE(book_.copy_in());
        return seen_;
    }

private:
    void take_request() {
        if (requests_.empty()) {
            return;
        }
        const auto one = requests_.front();
        requests_.pop_front();
        if (one.type == 'd' || one.type == 'H') {
            to_server_.push_back(one);
            return;
        }
        if (one.type == 'S' && book_.copy_in()) {
            return;
        }
        if (one.how == way::replayed) {
            send(
                {.kind = owed::parse, .to = answer_to::client_if_error, .note = one.id},
                parse_for(one)
            );
        }
        if (one.how == way::local) {
            if (book_.push(
                    {.kind = owed::local,
                     .tag = static_cast<std::uint16_t>(one.type),
                     .note = one.id}
                )) {
                locals();
            }
            return;
        }
        const auto to = one.how == way::refused ? answer_to::replace : answer_to::client;
        send({.kind = kind_of(one.type), .to = to, .note = one.id}, one);
    }

    // Where the message was to fail, every other time it is the Parse in front of it that does.
    static request parse_for(const request& one) {
        request parse{.id = one.id, .type = 'P'};
        parse.fails = one.fails && one.id % 2 == 0;
        return parse;
    }

    void send(const ledger_entry& entry, const request& one) {
        if (book_.push(entry)) {
            to_server_.push_back(one);
        }
    }

    void serve() {
        if (!to_server_.empty()) {
            server_.take(to_server_.front(), to_proxy_);
            to_server_.pop_front();
        }
    }

    void take_answer() {
        if (to_proxy_.empty()) {
            return;
        }
        const auto got = to_proxy_.front();
        to_proxy_.pop_front();
        std::vector<ledger_entry> dropped;
        const auto outcome = book_.on_message(static_cast<std::uint8_t>(got.type), dropped);
        REQUIRE(outcome.what != verdict::violation);
        CHECK(outcome.entry.note == got.id);
        CHECK(outcome.failed == (got.type == 'E'));
        if (outcome.what != verdict::swallow) {
            seen_ += shown(got);
        }
        locals();
    }

    void locals() {
        for (ledger_entry entry; book_.take_local(entry);) {
            seen_ += shown({entry.tag == 'P' ? '1' : '3', entry.note});
        }
    }

    std::deque<request> requests_;
    std::deque<request> to_server_;
    answers to_proxy_;
    random_source& random_;
    server server_;
    ledger book_;
    std::string seen_;
};

std::string directly(const std::deque<request>& stream) {
    server postgres;
    answers out;
    std::string seen;
    for (const auto& one : stream) {
        postgres.take(one, out);
    }
    for (const auto& one : out) {
        seen += shown(one);
    }
    return seen;
}

}  // namespace

TEST_SUITE_BEGIN("protocol.ledger_model");

TEST_CASE("behind the ledger a client sees what PostgreSQL would have sent it") {
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        const auto stream = stream_maker(random).make();
        std::string requests;
        for (const auto& one : stream) {
            requests += shown({one.type, one.id});
        }
        CAPTURE(requests);
        CHECK(proxy(stream, random).run() == directly(stream));
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
