#include "migration/stream_run.hpp"

#include "migration/held.hpp"
#include "migration/journal_safekeeping.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// How far beyond what is in the store changes may be sent before the journal is written again.
constexpr std::uint64_t ahead = std::uint64_t{256} << 20;
constexpr auto watch_interval = 5s;
// With no changes of ours, the slot is moved on by this much WAL or after this long.
constexpr std::uint64_t quiet_bytes = std::uint64_t{16} << 20;

}  // namespace

stream_run::stream_run(
    run_settings settings,
    std::unique_ptr<change_source> source,
    journal& records,
    migration_record record,
    std::uint64_t guarded_until
)
    : settings_(std::move(settings)),
      servers_(settings_.servers),
      source_(std::move(source)),
      journal_(records),
      record_(std::move(record)),
      epoch_(settings_.lease.epoch()),
      phase_(record_.phase),
      journaled_(record_.confirmed) {
    servers_.sleep = [this](std::chrono::milliseconds time) { sleep(time); };
    rules_.copying = record_.phase == phase::copying;
    rules_.guarded_until = guarded_until;
    rules_.sleep = [this](std::chrono::milliseconds time) { sleep(time); };
    rules_.may_write = [this] {
        check();
        check_lease();
    };
    std::vector<std::unique_ptr<lane>> lanes;
    for (std::size_t i = 0; i < settings_.lanes; ++i) {
        lanes.push_back(std::make_unique<lane>(
            settings_.open_store(),
            std::make_unique<source_reader>(settings_.plan, servers_),
            make_safekeeping(),
            settings_.plan,
            rules_,
            settings_.tally,
            settings_.limits
        ));
    }
    pipeline_ = std::make_unique<pipeline>(std::move(lanes), record_.confirmed);
    const std::lock_guard lock(mutex_);
    lag_.seen(record_.confirmed);
    lag_.reached(record_.confirmed);
}

// A lost lease ends a writer quietly, as a stop does; what the journal refuses ends the run.
std::unique_ptr<safekeeping> stream_run::make_safekeeping() const {
    return std::make_unique<journal_safekeeping>(
        servers_,
        settings_.plan.name,
        epoch_,
        [](const journal_error& why) {
            if (why.what == journal_fault::refused) {
                throw std::runtime_error("journal: " + why.text);
            }
        }
    );
}

stream_run::~stream_run() {
    stop();
    join();
    // The copier's threads give to the lanes, and the lanes tell it about pages: so it outlives
    // them.
    pipeline_.reset();
}

// When it returns nobody writes to the store any more. Others may hold on to this object longer.
void stream_run::join() {
    if (verify_thread_.joinable()) {
        verify_thread_.join();
    }
    if (copier_) {
        copier_->join();
    }
    pipeline_->join();
}

void stream_run::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (copier_) {
            copier_->stop();
        }
    }
    stopped_.notify_all();
    source_->stop();
    pipeline_->stop();
}

void stream_run::sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, time, [&] { return stopping_.load(); });
    if (stopping_) {
        throw stopped();
    }
}

void stream_run::check() const {
    if (stopping_) {
        throw stopped();
    }
}

// A lease that was lost and taken again is another one: a lane may have ended in between, and the
// journal knows the old epoch.
void stream_run::check_lease() const {
    if (settings_.lease.epoch() != epoch_ || !settings_.lease.valid(lease::clock::now())) {
        throw stopped();
    }
}

// What has to go on while the thread that reads the stream waits for something else.
void stream_run::beat() {
    check();
    check_lease();
    source_->keep_alive();
    if (pipeline_->deserted()) {
        throw stopped();
    }
    if (const auto why = pipeline_->failure()) {
        throw std::runtime_error(*why);
    }
    {
        const std::lock_guard lock(mutex_);
        lag_.reached(pipeline_->reached());
        if (copy_failure_) {
            throw std::runtime_error(*copy_failure_);
        }
    }
    settle_copy();
    settle_resync();
    const auto now = steady::now();
    if (now - journaled_at_ >= confirm_interval()) {
        confirm(false);
    }
    if (now - watched_at_ >= watch_interval && settings_.watch) {
        watched_at_ = now;
        if (auto reason = settings_.watch()) {
            end_ = run_outcome{run_end::watched, std::move(*reason)};
            throw stopped();
        }
    }
}

run_outcome stream_run::run() {
    try {
        pipeline_->start([this] {
            if (copier_) {
                copier_->page_done();
            }
        });
        if (phase_ == phase::copying) {
            start_copy();
        } else {
            take_up_verify();
        }
        while (!end_) {
            auto event = source_->next(
                steady::now() + std::min<std::chrono::milliseconds>(200ms, confirm_interval())
            );
            if (auto* one = std::get_if<change>(&event)) {
                take(std::move(*one));
                continue;
            }
            if (const auto* end = std::get_if<transaction_end>(&event)) {
                pipeline_->mark(end->position);
                const std::lock_guard lock(mutex_);
                lag_.committed(end->position, end->committed_at);
            } else if (const auto* now = std::get_if<caught_up>(&event)) {
                pipeline_->mark(now->position);
                const std::lock_guard lock(mutex_);
                lag_.seen(now->position);
            } else if (auto* error = std::get_if<sql_error>(&event)) {
                end_ = run_outcome{run_end::lost, std::move(error->text)};
                break;
            }
            beat();
        }
    } catch (const stopped&) {
        if (!end_) {
            end_ = run_outcome{run_end::asked, {}};
        }
    } catch (const std::exception& error) {
        end_ = run_outcome{run_end::failed, error.what()};
    }
    stop();
    join();
    return *end_;
}

void stream_run::take(change&& what) {
    const auto meanwhile = [this] { beat(); };
    if (auto* reason = std::get_if<unusable>(&what.what)) {
        pipeline_->await_idle(meanwhile);
        confirm(true);
        end_ = run_outcome{run_end::unusable, std::move(reason->reason)};
        return;
    }
    promise(what.version.lsn);
    if (const auto* all = std::get_if<emptied>(&what.what)) {
        empty_out(*all);
        return;
    }
    changes_since_journaled_ = true;
    for (auto& one : operations_of(settings_.plan, std::move(what))) {
        pipeline_->give_change(std::move(one), meanwhile);
    }
}

// A TRUNCATE: what came before it goes first, and pages that were read before it must be written
// before the store is emptied.
void stream_run::empty_out(const emptied& what) {
    const auto meanwhile = [this] { beat(); };
    if (copier_) {
        copier_->hold(meanwhile);
    }
    pipeline_->await_idle(meanwhile);
    source_reader reader(settings_.plan, servers_);
    const auto records = make_safekeeping();
    const auto target = settings_.open_store();
    writer sweeper(settings_.plan, *target, reader, *records, rules_, settings_.tally);
    sweeper.clear(what.part, meanwhile);
    changes_since_journaled_ = true;
    if (copier_) {
        copier_->release();
    }
}

// Before anything beyond record_.sent goes to the store, the journal says so.
void stream_run::promise(std::uint64_t position) {
    if (position <= record_.sent) {
        return;
    }
    record_.sent = position + ahead;
    held(journal_.confirm(record_.timeline, journaled_, record_.sent));
}

// Other proxies read from the slot what is in the store, when commits wait for that.
std::chrono::milliseconds stream_run::confirm_interval() const {
    return settings_.plan.acknowledge == acknowledge_kind::store ? 20ms : 1000ms;
}

// With no changes of ours, how long the slot may stay where it is.
std::chrono::milliseconds stream_run::quiet_interval() const {
    return settings_.plan.acknowledge == acknowledge_kind::store ? 500ms : 30'000ms;
}

void stream_run::confirm(bool at_once) {
    const auto now = steady::now();
    const auto reached = pipeline_->reached();
    if (reached <= journaled_) {
        journaled_at_ = now;
        return;
    }
    const bool quiet = !changes_since_journaled_ && !at_once;
    if (quiet && reached - journaled_ < quiet_bytes && now - journaled_at_ < quiet_interval()) {
        return;
    }
    journaled_at_ = now;
    changes_since_journaled_ = !at_once && lag_bytes() != 0;
    held(journal_.confirm(record_.timeline, reached, std::max(record_.sent, reached)));
    journaled_ = reached;
    source_->confirm(reached, at_once || settings_.plan.acknowledge == acknowledge_kind::store);
}

void stream_run::start_copy() {
    auto ranges = held(journal_.ranges());
    const version at{record_.written_timeline(), record_.consistent_point, 0};
    const auto give = [this](operation&& what) {
        pipeline_->give(std::move(what), [this] { check(); });
    };
    auto made = std::make_unique<copier>(
        settings_.plan,
        servers_,
        at,
        std::move(ranges),
        settings_.copy_page,
        copier::ways{
            .give = give,
            .note_progress =
                [this, server = std::make_shared<primary>(servers_)](const copy_range& range) {
                    journal records(*server, settings_.plan.name, epoch_);
                    held(records.save_progress(range));
                },
            .finished = [this] { copy_over_ = true; },
            .failed =
                [this](const std::string& reason) {
                    const std::lock_guard lock(mutex_);
                    copy_failure_ = "copy: " + reason;
                }}
    );
    {
        const std::lock_guard lock(mutex_);
        check();
        copier_ = std::move(made);
    }
    copier_->start(settings_.copy_connections);
}

// On the thread that reads the stream, once the last page is in the store.
void stream_run::settle_copy() {
    if (!copy_over_ || phase_ != phase::copying) {
        return;
    }
    rules_.copying = false;
    held(journal_.change_phase(phase::copying, phase::dual_writing, {}));
    phase_ = phase::dual_writing;
    while (held(journal_.drop_tombstones()) != 0) {
        check();
    }
    held(journal_.drop_ranges());
    spdlog::info("migration {}: the copy is over, dual writing", settings_.plan.name);
}

std::uint64_t stream_run::lag_bytes() const {
    const std::lock_guard lock(mutex_);
    return lag_.bytes();
}

double stream_run::lag_seconds() const {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch()
    );
    const std::lock_guard lock(mutex_);
    return lag_.seconds(now.count());
}

void stream_run::carry_out(std::vector<operation>&& all) {
    pipeline_->carry_out(std::move(all), [this] { check(); });
}

}  // namespace weir::migration
