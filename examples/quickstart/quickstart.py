#!/usr/bin/python3
"""Starts the proxy before a cluster (QUICKSTART_CLUSTER), works on it, writes its embeddings to a store too, and
shows who serves what. See `run`."""
import argparse
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

import psycopg2

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/cluster")]

import check  # noqa: E402
import migrate  # noqa: E402
import postgres  # noqa: E402
import traffic  # noqa: E402
import workload  # noqa: E402
from pg_cluster import Cluster  # noqa: E402

LATE_NODE, LATE_BY = "n3", "1s"
PR_SET_PDEATHSIG = 1


class Stopped(BaseException):
    """Ctrl-C, or the cluster's tool wants us to end."""


def _stop(_number, _frame):
    raise Stopped


def _on_signals(action):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, action)


def say(text):
    print(f"quickstart: {text}", flush=True)


class Proxy:
    """The program, its ports and its files; all of it ends with us."""

    def __init__(self, cluster, store):
        self.port, self.http = postgres.free_ports(2)
        self.secrets = cluster.users
        self.config = cluster.folder / "pgweir.yaml"
        self.config.write_text((HERE / "pgweir.yaml.template").read_text()
                               + (HERE / f"store-{store.kind}.yaml").read_text())
        self.log = cluster.folder / "pgweir.log"
        ports = {f"{node.name.upper()}_PORT": str(node.port) for node in cluster.nodes}
        self.environment = {**os.environ, **ports, "PROXY_PORT": str(self.port), "HTTP_PORT": str(self.http),
                            "MONITOR_PASSWORD": self.secrets["pgweir"], "APP_PASSWORD": self.secrets["app"],
                            "ADMIN_PASSWORD": self.secrets["postgres"], "STORE_PORT": str(store.port),
                            "MIGRATE_PASSWORD": migrate.PASSWORD}
        self.metrics = f"http://127.0.0.1:{self.http}/metrics"
        self.process = None

    def start(self):
        libc = ctypes.CDLL(None)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [os.environ["PGWEIR_BIN"], str(self.config)], env=self.environment, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM))
        end = time.monotonic() + 30
        while not self._all_in_use():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("quickstart: the proxy does not serve:\n" + self.log.read_text())
            time.sleep(0.1)

    def _all_in_use(self):
        try:
            servers = traffic.topology(self.connect("postgres", "pgweir").cursor())
        except psycopg2.Error:
            return False
        return all(server["up"] and not server["excluded"] for server in servers.values())

    def wait_for_catalog(self, console):
        """The proxy looks for new tables every few seconds; until then reads of them are the primary's."""
        end = time.monotonic() + 30
        statement = workload.SEARCH.replace("%s", "$1").replace("'", "''")
        while True:
            console.execute(f"SHOW ROUTE '{statement}'")
            if dict(console.fetchall())["reason"] == "vector":
                return
            if time.monotonic() > end:
                sys.exit("quickstart: vector searches do not go to the replicas; see SHOW ROUTE")
            time.sleep(0.1)

    def connect(self, user="app", database="app"):
        connection = psycopg2.connect(host="127.0.0.1", port=self.port, user=user, dbname=database,
                                      password=self.secrets[user], application_name="quickstart")
        connection.autocommit = True
        return connection

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def where_to_look(proxy):
    def psql(user, database):
        return f"PGPASSWORD={proxy.secrets[user]} psql -h 127.0.0.1 -p {proxy.port} -U {user} {database}"

    return ["Look around while it runs:",
            f"  the database      {psql('app', 'app')}",
            f"  the console       {psql('postgres', 'pgweir')} -c 'SHOW TOPOLOGY'",
            f"  the migration     {psql('postgres', 'pgweir')} -c 'MIGRATE STATUS'",
            f"  a route           {psql('postgres', 'pgweir')}"
            " -c \"SHOW ROUTE 'SELECT id FROM documents ORDER BY embedding <-> \\$1 LIMIT 5'\"",
            f"  metrics           {proxy.metrics}",
            f"  Grafana           {ROOT / 'metrics/dashboards/overview.json'}",
            f"  configuration     {proxy.config}",
            f"  log               {proxy.log}",
            f"  slow a replica    {ROOT / 'tests/cluster/cluster.py'} -C {proxy.config.parent} delay n2 3s"
            "   (delay n2 0 takes it back)",
            "Ctrl-C stops and removes all of it."]


def show_live(proxy, console):
    """A table every two seconds, in place on a terminal."""
    clients = workload.Workload(proxy.connect, pause=0.02)
    print("\n".join(where_to_look(proxy)), flush=True)
    clients.start()
    begin = time.monotonic()
    try:
        while not clients.problem:
            time.sleep(2)
            lines = traffic.table(traffic.topology(console), traffic.fetch(proxy.metrics),
                                  time.monotonic() - begin)
            lines.append("dual write: " + migrate.lag(migrate.status(console)))
            if sys.stdout.isatty():
                lines = ["\033[H\033[2J" + lines[0], *lines[1:], "", *where_to_look(proxy)]
            print("\n".join(lines), flush=True)
        say(f"a client failed: {clients.problem}")
        return 1
    finally:
        _on_signals(signal.SIG_IGN)
        clients.stop()


def choose_store(kind):
    """A second PostgreSQL is there already; Chroma is a child of ours."""
    if kind == "chroma":
        return migrate.ChromaStore(postgres.free_ports(1)[0])
    return migrate.PostgresStore(Cluster.load(os.environ["PGWEIR_TEST_CLUSTER"]))


def dual_write(proxy, cluster, console, store):
    """The copy while nobody writes, then the proof. What clients write later follows by itself."""
    migrate.start(proxy, console, say, store)
    migrate.await_all(console, cluster.primary())
    return migrate.verify(proxy, console, say)


def check_all(proxy, cluster, console):
    """The clients' writes must be in the store as well."""
    code = check.run(proxy, cluster, console)
    migrate.await_all(console, cluster.primary())
    same = migrate.verify(proxy, console, say)
    say("the store equals the table" if same else "WRONG: the store does not equal the table")
    return code if same else 1


def work(proxy, cluster, store, checking):
    store.start(cluster.folder)
    migrate.make_role(cluster.primary())
    proxy.start()
    say(f"loading {workload.ROWS} rows with embeddings of {workload.DIMENSIONS} dimensions, through the proxy")
    workload.load(proxy.connect)
    cluster.catch_up()
    console = proxy.connect("postgres", "pgweir").cursor()
    if not dual_write(proxy, cluster, console, store):
        say("WRONG: the store does not equal the table")
        return 1
    say(f"replica {LATE_NODE} replays {LATE_BY} late from here on, so that there is something to weigh")
    cluster.node(LATE_NODE).delay(LATE_BY)
    proxy.wait_for_catalog(console)
    return check_all(proxy, cluster, console) if checking else show_live(proxy, console)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--store", choices=("postgres", "chroma"), default="postgres")
    given = parser.parse_args()
    _on_signals(_stop)
    cluster = Cluster.load(os.environ["QUICKSTART_CLUSTER"])
    store = choose_store(given.store)
    proxy = Proxy(cluster, store)
    try:
        return work(proxy, cluster, store, given.check)
    except Stopped:
        say("stopping")
        return 0
    finally:
        _on_signals(signal.SIG_IGN)
        proxy.stop()
        store.stop()


if __name__ == "__main__":
    sys.exit(main())
