#!/usr/bin/python3
"""The proof of the dual write: rows are loaded and changed in every way while proxy, stores and primary are
killed -9 at random points, during the copy and during the stream. In the end each store must have exactly
what the table has, by pgweir's own verify and by a comparison of its own. Exit code 0 only then.

Without options a short form that takes about a minute; --long, or PGWEIR_LONG=1, is the whole one.
"""
import argparse
import multiprocessing
import os
import random
import sys
import time

import chaos_workload
from chaos_watch import Watch
from documents import Findings, Spec
from harness import Broken, Refused, World, clean_up_on_signals, migrations_of

# The pages are small in the short form, or all copies would be over before the first kill.
SHORT = {"rows": 3000, "dimensions": 256, "kills": 6, "seconds": 25, "page": 20}
LONG = {"rows": 50_000, "dimensions": 1536, "kills": 32, "seconds": 330, "page": 1000}
# How often each is chosen to be killed.
WEIGHTS = {"proxy": 6, "primary": 3, "chroma": 3, "postgres": 3, "turbopuffer": 2, "qdrant": 2}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", default=os.environ.get("PGWEIR_LONG") == "1")
    parser.add_argument("--rows", type=int, help=f"{SHORT['rows']}; long {LONG['rows']}")
    parser.add_argument("--dimensions", type=int, help=f"{SHORT['dimensions']}; long {LONG['dimensions']}")
    parser.add_argument("--kills", type=int, help=f"{SHORT['kills']}; long {LONG['kills']}")
    parser.add_argument("--seconds", type=int, help="over which kills are spread; a quarter as long without any "
                                                    f"follows ({SHORT['seconds']}; long {LONG['seconds']})")
    parser.add_argument("--page", type=int, help=f"rows of one read of the copy ({SHORT['page']}; long {LONG['page']})")
    parser.add_argument("--stores", default="postgres,chroma,turbopuffer,qdrant", help="%(default)s")
    parser.add_argument("--clients", type=int, default=6, help="half of them through the proxy (%(default)s)")
    parser.add_argument("--pause", type=float, default=0.05, help="of a client after each change (%(default)s s)")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", metavar="FILE", help="where the proxy's log is copied to")
    given = parser.parse_args()
    for name, value in (LONG if given.long else SHORT).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    return given


def say(text):
    print(f"{time.monotonic() - BEGIN:7.1f} s  {text}", flush=True)


BEGIN = time.monotonic()


class Killer:
    """Kills at random moments, starts again after a random while."""

    def __init__(self, world, proxy, watch, seed):
        self.world, self.proxy, self.watch = world, proxy, watch
        self.random = random.Random(seed)
        self.victims = {"proxy": proxy, "primary": world.source.nodes[0], **world.stores}
        self.counts = dict.fromkeys(self.victims, 0)
        self.during = {name: {"copy": 0, "stream": 0} for name in proxy.migrations}

    def one(self, pause):
        time.sleep(self.random.uniform(0, 2 * pause))
        names = self.random.choices(list(self.victims), [WEIGHTS[name] for name in self.victims])
        if self.random.random() < 0.25:
            names.append(self.random.choice([name for name in self.victims if name != names[0]]))
        for name in names:
            self.kill(name)
        time.sleep(self.random.uniform(0, 1.5))
        for name in names:
            say(f"starting {name}")
            # The proxy begins while the others may still be down; nobody waits for it to answer.
            self.proxy.start(wait=False) if name == "proxy" else self.victims[name].start()

    def kill(self, name):
        phases = self.watch.phases()
        say(f"kill -9 {name}   ({', '.join(f'{each} {phase}' for each, phase in phases.items())})")
        if name == "proxy":
            self.watch.account()
        self.victims[name].kill()
        self.counts[name] += 1
        for migration, phase in phases.items():
            self.during[migration]["copy" if phase == "copying" else "stream"] += 1

    @property
    def total(self):
        return sum(self.counts.values())


def start_all(proxy):
    """The verb is repeated where a killed proxy did not answer."""
    for name in proxy.migrations:
        proxy.migrate("start", name)


def turmoil(options, world, proxy, watch):
    workload = chaos_workload.Workload(world, proxy, options.rows, options.clients, options.pause, options.seed)
    killer = Killer(world, proxy, watch, options.seed)
    workload.start()
    start_all(proxy)
    say("the copies have begun, clients write")
    pause = options.seconds / options.kills
    killer.one(0.5)
    while killer.total < options.kills:
        killer.one(pause * 0.8)
    say(f"{killer.total} kills, clients go on without any")
    proxy.await_status(lambda row: row["phase"] == "dual_writing", "the copies to end", seconds=1800)
    watch.steady()
    time.sleep(max(8, options.seconds / 4))
    watch.end_steady()
    workload.stop()
    return workload, killer


def compare_all(world, proxy):
    """Each migration in a process of its own: reading all of a store takes a while."""
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()

    def one(name):
        try:
            answers.put((name, proxy.migrations[name].compare(world)))
        except Exception as error:
            answers.put((name, error))

    children = [fork.Process(target=one, args=(name,)) for name in proxy.migrations]
    for child in children:
        child.start()
    found = dict(answers.get() for _ in children)
    for child in children:
        child.join()
    return found


def judge(world, proxy):
    """Waits, verifies, compares. Returns whether all is well."""
    begin = time.monotonic()
    proxy.settle(seconds=1800)
    say(f"all stores have caught up, {time.monotonic() - begin:.1f} s after the last write")
    good, begin = True, time.monotonic()
    for name in proxy.migrations:
        proxy.migrate("verify", name)
    for name, said in proxy.verified(list(proxy.migrations), 1800).items():
        say(f"{name}: verify says {said['text']}")
        good = good and said["state"] == "done" and not (said["missing"] or said["extra"] or said["different"])
    say(f"verifying took {time.monotonic() - begin:.1f} s")
    for name, found in compare_all(world, proxy).items():
        say(f"{name}: compared by this test: {found}")
        good = good and isinstance(found, Findings) and found.same
    for name, row in proxy.status().items():
        if row["dead_letters"]:
            say(f"{name}: {row['dead_letters']} dead letters: {proxy.migrate('dead-letters', name)[:3]}")
            good = False
    return good


def main():
    options = arguments()
    clean_up_on_signals()
    say(f"seed {options.seed}, {options.rows} rows of {options.dimensions} dimensions, {options.kills} kills")
    with World(options.stores.split(","), own_source=True) as world:
        chaos_workload.load(world, options.rows, options.dimensions)
        say("loaded")
        spec = Spec("public.documents", ("id",), attributes=("organization", "topic", "seen"))
        proxy = world.proxy(migrations_of(world, spec, max_retained_wal="0", copy={"page": options.page}), request_timeout="5s")
        watch = Watch(proxy)
        try:
            workload, killer = turmoil(options, world, proxy, watch)
            good = judge(world, proxy)
        except (Broken, Refused) as error:
            say(f"gave up: {error}")
            return 1
        finally:
            watch.stop()
            if options.keep:
                with open(options.keep, "w") as file:
                    file.write(proxy.log.read_text(errors="replace"))
        say(f"kills: {killer.total} ({', '.join(f'{name} {n}' for name, n in killer.counts.items())})")
        for name, during in killer.during.items():
            say(f"{name}: {during['copy']} of them during its copy, {during['stream']} during its stream")
        say(workload.summary())
        for line in watch.report():
            say(line)
        say(f"seed {options.seed}: {'every store equals the table' if good else 'FAILED'}")
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
