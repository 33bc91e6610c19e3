#include "migration/runner.hpp"

#include "migration/held.hpp"
#include "migration/order_rules.hpp"
#include "migration/publication.hpp"
#include "migration/runner_parts.hpp"
#include "migration/slot.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

constexpr auto order_limit = 60s;

lease_terms terms_of(const runner_settings& from) {
    return {
        .migration = from.intent.name,
        .owner = from.owner,
        .duration = from.intent.lease,
        .request_timeout = from.target.request_timeout};
}

}  // namespace

// A command that the governing thread carries out. Guarded by runner::mutex_.
struct runner::order {
    command what;
    std::optional<reply> answer{};
};

runner::runner(runner_settings settings)
    : settings_(std::move(settings)),
      servers_{.addresses = settings_.servers, .sleep = {}, .trouble = {}},
      keeper_(terms_of(settings_), servers_) {
    servers_.sleep = [this](std::chrono::milliseconds time) { pause(time); };
    servers_.trouble = [this](std::string text) { tally_.trouble(std::move(text)); };
    if (settings_.intent.acknowledge == config::acknowledge::store) {
        acknowledger_ = std::make_unique<acknowledger>(
            servers_,
            settings_.intent.acknowledge_timeout,
            [this](primary& server) { return stored(server); }
        );
        // At once: commits may come while this runner waits for the end of the one before.
        acknowledger_->start();
    }
}

runner::~runner() {
    stop();
}

void runner::start() {
    keeper_.start();
    thread_ = std::thread([this] { govern(); });
}

void runner::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (run_) {
            run_->stop();
        }
        if (maker_ != nullptr) {
            maker_->stop();
        }
    }
    changed_.notify_all();
    if (acknowledger_) {
        acknowledger_->stop();
    }
    if (thread_.joinable()) {
        thread_.join();
        // The governing thread has waited for the lanes: no request is under way.
        keeper_.stop(true);
    }
}

void runner::pause(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return stopping_.load(); });
    if (stopping_) {
        throw stopped();
    }
}

// As pause(), but an order ends it as well.
void runner::pause_for_order(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return stopping_.load() || order_ != nullptr; });
    if (stopping_) {
        throw stopped();
    }
}

void runner::check_stop() const {
    if (stopping_) {
        throw stopped();
    }
}

void runner::set_record(std::optional<migration_record> record) {
    const std::lock_guard lock(mutex_);
    record_ = std::move(record);
}

std::shared_ptr<stream_run> runner::current_run() const {
    const std::lock_guard lock(mutex_);
    return run_;
}

void runner::govern() {
    std::unique_ptr<governed> with;
    while (!stopping_) {
        try {
            const auto& lease = keeper_.lease();
            if (!lease.valid(lease::clock::now())) {
                pause(100ms);
                continue;
            }
            if (!with || with->epoch != lease.epoch()) {
                // Another process may have sent in between.
                const std::lock_guard lock(mutex_);
                sent_ = with && with->epoch + 1 == lease.epoch() ? sent_ : std::nullopt;
                with = std::make_unique<governed>(servers_, settings_.intent.name, lease.epoch());
            }
            step(*with);
        } catch (const stopped&) {
            continue;  // of a run whose lease was lost, or of this object
        } catch (const std::exception& error) {
            spdlog::error("migration {}: {}", settings_.intent.name, error.what());
            tally_.trouble(error.what());
            answer_order(std::exchange(obeyed_, nullptr), refused(error.what()));
            pause_after_fault();
        }
    }
    std::shared_ptr<order> left;
    {
        const std::lock_guard lock(mutex_);
        left = order_;
    }
    answer_order(left, refused("pgweir is stopping"));
}

void runner::pause_after_fault() {
    try {
        pause_for_order(500ms * (1U << std::min(faults_++, 6U)));
    } catch (const stopped&) {
        return;
    }
}

void runner::answer_order(const std::shared_ptr<order>& which, reply with) {
    {
        const std::lock_guard lock(mutex_);
        if (!which || order_ != which) {
            return;  // nobody waits for it any more
        }
        which->answer = std::move(with);
        order_.reset();
    }
    changed_.notify_all();
}

void runner::step(governed& with) {
    auto loaded = held(with.records.load());
    set_record(loaded);
    const auto record = loaded.value_or(migration_record{});
    std::shared_ptr<order> todo;
    {
        const std::lock_guard lock(mutex_);
        todo = order_;
    }
    if (todo) {
        obeyed_ = todo;
        answer_order(todo, obey(with, record, todo->what));
        return;
    }
    switch (record.phase) {
    case phase::preparing: prepare(with, record); break;
    case phase::copying:
    case phase::dual_writing:
    case phase::resyncing: stream(with, record); break;
    case phase::stale:
        if (waits_for_resume(record)) {
            pause_for_order(500ms);
        } else {
            resync(with, record, false);
        }
        break;
    case phase::removing: remove(with, record); break;
    default:
        count(with);
        guard_disk(with, record);
        pause_for_order(500ms);
        break;
    }
    faults_ = 0;
}

// A slot that nobody reads while the migration is paused holds back WAL, too.
void runner::guard_disk(governed& with, const migration_record& record) {
    const auto limit = settings_.intent.max_retained_wal;
    if (is_paused(record.phase) && limit != 0 && retained_ > limit) {
        after_watch(with, {}, record, std::string(too_much_wal) + " is held back while paused");
    }
}

// What only changes with time, for status and metrics.
void runner::count(governed& with) {
    const auto letters = with.records.count_letters();
    std::uint64_t retained = 0;
    std::string slot;
    {
        const std::lock_guard lock(mutex_);
        slot = record_ ? record_->slot : "";
    }
    if (!slot.empty()) {
        retained = read_slot(with.server.session(), slot).retained;
    }
    const std::lock_guard lock(mutex_);
    letters_ = letters.has_value() ? *letters : letters_;
    retained_ = retained;
}

reply runner::order_and_wait(const command& what) {
    keeper_.await_first_try();
    if (!keeper_.lease().valid(lease::clock::now())) {
        return refused(
            "this process does not write migration " + settings_.intent.name + ": " +
                keeper_.standing_by(),
            "Ask the one that does."
        );
    }
    auto made = std::make_shared<order>(order{.what = what});
    std::unique_lock lock(mutex_);
    if (order_) {
        return refused("another command for this migration is being carried out");
    }
    // What is refused does not stop the stream.
    const auto now = run_                  ? std::optional(run_->current_phase())
                     : record_.has_value() ? std::optional(record_->phase)
                                           : std::nullopt;
    if (auto no = now ? refusal_of(what.what, *now) : std::nullopt) {
        return *std::move(no);
    }
    order_ = made;
    if (run_) {
        run_->stop();
    }
    if (maker_ != nullptr) {
        maker_->stop();
    }
    changed_.notify_all();
    changed_.wait_for(lock, order_limit, [&] { return made->answer.has_value(); });
    if (!made->answer) {
        order_.reset();
        return refused(
            "the command is not done after a minute",
            "MIGRATE STATUS tells what it waits for."
        );
    }
    return *made->answer;
}

migration_status runner::status() const {
    migration_status made;
    made.name = settings_.intent.name;
    made.writer = keeper_.lease().valid(lease::clock::now());
    made.standing_by = keeper_.standing_by();
    made.trouble = tally_.trouble();
    made.rows_copied = tally_.rows_copied;
    made.rows_streamed = tally_.rows_streamed;
    made.bytes = tally_.bytes;
    made.lag_rows = tally_.waiting;
    made.retries = tally_.retries;
    made.unacknowledged = acknowledger_ ? acknowledger_->missed() : 0;
    std::shared_ptr<stream_run> run;
    {
        const std::lock_guard lock(mutex_);
        run = run_;
        if (record_) {
            made.phase = record_->phase;
            made.reason = record_->reason;
            made.confirmed = record_->confirmed;
        }
        made.rows_to_copy = rows_to_copy_;
        made.dead_letters = letters_;
        made.retained_wal = retained_;
        made.verify = verify_;
    }
    if (run) {
        made.phase = run->current_phase();
        made.confirmed = run->reached();
        made.lag_bytes = run->lag_bytes();
        made.lag_seconds = run->lag_seconds();
        const auto verify = run->verifying();
        if (verify.known()) {
            made.verify = verify;
        }
    }
    return made;
}

void runner::await_stored(acknowledger::answer then) {
    if (!acknowledger_) {
        then(true);
        return;
    }
    acknowledger_->await(std::move(then));
}

// In the process that writes, what the lanes have done; elsewhere what the slot knows.
std::optional<std::uint64_t> runner::stored(primary& server) const {
    if (const auto run = current_run()) {
        return run->reached();
    }
    if (!server.connected()) {
        return std::nullopt;
    }
    const auto found = read_slot(server.session(), object_name(settings_.intent.name));
    if (found.error) {
        server.close();
        return std::nullopt;
    }
    if (!found.slot) {
        return std::numeric_limits<std::uint64_t>::max();  // off: there is nothing to wait for
    }
    return found.slot->active_pid == 0 ? acknowledger::not_running : found.slot->confirmed_flush;
}

}  // namespace weir::migration
