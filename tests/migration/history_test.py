"""Stores that hold documents of another history of the table: newer than anything the server will give."""
import contextlib

from case import Case, Refused, wait_for
from harness import Cluster, postgres

SMALL = ["CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector(8))",
         "INSERT INTO items SELECT i, 'item ' || i, vec(i, 8) FROM generate_series(1, 20) i"]
CHANGES = ["UPDATE items SET title = 'changed' WHERE id <= 5", "DELETE FROM items WHERE id = 6",
           "INSERT INTO items VALUES (100, 'new', vec(100, 8))", "UPDATE items SET id = 107 WHERE id = 7"]


class Histories(Case):
    stores = ("postgres", "chroma")

    def remove_all(self):
        for name in self.proxy.migrations:
            self.proxy.migrate("remove", name)
        wait_for(lambda: set(self.phases().values()) == {"off"}, "the migrations to be off")

    def start_all(self, *options):
        for name in self.proxy.migrations:
            self.proxy.migrate("start", name, *options)
        self.proxy.await_phase("dual_writing")

    def repair_all(self):
        return [self.proxy.verify(name, verb="repair") for name in self.proxy.migrations]

    def test_newer_documents(self):
        """B142 a store with newer documents is refused at the start and written over by force"""
        self.begin(SMALL, attributes=("title",), kinds=("postgres",))
        self.check(20)
        self.remove_all()
        one = self.proxy.migrations["to_postgres"]
        connection = one.store.connect()
        cursor = connection.cursor()
        [(_, table)] = one.store.tables(cursor, one.spec.namespace)
        cursor.execute(f'UPDATE pgweir_store."{table}" SET _pgweir_version = \'00000009\' || substr(_pgweir_version, 9)')
        connection.close()
        self.script(*CHANGES)
        rows = {row["check"]: row for row in self.proxy.migrate("start", "to_postgres", "--dry-run")}
        self.assertEqual(rows["store's documents"]["state"], "refused")
        with self.assertRaises(Refused) as caught:
            self.proxy.migrate("start", "to_postgres")
        self.assertIn("versions up to 00000009.", str(caught.exception))
        self.assertEqual(set(self.phases().values()), {"off"})
        self.start_all("--force")
        self.proxy.settle()
        found = one.compare(self.world)
        # Rows that have gone since are left to the repair.
        self.assertEqual((found.missing, found.different, found.extra), (0, 0, 2), str(found))
        self.repair_all()
        self.check(20)
        self.script("UPDATE items SET title = 'streamed'", "DELETE FROM items WHERE id = 1")
        self.check(19)
        self.proxy.kill()
        self.proxy.start()
        self.script("UPDATE items SET title = 'after a restart' WHERE id <= 10")
        self.check(19)

    def test_outbox_anew(self):
        """B142 an outbox that is begun anew is newer than the one before"""
        self.begin(SMALL, attributes=("title",), capture="outbox")
        self.script(*CHANGES, *["UPDATE items SET title = title || '.'"] * 10)
        self.await_equal(20)
        self.remove_all()
        self.script("UPDATE items SET title = 'between'", "DELETE FROM items WHERE id = 8")
        self.start_all()
        self.repair_all()
        self.await_equal(19)
        self.script("UPDATE items SET title = 'afterwards', embedding = vec(id + 0.5, 8) WHERE id < 15",
                    "DELETE FROM items WHERE id = 9")
        self.await_equal(18)

    def test_outbox_lost(self):
        """B142 an outbox that somebody dropped is not made anew without a repair"""
        self.begin(SMALL, attributes=("title",), capture="outbox")
        self.sql("UPDATE items SET title = 'streamed'")
        self.await_equal(20)
        self.proxy.kill()
        for name in self.proxy.migrations:
            self.world.primary.sql(f"DROP TABLE pgweir.outbox_{name}; DROP FUNCTION pgweir.capture_{name} CASCADE",
                                   "app")
        self.script("UPDATE items SET title = 'missed' WHERE id <= 10", "DELETE FROM items WHERE id = 1")
        self.proxy.start()
        self.await_equal(19)
        self.script("UPDATE items SET title = 'followed'", "DELETE FROM items WHERE id = 2")
        self.await_equal(18)
        self.assertIn("the outbox is not there", self.proxy.tail(20000))

    def test_outbox_without_table(self):
        """B142 remove leaves nothing of an outbox whose table was dropped"""
        self.begin(SMALL, attributes=("title",), capture="outbox")
        self.sql("DROP TABLE items")
        self.remove_all()
        for what in ("pg_class WHERE relnamespace = 'pgweir'::regnamespace AND relname LIKE 'outbox%'",
                     "pg_proc WHERE pronamespace = 'pgweir'::regnamespace", "pgweir.migration"):
            self.assertEqual(self.world.primary.sql(f"SELECT count(*) FROM {what}", "app"), "0", what)

    def await_equal(self, rows):
        """Positions of an outbox are no LSNs, so there is none to wait for."""
        def equal():
            with contextlib.suppress(Refused):
                if set(self.phases().values()) == {"dual_writing"}:
                    return all(one.compare(self.world).same for one in self.proxy.migrations.values())
            return False

        wait_for(equal, lambda: self.proxy.tail(), 60, 0.3)
        for one in self.proxy.migrations.values():
            self.compare(one, rows)


class Moved(Case):
    stores, own_source = ("postgres", "chroma"), True

    def move(self):
        """The database in a cluster of its own, by dump and restore."""
        old, new = self.world.source, Cluster.start(replicas=0)
        self.world.own.append(new)
        self.world.source = new
        self.world.prepare_source()
        dump = self.world.folder / "moved.sql"

        def run(program, cluster, *arguments):
            node = cluster.primary()
            return postgres.run(program, "-h", postgres.HOST, "-p", node.port, "-U", "postgres", "-d", "app",
                                *arguments, password=cluster.users["postgres"])

        dump.write_text(run("pg_dump", old, "-n", "public", "-n", "pgweir"))
        run("psql", new, "-Xq", "-f", dump)
        old.primary().stop()

    def test_moved(self):
        """B142 in another cluster a migration waits for resume and then the stores follow it"""
        for _ in range(20):
            self.world.primary.sql("SELECT pg_logical_emit_message(false, 'noise', repeat('x', 8 << 20))", "app")
        self.begin(SMALL, attributes=("title",))
        self.check(20)
        self.proxy.kill()
        self.move()
        self.script(*CHANGES)
        self.proxy.start()
        rows = self.proxy.await_phase("stale", also=("stale",))
        for row in rows.values():
            self.assertIn("another cluster", row["reason"])
        self.assertEqual(self.sql("SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'logical'"), [(0,)])
        for name, one in self.proxy.migrations.items():
            self.assertEqual(self.count(one), 20)
            self.proxy.migrate("resume", name)
        self.proxy.await_phase("dual_writing", also=("stale",))
        self.check(20)
        # Documents that were equal, too, must not win against later changes.
        self.script("UPDATE items SET title = 'follows'", "DELETE FROM items WHERE id = 10")
        self.check(19)
