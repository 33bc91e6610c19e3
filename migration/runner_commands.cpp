// The verbs. Those that change the phase are carried out by the governing thread.
#include "migration/fingerprint.hpp"
#include "migration/held.hpp"
#include "migration/journal_schema.hpp"
#include "migration/order_rules.hpp"
#include "migration/preflight.hpp"
#include "migration/publication.hpp"
#include "migration/runner.hpp"
#include "migration/runner_parts.hpp"
#include "migration/source.hpp"
#include "migration/store/open.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::migration {
namespace {

constexpr std::uint64_t most_letters = 1000;
constexpr std::string_view by_command = "by command";

// Read again from the source, whatever it was; a row that has gone since has had its own removal.
std::optional<operation> retry_of(const plan& what, const letter& from, const version& at) {
    auto row = key_of(from.key_columns, what.layout.key);
    if (!row) {
        return std::nullopt;
    }
    operation made;
    // A removal that was refused is tried as it was, unless the key has come back.
    made.what = from.what.operation == "remove" ? operation::kind::remove : operation::kind::reread;
    const bool removal = made.what == operation::kind::remove;
    made.space = from.what.space;
    made.document.key = std::move(*row);
    made.document.version = removal ? from.what.version : std::max(at, from.what.version);
    made.guarded = true;
    return made;
}

// A letter that was refused once more has another count of attempts.
void drop_settled(journal& records, const std::vector<letter>& tried) {
    const auto now = held(records.letters(most_letters));
    for (const auto& one : tried) {
        const auto same = std::ranges::any_of(now, [&](const letter& other) {
            return other.what.space == one.what.space && other.key_columns == one.key_columns &&
                   other.attempts == one.attempts;
        });
        if (same) {
            const document_name name{one.what.space, to_text(one.what.key)};
            held(records.drop_letters({&name, 1}, one.what.version));
        }
    }
}

}  // namespace

reply runner::carry_out(const command& what) {
    switch (what.what) {
    case verb::start:
        if (what.dry_run) {
            return look(what).report;
        }
        return order_and_wait(what);
    case verb::pause:
    case verb::resume:
    case verb::remove: return order_and_wait(what);
    case verb::verify: return verify(false);
    case verb::repair: return verify(true);
    case verb::dead_letters: return dead_letters(what.retry);
    case verb::status: break;
    }
    return refused("not a command for one migration");
}

// On the governing thread.
reply runner::obey(governed& with, const migration_record& record, const command& what) {
    const auto now = record.phase;
    if (auto no = refusal_of(what.what, now)) {
        return *std::move(no);
    }
    switch (what.what) {
    case verb::start: return begin(with, record, what);
    case verb::pause:
        held(with.records.change_phase(now, *paused(now), std::string(by_command)));
        return done("paused; the slot goes on holding back WAL");
    case verb::resume:
        if (now == phase::stale) {
            resync(with, record, true);
            return done("a new slot is there; verify and repair follow");
        }
        if (record.reason != by_command) {
            return resume_anew(with, record);
        }
        held(with.records.change_phase(now, *resumed(now), {}));
        return done("resumed");
    default:
        if (now != phase::removing) {
            held(with.records.change_phase(now, phase::removing, "by command"));
        }
        return done("slot, publication and journal are dropped; the store keeps its documents");
    }
}

// What the stream cannot follow lies in the WAL behind it, where it can never be passed: the table
// as it was then, whatever it is now.
reply runner::resume_anew(governed& with, const migration_record& record) {
    const auto what = plan_of(with.server.session());
    if (const auto changed = changed_since(record.fingerprint, what, settings_.target.name)) {
        return refused(
            "the table or the configuration is not what the migration was started with: " +
                *changed,
            "Put it back, or remove the migration and start it anew."
        );
    }
    held(with.records.change_phase(record.phase, phase::stale, record.reason));
    return done("a new slot will be made; verify and repair make up for what was missed");
}

reply runner::begin(governed& with, const migration_record& record, const command& what) {
    auto [report, newer] = look(what);
    if (!report.done) {
        return report;
    }
    if (const auto failed = ensure_journal(with.server.session())) {
        return refused(failed->text);
    }
    const auto name = object_name(settings_.intent.name);
    const auto print = fingerprint_of(plan_of(with.server.session()), settings_.target.name);
    // Forced: whatever the store has is older from now on.
    held(with.records.begin(name, name, print, newer ? newer->timeline : record.history));
    report.rows.push_back({"start", "ok", "publication and slot are being made; the copy follows"});
    return report;
}

// What `start` would meet, without changing anything.
runner::looked runner::look(const command& what) {
    primary server(servers_);
    if (const auto fault = server.find()) {
        return {refused(*fault), {}};
    }
    const auto report = preflight(
        server.session(),
        server.where(),
        settings_.intent,
        [this](const plan& of) { return open_store(of); },
        [this] { check_stop(); }
    );
    reply made{
        .done = what.dry_run || passes(report.checks, what.force),
        .text = "the migration cannot start as things are",
        .hint = "Each refused check says what to do.",
        .columns = {"check", "state", "detail"},
        .rows = {}};
    for (const auto& one : report.checks) {
        made.rows.push_back({one.name, std::string(to_string(one.result)), one.text});
    }
    if (what.dry_run && !passes(report.checks)) {
        const auto script = grant_script(settings_.intent, server.where().database);
        made.rows.push_back({"rights", "script", script});
    }
    return {std::move(made), report.newer_document};
}

reply runner::verify(bool repair) {
    const auto run = current_run();
    if (!run) {
        return refused(
            "the stream does not run in this process: verify needs it to tell late from missing",
            "MIGRATE STATUS tells the phase."
        );
    }
    if (!run->start_verify(repair)) {
        return refused("the copy is not over, or a verify is running");
    }
    return done(
        repair ? "verify and repair have begun; MIGRATE STATUS shows what they find"
               : "verify has begun; MIGRATE STATUS shows what it finds"
    );
}

// Letters hold their keys as texts: they are read back as the plan's kinds.
reply runner::dead_letters(bool retry) {
    primary server(servers_);
    journal records(server, settings_.intent.name, keeper_.lease().epoch());
    const auto all = held(records.letters(most_letters));
    reply made{
        .done = true,
        .text = {},
        .hint = {},
        .columns = {"namespace", "key", "version", "operation", "reason", "at", "attempts"},
        .rows = {}};
    for (const auto& one : all) {
        made.rows.push_back(
            {one.what.space,
             to_text(one.what.key),
             to_text(one.what.version),
             one.what.operation,
             one.what.reason,
             one.at,
             std::to_string(one.attempts)}
        );
    }
    if (!retry) {
        return made;
    }
    const auto run = current_run();
    if (!run) {
        return refused("the stream does not run in this process: letters cannot be retried");
    }
    const auto what = plan_of(server.session());
    // As a repair: what is read now, under a version that nothing applied so far exceeds.
    auto at = run->applied();
    at.ordinal = std::numeric_limits<std::uint32_t>::max();
    await_snapshot(server, servers_);
    std::vector<operation> again;
    std::vector<letter> tried;
    for (const auto& one : all) {
        if (auto made_again = retry_of(what, one, at)) {
            again.push_back(std::move(*made_again));
            tried.push_back(one);
        }
    }
    run->carry_out(std::move(again));
    drop_settled(records, tried);
    const auto left = held(records.count_letters());
    const std::lock_guard lock(mutex_);
    letters_ = left;
    return done(
        std::to_string(tried.size()) + " tried again, " + std::to_string(left) + " are left"
    );
}

plan runner::plan_of(sql_session& session) const {
    auto built = build_plan(session, settings_.intent);
    if (built.error) {
        throw std::runtime_error(*built.error);
    }
    return std::move(built.plan);
}

std::unique_ptr<store::store> runner::open_store(const plan& what) const {
    return store::open(settings_.target, what.layout);
}

}  // namespace weir::migration
