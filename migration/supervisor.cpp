#include "migration/supervisor.hpp"

#include "routing/position.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <utility>

namespace weir::migration {
namespace {

constexpr std::size_t most_waiting = 64;

std::string sslmode_of(config::tls_mode mode) {
    switch (mode) {
    case config::tls_mode::disable: return "disable";
    case config::tls_mode::allow: return "allow";
    case config::tls_mode::prefer: return "prefer";
    case config::tls_mode::require: return "require";
    case config::tls_mode::verify_ca: return "verify-ca";
    case config::tls_mode::verify_full: break;
    }
    return "verify-full";
}

std::string owner() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) {
        host[0] = '?';
    }
    return std::string(host.data()) + " process " + std::to_string(::getpid());
}

template <typename List>
auto named(const List& list, const std::string& name) {
    return std::find_if(list.begin(), list.end(), [&](const auto& one) {
        return one.name == name;
    });
}

const config::database* database_of(const config::config& from, const std::string& name) {
    auto found = named(from.databases, name);
    if (found == from.databases.end()) {
        found = named(from.databases, "*");
    }
    return found == from.databases.end() ? nullptr : &*found;
}

// The loader has checked that what is named is there.
runner_settings settings_of(const config::config& from, const config::migration& intent) {
    runner_settings made{.intent = intent, .target = {}, .servers = {}, .owner = owner()};
    made.target = *named(from.stores, intent.store);
    const auto* database = database_of(from, intent.database);
    const auto& cluster = *named(from.clusters, database->cluster);
    for (const auto& server : cluster.servers) {
        made.servers.push_back(
            {.host = server.host,
             .port = server.port,
             .user = intent.user,
             .password = intent.password,
             .database =
                 database->server_database.empty() ? intent.database : database->server_database,
             .sslmode = sslmode_of(cluster.tls.mode),
             .sslrootcert = cluster.tls.ca,
             .application_name = "pgweir migration " + intent.name}
        );
    }
    return made;
}

std::vector<runner_settings> settings_of(const config::config& from) {
    std::vector<runner_settings> all;
    all.reserve(from.migrations.size());
    for (const auto& intent : from.migrations) {
        all.push_back(settings_of(from, intent));
    }
    return all;
}

std::string seconds_text(double seconds) {
    std::array<char, 32> text{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): bounded, and g++ 12 has no std::format
    std::snprintf(text.data(), text.size(), "%.3f", seconds);
    return text.data();
}

}  // namespace

const std::vector<std::string>& status_columns() {
    static const std::vector<std::string> columns{
        "migration",
        "phase",
        "reason",
        "writer",
        "rows_copied",
        "rows_to_copy",
        "rows_streamed",
        "bytes",
        "lag_rows",
        "lag_bytes",
        "lag_seconds",
        "retries",
        "dead_letters",
        "retained_wal",
        "confirmed",
        "verify",
        "trouble"};
    return columns;
}

std::vector<std::string> status_row(const migration_status& of) {
    return {
        of.name,
        std::string(to_string(of.phase)),
        of.reason,
        of.writer ? "this" : of.standing_by,
        std::to_string(of.rows_copied),
        std::to_string(of.rows_to_copy),
        std::to_string(of.rows_streamed),
        std::to_string(of.bytes),
        std::to_string(of.lag_rows),
        std::to_string(of.lag_bytes),
        seconds_text(of.lag_seconds),
        std::to_string(of.retries),
        std::to_string(of.dead_letters),
        std::to_string(of.retained_wal),
        routing::to_string(routing::lsn{of.confirmed}),
        described(of.verify, verify_state::clock::now()),
        of.trouble};
}

supervisor::supervisor(const config::config& from) {
    apply(settings_of(from));
    thread_ = std::thread([this] { run(); });
}

supervisor::~supervisor() {
    stop();
}

void supervisor::stop() {
    std::map<std::string, std::shared_ptr<runner>> ended;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        ended = runners_;
    }
    changed_.notify_all();
    // First the runners: a command under way waits for one of them, and ends with it.
    std::vector<std::thread> enders;
    enders.reserve(ended.size());
    for (auto& [name, one] : ended) {
        enders.emplace_back([&one = one] { one->stop(); });
    }
    for (auto& ender : enders) {
        ender.join();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void supervisor::configure(const config::config& from) {
    auto wanted = settings_of(from);
    {
        const std::lock_guard lock(mutex_);
        wanted_ = std::move(wanted);
    }
    changed_.notify_all();
}

void supervisor::apply(std::vector<runner_settings>&& wanted) {
    std::vector<std::shared_ptr<runner>> ended;
    std::vector<std::shared_ptr<runner>> begun;
    {
        const std::lock_guard lock(mutex_);
        std::map<std::string, std::shared_ptr<runner>> kept;
        for (auto& settings : wanted) {
            const auto name = settings.intent.name;
            const auto known = runners_.find(name);
            if (known != runners_.end() && known->second->same(settings)) {
                kept.emplace(name, known->second);
                continue;
            }
            kept.emplace(name, std::make_shared<runner>(std::move(settings)));
            begun.push_back(kept[name]);
        }
        for (const auto& [name, one] : runners_) {
            if (kept[name] != one) {
                ended.push_back(one);
            }
        }
        std::erase_if(kept, [](const auto& entry) { return entry.second == nullptr; });
        runners_ = std::move(kept);
    }
    for (const auto& one : ended) {
        one->stop();
    }
    for (const auto& one : begun) {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            return;  // stop() has been here: what begins now would never be ended
        }
        one->start();
    }
}

void supervisor::carry_out(command what, answer then) {
    if (what.what == verb::status) {
        then(carry_out_now(what));  // never behind a command that takes long
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if (!stopping_ && waiting_.size() < most_waiting) {
            waiting_.push_back({std::move(what), std::move(then)});
            changed_.notify_all();
            return;
        }
    }
    then(refused("too many migration commands wait"));
}

void supervisor::run() {
    while (true) {
        std::optional<std::vector<runner_settings>> wanted;
        waiting next;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stopping_ || wanted_ || !waiting_.empty(); });
            if (stopping_) {
                return;
            }
            wanted = std::exchange(wanted_, std::nullopt);
            if (!wanted) {
                next = std::move(waiting_.front());
                waiting_.pop_front();
            }
        }
        if (wanted) {
            apply(std::move(*wanted));
        } else {
            next.then(carry_out_now(next.what));
        }
    }
}

std::shared_ptr<runner> supervisor::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = runners_.find(name);
    return found == runners_.end() ? nullptr : found->second;
}

reply supervisor::carry_out_now(const command& what) {
    if (what.what == verb::status) {
        reply made{.done = true, .text = {}, .hint = {}, .columns = status_columns(), .rows = {}};
        for (const auto& one : statuses()) {
            if (what.migration.empty() || one.name == what.migration) {
                made.rows.push_back(status_row(one));
            }
        }
        if (!what.migration.empty() && made.rows.empty()) {
            return refused("there is no migration \"" + what.migration + "\"");
        }
        return made;
    }
    const auto found = find(what.migration);
    if (!found) {
        return refused(
            "there is no migration \"" + what.migration + "\"",
            "Migrations are described under `migrations` in the configuration."
        );
    }
    try {
        return found->carry_out(what);
    } catch (const std::exception& error) {
        return refused("migration " + what.migration + ": " + error.what());
    }
}

bool supervisor::acknowledges(const config::config& from, const std::string& database) {
    return std::ranges::any_of(from.migrations, [&](const config::migration& one) {
        return one.database == database && one.acknowledge == config::acknowledge::store;
    });
}

void supervisor::await_stored(const std::string& database, acknowledger::answer then) {
    struct gathered {
        std::atomic<std::size_t> left = 0;
        std::atomic<bool> all = true;
    };

    std::vector<std::shared_ptr<runner>> some;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, one] : runners_) {
            if (one->intent().database == database) {
                some.push_back(one);
            }
        }
    }
    if (some.empty()) {
        then(true);
        return;
    }
    const auto state = std::make_shared<gathered>();
    state->left = some.size();
    for (const auto& one : some) {
        one->await_stored([state, then](bool stored) {
            if (!stored) {
                state->all = false;
            }
            if (--state->left == 0) {
                then(state->all);
            }
        });
    }
}

std::vector<migration_status> supervisor::statuses() const {
    std::vector<std::shared_ptr<runner>> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, one] : runners_) {
            all.push_back(one);
        }
    }
    std::vector<migration_status> made;
    made.reserve(all.size());
    for (const auto& one : all) {
        made.push_back(one->status());
    }
    return made;
}

}  // namespace weir::migration
