"""One run of pgbench against one peer: transactions, CPU, memory, latencies."""
import glob
import os
import re
import statistics
import subprocess
import sys

import postgres
import processes
from peers import DATABASE, USER

PROGRESS = re.compile(r"progress: ([\d.]+) s, ([\d.]+) tps, .* (\d+) failed")
WIDE_ROWS, WIDE_BYTES = 1000, 1536


def prepare(cluster, scale, folder):
    """pgbench's tables, and one whose whole content is the large result."""
    port, password = cluster.primary().port, cluster.users[USER]
    postgres.run("pgbench", "-i", "-q", "-s", scale, "-h", postgres.HOST, "-p", port, "-U", USER, DATABASE,
                 password=password, timeout=600)
    postgres.query(port, f"create table wide as select i, repeat('x', {WIDE_BYTES}) as body "
                         f"from generate_series(1, {WIDE_ROWS}) i", USER, password, DATABASE)
    # Plain rows: what TOAST would make of them is not what is measured.
    for statement in ("vacuum analyze wide", "vacuum analyze pgbench_accounts", "checkpoint"):
        cluster.primary().sql(statement, DATABASE)
    script = folder / "wide.sql"
    script.write_text("SELECT body FROM wide;\n")
    script.chmod(0o644)
    return script


def _command(peer, cell, seconds, prefix, wide_script):
    what = ["-f", str(wide_script)] if cell.wide else ["-S"]
    # Every tenth latency is plenty where there are ten thousands a second.
    what += [] if cell.wide else ["--sampling-rate=0.1"]
    return [str(postgres.bin_dir() / "pgbench"), "-n", "-h", postgres.HOST, "-p", str(peer.port), "-U", USER,
            "-M", cell.mode, "-c", str(cell.clients), "-j", str(min(2, cell.clients)), "-T", str(seconds),
            "-P", "1", "--progress-timestamp", "-l", f"--log-prefix={prefix}", *what, DATABASE]


class _Mark:
    """What is known at one of pgbench's progress lines."""

    def __init__(self, match, peer, others):
        self.time, self.tps, self.failed = float(match[1]), float(match[2]), int(match[3])
        self.usage = processes.usage(peer.pid) if peer.pid else None
        self.machine, self.ours = processes.machine_busy(), processes.busy(others)


def run(peer, cell, seconds, folder, cluster, wide_script, during=None):
    """Returns a dictionary of figures; `during` is called once in the middle with the peer's pid."""
    prefix = folder / "latency"
    for old in glob.glob(f"{prefix}.*"):
        os.unlink(old)
    # pgbench's time starts before its connections are made.
    command = _command(peer, cell, seconds + (3 if cell.clients > 100 else 1), prefix, wide_script)
    bench = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, cwd=folder, env=postgres.environment(cluster.users[USER]),
                             **postgres.account())
    try:
        return _watch(bench, peer, cell, cluster, prefix, during)
    finally:
        if bench.poll() is None:
            bench.kill()
            bench.wait()


def _watch(bench, peer, cell, cluster, prefix, during):
    marks, complaints, extra, resident = [], [], None, None
    for line in bench.stderr:
        match = PROGRESS.match(line)
        if not match:
            complaints += [line.strip()] if "error" in line.lower() or "aborted" in line else []
            continue
        if not marks:
            others = processes.family(bench.pid) + [
                pid for node in cluster.nodes if node.is_running() for pid in processes.family(node.server_pid())]
            others += [peer.pid] if peer.pid else []
        marks.append(_Mark(match, peer, others))
        if len(marks) == 2 and peer.pid:
            resident = processes.resident_kb(peer.pid)
            extra = during(peer.pid) if during else None
    output = bench.stdout.read()
    if bench.wait() != 0 or complaints or len(marks) < 3 or any(mark.failed for mark in marks):
        print(f"bench: {peer.name} {cell}: pgbench failed: {(complaints or [output[-300:]])[0]}", file=sys.stderr)
        return None
    return {**_figures(marks), **_latencies(prefix, marks), "rss_kb": resident, "extra": extra}


def _figures(marks):
    """Between the first mark and the last; connecting and preparing lie before the first."""
    first, last = marks[0], marks[-1]
    wall = last.time - first.time
    transactions = sum(b.tps * (b.time - a.time) for a, b in zip(marks, marks[1:]))
    # Time that neither the servers nor pgbench nor the peer used: other programs of the machine.
    other = (last.machine - first.machine) - (last.ours - first.ours)
    figures = {"tps": transactions / wall, "other_percent": max(0.0, other / wall / 1e4)}
    if first.usage:
        used = last.usage.since(first.usage)
        user = used.user / ((used.user + used.system) or 1)
        figures.update(cpu_us=used.total / transactions, user_us=used.total * user / transactions,
                       system_us=used.total * (1 - user) / transactions)
    return figures


def _latencies(prefix, marks):
    """pgbench writes 0 for an answer that arrived before it looked at the clock again. Those count as
    the shortest; a percentile that falls on one is not known."""
    found = []
    for path in glob.glob(f"{prefix}.*"):
        with open(path) as file:
            for line in file:
                _, _, latency, _, second, micro = line.split()[:6]
                if marks[0].time <= int(second) + int(micro) / 1e6 <= marks[-1].time:
                    found.append(int(latency))
    if len(found) < 100:
        return {"p50_us": None, "p99_us": None}
    cuts = statistics.quantiles(found, n=100)
    return {"p50_us": cuts[49] or None, "p99_us": cuts[98] or None}
