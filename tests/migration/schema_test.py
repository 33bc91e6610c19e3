"""Changes of the table itself while it is followed."""
from case import WIDE, Case

ITEMS = f"CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector({WIDE}))"
FILL = f"INSERT INTO items (id, title, embedding) SELECT i, 'item ' || i, vec(i, {WIDE}) FROM generate_series(1, 20) i"
PARTED = ["CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector(8)) PARTITION BY RANGE (id)",
          "CREATE TABLE items_a PARTITION OF items FOR VALUES FROM (0) TO (100)",
          "INSERT INTO items SELECT i, 'item', vec(i, 8) FROM generate_series(1, 10) i"]


class Schema(Case):
    def test_columns(self):
        """B144 columns that come and go are ignored and the others are known by name"""
        self.begin([ITEMS, "ALTER TABLE items ADD first int", FILL], attributes=("title",))
        for statement in ("ALTER TABLE items ADD more int DEFAULT 7", "UPDATE items SET title = 'after add' WHERE id = 1",
                          "ALTER TABLE items DROP first", "UPDATE items SET title = 'after drop' WHERE id = 2",
                          f"INSERT INTO items (id, title, embedding) VALUES (30, 'new', vec(30, {WIDE}))",
                          "ALTER TABLE items RENAME more TO other", "UPDATE items SET other = 8, title = 'x' WHERE id = 3"):
            self.sql(statement)
        self.check(21)
        before = {name: row["rows_streamed"] for name, row in self.proxy.status().items()}
        self.assertTrue(all(before.values()))
        self.proxy.kill()
        self.proxy.start()
        self.check(21)

    def test_embedding_type(self):
        """B144 another type of the embedding pauses and drops nothing"""
        self.begin([ITEMS, FILL], attributes=("title",))
        self.check(20)
        self.script("ALTER TABLE items ALTER embedding TYPE vector(8) USING subvector(embedding, 1, 8)",
                    "UPDATE items SET title = 'small' WHERE id = 1")
        rows = self.proxy.await_phase("dual_writing_paused", also=("dual_writing_paused",))
        for row in rows.values():
            self.assertIn("embedding", row["reason"])
        for one in self.proxy.migrations.values():
            self.assertEqual(self.count(one), 20, one.name)
        self.script(f"ALTER TABLE items ALTER embedding TYPE vector({WIDE}) USING vec(id, {WIDE})",
                    "UPDATE items SET title = 'back' WHERE id = 2")
        for name in self.proxy.migrations:
            self.proxy.migrate("resume", name)
        # Embeddings were written anew by ALTER TABLE, which the stream does not tell: a repair has to find them.
        self.proxy.await_phase("dual_writing", also=("dual_writing_paused",))
        self.check(20)

    def test_attach(self):
        """B138 partitions that are attached or detached are found and their rows follow"""
        self.begin(PARTED, attributes=("title",))
        self.check(10)
        self.script("CREATE TABLE items_b (LIKE items INCLUDING ALL)",
                    "INSERT INTO items_b SELECT i, 'item', vec(i, 8) FROM generate_series(100, 120) i",
                    "ALTER TABLE items ATTACH PARTITION items_b FOR VALUES FROM (100) TO (200)",
                    "UPDATE items SET title = 'streamed' WHERE id = 101")
        self.await_rows(31)
        self.script("ALTER TABLE items DETACH PARTITION items_a")
        self.await_rows(21)
        self.script("DROP TABLE items_a", "CREATE TABLE items_c PARTITION OF items FOR VALUES FROM (200) TO (300)",
                    "INSERT INTO items SELECT i, 'third', vec(i, 8) FROM generate_series(200, 209) i",
                    "DROP TABLE items_b")
        self.await_rows(10)

    def await_rows(self, rows):
        """Nothing in the stream tells of a partition: wait until the stores have so many documents."""
        def reached(one):
            try:
                return self.count(one) == rows
            except Exception:  # a table that is being made
                return False

        from targets import wait_for
        for one in self.proxy.migrations.values():
            wait_for(lambda one=one: reached(one),
                     lambda one=one: f"{rows} rows in {one.name}, it has {self.count(one)}:\n{self.proxy.tail()}", 60)
        self.proxy.await_phase("dual_writing")
        self.check(rows)
