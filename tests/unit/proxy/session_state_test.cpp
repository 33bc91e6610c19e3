#include "proxy/client/session_state.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {

using client::session_state;
using protocol::backend::transaction_status;
using routing::setting_action;

namespace {

std::string shown(const settings_ptr& list) {
    std::string text;
    for (const auto& item : list ? *list : setting_list{}) {
        text += (text.empty() ? "" : "; ") + item.apply;
    }
    return text;
}

// A session that is linked to a server, and the statements that succeeded there.
class session {
public:
    explicit session(setting_list startup = {}) {
        state.start(intern.make(std::move(startup)));
        state.linked();
    }

    void set(std::string name, std::string value) {
        state.apply({{setting_action::set, std::move(name), std::move(value)}});
    }

    void reset(std::string name) { state.apply({{setting_action::reset, std::move(name), {}}}); }

    void reset_all() { state.apply({{setting_action::reset_all, {}, {}}}); }

    [[nodiscard]] std::string wanted() const { return shown(state.wanted()); }

    [[nodiscard]] std::string held() const { return shown(state.held()); }

    settings_intern intern;
    session_state state{intern};
};

const std::string m1 = "SET \"m\" TO 1";
const std::string m2 = "SET \"m\" TO 2";
const std::string n1 = "SET \"n\" TO 1";

}  // namespace

TEST_SUITE_BEGIN("proxy.session_state");

TEST_CASE("a new session wants what its start-up packet gave and holds nothing") {
    settings_intern intern;
    session_state state(intern);
    CHECK(state.wanted() == nullptr);
    state.start(intern.make({make_setting("m", "1")}));
    CHECK(shown(state.wanted()) == m1);
    CHECK(state.held() == nullptr);
    state.linked();
    CHECK(shown(state.held()) == m1);
    CHECK_FALSE(state.changed_in_transaction());
}

TEST_CASE("SET outside a transaction stays and a later one takes its place") {
    session s;
    s.set("m", "1");
    s.state.ready(transaction_status::idle, false);
    CHECK(s.wanted() == m1);
    CHECK(s.held() == m1);
    s.set("n", "1");
    s.set("m", "2");
    s.state.ready(transaction_status::idle, false);
    CHECK(s.wanted() == n1 + "; " + m2);
    CHECK_FALSE(s.state.changed_in_transaction());
}

TEST_CASE("SET LOCAL is nothing to remember") {
    session s;
    s.state.apply({{setting_action::set_local, "m", "1"}});
    CHECK(s.state.wanted() == nullptr);
    CHECK(s.state.held() == nullptr);
    CHECK_FALSE(s.state.changed_in_transaction());
}

TEST_CASE("several effects of one statement count in their order") {
    session s;
    s.state.apply(
        {{setting_action::set, "m", "1"},
         {setting_action::set, "n", "1"},
         {setting_action::reset, "m", {}}}
    );
    CHECK(s.wanted() == n1);
}

TEST_CASE("ROLLBACK takes back what the transaction set and COMMIT keeps it") {
    session s;
    s.set("m", "1");
    s.state.ready(transaction_status::idle, false);
    s.set("m", "2");
    s.state.ready(transaction_status::in_transaction, false);
    CHECK(s.state.changed_in_transaction());
    s.state.rollback();
    CHECK(s.wanted() == m1);
    CHECK(s.held() == m1);
    CHECK_FALSE(s.state.changed_in_transaction());
    s.set("m", "2");
    s.state.commit();
    s.state.rollback();
    CHECK(s.wanted() == m2);
}

TEST_CASE("RESET in a transaction is taken back too") {
    session s;
    s.set("m", "1");
    s.state.commit();
    s.reset("m");
    CHECK(s.state.wanted() == nullptr);
    s.state.rollback();
    CHECK(s.wanted() == m1);
}

TEST_CASE("an implicit transaction that failed leaves nothing behind") {
    session s;
    s.set("m", "1");
    s.state.ready(transaction_status::idle, false);
    // Execute of SET was answered; then another message of the unit failed.
    s.set("m", "2");
    s.state.ready(transaction_status::idle, true);
    CHECK(s.wanted() == m1);
    CHECK(s.held() == m1);
}

TEST_CASE("an error inside a transaction decides nothing before its end") {
    session s;
    s.set("m", "1");
    s.state.ready(transaction_status::in_transaction, false);
    s.state.ready(transaction_status::failed, true);
    CHECK(s.wanted() == m1);
    CHECK(s.state.changed_in_transaction());
    s.state.rollback();
    s.state.ready(transaction_status::idle, false);
    CHECK(s.state.wanted() == nullptr);
}

TEST_CASE("ROLLBACK TO goes back to the savepoint and keeps it") {
    session s;
    s.set("m", "1");
    s.state.savepoint("a");
    s.set("m", "2");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m1);
    s.set("n", "1");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m1);
    s.state.commit();
    CHECK(s.wanted() == m1);
}

TEST_CASE("ROLLBACK TO an outer savepoint destroys the inner ones") {
    session s;
    s.set("m", "1");
    s.state.savepoint("a");
    s.set("m", "2");
    s.state.savepoint("b");
    s.set("m", "3");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m1);
    s.set("n", "1");
    s.state.savepoint("b");  // the name is free again
    s.reset("n");
    s.state.rollback_to("b");
    CHECK(s.wanted() == m1 + "; " + n1);
}

TEST_CASE("the newest of two savepoints of one name counts until it is released") {
    session s;
    s.set("m", "1");
    s.state.savepoint("a");
    s.set("m", "2");
    s.state.savepoint("a");
    s.set("m", "3");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m2);
    s.state.release("a");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m1);
}

TEST_CASE("RELEASE keeps what was set and takes the savepoints behind it along") {
    session s;
    s.set("m", "1");
    s.state.savepoint("a");
    s.set("m", "2");
    s.state.savepoint("b");
    s.set("n", "1");
    s.state.release("a");
    CHECK(s.wanted() == m2 + "; " + n1);
    CHECK(s.state.changed_in_transaction());
    s.state.rollback();
    CHECK(s.state.wanted() == nullptr);
}

TEST_CASE("a savepoint that was made before anything was set is the beginning") {
    session s;
    s.set("m", "1");
    s.state.commit();
    // BEGIN; SAVEPOINT a; nothing of it was worth a note.
    s.set("m", "2");
    s.state.savepoint("b");
    s.set("m", "3");
    s.state.rollback_to("a");
    CHECK(s.wanted() == m1);
    CHECK_FALSE(s.state.changed_in_transaction());
}

TEST_CASE("releasing a savepoint that was not worth a note takes the noted ones along") {
    session s;
    // BEGIN; SAVEPOINT b; SAVEPOINT a;
    s.set("m", "1");
    s.state.savepoint("b");
    s.set("m", "2");
    s.state.release("a");
    CHECK(s.wanted() == m2);
    s.state.rollback_to("b");  // the first one
    CHECK(s.state.wanted() == nullptr);
}

TEST_CASE("a savepoint alone is a change because what follows may go back to it") {
    session s;
    s.state.savepoint("a");
    CHECK(s.state.changed_in_transaction());
    s.state.ready(transaction_status::idle, false);
    CHECK_FALSE(s.state.changed_in_transaction());
}

TEST_CASE("RESET goes back to the value of the start-up packet which the server does not hold") {
    session s({make_setting("m", "1"), make_setting("n", "1")});
    s.set("m", "2");
    CHECK(s.wanted() == n1 + "; " + m2);
    s.reset("m");
    CHECK(s.wanted() == n1 + "; " + m1);
    CHECK(s.held() == n1);
    s.reset("other");
    CHECK(s.wanted() == n1 + "; " + m1);
}

TEST_CASE("RESET ALL leaves the start-up values and the identity") {
    session s({make_setting("m", "1")});
    s.set("session_authorization", "\"ann\"");
    s.set("role", "\"reader\"");
    s.set("m", "2");
    s.set("n", "1");
    s.reset_all();
    CHECK(s.wanted() == m1 + "; SET SESSION AUTHORIZATION \"ann\"; SET ROLE \"reader\"");
    CHECK(s.held() == "SET SESSION AUTHORIZATION \"ann\"; SET ROLE \"reader\"");
}

TEST_CASE("RESET ALL in a transaction is taken back by ROLLBACK") {
    session s({make_setting("m", "1")});
    s.set("m", "2");
    s.state.commit();
    s.reset_all();
    CHECK(s.wanted() == m1);
    CHECK(s.state.held() == nullptr);
    s.state.rollback();
    CHECK(s.wanted() == m2);
    CHECK(s.held() == m2);
}

TEST_CASE("DISCARD ALL leaves nothing but the start-up values") {
    session s({make_setting("m", "1")});
    s.set("role", "\"reader\"");
    s.set("n", "1");
    s.state.ready(transaction_status::idle, false);
    s.state.discard_all();
    s.state.ready(transaction_status::idle, false);
    CHECK(s.wanted() == m1);
    CHECK(s.state.held() == nullptr);
    CHECK_FALSE(s.state.changed_in_transaction());
}

TEST_CASE("another session authorization ends the role and so does its RESET") {
    session s;
    s.set("role", "\"reader\"");
    s.set("session_authorization", "\"ann\"");
    CHECK(s.wanted() == "SET SESSION AUTHORIZATION \"ann\"");
    CHECK(s.held() == "SET SESSION AUTHORIZATION \"ann\"");
    s.set("role", "\"writer\"");
    CHECK(s.wanted() == "SET SESSION AUTHORIZATION \"ann\"; SET ROLE \"writer\"");
    s.reset("role");
    CHECK(s.wanted() == "SET SESSION AUTHORIZATION \"ann\"");
    s.set("role", "\"writer\"");
    s.reset("session_authorization");
    CHECK(s.state.wanted() == nullptr);
    CHECK(s.state.held() == nullptr);
}

TEST_CASE("a new link holds what is wanted and forgets what the old one held") {
    session s({make_setting("m", "1")});
    s.set("m", "2");
    s.reset("m");
    s.state.ready(transaction_status::idle, false);
    CHECK(s.state.held() == nullptr);
    s.state.linked();
    CHECK(s.held() == m1);
    s.state.rollback();
    CHECK(s.held() == m1);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
