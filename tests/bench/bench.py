#!/usr/bin/env python3
"""Compares pgweir with PgBouncer and with no proxy at all, in one interleaved run; started by tests/bench/run.

In each round every workload is run against every peer, one after the other, in an order that rotates. The peer
is started for the run and stopped after it. CPU time is the peer's own, from /proc, between pgbench's first
progress line and its last; every figure in the tables is the median over the rounds.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]

import load  # noqa: E402
import peers  # noqa: E402
import postgres  # noqa: E402
import processes  # noqa: E402
import report  # noqa: E402
import syscalls  # noqa: E402
from pg_cluster import Cluster  # noqa: E402

LARGE = "large"


@dataclasses.dataclass(frozen=True)
class Cell:
    mode: str
    clients: int
    wide: bool = False

    @property
    def name(self):
        return LARGE if self.wide else self.mode

    def __str__(self):
        return f"{self.name} {self.clients} clients"


def arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/proxy/pgweir", help="the pgweir to measure (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=6, help="length of one pgbench run (%(default)s)")
    parser.add_argument("--modes", default="simple,extended,prepared,large", help="%(default)s")
    parser.add_argument("--clients", default="1,16,64,256", help="%(default)s")
    parser.add_argument("--peers", default="direct,pgbouncer,pgweir",
                        help="%(default)s; also pgweir2, which has two workers")
    parser.add_argument("--scale", type=int, default=10, help="pgbench's scale (%(default)s)")
    parser.add_argument("--out", default="build/bench/results.json", help="where the figures go (%(default)s)")
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/performance.md")
    parser.add_argument("--pgbouncer", help=argparse.SUPPRESS)
    return parser.parse_args()


def make_peers(names, options, cluster, folder):
    makers = {
        "direct": lambda name: peers.Direct(name, cluster, folder),
        "pgbouncer": lambda name: peers.PgBouncer(name, cluster, folder, options.pgbouncer),
        "pgbouncer64k": lambda name: peers.PgBouncer(name, cluster, folder, options.pgbouncer, 65536),
        "pgweir": lambda name: peers.Pgweir(name, cluster, folder, options.binary),
        "pgweir2": lambda name: peers.Pgweir(name, cluster, folder, options.binary, workers=2),
    }
    unknown = [name for name in names if name not in makers]
    if unknown:
        sys.exit(f"bench: no peer {unknown[0]}: there are {', '.join(makers)}")
    return [makers[name](name) for name in names]


def plan(options):
    """Which cells there are; the large result has one, and one more peer."""
    modes = options.modes.split(",")
    cells = [Cell(mode, int(clients)) for mode in modes if mode != LARGE for clients in options.clients.split(",")]
    return cells + ([Cell("simple", 4, wide=True)] if LARGE in modes else [])


def rotated(items, by):
    by %= len(items)
    return items[by:] + items[:by]


def measure(options, cluster, folder):
    script = load.prepare(cluster, options.scale, folder)
    names = options.peers.split(",")
    ordinary = make_peers(names, options, cluster, folder)
    with_large = ordinary + (make_peers(["pgbouncer64k"], options, cluster, folder) if "pgbouncer" in names else [])
    results, cells = [], plan(options)
    for number in range(options.rounds):
        for cell in cells:
            for peer in rotated(with_large if cell.wide else ordinary, number):
                peer.start()
                try:
                    figures = load.run(peer, cell, options.seconds, folder, cluster, script)
                    if figures and cell.wide and number == 0 and peer.pid:
                        # A run of its own, because being watched slows the peer down.
                        watched = load.run(peer, cell, 4, folder, cluster, script, during=syscalls.watch)
                        figures["syscalls"] = watched and watched["extra"]
                finally:
                    peer.stop()
                if figures is None:
                    continue
                results.append({"peer": peer.name, "cell": cell.name, "clients": cell.clients, "round": number, **figures})
                print(f"round {number + 1}  {str(cell):22} {peer.name:12} {report.one_line(figures)}", flush=True)
    return {"results": results, "about": about(options, cluster, with_large)}


def about(options, cluster, everybody):
    return {
        "date": datetime.date.today().isoformat(), "rounds": options.rounds, "seconds": options.seconds,
        "scale": options.scale, "pool": peers.POOL_SIZE, "processor": processes.processor(),
        "cores": os.cpu_count(), "kernel": ".".join(os.uname().release.split(".")[:2]), "replicas": len(cluster.nodes) - 1,
        "versions": {peer.name: peer.version for peer in everybody},
    }


def main():
    options = arguments()
    # So that peers and scratch files go away when the runner is told to stop.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: stopped"))
    options.binary = str(pathlib.Path(options.binary).absolute())
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"bench: no program {options.binary}: build it (cmake --workflow --preset release) or name it "
                 "with --binary")
    with tempfile.TemporaryDirectory(prefix="pgweir-bench-") as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o777)  # pgbench writes its log there, as the servers' user
        begin = time.monotonic()
        cluster = Cluster.load(os.environ["PGWEIR_TEST_CLUSTER"])
        found = measure(options, cluster, folder)
        print(f"measuring took {time.monotonic() - begin:.0f} s\n")
    out = pathlib.Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n")
    print(report.tables(found))
    if options.write:
        report.write(HERE.parent.parent / "docs" / "performance.md", found)


if __name__ == "__main__":
    try:
        main()
    except (postgres.ClusterError, subprocess.SubprocessError) as error:
        sys.exit(f"bench: {error}")
