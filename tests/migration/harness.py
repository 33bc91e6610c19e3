"""The world of a migration's tests: a source cluster, stores, and the proxy between them.

A World starts what it is asked for and removes it at the end. Clusters that are there already are
used where PGWEIR_SOURCE_CLUSTER and PGWEIR_TARGET_CLUSTER name their notes; then only what a test
has made in them is removed. PGWEIR_BIN is the program.
"""
import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import psycopg2

import targets
from documents import Spec, compare
from targets import Broken, postgres, wait_for

sys.path[:0] = [str(targets.ROOT / "tests" / "bench")]

from pg_cluster import Cluster  # noqa: E402

MIGRATE_USER, ADMIN = "pgweir_migrate", "admin"
SECRET = "{}-secret"
STREAMS = ("copying", "dual_writing", "resyncing")
NUMBERS = ("rows_copied", "rows_to_copy", "rows_streamed", "bytes", "lag_rows", "lag_bytes", "retries",
           "dead_letters", "retained_wal")


class Refused(Exception):
    """A command that pgweir did not carry out; the text is what it said."""


def binary():
    path = os.environ.get("PGWEIR_BIN", str(targets.ROOT / "build/release/proxy/pgweir"))
    if not os.access(path, os.X_OK):
        sys.exit(f"no program {path}: set PGWEIR_BIN")
    return path


def clean_up_on_signals():
    """So that clusters go away when whoever runs us gives up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def lsn(text):
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


class World:
    def __init__(self, stores=("postgres",), replicas=0, own_source=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pgweir-migration-"))
        self.folder.chmod(0o755)
        self.own, self.proxies, self.stores = [], [], {}
        atexit.register(self.destroy)
        try:
            self.source = self._cluster("PGWEIR_SOURCE_CLUSTER", replicas, own_source)
            self.prepare_source()
            for kind in stores:
                self.stores[kind] = self._store(kind)
            self._leave_shared()  # what a killed run has left there
        except BaseException:
            self.destroy()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.destroy()

    def _cluster(self, variable, replicas, own=False):
        note = os.environ.get(variable)
        if note and not own and replicas == 0:
            return Cluster.load(note)
        made = Cluster.start(replicas=replicas)
        self.own.append(made)
        return made

    def _store(self, kind):
        if kind == "postgres":
            return targets.Postgres(self._cluster("PGWEIR_TARGET_CLUSTER", 0))
        made = targets.KINDS[kind](self.folder / kind, kind)
        made.start()
        return made

    def prepare_source(self):
        """The role that a migration works with: no superuser, but with the rights of the tables' owner."""
        primary = self.source.primary()
        primary.sql(f"DO $$ BEGIN IF to_regrole('{MIGRATE_USER}') IS NULL THEN CREATE ROLE {MIGRATE_USER}"
                    f" LOGIN REPLICATION PASSWORD '{SECRET.format(MIGRATE_USER)}' IN ROLE app; END IF; END $$")
        primary.sql(f"GRANT CREATE ON DATABASE app TO {MIGRATE_USER}")

    @property
    def primary(self):
        return self.source.primary()

    def connect(self, port=None, user="app", database="app", **options):
        """To the primary itself; with a port, to that."""
        connection = psycopg2.connect(host="127.0.0.1", port=port or self.primary.port, user=user, dbname=database,
                                      password=self.source.users.get(user) or SECRET.format(user), **options)
        connection.autocommit = True
        return connection

    def sql(self, text, *parameters, port=None):
        """Rows of the answer, if it has any. Without parameters `text` may hold per-cent signs."""
        connection = self.connect(port)
        try:
            with connection.cursor() as cursor:
                cursor.execute(text, parameters or None)
                return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def proxy(self, migrations, **options):
        """Describes and starts one; see Proxy."""
        made = Proxy(self, migrations, **options)
        self.proxies.append(made)
        made.start()
        return made

    def reset(self):
        """Takes back what a test has made, so that the next one finds nothing of it."""
        for proxy in self.proxies:
            proxy.kill()
        self.proxies.clear()
        for store in self.stores.values():
            if store.kind != "postgres":
                store.kill()
                shutil.rmtree(store.folder / "data", ignore_errors=True)
                store.start()
            elif not store.is_running():
                store.start()
        for node in self.source.nodes:
            if not node.is_running():
                node.start()
        self._forget_source()
        if "postgres" in self.stores:
            self._forget_target()

    def _forget_source(self):
        primary = self.primary
        primary.sql("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                    " WHERE slot_type = 'logical' AND active", "app")
        wait_for(lambda: primary.sql("SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical'"
                                     " AND active") == "0", "slots to be free")
        primary.sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                    " WHERE slot_type = 'logical'", "app")
        primary.sql("DO $$ DECLARE one text; BEGIN FOR one IN SELECT format('DROP PUBLICATION %I', pubname)"
                    " FROM pg_publication LOOP EXECUTE one; END LOOP;"
                    " FOR one IN SELECT format('DROP TABLE %s CASCADE', oid::regclass) FROM pg_class"
                    " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
                    " LOOP EXECUTE one; END LOOP; END $$", "app")
        primary.sql("DROP SCHEMA IF EXISTS pgweir CASCADE", "app")

    def destroy(self):
        atexit.unregister(self.destroy)
        for proxy in self.proxies:
            proxy.kill()
        for store in self.stores.values():
            if store.kind != "postgres":
                with contextlib.suppress(OSError):
                    store.kill()
        self._leave_shared()
        for cluster in self.own:
            cluster.destroy()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _leave_shared(self):
        """Clusters of others are left as they were."""
        with contextlib.suppress(Exception):
            if self.source not in self.own:
                self._forget_source()
            if self.stores["postgres"].cluster not in self.own:
                self._forget_target()

    def _forget_target(self):
        self.stores["postgres"].node.sql("DROP SCHEMA IF EXISTS pgweir_store CASCADE", "app")


class Migration:
    """One entry under `migrations`: a table's rows go to one store."""

    def __init__(self, name, store, spec, lease="1s", **conduct):
        self.name, self.store, self.spec = name, store, spec
        self.conduct = {"lease": lease, **conduct}

    def describe(self):
        made = {"database": "app", "user": MIGRATE_USER, "password": SECRET.format(MIGRATE_USER),
                "table": self.spec.table, "key": list(self.spec.key), "embedding": self.spec.embedding,
                "store": self.store.kind, "namespace": self.spec.namespace, "metric": self.spec.metric, **self.conduct}
        if self.spec.attributes:
            made["attributes"] = list(self.spec.attributes)
        if self.spec.tenant:
            made["tenant"] = self.spec.tenant
        return made

    def compare(self, world):
        return compare(world.connect, self.spec, self.store)


def migrations_of(world, spec, kinds=None, **options):
    """One migration for each store, of the same table. `namespace` in the spec may hold {kind}."""
    made = []
    for kind in kinds or world.stores:
        own = Spec(**{**spec.__dict__, "namespace": spec.namespace or f"rows-of-{kind}"})
        made.append(Migration(f"to_{kind}", world.stores[kind], own, **options))
    return made


class Proxy:
    """pgweir with its configuration; it ends with us."""

    def __init__(self, world, migrations, request_timeout="2s", **extra):
        self.world, self.migrations = world, {each.name: each for each in migrations}
        self.port, self.http = postgres.free_ports(2)
        self.name = f"proxy{len(world.proxies) + 1}"
        self.file, self.log = world.folder / f"{self.name}.yaml", world.folder / f"{self.name}.log"
        self.request_timeout, self.extra = request_timeout, extra
        self.process = None

    def describe(self):
        users = self.world.source.users
        stores = {each.store.kind: {**each.store.describe(), "request_timeout": self.request_timeout,
                                    "connect_timeout": "2s"} for each in self.migrations.values()}
        return {
            "listen": {"address": "127.0.0.1", "port": self.port},
            "http": {"listen": f"127.0.0.1:{self.http}"},
            "clusters": {"main": {
                "servers": [{"name": node.name, "host": "127.0.0.1", "port": node.port}
                            for node in self.world.source.nodes],
                "monitor": {"user": "pgweir", "password": users["pgweir"], "database": "app"}}},
            "databases": {"app": {"cluster": "main"}},
            "users": [{"name": "app", "password": users["app"]}, {"name": ADMIN, "password": SECRET.format(ADMIN)}],
            "console": {"admin": [ADMIN]},
            "stores": stores,
            "migrations": {name: each.describe() for name, each in self.migrations.items()}, **self.extra}

    def start(self, wait=True):
        self.file.write_text(json.dumps(self.describe(), indent=1))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([binary(), str(self.file)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=targets.die_with_us)
        if wait:
            wait_for(self._answers, lambda: f"{self.name} to answer:\n{self.tail()}", 30)

    def _answers(self):
        if self.process.poll() is not None:
            raise Broken(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")
        try:
            # Whether it writes or stands by is known a moment later; until then it refuses commands.
            return all(row["writer"] not in ("", "not taken yet") for row in self.status().values())
        except Refused:
            return False

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """As an operator does: SIGTERM."""
        self.process.terminate()
        code = self.process.wait(60)
        self.process = None
        return code

    @property
    def pid(self):
        return self.process.pid if self.process else None

    def tail(self, size=3000):
        return self.log.read_text(errors="replace")[-size:]

    # Commands.
    def migrate(self, verb, *arguments):
        """Rows of `pgweir migrate verb …` as dictionaries."""
        command = [binary(), "migrate", verb, *arguments, "--port", str(self.port), "--user", ADMIN, "--json"]
        done = subprocess.run(command, env={**os.environ, "PGPASSWORD": SECRET.format(ADMIN)}, capture_output=True,
                              text=True, timeout=120)
        if done.returncode != 0:
            raise Refused((done.stderr or done.stdout).strip())
        return json.loads(done.stdout)

    def status(self):
        """{migration: its row, counts as numbers}"""
        return {row["migration"]: {**row, **{name: int(row[name]) for name in NUMBERS},
                                   "lag_seconds": float(row["lag_seconds"]), "confirmed": lsn(row["confirmed"])}
                for row in self.migrate("status")}

    def begin(self):
        """Starts all migrations and waits until their copies are over."""
        for name in self.migrations:
            self.migrate("start", name)
        self.await_phase("dual_writing")

    def await_phase(self, phase, names=None, seconds=60, also=()):
        """Waits until all are in the phase; ends early where one has failed or is paused."""
        return self.await_status(lambda row: row["phase"] == phase, f"phase {phase}", names, seconds, (phase, *also))

    def await_status(self, test, what, names=None, seconds=60, expected=()):
        names, last = list(names or self.migrations), {}

        def reached():
            try:
                last.update(self.status())
            except Refused as error:  # of a proxy that has just been started
                last["error"] = str(error)
                return False
            for name in names:
                phase = last[name]["phase"]
                if (phase == "failed" or phase.endswith("_paused")) and phase not in expected:
                    raise Broken(f"{name} is {phase}: {last[name]['reason']}\n{self.tail()}")
            return all(test(last[name]) for name in names)

        wait_for(reached, lambda: f"{what}: {json.dumps(last, indent=1)}\n{self.tail()}", seconds, 0.1)
        return last

    def settle(self, names=None, seconds=60):
        """Waits until the stores have all that is committed on the primary now."""
        end = lsn(self.world.primary.sql("SELECT pg_current_wal_flush_lsn()"))
        return self.await_status(
            lambda row: row["confirmed"] >= end and row["lag_rows"] == 0 and row["phase"] == "dual_writing",
            f"everything before {end:x} in the store", names, seconds)

    def verify(self, name, seconds=300, verb="verify"):
        """What pgweir's own verify says: its column of the status, split into numbers."""
        self.migrate(verb, name)
        return self.verified([name], seconds)[name]

    def verified(self, names, seconds):
        """The same for verifies that have begun."""
        rows = self.await_status(lambda row: row["verify"].startswith(("done", "ended early")), "verify",
                                 names, seconds)
        return {name: parse_verify(rows[name]["verify"]) for name in names}


def parse_verify(text):
    state, _, counts = text.partition(": ")
    made = {"state": state, "text": text}
    for part in counts.partition(";")[0].split(", "):
        number, _, what = part.partition(" ")
        made[what] = int(number)
    return made


def cpu_seconds(pid):
    import processes
    return processes.busy([pid]) / 1e6


def resident_mb(pid):
    import processes
    return processes.resident_kb(pid) / 1024


def now():
    return time.monotonic()
