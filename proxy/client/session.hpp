// One client from its log-in to its end: reads its messages, decides for each unit which server may
// have it, borrows a connection, sends. Answers come back through client_link, from the server
// connection's own reader. One coroutine, on one worker; only wait points are in run(), obtain()
// and their helpers.
//
//     collecting a unit ──> obtaining a connection ──> forwarding ──> collecting …
//
// While a connection is held because of a transaction, a pin or an unfinished unit, messages are
// forwarded as they come. It goes back in ready(), when the ledger is empty and nothing ties the
// client to it.
#pragma once

#include "proxy/client/login.hpp"
#include "proxy/client/session_state.hpp"
#include "proxy/client/startup_request.hpp"
#include "proxy/client/statements.hpp"
#include "proxy/client/unit.hpp"
#include "proxy/client/unit_retry.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/worker.hpp"
#include "routing/consistency.hpp"
#include "routing/router.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::proxy::client {

enum class session_phase : std::uint8_t { login, idle, waiting, active, closing };

[[nodiscard]] const char* to_string(session_phase phase) noexcept;

class session final : public upstream::client_link {
public:
    session(worker& home, std::shared_ptr<stream> peer, peer_address address, std::uint64_t id);
    ~session();

    // The whole life; the session may be destroyed when it returns.
    [[nodiscard]] asio::awaitable<void> run();

    // A CancelRequest with this session's key came. `done` is called when it can hit nothing any
    // more.
    void cancel(const std::function<void()>& done);
    // Ends it: at once, with a FATAL.
    void kill(const failure& why);
    // Ends it as soon as it is between transactions.
    void stop_when_idle();
    // The servers of its cluster have changed: what it is linked to goes when it lets go.
    void servers_changed();
    // The janitor's: deadlines that have passed.
    void tick(steady_time now);

    struct description {
        std::uint64_t id = 0;
        std::string user, database, application_name, address;
        session_phase phase = session_phase::login;
        std::string server;  // linked to
        std::uint32_t server_pid = 0;
        routing::pin_reason pinned = routing::pin_reason::none;
        steady_time connected{};
        steady_time last_request{};
        std::size_t prepared = 0;
        bool tls = false;
        cancel_key key;
    };

    [[nodiscard]] description describe() const;

    // client_link
    void deliver(protocol::bytes_view bytes) override;
    void settled(std::uint64_t note, outcome how, protocol::bytes_view frame) override;
    bool takes_back(std::uint64_t note) override;
    void reword(std::uint64_t note, std::uint8_t type) override;
    void parameter_changed(
        std::string_view name,
        std::string_view value,
        protocol::bytes_view frame
    ) override;
    bool keeps_ready(protocol::backend::transaction_status status) override;
    void ready(protocol::backend::transaction_status status) override;
    void injected_done(const failure* why) override;
    void error_seen(const protocol::backend::response_fields& fields) override;
    void lost(const failure& why) override;

    std::uint32_t own_pid() const noexcept override { return key_.pid; }

    std::shared_ptr<stream> out() override { return peer_; }

private:
    // What the main loop has to do next.
    enum class step : std::uint8_t { read, obtain, wait_for_answers, drain_server, finish };

    // session.cpp: life
    [[nodiscard]] asio::awaitable<bool> greet(const login_outcome& who);
    [[nodiscard]] asio::awaitable<void> serve();
    [[nodiscard]] asio::awaitable<void> finish();
    void send_welcome();
    [[nodiscard]] bool database_is_session_pooled() const;
    void set_phase(session_phase next);
    // Keeps its server until it ends; the first reason stays.
    void pin(routing::pin_reason why);
    void abandon_link(bool cut);
    [[nodiscard]] bool between_transactions() const;
    void tell(const protocol::diagnostic& what);
    void send_ready();

    // session_acknowledge.cpp: commits that wait for the vector store
    struct store_wait;
    [[nodiscard]] bool must_wait_for_store() const;

    void note_write(bool may_write) {
        wrote_ = wrote_ || may_write;
        unstored_ = unstored_ || may_write;
    }

    void ask_store();
    void store_answered(bool stored);
    void forget_store();

    // session_collect.cpp: from bytes to units
    [[nodiscard]] step advance();
    [[nodiscard]] bool held_up();
    [[nodiscard]] step forward_next();
    [[nodiscard]] step collect();
    [[nodiscard]] step note(const protocol::frame_part& part);
    void note_parse(const protocol::frame_part& part);
    void note_text(const known_text& what);
    void note_bind(const protocol::frame_part& part);
    [[nodiscard]] step skip_to_sync();
    void answer_alone();
    [[nodiscard]] step cut_unit();
    [[nodiscard]] step note_large(const protocol::frame_part& part);
    [[nodiscard]] step note_outside_unit(const protocol::frame_part& part);
    [[nodiscard]] step note_query(const protocol::frame_part& part);
    [[nodiscard]] step unit_complete();
    [[nodiscard]] bool forwarding() const noexcept;
    [[nodiscard]] step refuse(const std::string& why);
    [[nodiscard]] known_text classify(std::string_view text);

    // session_forward.cpp: one message to the server
    void forward(const protocol::frame_part& part);
    void forward_query(const protocol::frame_part& part);
    void forward_parse(const protocol::frame_part& part);
    void forward_named_parse(const protocol::frame_part& part);
    void forward_bind(const protocol::frame_part& part);
    void forward_describe(const protocol::frame_part& part);
    void forward_execute(const protocol::frame_part& part);
    void forward_close(const protocol::frame_part& part);
    void forward_simple(const protocol::frame_part& part);
    [[nodiscard]] bool
    may_bind(std::string_view name, const named_statement* used, upstream::statement_copy*& copy);
    [[nodiscard]] bool ensure_unnamed();
    [[nodiscard]] std::uint64_t
    note_unnamed(std::string_view text, std::string_view oids, known_text&& known);
    // SQL's DEALLOCATE of a statement that the protocol's Parse made: the name is gone then.
    [[nodiscard]] bool deallocates_own(const known_text& what, std::string_view text);
    [[nodiscard]] bool name_unsettled(const protocol::frame_part& part) const;
    [[nodiscard]] known_text next_text(std::string_view text);
    void leaves_behind(const known_text& what);
    void fail_unit(protocol::sqlstate code, std::string message);
    void unit_sent();

    // session_own.cpp: settings of pgweir's own
    void start_settings(const startup_settings& given);
    [[nodiscard]] static std::optional<protocol::diagnostic>
    refuse_own(const known_text& what, std::string_view text);
    [[nodiscard]] bool
    forward_own_query(const known_text& known, std::string_view text, std::uint64_t dropped);
    [[nodiscard]] bool fail_own_parse(const known_text& known, std::string_view text);
    [[nodiscard]] bool forward_own_execute(const portal& bound, protocol::bytes_view message);
    [[nodiscard]] bool own_setting_under_way() const;

    // session_effects.cpp: what comes true when the server has answered
    struct note_record {
        enum class kind : std::uint8_t { parse, close, unnamed, effects, use, describe, compare };
        kind what = kind::effects;
        bool done = false;
        bool simple = false;  // a simple Query: succeeded only if no error was seen
        std::string name{};
        named_statement previous{};
        std::uint64_t version = 0;  // of the unnamed statement that it makes or drops
        std::unique_ptr<unnamed_statement> before{};  // that it replaces, if it may be ignored
        bool server_had_it = false;                   // the one before
        std::shared_ptr<const routing::traits> traits{};
        std::vector<routing::setting_effect> settings{};
        name_map<named_statement> names{};    // that it deallocates
        std::vector<statement_ptr> copies{};  // on the server, likewise
        bool of_unnamed = false;              // a use or description of the unnamed statement
        std::uint64_t object = 0;  // used or described: the statement, or the unnamed one's version
        std::uint64_t sent_at = 0;  // the use, in the worker's order of events
    };

    [[nodiscard]] std::uint64_t take_note(note_record&& record);
    [[nodiscard]] static std::vector<routing::setting_effect>
    settings_from_bind(const routing::traits& what, std::string_view text, std::string_view tail);
    void note_parameters();
    [[nodiscard]] std::string_view search_path() const;
    [[nodiscard]] std::uint64_t
    effects_of(const known_text& what, std::string_view text, const portal* bound);
    void apply(const note_record& record);
    void undo(const note_record& record);
    [[nodiscard]] std::uint64_t drop_unnamed();
    void forget_unnamed(std::uint64_t version);
    void take_back_unnamed(note_record& record);

    // session_stale.cpp: statements whose tables have changed since their Parse
    [[nodiscard]] upstream::statement_copy* make_fit(const named_statement& used);
    [[nodiscard]] bool compare_unnamed();
    void ask_columns(std::string_view server_name, note_record&& record);
    [[nodiscard]] std::uint64_t note_use(
        const named_statement& used,
        const upstream::statement_copy& copy,
        std::string_view described
    );
    [[nodiscard]] std::uint64_t note_portal_columns(std::string_view portal);
    [[nodiscard]] std::uint64_t note_unnamed_columns();
    [[nodiscard]] bool may_send_again() const;
    void note_columns(const note_record& record, protocol::bytes_view frame);
    void fail_changed();

    // session_link.cpp: getting and giving back a connection
    enum class obtained : std::uint8_t { linked, failed, retry, retry_at_once };
    [[nodiscard]] asio::awaitable<void> obtain();
    [[nodiscard]] asio::awaitable<obtained> try_obtain(failure& why);
    [[nodiscard]] bool obtain_at_once();
    [[nodiscard]] asio::awaitable<obtained> take_from_pool(routing::route chosen);
    [[nodiscard]] asio::awaitable<obtained> prepare_link();
    [[nodiscard]] asio::awaitable<void> injected();
    void begin_injected();
    [[nodiscard]] asio::awaitable<bool> wait_for_topology(steady_time deadline);
    [[nodiscard]] routing::route_request question();  // of the unit; refers to it
    [[nodiscard]] routing::route decide();
    void ask_any_server();
    [[nodiscard]] const routing::judgement& judgement_of(const known_text& text);
    [[nodiscard]] bool ran_user_function(const known_text& what);
    [[nodiscard]] bool link_fits(const routing::route& wanted) const;
    [[nodiscard]] settings_ptr overlay_of(const routing::route& wanted) const;
    [[nodiscard]] static bool is_starting(const failure& why);
    void take_route(const routing::route& chosen);
    void link_to(upstream::connection_ptr which, const routing::route& chosen);
    void link_ready();
    void match_parameters();
    void fail_collected(const failure& why);
    void let_go();
    void forget_sent();
    [[nodiscard]] bool lacks_token() const;
    void forget_token();
    void note_own_write(upstream::connection& left);

    worker& worker_;
    std::shared_ptr<stream> peer_;
    peer_address address_;
    input_buffer input_;
    protocol::frame_cutter cutter_;
    std::uint64_t id_;
    cancel_key key_;
    std::string user_;
    std::string database_;
    std::string application_name_;
    database_route route_to_;
    session_phase phase_ = session_phase::login;
    signal wake_;

    unit unit_;
    bool unit_decided_ = false;  // the collected unit has its connection
    bool unit_open_ = false;     // part of a unit has been sent, its Sync has not
    bool body_dropped_ = false;  // the rest of a large message is not sent, as its head was not
    bool skip_query_ = false;    // with skip_to_sync_: only one Query
    bool skip_to_sync_ =
        false;  // the proxy reported an error; PostgreSQL would ignore the rest of the unit
    bool terminated_ = false;    // Terminate, or end of the stream
    bool acknowledges_ = false;  // this database has a migration with acknowledge: store
    bool unstored_ = false;      // it wrote since the store was last asked
    std::shared_ptr<store_wait> store_wait_;  // a ReadyForQuery is held back
    bool unit_runs_ = false;                  // a portal has been made in the unit being sent
    bool postponed_ = false;      // the message at hand has to wait for an answer before it is sent
    std::uint64_t compared_ = 0;  // the statement for which that answer was asked
    bool broken_ = false;         // hang up without a word
    bool stopping_ = false;
    std::optional<failure> fatal_;
    steady_time killed_at_{};

    upstream::connection_ptr link_;
    upstream::waiter waiter_;
    upstream::pool* waiting_in_ = nullptr;
    std::size_t linked_server_ = routing::no_server;
    std::shared_ptr<const upstream::pool_target> linked_target_;
    settings_ptr linked_overlay_;
    settings_ptr linked_held_;  // what the session's settings on the server were when it was linked
    bool link_prepared_ = false;  // settings are made; the client's messages may go
    routing::pin_reason pinned_ = routing::pin_reason::none;
    std::optional<failure> injected_failure_;
    bool injected_under_way_ = false;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
    bool canceled_ = false;
    unsigned settings_canceled_ = 0;

    statements statements_;
    unit_retry retry_;
    session_state state_;
    parameters_ptr told_;  // ParameterStatus as the client knows them
    bool standard_strings_ = true;
    std::deque<note_record> notes_;
    std::uint64_t first_note_ = 1;
    std::uint64_t unit_first_note_ = 1;  // notes from here on belong to the unit being sent
    bool failed_ = false;                // an error since the last ReadyForQuery
    std::vector<std::uint8_t> build_;

    routing::session_token token_;
    std::shared_ptr<upstream::position_probe> token_probe_;
    bool uses_replicas_ = false;
    bool wrote_ = false;
    bool ran_ddl_ = false;
    bool began_ = false;  // something that begins a transaction has been sent and not been answered
    const routing::policy* rule_ = nullptr;
    metrics::query_probe* query_probe_ = nullptr;
    metrics::client_probe* client_probe_ = nullptr;
    metrics::query_kind query_kind_ = metrics::query_kind::other;
    steady_time sent_at_{};
    steady_time connected_{};
    steady_time last_request_{};
    steady_time phase_since_{};
};

}  // namespace weir::proxy::client
