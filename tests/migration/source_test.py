"""Slots, quiet tables, and primaries that are replaced. Each case has a cluster of its own."""
from case import Case, Refused, wait_for
from targets import Broken

SMALL = ["CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector(8))",
         "INSERT INTO items SELECT i, 'item ' || i, vec(i, 8) FROM generate_series(1, 300) i"]


class Slots(Case):
    stores, own_source = ("postgres", "chroma"), True

    def fill_wal(self, megabytes, database="app"):
        """WAL that is nothing to the migrations, in transactions of its own."""
        for _ in range(megabytes // 8):
            self.world.primary.sql("SELECT pg_logical_emit_message(false, 'noise', repeat('x', 8 << 20))", database)

    def retained(self):
        return self.sql("SELECT max(pg_current_wal_lsn() - restart_lsn) FROM pg_replication_slots"
                        " WHERE slot_type = 'logical'")[0][0]

    def test_quiet(self):
        """B140 the slot moves on while the table is quiet"""
        self.begin(SMALL, attributes=("title",))
        self.check(300)
        for database in ("app", "postgres"):
            self.fill_wal(96, database)
            end = self.sql("SELECT pg_current_wal_flush_lsn()")[0][0]
            try:
                wait_for(lambda end=end: self.sql(
                    "SELECT bool_and(confirmed_flush_lsn >= %s::pg_lsn - (16 << 20)) FROM pg_replication_slots"
                    " WHERE slot_type = 'logical'", end)[0][0], "the slots to be confirmed", 90)
            except Broken:
                # Up to 16 MB may stay unconfirmed for half a minute; more may not.
                self.fail(f"{self.sql('SELECT slot_name, confirmed_flush_lsn FROM pg_replication_slots')} of {end}")
        # Standby snapshots move restart_lsn; a checkpoint writes one.
        wait_for(lambda: self.world.primary.sql("CHECKPOINT") or self.retained() < 48 << 20,
                 lambda: f"{self.retained()} bytes to be released", 60)
        self.check(300)

    def test_retained(self):
        """B140 a slot that holds back too much WAL is dropped and the store is stale"""
        self.begin(SMALL, attributes=("title",), max_retained_wal="64MiB")
        self.check(300)
        for store in self.world.stores.values():
            store.kill()
        self.sql("UPDATE items SET title = 'waits'")
        self.fill_wal(160)
        rows = self.proxy.await_phase("stale", also=("stale",), seconds=120)
        for row in rows.values():
            self.assertIn("max_retained_wal", row["reason"])
        self.assertEqual(self.sql("SELECT slot_name FROM pg_replication_slots WHERE slot_type = 'logical'"), [])
        self.script("UPDATE items SET title = 'missed' WHERE id < 50", "DELETE FROM items WHERE id = 1")
        for store in self.world.stores.values():
            store.start()
        for name in self.proxy.migrations:
            self.proxy.migrate("resume", name)
        self.proxy.await_phase("dual_writing", seconds=120)
        self.check(299)

    def test_lost_slot(self):
        """B142 a slot that somebody dropped is not made anew without a repair"""
        self.begin(SMALL, attributes=("title",))
        self.check(300)
        self.proxy.kill()
        self.world.primary.sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                               " WHERE slot_type = 'logical'", "app")
        self.script("UPDATE items SET title = 'missed' WHERE id < 50", "DELETE FROM items WHERE id = 1",
                    "INSERT INTO items VALUES (1000, 'missed', vec(1000, 8))")
        self.proxy.start()
        self.proxy.await_phase("dual_writing", seconds=120)
        self.check(300)
        self.assertIn("changes were missed", self.proxy.tail(20000))

    def test_wal_level(self):
        """B145 a primary without wal_level logical is refused at the start"""
        primary = self.world.primary
        primary.set(wal_level="replica")
        primary.restart()
        try:
            for statement in SMALL:
                self.sql(statement)
            self.proxy = self.world.proxy(self.describe(attributes=("title",)))
            rows = self.proxy.migrate("start", "to_postgres", "--dry-run")
            self.assertTrue(any("wal_level" in row["check"] + row["detail"] and row["state"] != "ok" for row in rows), rows)
            for arguments in ((), ("--force",)):
                with self.assertRaises(Refused) as caught:
                    self.proxy.migrate("start", "to_postgres", *arguments)
                self.assertIn("wal_level", str(caught.exception))
        finally:
            primary.set(wal_level="logical")
            primary.restart()


class Replaced(Case):
    """A primary and an asynchronous replica; a class for each case, since nobody puts them back."""
    stores, own_source, replicas = ("postgres", "chroma"), True, 1

    def setUp(self):
        self.old, self.new = self.world.source.nodes
        self.seen = set()

    def await_whole(self, through=None):
        """Waits for dual_writing, after another phase if one is named."""
        def whole():
            try:
                phases = set(self.phases().values())
            except Refused:
                return False
            self.seen |= phases
            return phases == {"dual_writing"} and (through is None or through in self.seen)

        wait_for(whole, lambda: f"dual_writing, seen {self.seen}:\n{self.proxy.tail()}", 120)

    def switch(self, old, new):
        """In good order: the old primary ends, the replica has all of it, and becomes the primary."""
        self.world.source.catch_up()
        old.stop()
        new.promote()


class Failover(Replaced):
    def test_tail(self):
        """B142 after a failover that loses commits the stores equal the new primary"""
        self.begin(SMALL, attributes=("title",))
        self.check(300)
        self.world.source.catch_up()
        self.new.stop()
        # The stores have these, and the replica has not when it becomes the primary.
        for statement in ("UPDATE items SET title = 'lost' WHERE id <= 10", "DELETE FROM items WHERE id = 11",
                          "INSERT INTO items VALUES (5000, 'lost', vec(5000, 8))",
                          "UPDATE items SET id = 5012 WHERE id = 12", "UPDATE items SET embedding = vec(0.5, 8) WHERE id = 13"):
            self.sql(statement)
        self.check(300)
        self.old.kill()
        self.new.start()
        self.new.promote()
        self.script("UPDATE items SET title = 'on the new primary' WHERE id BETWEEN 5 AND 20",
                    "INSERT INTO items VALUES (6000, 'new', vec(6000, 8))")
        self.await_whole(through="resyncing")
        self.sql("UPDATE items SET title = 'after the repair' WHERE id = 30")
        self.check(301)
        self.assertIn("changes were missed", self.proxy.tail(20000))
        self.assertFalse(self.seen & {"failed", "off"}, self.seen)


class Switches(Replaced):
    def test_there_and_back(self):
        """B143 after two switch-overs the stores equal the primary that has its old slots"""
        self.begin(SMALL, attributes=("title",))
        self.check(300)
        self.switch(self.old, self.new)
        self.script("UPDATE items SET title = 'there' WHERE id <= 10", "DELETE FROM items WHERE id = 11")
        self.await_whole(through="resyncing")
        self.check(299)
        self.world.source.rejoin(self.old.name, self.new.name)
        self.switch(self.new, self.old)
        self.script("UPDATE items SET title = 'back' WHERE id BETWEEN 5 AND 20", "DELETE FROM items WHERE id = 30")
        self.await_whole()
        self.check(298)
