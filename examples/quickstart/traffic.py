"""What the proxy says about its traffic: /metrics and the console, as values and as a table."""
import re
import urllib.request

SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
KINDS = ("write", "read", "vector", "transaction", "other")


def fetch(url):
    """Samples of a metrics page: [(name, {label: value}, number)]."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = filter(None, (SAMPLE.fullmatch(line) for line in lines))
    return [(name, dict(LABEL.findall(labels or "")), float(value)) for name, labels, value in
            (each.groups() for each in found)]


def queries(samples):
    """{server: {kind: queries answered}}, the rules added up."""
    counts = {}
    for name, labels, value in samples:
        if name == "pgweir_queries_total":
            of_server = counts.setdefault(labels["server"], {})
            of_server[labels["kind"]] = of_server.get(labels["kind"], 0) + int(value)
    return counts


def routed(samples):
    """{(target, reason): decisions}, the rules added up."""
    counts = {}
    for name, labels, value in samples:
        if name == "pgweir_routed_total":
            key = labels["target"], labels["reason"]
            counts[key] = counts.get(key, 0) + int(value)
    return counts


def histograms(samples):
    """{server: [(upper bound in seconds, queries at or below it)]} of the query times."""
    buckets = {}
    for name, labels, value in samples:
        if name == "pgweir_query_seconds_bucket":
            of_server = buckets.setdefault(labels["server"], {})
            bound = float(labels["le"])
            of_server[bound] = of_server.get(bound, 0) + value
    return {server: sorted(found.items()) for server, found in buckets.items()}


def quantile(buckets, q):
    """As Prometheus does it: linear inside the bucket. None without queries."""
    if not buckets or buckets[-1][1] == 0:
        return None
    wanted, lower, below = q * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= wanted:
            if bound == float("inf"):
                return lower
            return lower + (bound - lower) * (wanted - below) / max(count - below, 1)
        lower, below = bound, count
    return lower


def topology(console):
    """SHOW TOPOLOGY as {server: {column: value}}."""
    console.execute("SHOW TOPOLOGY")
    columns = [column[0] for column in console.description]
    return {row[columns.index("server")]: dict(zip(columns, row)) for row in console.fetchall()}


def shares(servers):
    """{replica: its part of the weights, 0 to 1}."""
    weights = {name: float(each["weight"] or 0) for name, each in servers.items() if each["role"] == "replica"}
    total = sum(weights.values())
    return {name: weight / total if total else 0.0 for name, weight in weights.items()}


def _milliseconds(seconds):
    return "-" if seconds is None else f"{1000 * seconds:.2f}"


def table(servers, samples, seconds):
    """Lines to print. `seconds`: how long the traffic has run."""
    counts, times, wanted = queries(samples), histograms(samples), shares(servers)
    vector = sum(each.get("vector", 0) for each in counts.values())
    form = "{:<7}{:<9}{:<9}{:>8}{:>9}{:>9}{:>9}{:>8}{:>8}{:>9}{:>9}{:>10}"
    lines = [form.format("server", "role", "state", "lag ms", "weight", "writes", "reads", "vector", "share",
                         "expected", "p50 ms", "p99 ms")]
    for name in sorted(servers):
        server, count = servers[name], counts.get(name, {})
        replica = server["role"] == "replica"
        state = (server["excluded"] or "in use") if server["up"] else "down"
        lines.append(form.format(
            name, server["role"], state, server["lag_ms"] if replica else "-",
            f"{float(server['weight']):.2f}" if replica else "-", count.get("write", 0), count.get("read", 0),
            count.get("vector", 0), f"{100 * count.get('vector', 0) / vector:.1f} %" if vector else "-",
            f"{100 * wanted[name]:.1f} %" if replica else "-",
            _milliseconds(quantile(times.get(name), 0.5)), _milliseconds(quantile(times.get(name), 0.99))))
    total = sum(sum(each.get(kind, 0) for kind in KINDS) for each in counts.values())
    reasons = sorted(routed(samples).items(), key=lambda each: (each[0][0], -each[1]))
    lines.append("why: " + ", ".join(f"{target} {reason} {count}" for (target, reason), count in reasons))
    lines.append(f"{total} queries in {seconds:.0f} s. share: of the vector reads; expected: of the weights now.")
    return lines
