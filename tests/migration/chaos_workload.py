"""The table of the chaos test, and clients that change it in every way there is."""
import collections
import io
import random
import threading
import time

import psycopg2

NEW, SCRATCH = 10_000_000, 1_000_000_000  # where ids of new rows begin, and those of the partition to truncate
POOL = 60  # vectors that all others are made of, by the server
VECTOR = "(SELECT a.v + b.v * c.v FROM pool a, pool b, pool c WHERE a.i = {} AND b.i = {} AND c.i = {})"
KINDS = {"insert": 14, "embedding": 14, "columns": 18, "many": 6, "delete": 8, "again": 8, "key": 6, "null": 3,
         "scratch": 8, "truncate": 1, "rollback": 4, "savepoint": 4, "copy": 3}


def load(world, rows, dimensions):
    """Two partitions with rows, one for new ones, one that is truncated now and then."""
    connection = world.connect()
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE pool (i int PRIMARY KEY, v vector({dimensions}))")
    # The outer reference keeps the inner query from being carried out once for all.
    cursor.execute(f"INSERT INTO pool SELECT i, (SELECT array_agg(random() - 0.5) FROM generate_series(1, {dimensions})"
                   f" WHERE i > 0)::vector FROM generate_series(1, {POOL}) i")
    cursor.execute(f"CREATE TABLE documents (id bigint PRIMARY KEY, organization int, topic text, seen int,"
                   f" embedding vector({dimensions})) PARTITION BY RANGE (id)")
    for name, low, high in (("low", 0, rows // 2), ("high", rows // 2, NEW), ("new", NEW, SCRATCH),
                            ("scratch", SCRATCH, 2 * SCRATCH)):
        cursor.execute(f"CREATE TABLE documents_{name} PARTITION OF documents FOR VALUES FROM ({low}) TO ({high})")
    cursor.execute(
        f"INSERT INTO documents SELECT n, n % 17, 'topic ' || n % 101, 0, a.v + b.v * c.v"
        f" FROM generate_series(0, {rows - 1}) n JOIN pool a ON a.i = 1 + n % {POOL}"
        f" JOIN pool b ON b.i = 1 + n / {POOL} % {POOL} JOIN pool c ON c.i = 1 + n / {POOL * POOL} % {POOL}")
    cursor.execute("ANALYZE documents")
    connection.close()


class Client(threading.Thread):
    """One connection at a time; what a server's death breaks off is simply begun anew."""

    def __init__(self, workload, number, seed):
        super().__init__(daemon=True)
        self.workload, self.number = workload, number
        self.random = random.Random(seed)
        self.through_proxy = number % 2 == 0
        self.serial = 0

    def run(self):
        while not self.workload.ended.is_set():
            try:
                self.session()
            except psycopg2.Error as error:
                self.workload.note_failure(error)
                time.sleep(0.1)

    def session(self):
        connection = self.workload.connect(self.through_proxy)
        try:
            cursor = connection.cursor()
            while not self.workload.ended.is_set():
                kind = self.random.choices(list(KINDS), KINDS.values())[0]
                try:
                    self.workload.note(kind, self.through_proxy, getattr(self, kind)(cursor))
                except psycopg2.errors.DeadlockDetected:
                    cursor.execute("ROLLBACK")
                time.sleep(self.workload.pause)
        finally:
            connection.close()

    # What to change.
    def vector(self):
        return VECTOR.format(*(self.random.randint(1, POOL) for _ in range(3)))

    def old(self):
        """An id that is there, probably."""
        ids = self.workload.new_ids
        if ids and self.random.random() < 0.2:
            return self.random.choice(list(ids))
        return self.random.randrange(self.workload.rows)

    def fresh(self, base=NEW):
        self.serial += 1
        made = base + self.number * 10_000_000 + self.workload.seed % 1000 * 10_000 + self.serial
        if base == NEW:
            self.workload.new_ids.append(made)
        return made

    def topic(self):
        return f"'topic {self.random.randrange(10**6)}'"

    def row(self, id_):
        return f"{id_}, {self.random.randrange(17)}, {self.topic()}, 0, {self.vector()}"

    # Kinds of changes; each returns how many rows it has changed.
    def insert(self, cursor):
        cursor.execute(f"INSERT INTO documents VALUES ({self.row(self.fresh())})")
        return cursor.rowcount

    def embedding(self, cursor):
        cursor.execute(f"UPDATE documents SET embedding = {self.vector()} WHERE id = {self.old()}")
        return cursor.rowcount

    def columns(self, cursor):
        cursor.execute(f"UPDATE documents SET seen = seen + 1, topic = {self.topic()} WHERE id = {self.old()}")
        return cursor.rowcount

    def many(self, cursor):
        first = self.old()
        cursor.execute(f"UPDATE documents SET seen = seen + 1 WHERE id BETWEEN {first} AND {first + 20}")
        return cursor.rowcount

    def delete(self, cursor):
        cursor.execute(f"DELETE FROM documents WHERE id = {self.old()}")
        return cursor.rowcount

    def again(self, cursor):
        cursor.execute(f"INSERT INTO documents VALUES ({self.row(self.old())})"
                       " ON CONFLICT (id) DO UPDATE SET seen = -1, embedding = excluded.embedding")
        return cursor.rowcount

    def key(self, cursor):
        cursor.execute(f"UPDATE documents SET id = {self.fresh()} WHERE id = {self.old()}")
        return cursor.rowcount

    def null(self, cursor):
        cursor.execute(f"UPDATE documents SET embedding = NULL WHERE id = {self.old()}")
        return cursor.rowcount

    def scratch(self, cursor):
        rows = ", ".join(f"({self.row(self.fresh(SCRATCH))})" for _ in range(4))
        cursor.execute(f"INSERT INTO documents VALUES {rows}")
        return cursor.rowcount

    def truncate(self, cursor):
        cursor.execute("SET lock_timeout = '2s'")
        try:
            cursor.execute("TRUNCATE documents_scratch")
        except psycopg2.errors.LockNotAvailable:
            return 0
        finally:
            if not cursor.connection.closed:
                cursor.execute("RESET lock_timeout")
        return 1

    def rollback(self, cursor):
        first = self.old()
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE documents SET topic = 'never' WHERE id BETWEEN {first} AND {first + 5}")
        cursor.execute(f"DELETE FROM documents WHERE id = {first}")
        cursor.execute(f"INSERT INTO documents VALUES ({self.row(self.fresh())})")
        cursor.execute("ROLLBACK")
        return 0

    def savepoint(self, cursor):
        first = self.old()
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE documents SET topic = {self.topic()} WHERE id = {first}")
        changed = cursor.rowcount
        cursor.execute("SAVEPOINT one")
        cursor.execute(f"UPDATE documents SET topic = 'never', embedding = {self.vector()} WHERE id = {first}")
        cursor.execute("ROLLBACK TO one")
        cursor.execute(f"INSERT INTO documents VALUES ({self.row(self.fresh())})")
        cursor.execute("COMMIT")
        return changed + 1

    def copy(self, cursor):
        lines = "".join(f"{self.fresh()}\t{self.random.randrange(17)}\tcopied\t0\t[{self.random.random()}"
                        f"{self.random.choice(self.workload.tails)}\n" for _ in range(8))
        cursor.copy_expert("COPY documents FROM STDIN", io.StringIO(lines))
        return 8


class Workload:
    """Clients, half of them through the proxy; `connect(through_proxy)` gives connections."""

    def __init__(self, world, proxy, rows, clients, pause, seed):
        self.world, self.proxy, self.rows, self.pause, self.seed = world, proxy, rows, pause, seed
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.operations, self.changed, self.failures = collections.Counter(), collections.Counter(), collections.Counter()
        self.new_ids = collections.deque(maxlen=2000)
        # Vectors as texts, behind their first number.
        self.tails = [text[text.index(","):] for (text,) in world.sql(
            "SELECT (a.v * b.v)::text FROM pool a, pool b WHERE a.i <= 4 AND b.i <= 8")]
        self.clients = [Client(self, number, seed * 100 + number) for number in range(clients)]

    def connect(self, through_proxy):
        return self.world.connect(self.proxy.port if through_proxy else self.world.source.nodes[0].port, connect_timeout=5)

    def note(self, kind, through_proxy, rows):
        with self.lock:
            self.operations[kind, through_proxy] += 1
            self.changed[through_proxy] += rows

    def note_failure(self, error):
        with self.lock:
            self.failures[type(error).__name__] += 1
            if not isinstance(error, (psycopg2.OperationalError, psycopg2.InterfaceError)):
                self.failures[f"{type(error).__name__}: {str(error).strip()[:120]}"] += 1

    def start(self):
        for client in self.clients:
            client.start()

    def stop(self):
        self.ended.set()
        for client in self.clients:
            client.join(60)

    def summary(self):
        total = sum(self.operations.values())
        through = sum(count for (_, proxied), count in self.operations.items() if proxied)
        kinds = ", ".join(f"{kind} {sum(self.operations[kind, each] for each in (True, False))}" for kind in KINDS)
        return (f"{total} operations ({through} through the proxy, {total - through} past it), "
                f"{sum(self.changed.values())} rows changed: {kinds}; broken off: {dict(self.failures)}")
