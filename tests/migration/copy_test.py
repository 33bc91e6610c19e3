"""The first copy beside a running stream, and writers that die."""
import os
import random
import threading
import time

from case import Case, wait_for
from harness import parse_verify
from targets import Emulator

ROWS, DIMENSIONS = 1500, 24
VERIFY_PAGE = 500  # rows of the table that verify looks up at once
ITEMS = [f"CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector({DIMENSIONS}))",
         f"INSERT INTO items SELECT i, 'item ' || i, vec(i, {DIMENSIONS}) FROM generate_series(1, {ROWS}) i",
         "ANALYZE items"]


class Writer(threading.Thread):
    """Changes rows at random until it is stopped; what fails ends it and is raised by stop()."""

    def __init__(self, case, seed, port=None, pause=0.0):
        super().__init__(daemon=True)
        self.case, self.random, self.port, self.pause = case, random.Random(seed), port, pause
        self.ended, self.problem, self.operations = threading.Event(), None, 0
        self.next_id = 1_000_000 * (seed + 1)

    def run(self):
        try:
            connection = self.case.world.connect(self.port)
            with connection.cursor() as cursor:
                while not self.ended.is_set():
                    for statement in self.step():
                        cursor.execute(statement)
                    self.operations += 1
                    time.sleep(self.pause)
            connection.close()
        except Exception as error:
            self.problem = error

    def step(self):
        row, value = self.random.randint(1, ROWS), self.random.random()
        self.next_id += 1
        vector = f"vec({value}, {DIMENSIONS})"
        return [self.random.choice((
            f"UPDATE items SET title = 't{value}' WHERE id = {row}",
            f"UPDATE items SET embedding = {vector} WHERE id = {row}",
            f"DELETE FROM items WHERE id = {row}",
            f"INSERT INTO items VALUES ({row}, 'again', {vector}) ON CONFLICT (id) DO NOTHING",
            f"INSERT INTO items VALUES ({self.next_id}, 'new', {vector})",
            f"UPDATE items SET id = {self.next_id} WHERE id = {row}",
            f"UPDATE items SET embedding = NULL WHERE id = {row}",
            f"BEGIN; DELETE FROM items WHERE id = {row}; INSERT INTO items VALUES ({row}, 'both', {vector}); COMMIT"))]

    def stop(self):
        self.ended.set()
        self.join(60)
        if self.problem:
            raise self.problem


class Copies(Case):
    def open(self, page=10, **options):
        """The proxy before the start of its migrations, with pages so small that there are many."""
        for statement in ITEMS:
            self.sql(statement)
        self.proxy = self.world.proxy(self.describe(attributes=("title",), copy={"page": page, "connections": 2}, **options))
        for store in self.world.stores.values():
            if isinstance(store, Emulator):
                store.misbehave({"kind": "slow", "seconds": 0.03, "probability": 0.5},
                                {"kind": "drop", "probability": 0.02}, {"kind": "reset", "probability": 0.02},
                                {"kind": "status", "status": 429, "headers": {"Retry-After": "0"}, "probability": 0.02},
                                {"kind": "status", "status": 503, "probability": 0.02})

    def start_all(self):
        for name in self.proxy.migrations:
            self.proxy.migrate("start", name)

    def check(self, rows=None, proxy=None, seconds=60):
        for store in self.world.stores.values():
            if isinstance(store, Emulator):  # or our own questions would meet the trouble
                store.misbehave()
        super().check(rows, proxy, seconds)

    def work(self, threads=3):
        writers = [Writer(self, seed, self.proxy.port if seed % 2 else None, pause=0.02) for seed in range(threads)]
        for writer in writers:
            writer.start()
        return writers

    def test_race(self):
        """B139 changes during the copy win over the rows that the copy read before them"""
        self.open()
        writers = self.work()
        self.start_all()
        self.proxy.await_phase("dual_writing", seconds=180)
        for writer in writers:
            writer.stop()
        self.assertGreater(min(writer.operations for writer in writers), 20)
        self.check(seconds=120)
        for name, row in self.proxy.status().items():
            self.assertEqual(row["dead_letters"], 0, name)

    def test_crash(self):
        """B139 a copy goes on after kill -9 where it was"""
        self.open()
        writers = self.work()
        self.start_all()
        for _ in range(6):
            time.sleep(random.Random(7).uniform(0.5, 1.0))  # kills at points that nobody chooses
            self.proxy.kill()
            for writer in writers:
                if writer.port:  # its connection has gone with the proxy
                    writer.ended.set()
            self.proxy.start()
        self.proxy.await_phase("dual_writing", seconds=180)
        for writer in writers:
            if not writer.port:
                writer.stop()
        self.check(seconds=120)

    def test_truncate(self):
        """B138 a TRUNCATE during the copy does not let old rows come back"""
        self.open()
        self.start_all()
        self.proxy.await_status(lambda row: row["rows_copied"] > 0 or row["phase"] == "dual_writing", "a page", seconds=30)
        self.sql(f"BEGIN; TRUNCATE items; INSERT INTO items VALUES (3, 'after', vec(3, {DIMENSIONS})); COMMIT")
        self.proxy.await_phase("dual_writing", seconds=120)
        self.check(1)

    def test_empty(self):
        """B139 a table without rows is copied at once"""
        self.open()
        self.sql("TRUNCATE items")
        self.start_all()
        self.proxy.await_phase("dual_writing")
        self.sql(f"INSERT INTO items VALUES (3, 'first', vec(3, {DIMENSIONS}))")
        self.check(1)


class Deaths(Case):
    def test_kills(self):
        """B148 kill -9 of the writer loses nothing and doubles nothing"""
        self.begin(ITEMS, attributes=("title",))
        writer = Writer(self, 0)
        writer.start()
        chance = random.Random(11)
        for _ in range(15 if os.environ.get("PGWEIR_LONG") == "1" else 5):
            time.sleep(chance.uniform(0.05, 0.8))
            self.proxy.kill()
            self.proxy.start()
        writer.stop()
        self.assertGreater(writer.operations, 20)
        self.proxy.await_phase("dual_writing")
        self.check(seconds=120)

    def test_stores(self):
        """B148 kill -9 of the stores and of the primary loses nothing"""
        self.begin(ITEMS, attributes=("title",))
        chance = random.Random(13)
        for round_ in range(4):
            writer = Writer(self, round_)
            writer.start()
            time.sleep(chance.uniform(0.2, 0.8))
            for store in self.world.stores.values():
                store.kill()
            time.sleep(chance.uniform(0.2, 0.8))
            for store in self.world.stores.values():
                store.start()
            writer.stop()
            primary = self.world.primary
            primary.kill()
            primary.start()
        self.check(seconds=120)

    def test_stand_by(self):
        """B148 a second proxy stands by and takes over when the first is killed"""
        self.begin(ITEMS, attributes=("title",))
        second = self.world.proxy(list(self.proxy.migrations.values()))
        rows = second.await_status(lambda row: row["writer"] not in ("", "this"), "the second to stand by")
        for name in rows:
            with self.assertRaises(Exception) as caught:
                second.migrate("pause", name)
            self.assertIn("does not write", str(caught.exception))
        writer = Writer(self, 5, pause=0.005)
        writer.start()
        for _ in range(3):
            first, second = self.proxy, second
            first.kill()
            second.await_status(lambda row: row["writer"] == "this", "the second to take over")
            second.await_phase("dual_writing")
            first.start()
            first.await_status(lambda row: row["writer"] not in ("", "this"), "the first to stand by")
            self.proxy, second = second, first
        writer.stop()
        self.check(seconds=120)
        # SIGTERM gives the lease back: nobody has to wait for it to run out.
        self.assertEqual(self.proxy.stop(), 0)
        second.await_status(lambda row: row["writer"] == "this", "the second to take over")


class Repairs(Case):
    stores = ("postgres", "chroma")

    def test_repair(self):
        """B147 verify counts what is wrong and repair makes it right while rows are written"""
        self.begin(ITEMS, attributes=("title",))
        self.check(ROWS)
        for one in self.proxy.migrations.values():
            one.store.spoil(one.spec.namespace, deleted=[1, 2, 3], changed=[10, 11, 12, 13],
                            added=[90001, 90002], dimensions=DIMENSIONS)
            found = one.compare(self.world)
            self.assertEqual((found.missing, found.extra, found.different), (3, 2, 4), str(found))
        for name in self.proxy.migrations:
            said = self.proxy.verify(name)
            self.assertEqual((said["missing"], said["extra"], said["different"], said["repaired"]), (3, 2, 4, 0),
                             f"{name}: {said}")
            self.assertEqual((said["rows"], said["documents"]), (ROWS, ROWS - 1), f"{name}: {said}")
        writers = [Writer(self, seed, pause=0.002) for seed in range(2)]
        for writer in writers:
            writer.start()
        for name in self.proxy.migrations:
            self.assertTrue(self.proxy.verify(name, verb="repair")["state"], "done")
        for writer in writers:
            writer.stop()
        self.check(seconds=120)
        for name in self.proxy.migrations:
            said = self.proxy.verify(name)
            self.assertEqual((said["missing"], said["extra"], said["different"]), (0, 0, 0), f"{name}: {said}")

    def test_orphans(self):
        """B147 after many deletes as many neighbours are found as are asked for"""
        self.begin(ITEMS, attributes=("title",))
        self.sql("DELETE FROM items WHERE id % 3 = 0")
        self.check(ROWS - ROWS // 3)


class Verifies(Case):
    stores = ("qdrant",)

    def test_verify_resumes(self):
        """B147 a verify goes on where it was after the end of the proxy and of its connection"""
        self.begin(ITEMS, attributes=("title",), kinds=("qdrant",))
        one = self.proxy.migrations["to_qdrant"]
        self.check(ROWS)
        one.store.call("POST", f"/collections/{one.spec.namespace}/points/delete?wait=true", {"points": [1, 2, 3]},
                       one.store.key)

        def verify():
            return self.proxy.status()["to_qdrant"]["verify"]

        def stuck_at(rows):
            """The same place as before, not the beginning: the first that is said."""
            said = wait_for(lambda: verify() if verify().startswith("running") else "", verify)
            self.assertEqual((parse_verify(said)["rows"], parse_verify(said)["missing"]), (rows, 3), said)
            self.assertRegex(said, r"; \d+ %$")

        # The first page and its suspects are looked up; then nothing is answered.
        lookups = {"method": "POST", "path": "/points[?]consistency"}
        one.store.misbehave({"kind": "status", "status": 503, "skip": 2, **lookups})
        self.proxy.migrate("verify", "to_qdrant")
        wait_for(lambda: self.world.primary.sql("SELECT rows FROM pgweir.verify", "app") == str(VERIFY_PAGE), verify)
        self.proxy.kill()
        self.proxy.start()
        stuck_at(VERIFY_PAGE)
        [(pid,)] = self.sql("SELECT active_pid FROM pg_replication_slots WHERE active")
        self.world.primary.sql(f"SELECT pg_terminate_backend({pid})", "app")
        wait_for(lambda: self.sql(f"SELECT 1 FROM pg_replication_slots WHERE active AND active_pid <> {pid}"), verify)
        stuck_at(VERIFY_PAGE)
        one.store.misbehave()
        said = self.proxy.verified(["to_qdrant"], 120)["to_qdrant"]
        self.assertEqual((said["rows"], said["documents"], said["missing"], said["extra"]), (ROWS, ROWS - 3, 3, 0), said)
        self.assertEqual(said["state"], "done")
