"""The quick start's check: who may write writes, and the replicas share the searches by their weights."""
import time

import traffic
import workload

SEARCHES = 5000
POINTS = 5.0  # how far a share may be from its weight, in per cent of all searches


def run(proxy, cluster, console):
    """Prints the traffic and the findings; 0 when all of them are good."""
    before = traffic.queries(traffic.fetch(proxy.metrics))
    clients = workload.Workload(proxy.connect, pause=0, limit=SEARCHES)
    begin = time.monotonic()
    clients.start()
    expected = _follow(proxy, console, clients, before)
    clients.stop()
    samples = traffic.fetch(proxy.metrics)
    print("\n".join(traffic.table(traffic.topology(console), samples, time.monotonic() - begin)))
    problems = [f"a client failed: {clients.problem}"] if clients.problem else []
    problems += _misplaced_writes(samples, cluster, clients.writes, before)
    problems += _wrong_shares(_searches(traffic.queries(samples), before), expected)
    for problem in problems:
        print(f"quickstart: WRONG: {problem}")
    print(f"quickstart: check {'failed' if problems else 'passed'}", flush=True)
    return 1 if problems else 0


def _searches(now, before):
    return {server: counts.get("vector", 0) - before.get(server, {}).get("vector", 0)
            for server, counts in now.items()}


def _follow(proxy, console, clients, before):
    """{replica: searches it should have got}: each stretch of time by the weights that held in it."""
    expected, done, shares = {}, 0, traffic.shares(traffic.topology(console))
    while True:
        searching = clients.searching()
        now = sum(_searches(traffic.queries(traffic.fetch(proxy.metrics)), before).values())
        for server, share in shares.items():
            expected[server] = expected.get(server, 0) + share * (now - done)
        done, shares = now, traffic.shares(traffic.topology(console))
        if not searching:
            return expected
        time.sleep(0.05)


def _misplaced_writes(samples, cluster, writes, before):
    counts = traffic.queries(samples)
    primary = cluster.primary()
    for server, kinds in counts.items():
        for kind in ("write", "transaction", "other"):
            if server != primary.name and kinds.get(kind, 0) != 0:
                yield f"{kinds[kind]} queries of kind {kind} on replica {server}"
    counted = counts[primary.name]["write"] - before[primary.name]["write"]
    print(f"quickstart: {counted} writes counted on the primary, {writes} made by the clients")
    if counted != writes:
        yield f"{counted} writes counted on the primary, {writes} made"
    for (target, reason), count in traffic.routed(samples).items():
        if target == "replica" and reason not in ("vector", "bounded", "eventual"):
            yield f"{count} decisions for a replica with reason {reason}"
    rows = int(primary.sql("SELECT count(*) FROM events", "app"))
    if 2 * rows != writes:
        yield f"{rows} rows of {writes // 2} inserted are in the primary's table"


def _wrong_shares(searches, expected):
    total = sum(searches.values())
    if total != SEARCHES:
        yield f"{total} searches counted instead of {SEARCHES}"
    for server, wanted in sorted(expected.items()):
        share, wanted = (100 * count / max(total, 1) for count in (searches.get(server, 0), wanted))
        print(f"quickstart: replica {server} served {share:.1f} % of the searches, its weight was {wanted:.1f} %")
        if abs(share - wanted) > POINTS:
            yield f"the share of {server} is more than {POINTS:.0f} points from its weight"
