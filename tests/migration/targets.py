"""The stores of a migration's tests: how each is started, killed, and read, without pgweir's own code.

read(prefix) yields Found for every document of every namespace whose name begins so.
"""
import array
import base64
import ctypes
import dataclasses
import hashlib
import json
import math
import operator
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import psycopg2

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cluster")]

import postgres  # noqa: E402

STORES = ROOT / "tests" / "stores"
PAGE = 1000
# What a store gives back of an embedding: the same bits, the same but for the last of them, or only its direction.
BITS, ROUNDED, DIRECTION = "bits", "rounded", "direction"
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_us():
    """In a child, before exec: whatever kills the test kills the server."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclasses.dataclass
class Found:
    """A document as the store has it. `numbers` is a sequence of floats, or None where `digest` was made
    by the store itself; `attributes` by name, those that are absent being None."""
    namespace: str
    id: object
    attributes: dict
    part: int
    numbers: list = None
    digest: str = None


class Broken(Exception):
    """A store that does not start, or answers nonsense."""


class Process:
    """A server of ours that says "ready PORT"."""

    def __init__(self, folder, name):
        self.folder, self.name = pathlib.Path(folder), name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.process = postgres.free_ports(1)[0], None

    def command(self):
        raise NotImplementedError

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=log, start_new_session=True, preexec_fn=die_with_us)
        for line in self.process.stdout:
            if line.startswith(b"ready "):
                return
        self.process.wait()
        tail = (self.folder / "log").read_text(errors="replace")[-1000:]
        raise Broken(f"{self.name} did not get ready:\n{tail}")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    stop = kill

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    @property
    def pid(self):
        return self.process.pid if self.process else None

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def gives_back(self, metric):
        return BITS

    def call(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url() + path, data, {"Content-Type": "application/json",
                                                                   **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Broken(f"{self.name}: {method} {path}: {error.code} {error.read()[:300]}") from None


class Chroma(Process):
    kind, ids = "chroma", {"longest_text": 512}
    base = "/api/v2/tenants/default_tenant/databases/default_database/collections"

    def command(self):
        return [str(STORES / "chroma_server"), str(self.folder / "data"), str(self.port)]

    def describe(self):
        return {"type": "chroma", "url": self.url()}

    def gives_back(self, metric):
        # Kept as direction and length for cosine, and multiplied again: the last bits differ.
        return ROUNDED if metric == "cosine" else BITS

    def collections(self, prefix):
        """[(namespace, id of the collection)]"""
        found, offset = [], 0
        while page := self.call("GET", f"{self.base}?limit=1000&offset={offset}"):
            found += [(each["metadata"]["pgweir_namespace"], each["id"]) for each in page
                      if (each["metadata"] or {}).get("pgweir_namespace", "").startswith(prefix)]
            offset += len(page)
        return found

    def read(self, prefix):
        for namespace, collection in self.collections(prefix):
            offset = 0
            while True:
                page = self.call("POST", f"{self.base}/{collection}/get",
                                 {"limit": PAGE, "offset": offset, "include": ["embeddings", "metadatas"]})
                for id_, numbers, metadata in zip(page["ids"], page["embeddings"], page["metadatas"]):
                    yield Found(namespace, id_, metadata, metadata.get("pgweir_part", 0), numbers)
                if len(page["ids"]) < PAGE:
                    break
                offset += PAGE

    def spoil(self, namespace, deleted, changed, added, dimensions):
        """Does by hand what pgweir would never do: ids that go, ids whose embedding changes, new ids."""
        collection = dict(self.collections(namespace))[namespace]
        path = f"{self.base}/{collection}/"
        self.call("POST", path + "delete", {"ids": [str(each) for each in deleted]})
        self.call("POST", path + "update", {"ids": [str(each) for each in changed],
                                            "embeddings": [[9.0] * dimensions for _ in changed]})
        # A copy of what another document says, so that the new ones look like ours.
        model = self.call("POST", path + "get", {"ids": [str(changed[0])], "include": ["metadatas"]})
        self.call("POST", path + "upsert", {"ids": [str(each) for each in added],
                                            "embeddings": [[7.0] * dimensions for _ in added],
                                            "metadatas": model["metadatas"] * len(added)})


class Emulator(Process):
    program = None

    def command(self):
        # PYTHONUNBUFFERED: "ready" has to come at once.
        return [sys.executable, "-u", str(STORES / self.program), "--port", str(self.port),
                "--api-key", "store-key", "--data", str(self.folder / "data")]

    def describe(self):
        return {"type": self.kind, "url": self.url(), "api_key": "store-key"}

    def control(self, **wish):
        return self.call("POST", "/_control", wish)

    def misbehave(self, *faults, seed=1):
        self.control(faults=list(faults), seed=seed)


class Turbopuffer(Emulator):
    kind, program = "turbopuffer", "turbopuffer_emulator.py"
    ids = {"numbers": True, "longest_text": 64}
    key = {"Authorization": "Bearer store-key"}

    def read(self, prefix):
        cursor = ""
        while True:
            page = self.call("GET", f"/v1/namespaces?page_size=1000&cursor={cursor}"
                                    f"&prefix={urllib.parse.quote(prefix)}", headers=self.key)
            for each in page["namespaces"]:
                yield from self._read_one(each["id"])
            cursor = page["next_cursor"]
            if not cursor:
                return

    def _read_one(self, namespace):
        last = None
        while True:
            body = {"rank_by": ["id", "asc"], "limit": PAGE, "include_attributes": True, "vector_encoding": "base64"}
            if last is not None:
                body["filters"] = ["id", "Gt", last]
            rows = self.call("POST", f"/v2/namespaces/{namespace}/query", body, self.key)["rows"]
            for row in rows:
                numbers = array.array("f", base64.b64decode(row["vector"]))
                yield Found(namespace, row["id"], row, row.get("pgweir_part", 0), numbers)
            if len(rows) < PAGE:
                return
            last = rows[-1]["id"]


class Qdrant(Emulator):
    kind, program = "qdrant", "qdrant_emulator.py"
    ids = {"numbers": True}
    key = {"api-key": "store-key"}

    def gives_back(self, metric):
        return DIRECTION if metric == "cosine" else BITS

    def read(self, prefix):
        for each in self.call("GET", "/collections", headers=self.key)["result"]["collections"]:
            if each["name"].startswith(prefix):
                yield from self._read_one(each["name"])

    def _read_one(self, namespace):
        offset = None
        while True:
            body = {"limit": PAGE, "with_payload": True, "with_vector": True, "offset": offset}
            page = self.call("POST", f"/collections/{urllib.parse.quote(namespace)}/points/scroll", body,
                             self.key)["result"]
            for point in page["points"]:
                payload = point["payload"]
                yield Found(namespace, point["id"], payload, payload.get("pgweir_part", 0), point["vector"])
            offset = page["next_page_offset"]
            if offset is None:
                return


class Postgres:
    """A table for each namespace in schema pgweir_store of a cluster of its own."""
    kind, ids = "postgres", None

    def __init__(self, cluster):
        self.cluster, self.name = cluster, "postgres"
        self.node = cluster.nodes[0]

    def start(self):
        self.node.start()

    def kill(self):
        self.node.kill()

    def is_running(self):
        return self.node.is_running()

    def _signal(self, number):
        for pid in [self.node.server_pid(), *postgres.children(self.node.server_pid())]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def freeze(self):
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    @property
    def pid(self):
        return self.node.server_pid()

    def gives_back(self, metric):
        return BITS

    def describe(self):
        return {"type": "postgres", "host": "127.0.0.1", "port": self.node.port, "database": "app",
                "user": "app", "password": self.cluster.users["app"]}

    def connect(self):
        connection = psycopg2.connect(host="127.0.0.1", port=self.node.port, dbname="app", user="app",
                                      password=self.cluster.users["app"])
        connection.autocommit = True
        return connection

    def tables(self, cursor, prefix):
        """[(namespace, table)]"""
        cursor.execute("SELECT obj_description(oid, 'pg_class'), relname FROM pg_class WHERE relkind = 'r'"
                       " AND relnamespace = to_regnamespace('pgweir_store')")
        named = [((comment or "").partition(": ")[2], name) for comment, name in cursor.fetchall()]
        return [each for each in named if each[0].startswith(prefix)]

    def read(self, prefix):
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                tables = self.tables(cursor, prefix)
            for namespace, table in tables:
                yield from self._read_one(connection, namespace, table)
        finally:
            connection.close()

    @staticmethod
    def _read_one(connection, namespace, table):
        name = 'pgweir_store."' + table.replace('"', '""') + '"'
        with connection.cursor() as cursor:
            columns = columns_of(cursor, name)
        names = [each for each in columns if each not in ("embedding", "_pgweir_version", "_pgweir_part")]
        wanted = ", ".join(expression(each, columns[each]) for each in names)
        connection.autocommit = False
        try:
            with connection.cursor("documents") as cursor:
                cursor.itersize = PAGE
                cursor.execute(f"SELECT md5(vector_send(embedding::vector)), _pgweir_part::bigint, {wanted}"
                               f" FROM {name}")
                for digest, part, *values in cursor:
                    yield Found(namespace, None, dict(zip(names, values)), part, digest=digest)
        finally:
            connection.rollback()
            connection.autocommit = True

    def spoil(self, namespace, deleted, changed, added, dimensions):
        """As Chroma.spoil()."""
        connection = self.connect()
        with connection.cursor() as cursor:
            table = f'pgweir_store."{dict(self.tables(cursor, namespace))[namespace]}"'
            cursor.execute(f"DELETE FROM {table} WHERE id = ANY(%s)", (deleted,))
            cursor.execute(f"UPDATE {table} SET embedding = %s WHERE id = ANY(%s)",
                           (str([9.0] * dimensions), changed))
            cursor.execute(f"INSERT INTO {table} SELECT (json_populate_record(t, json_build_object('id', i))).*"
                           f" FROM unnest(%s) i, {table} t WHERE t.id = %s", (added, changed[0]))
        connection.close()


KINDS = {each.kind: each for each in (Postgres, Chroma, Turbopuffer, Qdrant)}


def columns_of(cursor, table):
    """{column: type as format_type() writes it, of a domain the one below}, in order."""
    cursor.execute("SELECT attname, format_type(coalesce(nullif(typbasetype, 0), atttypid), NULL) FROM pg_attribute"
                   " JOIN pg_type t ON t.oid = atttypid WHERE attrelid = %s::regclass"
                   " AND attnum > 0 AND NOT attisdropped ORDER BY attnum", (table,))
    return dict(cursor.fetchall())


def expression(column, type_):
    """What of a column two servers must agree on, as SQL."""
    name = '"' + column.replace('"', '""') + '"'
    if type_ in ("smallint", "integer", "bigint", "boolean"):
        return name
    if type_ in ("real", "double precision"):
        return f"{name}::float8"
    if type_ == "date" or type_.startswith("timestamp"):
        return f"(extract(epoch FROM {name}) * 1000000)::bigint"
    return f"{name}::text"


def digest_of(numbers):
    """As md5(vector_send(…)) says of these numbers."""
    sent = array.array("f", numbers)
    sent.byteswap()
    return hashlib.md5(struct.pack(">HH", len(numbers), 0) + sent.tobytes()).hexdigest()


def normalised(numbers):
    length = math.sqrt(sum(map(operator.mul, numbers, numbers)))
    return [each / length for each in numbers] if length else numbers


def wait_for(condition, what, seconds=60, pause=0.05):
    """Polls; the limit only turns an endless wait into an error. `condition` gives a true value."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise Broken(f"gave up waiting for {what() if callable(what) else what}")
        time.sleep(pause)
    return found
