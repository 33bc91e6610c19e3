"""A small data set with embeddings, and clients that write, read points and search vectors."""
import random
import threading
import time

import psycopg2

ROWS, DIMENSIONS = 5000, 64
SEARCH = "SELECT id FROM documents ORDER BY embedding <-> %s::vector LIMIT 5"


def load(connect):
    """Through the proxy, as an application would."""
    with connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE documents (id int PRIMARY KEY, title text NOT NULL,"
                       f" seen int NOT NULL DEFAULT 0, embedding vector({DIMENSIONS}) NOT NULL)")
        cursor.execute(
            "INSERT INTO documents (id, title, embedding) SELECT i, 'document ' || i,"
            f" (SELECT array_agg(random()) FROM generate_series(1, {DIMENSIONS}) WHERE i > 0)::vector"
            f" FROM generate_series(1, {ROWS}) i")
        cursor.execute("CREATE INDEX ON documents USING hnsw (embedding vector_l2_ops)")
        cursor.execute("CREATE TABLE events (id bigserial PRIMARY KEY, document int NOT NULL)")


def point():
    return "[" + ",".join(f"{random.random():.4f}" for _ in range(DIMENSIONS)) + "]"


class Workload:
    """Clients in threads. The searches are paced unless `pause` is 0; `limit` ends them after that many."""

    def __init__(self, connect, pause, limit=None):
        self.connect, self.pause, self.limit = connect, pause, limit
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.started, self.writes, self.problem = 0, 0, None
        self.searchers = [self._client(self._search) for _ in range(4)]
        self.others = [self._client(self._write), *(self._client(self._read) for _ in range(2))]

    def start(self):
        for thread in (*self.searchers, *self.others):
            thread.start()

    def searching(self):
        return any(thread.is_alive() for thread in self.searchers)

    def stop(self):
        self.stopped.set()
        for thread in (*self.searchers, *self.others):
            thread.join()

    def _client(self, what):
        return threading.Thread(target=self._run, args=(what,), daemon=True)

    def _run(self, what):
        try:
            connection = self.connect()
            try:
                cursor = connection.cursor()
                while not self.stopped.is_set() and what(cursor):
                    pass
            finally:
                connection.close()
        except psycopg2.Error as error:
            self.problem = self.problem or error
            self.stopped.set()

    def _search(self, cursor):
        with self.lock:
            if self.started == self.limit:
                return False
            self.started += 1
        cursor.execute(SEARCH, (point(),))
        cursor.fetchall()
        time.sleep(self.pause)
        return True

    def _read(self, cursor):
        cursor.execute("SELECT title FROM documents WHERE id = %s", (random.randint(1, ROWS),))
        cursor.fetchall()
        time.sleep(0.02)
        return True

    def _write(self, cursor):
        document = random.randint(1, ROWS)
        cursor.execute("INSERT INTO events (document) VALUES (%s)", (document,))
        cursor.execute("UPDATE documents SET seen = seen + 1 WHERE id = %s", (document,))
        self.writes += 2
        time.sleep(0.02)
        return True
