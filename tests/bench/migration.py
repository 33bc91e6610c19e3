#!/usr/bin/python3
"""Measures the dual write: how fast a table is copied to each store and changes follow, what a row costs in CPU,
and whether clients that write notice it. Starts clusters and stores of its own.

  tests/bench/migration.py [--binary PGWEIR] [--stores …] [--dimensions 128,1536] [--rounds N] [--write]
"""
import argparse
import datetime
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "migration"), str(HERE.parent / "cluster")]

import processes  # noqa: E402
import report  # noqa: E402

BEGIN, END = "<!-- begin: written by tests/bench/migration.py --write -->", "<!-- end of the dual write -->"
ROWS = {128: 100_000, 1536: 16_000}
GOAL = {128: 20_000, 1536: 4_000}
POOL = 100
SLOW = ("chroma",)  # stores that are their own limit: fewer rows
WRITES = """\\set id random(1, 1000000)
\\set a random(1, 100)
\\set b random(1, 100)
INSERT INTO items SELECT :id, 'new', a.v + b.v FROM pool a, pool b WHERE a.i = :a AND b.i = :b
  ON CONFLICT (id) DO UPDATE SET title = 'again', embedding = excluded.embedding;
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("PGWEIR_BIN", "build/release/proxy/pgweir"))
    parser.add_argument("--stores", default="postgres,turbopuffer,qdrant,chroma", help="%(default)s")
    parser.add_argument("--dimensions", default="128,1536", help="%(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of rows (%(default)s)")
    parser.add_argument("--rounds", type=int, default=12, help="of the latencies (%(default)s)")
    parser.add_argument("--seconds", type=int, default=4, help="of one stretch of them (%(default)s)")
    parser.add_argument("--rate", type=int, default=200, help="writes a second in them (%(default)s)")
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/performance.md")
    return parser.parse_args()


def server_cpu(pid):
    """Seconds of a server that forks: the living ones' own, and what the reaped ones had used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    reaped = (int(fields[13]) + int(fields[14])) / processes.TICKS
    return processes.busy(processes.family(pid)) / 1e6 + reaped


class Meter:
    """CPU of proxy, source and store between two moments, and of whatever else the machine did."""

    def __init__(self, world, proxy, store):
        self.pids = {"proxy": proxy.pid, "source": world.primary.server_pid(), "store": store.pid}

    def begin(self):
        self.at, self.before = time.monotonic(), self.now()

    def now(self):
        found = {name: server_cpu(pid) for name, pid in self.pids.items()}
        ours = sum(found.values()) + processes.busy([os.getpid()]) / 1e6
        return {**found, "others": processes.machine_busy() / 1e6 - ours}

    def end(self, rows):
        seconds = time.monotonic() - self.at
        spent = {name: used - self.before[name] for name, used in self.now().items()}
        others = 100 * spent.pop("others") / seconds
        return {"rows_s": rows / seconds, "others": others, **{name: 1e6 * used / rows for name, used in spent.items()}}


def fill(world, rows, dimensions):
    connection = world.connect()
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE pool (i int PRIMARY KEY, v vector({dimensions}))")
    cursor.execute(f"INSERT INTO pool SELECT i, (SELECT array_agg(random() - 0.5) FROM generate_series(1, {dimensions})"
                   f" WHERE i > 0)::vector FROM generate_series(1, {POOL}) i")
    cursor.execute(f"CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector({dimensions}))")
    insert(cursor, 0, rows)
    cursor.execute("ANALYZE items")
    connection.close()


def insert(cursor, first, rows):
    cursor.execute(f"INSERT INTO items SELECT n, 'item ' || n, a.v + b.v FROM generate_series({first}, {first + rows - 1}) n"
                   f" JOIN pool a ON a.i = 1 + n % {POOL} JOIN pool b ON b.i = 1 + n / {POOL} % {POOL}")


class Console:
    """MIGRATE STATUS over one connection: quick enough to see a copy begin."""

    def __init__(self, world, proxy):
        self.proxy = proxy
        self.cursor = world.connect(proxy.port, "admin", "pgweir").cursor()

    def status(self):
        self.cursor.execute("MIGRATE STATUS")
        return dict(zip((column[0] for column in self.cursor.description), self.cursor.fetchone()))

    def wait(self, test):
        """The first row that is as wanted."""
        end = time.monotonic() + 1800
        while not test(row := self.status()):
            if time.monotonic() > end or row["phase"] == "failed":
                sys.exit(f"bench: {row}\n{self.proxy.tail()}")
            time.sleep(0.01)
        return row


def measure(meter, console, count, test):
    """Rows that the counter has gained until the status is as wanted."""
    before = int(console.status()[count])
    meter.begin()
    after = int(console.wait(test)[count])
    return meter.end(after - before)


def throughput(options, kind, dimensions):
    """Copy of a table, then as many rows from the stream."""
    import harness
    from documents import Spec
    rows = int(ROWS[dimensions] * options.scale * (0.25 if kind in SLOW else 1))
    with harness.World((kind,), own_source=True) as world:
        fill(world, rows, dimensions)
        spec = Spec("public.items", ("id",), attributes=("title",))
        [one] = harness.migrations_of(world, spec, lease="5s")
        proxy = world.proxy([one], request_timeout="30s")
        console, meter = Console(world, proxy), Meter(world, proxy, one.store)
        proxy.migrate("start", one.name)
        console.wait(lambda row: row["phase"] in ("copying", "dual_writing"))
        copy = measure(meter, console, "rows_copied", lambda row: row["phase"] == "dual_writing")
        proxy.migrate("pause", one.name)
        with world.connect() as connection, connection.cursor() as cursor:
            for first in range(rows, 2 * rows, 500):
                insert(cursor, first, 500)
        end = harness.lsn(world.primary.sql("SELECT pg_current_wal_flush_lsn()"))
        proxy.migrate("resume", one.name)
        stream = measure(meter, console, "rows_streamed",
                         lambda row: harness.lsn(row["confirmed"]) >= end and row["lag_rows"] == "0")
        memory = processes.resident_kb(proxy.pid) / 1024
        found = one.compare(world)
        if not found.same:
            sys.exit(f"bench: {found}")
    return {"rows": rows, "copy": copy, "stream": stream, "memory": memory}


def pgbench(world, proxy, folder, seconds, rate):
    """p50 and p99 of writes, in milliseconds."""
    import postgres
    script, prefix = folder / "writes.sql", folder / f"latency{random.randrange(10**9)}"
    script.write_text(WRITES)
    script.chmod(0o644)
    command = [str(postgres.bin_dir() / "pgbench"), "-n", "-h", postgres.HOST, "-p", str(proxy.port), "-U", "app",
               "-M", "prepared", "-c", "4", "-j", "1", "-T", str(seconds), "-R", str(rate), "-f", str(script), "-l",
               f"--log-prefix={prefix}", "app"]
    done = subprocess.run(command, cwd=folder, env=postgres.environment(world.source.users["app"]), capture_output=True,
                          text=True, **postgres.account())
    if done.returncode != 0:
        sys.exit(f"bench: {done.stderr}")
    # The time a transaction had to wait for its turn is none of the server's.
    found = []
    for path in folder.glob(f"{prefix.name}.*"):
        for line in path.read_text().splitlines():
            fields = line.split()
            found.append((int(fields[2]) - int(fields[6])) / 1000)
        path.unlink()
    cuts = statistics.quantiles(found, n=100)
    return cuts[49], cuts[98]


def latencies(options, folder):
    """Interleaved: the stream paused, and running."""
    import harness
    from documents import Spec
    found = {"off": [], "on": []}
    with harness.World(("postgres",), own_source=True) as world:
        fill(world, 1000, 128)
        # A store has a disk of its own; here its flushes would make the source's wait.
        store = world.stores["postgres"].node
        store.sql("ALTER SYSTEM SET fsync = off")
        store.sql("SELECT pg_reload_conf()")
        spec = Spec("public.items", ("id",), attributes=("title",))
        [one] = harness.migrations_of(world, spec, lease="5s")
        proxy = world.proxy([one], request_timeout="30s")
        proxy.begin()
        pgbench(world, proxy, folder, 3, options.rate)  # warm
        for number in range(options.rounds):
            for state in (("off", "on"), ("on", "off"))[number % 2]:
                proxy.migrate("pause" if state == "off" else "resume", one.name) if (
                    (proxy.status()[one.name]["phase"] == "dual_writing") == (state == "off")) else None
                if state == "on":
                    proxy.settle()
                found[state].append(pgbench(world, proxy, folder, options.seconds, options.rate))
                print(f"round {number + 1}  dual write {state:3}  p50 {found[state][-1][0]:.3f} ms"
                      f"  p99 {found[state][-1][1]:.3f} ms", flush=True)
    medians = {state: [statistics.median(each[i] for each in values) for i in (0, 1)] for state, values in found.items()}
    return {**medians, "each": found}


def tables(options, results, latency):
    rows = []
    others = statistics.median(one[what]["others"] for one in results.values() for what in ("copy", "stream"))
    for (kind, dimensions), one in results.items():
        for what in ("copy", "stream"):
            figures = one[what]
            rows.append([kind, str(dimensions), what, str(one["rows"]), f"{figures['rows_s']:.0f}",
                         *(f"{figures[name]:.0f}" for name in ("proxy", "source", "store")), f"{one['memory']:.0f}"])
    parts = [f"{datetime.date.today().isoformat()}, {processes.processor()}, {os.cpu_count()} cores, which proxy, source, "
             "store and the measuring program share. CPU in µs a row; memory of the proxy in MiB at the end. Other programs "
             f"of the machine used {others:.0f} % of one core at the same time (median).",
             report.table(["store", "dimensions", "", "rows", "rows/s", "proxy", "source", "store", "memory"], rows)]
    lines = []
    for (kind, dimensions), one in results.items():
        if kind in SLOW:
            continue
        slowest = min(one["copy"]["rows_s"], one["stream"]["rows_s"])
        share = max(one[what]["proxy"] / sum(one[what][name] for name in ("proxy", "source", "store"))
                    for what in ("copy", "stream"))
        lines.append(f"- {kind}, {dimensions} dimensions: {slowest:.0f} rows/s at least, goal {GOAL[dimensions]}: "
                     f"{'met' if slowest >= GOAL[dimensions] else 'NOT MET'}; the proxy's share of all CPU is at most {100 * share:.0f} %")
    if latency:
        parts.append(report.table(["dual write", "p50 ms", "p99 ms"], [
            [state, f"{latency[state][0]:.3f}", f"{latency[state][1]:.3f}"] for state in ("off", "on")]))
        # Of neighbouring stretches, since the machine drifts.
        change = [statistics.median(100 * (b[i] / a[i] - 1) for a, b in zip(latency["each"]["off"], latency["each"]["on"]))
                  for i in (0, 1)]
        lines.append(f"- writes of clients ({options.rate} a second, 4 clients, 128 dimensions, medians of the differences of {options.rounds} pairs): "
                     f"p50 {change[0]:+.1f} %, p99 {change[1]:+.1f} % with the dual write; goal within 5 %: "
                     f"{'met' if max(change) <= 5 else 'NOT MET'}")
    return "\n\n".join([*parts, "\n".join(lines)])


def write(text):
    path = HERE.parents[1] / "docs" / "performance.md"
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"bench: {path} lacks the markers {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def main():
    options = arguments()
    os.environ["PGWEIR_BIN"] = str(pathlib.Path(options.binary).absolute())
    results = {}
    for dimensions in map(int, options.dimensions.split(",")):
        for kind in options.stores.split(","):
            one = results[kind, dimensions] = throughput(options, kind, dimensions)
            print(f"{kind:12} {dimensions:5}  copy {one['copy']['rows_s']:8.0f} rows/s  stream {one['stream']['rows_s']:8.0f} rows/s"
                  f"  proxy {one['copy']['proxy']:.0f} and {one['stream']['proxy']:.0f} µs a row", flush=True)
    latency = None
    if options.rounds:
        with tempfile.TemporaryDirectory(prefix="pgweir-bench-") as scratch:
            folder = pathlib.Path(scratch)
            folder.chmod(0o777)
            latency = latencies(options, folder)
    text = tables(options, results, latency)
    print("\n" + text)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
