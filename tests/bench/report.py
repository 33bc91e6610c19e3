"""The tables and verdicts of a comparison, on the terminal and in docs/performance.md."""
import statistics

BEGIN, END = "<!-- begin: written by tests/bench/run --write -->", "<!-- end -->"
GOAL = 1.3
MODES = ("simple", "extended", "prepared")


def one_line(figures):
    cpu = "" if figures.get("cpu_us") is None else (
        f"  {figures['cpu_us']:7.1f} us/txn (user {figures['user_us']:6.1f}, system {figures['system_us']:6.1f})")
    return f"{figures['tps']:8.0f} tps{cpu}  others {figures['other_percent']:3.0f} %"


class Medians:
    """Medians over the rounds, by cell, number of clients and peer."""

    def __init__(self, results):
        self.groups = {}
        for one in results:
            self.groups.setdefault((one["cell"], one["clients"], one["peer"]), []).append(one)

    def of(self, cell, clients, peer, key):
        values = [one[key] for one in self.groups.get((cell, clients, peer), []) if one.get(key) is not None]
        return statistics.median(values) if values else None

    def clients(self, cell):
        return sorted({key[1] for key in self.groups if key[0] == cell})

    def peers(self, cell):
        return list(dict.fromkeys(key[2] for key in self.groups if key[0] == cell))

    def syscalls(self, peer):
        return next((one["syscalls"] for key, group in self.groups.items() if key[2] == peer
                     for one in group if one.get("syscalls")), None)


def number(value, form=".0f", scale=1.0):
    return "" if value is None else format(value / scale, form)


def table(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def mode_table(medians, mode):
    rows = []
    for clients in medians.clients(mode):
        for peer in sorted(medians.peers(mode)):
            def get(key, peer=peer, clients=clients):
                return medians.of(mode, clients, peer, key)
            rows.append([str(clients), peer, number(get("tps")), number(get("cpu_us"), ".1f"),
                         number(get("user_us"), ".1f"), number(get("system_us"), ".1f"),
                         number(get("rss_kb"), ".1f", 1024), number(get("p50_us"), ".2f", 1000),
                         number(get("p99_us"), ".2f", 1000)])
    return table(["clients", "", "transactions/s", "CPU µs", "user", "system", "RSS MiB", "p50 ms", "p99 ms"], rows)


def large_table(medians):
    rows = []
    for peer in medians.peers("large"):
        calls = medians.syscalls(peer) or {}
        rows.append([peer, number(medians.of("large", 4, peer, "tps")),
                     number(medians.of("large", 4, peer, "cpu_us"), ".0f"),
                     number(medians.of("large", 4, peer, "rss_kb"), ".1f", 1024),
                     number(calls.get("receives_per_mb"), ".0f"), number(calls.get("receive_bytes"), ".1f", 1024),
                     number(calls.get("sends_per_mb"), ".0f"), number(calls.get("send_bytes"), ".1f", 1024)])
    return table(["", "results/s", "CPU µs/result", "RSS MiB", "receives/MB", "mean kB", "sends/MB", "mean kB"], rows)


def verdicts(medians):
    """One line per mode: CPU per transaction against PgBouncer's, by number of clients, and the goal."""
    lines = []
    for mode in MODES:
        ratios = {}
        for clients in medians.clients(mode):
            ours, theirs = (medians.of(mode, clients, peer, "cpu_us") for peer in ("pgweir", "pgbouncer"))
            if ours and theirs:
                ratios[clients] = ours / theirs
        if ratios:
            word = "met" if max(ratios.values()) <= GOAL else "NOT MET"
            each = ", ".join(f"{ratio:.2f} with {clients}" for clients, ratio in ratios.items())
            lines.append(f"{mode}: CPU per transaction is {each} clients, times PgBouncer's; goal {GOAL}: {word}")
    seen = medians.syscalls("pgweir")
    if seen:
        # Both directions count: a piece is what one receive brings and one send takes on.
        word = "yes" if min(seen["receive_bytes"], seen["send_bytes"]) > 32 * 1024 else "NO"
        lines.append(f"large results: {seen['receive_bytes'] / 1024:.0f} kB per receive and "
                     f"{seen['send_bytes'] / 1024:.0f} kB per send; pieces of about 64 kB: {word}")
    return lines


def setting(about, results):
    versions = "; ".join(f"{name}: {version}" for name, version in about["versions"].items() if name != "pgbouncer64k")
    others = statistics.median(one["other_percent"] for one in results)
    return (f"{about['date']}, {about['processor']}, {about['cores']} cores, Linux {about['kernel']}. {versions}. "
            f"pgbench scale {about['scale']}, pools of {about['pool']}, a primary and {about['replicas']} "
            f"replica(s), {about['rounds']} rounds of {about['seconds']} s each. Other programs of the machine "
            f"used {others:.0f} % of one core at the same time (median of the runs).")


def tables(found):
    medians = Medians(found["results"])
    parts = [setting(found["about"], found["results"])]
    for mode in MODES:
        if medians.clients(mode):
            parts += [f"### `pgbench -S -M {mode}`", mode_table(medians, mode)]
    if medians.clients("large"):
        parts += ["### A large result: 1000 rows of 1.5 kB, 4 clients", large_table(medians)]
    lines = verdicts(medians)
    if lines:
        parts += ["### Verdicts", "\n".join("- " + line for line in lines)]
    return "\n\n".join(parts)


def write(path, found):
    text = path.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: {path} lacks the markers {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n\n{tables(found)}\n\n{END}{after}")
    print(f"\nbench: wrote {path}")
