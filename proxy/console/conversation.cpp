#include "proxy/console/conversation.hpp"

#include "protocol/byte_reader.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::console {

namespace {

namespace backend = protocol::backend;
namespace frontend = protocol::frontend;
namespace sqlstates = protocol::sqlstates;

protocol::diagnostic make_error(protocol::sqlstate code, std::string message) {
    protocol::diagnostic made;
    made.code = code;
    made.message = std::move(message);
    return made;
}

// Result formats of a Bind for `columns` columns, or why not. Parameters: there are none.
std::string read_formats(std::string_view tail, std::size_t columns, formats& into) {
    protocol::byte_reader reader(protocol::as_bytes(tail));
    for (auto left = reader.u16(); left != 0 && reader.ok(); --left) {
        static_cast<void>(reader.i16());
    }
    const auto parameters = reader.u16();
    if (parameters != 0) {
        return "the console's commands take no parameters, but " + std::to_string(parameters) +
               " were bound";
    }
    const auto count = reader.u16();
    for (std::uint16_t i = 0; i < count && reader.ok(); ++i) {
        into.push_back(reader.i16());
    }
    const bool known =
        std::all_of(into.begin(), into.end(), [](auto f) { return f == 0 || f == 1; });
    if (reader.finish() || !known) {
        return "invalid Bind message";
    }
    if (count == 1) {
        into.assign(columns, into.front());
    } else if (count != 0 && count != columns) {
        return "Bind has " + std::to_string(count) + " result formats, but the command has " +
               std::to_string(columns) + " columns";
    }
    return {};
}

std::size_t columns_of(const std::optional<call>& what) {
    return what ? what->columns().size() : 0;
}

}  // namespace

asio::awaitable<bool> conversation::take(const protocol::frame_part& message) {
    const auto kind = static_cast<frontend::kind>(message.type);
    if (kind == frontend::kind::terminate) {
        co_return false;
    }
    if (skipping_ && kind != frontend::kind::sync) {
        co_return true;
    }
    if (message.kind != protocol::part_kind::whole) {
        co_return over("message too large for the console");
    }
    const auto body = message.body();
    switch (kind) {
    case frontend::kind::query: co_await query(body); break;
    case frontend::kind::parse: parse(body); break;
    case frontend::kind::bind: bind(body); break;
    case frontend::kind::describe: describe(body); break;
    case frontend::kind::execute: co_await execute(body); break;
    case frontend::kind::close: close(body); break;
    case frontend::kind::sync: sync(); break;
    case frontend::kind::flush:
    case frontend::kind::copy_data:
    case frontend::kind::copy_done:
    case frontend::kind::copy_fail: break;  // as PostgreSQL does outside of a copy
    case frontend::kind::function_call:
        send_error(make_error(sqlstates::feature_not_supported, "the console has no functions"));
        sync();
        break;
    default: co_return over("unexpected message type in the console");
    }
    co_return true;
}

bool conversation::over(std::string_view why) {
    auto error = make_error(sqlstates::protocol_violation, std::string(why));
    error.level = protocol::severity::fatal;
    send_error(error);
    return false;
}

asio::awaitable<void> conversation::query(bytes body) {
    const auto decoded = frontend::query::decode(body);
    if (!decoded) {
        send_error(make_error(sqlstates::protocol_violation, "invalid Query message"));
        sync();
        co_return;
    }
    const auto text = cut(decoded->text);
    if (!text.error.empty()) {
        send_error(make_error(sqlstates::syntax_error, text.error));
    } else if (text.commands.empty()) {
        backend::encode_empty(writer_, backend::kind::empty_query_response);
    }
    for (const auto& words : text.commands) {
        const bool done = co_await run_simple(words);
        if (!done) {
            break;
        }
    }
    sync();
}

asio::awaitable<bool> conversation::run_simple(const tokens& words) {
    const auto found = resolve(words);
    if (found.error) {
        send_error(*found.error);
        co_return false;
    }
    const auto result = co_await run_(found.value);
    if (result.error) {
        send_error(*result.error);
        co_return false;
    }
    const auto columns = found.value.columns();
    if (!columns.empty()) {
        encode_description(writer_, columns, {});
    }
    for (const auto& each : result.rows) {
        encode_row(writer_, each, {});
    }
    ran(*found.value.what);
    co_return true;
}

void conversation::parse(bytes body) {
    const auto decoded = frontend::parse::decode(body);
    if (!decoded) {
        fail_protocol("invalid Parse message");
        return;
    }
    const auto text = cut(decoded->text);
    if (!text.error.empty()) {
        fail(sqlstates::syntax_error, text.error);
        return;
    }
    if (text.commands.size() > 1) {
        fail(sqlstates::syntax_error, "cannot insert multiple commands into a prepared statement");
        return;
    }
    if (!decoded->name.empty() && statements_.contains(decoded->name)) {
        fail(
            sqlstates::duplicate_statement,
            "prepared statement \"" + std::string(decoded->name) + "\" already exists"
        );
        return;
    }
    if (statements_.size() >= named_max) {
        fail(sqlstates::limit_exceeded, "too many prepared statements");
        return;
    }
    auto made = std::make_shared<statement>();
    if (!text.commands.empty()) {
        auto found = resolve(text.commands.front());
        if (found.error) {
            fail(*found.error);
            return;
        }
        made->what = std::move(found.value);
    }
    statements_.insert_or_assign(std::string(decoded->name), std::move(made));
    backend::encode_empty(writer_, backend::kind::parse_complete);
}

void conversation::bind(bytes body) {
    const auto decoded = frontend::bind::decode(body);
    if (!decoded) {
        fail_protocol("invalid Bind message");
        return;
    }
    const auto found = statements_.find(decoded->statement);
    if (found == statements_.end()) {
        fail(
            sqlstates::invalid_statement_name,
            "prepared statement \"" + std::string(decoded->statement) + "\" does not exist"
        );
        return;
    }
    portal made;
    made.from = found->second;
    const auto error = read_formats(decoded->tail, columns_of(made.from->what), made.as);
    if (!error.empty()) {
        fail_protocol(error);
        return;
    }
    if (portals_.size() >= named_max) {
        fail(sqlstates::limit_exceeded, "too many portals");
        return;
    }
    portals_.insert_or_assign(std::string(decoded->portal), std::move(made));
    backend::encode_empty(writer_, backend::kind::bind_complete);
}

void conversation::describe_columns(const std::optional<call>& what, const formats& as) {
    const auto columns = what ? what->columns() : fields();
    if (columns.empty()) {
        backend::encode_empty(writer_, backend::kind::no_data);
    } else {
        encode_description(writer_, columns, as);
    }
}

void conversation::describe(bytes body) {
    const auto decoded = frontend::describe::decode(body);
    if (!decoded) {
        fail_protocol("invalid Describe message");
        return;
    }
    const std::string name(decoded->name);
    if (decoded->object == frontend::object::portal) {
        const auto found = portals_.find(name);
        if (found == portals_.end()) {
            fail(sqlstates::invalid_cursor_name, "portal \"" + name + "\" does not exist");
            return;
        }
        describe_columns(found->second.from->what, found->second.as);
        return;
    }
    const auto found = statements_.find(name);
    if (found == statements_.end()) {
        fail(
            sqlstates::invalid_statement_name,
            "prepared statement \"" + name + "\" does not exist"
        );
        return;
    }
    {
        const auto open = writer_.message(static_cast<char>(backend::kind::parameter_description));
        writer_.u16(0);
    }
    describe_columns(found->second->what, {});
}

asio::awaitable<void> conversation::execute(bytes body) {
    const auto decoded = frontend::execute::decode(body);
    if (!decoded) {
        fail_protocol("invalid Execute message");
        co_return;
    }
    const std::string name(decoded->portal);
    const auto max_rows = decoded->max_rows;
    const auto found = portals_.find(name);
    if (found == portals_.end()) {
        fail(sqlstates::invalid_cursor_name, "portal \"" + name + "\" does not exist");
        co_return;
    }
    co_await run_portal(found->second, max_rows);
}

asio::awaitable<void> conversation::run_portal(portal& which, std::int32_t max_rows) {
    const auto& what = which.from->what;
    if (!what) {
        backend::encode_empty(writer_, backend::kind::empty_query_response);
        co_return;
    }
    if (!which.result) {
        auto result = co_await run_(*what);
        which.result = std::move(result);
    }
    if (which.result->error) {
        fail(*which.result->error);
        co_return;
    }
    const auto& rows = which.result->rows;
    const auto left = rows.size() - which.sent;
    const auto now = max_rows > 0 ? std::min(left, static_cast<std::size_t>(max_rows)) : left;
    for (std::size_t i = 0; i < now; ++i) {
        encode_row(writer_, rows[which.sent + i], which.as);
    }
    which.sent += now;
    // PostgreSQL suspends whenever it stopped because of the limit, even behind the last row.
    if (max_rows > 0 && now == static_cast<std::size_t>(max_rows)) {
        backend::encode_empty(writer_, backend::kind::portal_suspended);
    } else {
        ran(*what->what);
    }
}

void conversation::ran(const command& what) {
    if (what.step != transaction_step::none) {
        in_transaction_ = what.step == transaction_step::begin;
    }
    backend::command_complete{what.tag}.encode(writer_);
}

void conversation::close(bytes body) {
    const auto decoded = frontend::close::decode(body);
    if (!decoded) {
        fail_protocol("invalid Close message");
        return;
    }
    const std::string name(decoded->name);
    if (decoded->object == frontend::object::portal) {
        portals_.erase(name);
    } else {
        statements_.erase(name);
    }
    backend::encode_empty(writer_, backend::kind::close_complete);
}

void conversation::sync() {
    skipping_ = false;
    if (!in_transaction_) {
        portals_.clear();
    }
    using status = backend::transaction_status;
    const auto now = in_transaction_ ? status::in_transaction : status::idle;
    backend::ready_for_query{now}.encode(writer_);
}

void conversation::send_error(const protocol::diagnostic& what) {
    backend::encode_error(writer_, what);
}

void conversation::fail(const protocol::diagnostic& what) {
    send_error(what);
    skipping_ = true;
}

void conversation::fail(protocol::sqlstate code, std::string message) {
    fail(make_error(code, std::move(message)));
}

void conversation::fail_protocol(std::string_view message) {
    fail(sqlstates::protocol_violation, std::string(message));
}

}  // namespace weir::proxy::console
