"""What is committed on the source, seen in the stores: every kind of change. Docstrings are the cases' names."""
from case import ALL, WIDE, Case

ITEMS = f"CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector({WIDE}))"
SMALL = "CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector(8))"
FILL = "INSERT INTO items SELECT i, 'item ' || i, vec(i, {}) FROM generate_series(1, 20) i"


class Changes(Case):
    def walk(self, *groups):
        """Checks the stores after each group of statements."""
        for number, statements in enumerate(groups):
            with self.subTest(group=number, statements=statements):
                for statement in statements if isinstance(statements, (list, tuple)) else [statements]:
                    self.sql(statement)
                self.check()

    def unchanged(self, identity):
        self.begin([ITEMS, f"ALTER TABLE items REPLICA IDENTITY {identity}", FILL.format(WIDE)], attributes=("title",))
        self.check(20)
        self.walk(
            "UPDATE items SET title = 'x' WHERE id <= 5",
            f"UPDATE items SET embedding = vec(id + 0.5, {WIDE}) WHERE id = 1",
            "UPDATE items SET embedding = NULL WHERE id = 2",
            "UPDATE items SET title = 'of no document' WHERE id = 2",
            f"UPDATE items SET embedding = vec(2.25, {WIDE}) WHERE id = 2",
            "BEGIN; UPDATE items SET title = 'first' WHERE id = 3;"
            f" UPDATE items SET embedding = vec(3.5, {WIDE}) WHERE id = 3;"
            " UPDATE items SET title = 'second' WHERE id = 3; COMMIT",
            f"BEGIN; INSERT INTO items VALUES (30, 'new', vec(30, {WIDE}));"
            " UPDATE items SET title = 'at once' WHERE id = 30; COMMIT",
            "UPDATE items SET id = 104 WHERE id = 4",
            "DELETE FROM items WHERE id = 5")
        self.check(20)

    def test_unchanged_default(self):
        """B134 an unchanged TOASTed embedding stays in the store"""
        self.unchanged("DEFAULT")

    def test_unchanged_full(self):
        """B135 with REPLICA IDENTITY FULL the old embedding is taken from the old row"""
        self.unchanged("FULL")

    def test_unchanged_text(self):
        """B134 an unchanged TOASTed attribute stays in the store"""
        self.begin([SMALL, "ALTER TABLE items ALTER title SET STORAGE EXTERNAL",
                    "INSERT INTO items SELECT i, repeat('long ' || i, 2000), vec(i, 8) FROM generate_series(1, 5) i"],
                   attributes=("title",))
        self.walk("UPDATE items SET embedding = vec(9, 8) WHERE id <= 2",
                  "UPDATE items SET id = id + 10 WHERE id = 3")

    def test_keys(self):
        """B137 a changed key moves the document with its embedding"""
        self.begin([ITEMS, FILL.format(WIDE)], attributes=("title",))
        self.walk(
            "UPDATE items SET id = id + 1000 WHERE id <= 3",
            "BEGIN; UPDATE items SET id = -1 WHERE id = 5; UPDATE items SET id = 5 WHERE id = 6;"
            " UPDATE items SET id = 6 WHERE id = -1; COMMIT",
            "BEGIN; UPDATE items SET id = 1007 WHERE id = 7; DELETE FROM items WHERE id = 1007; COMMIT",
            f"BEGIN; DELETE FROM items WHERE id = 8; INSERT INTO items VALUES (8, 'again', vec(88, {WIDE})); COMMIT",
            "BEGIN; UPDATE items SET id = -9 WHERE id = 9; UPDATE items SET title = 'moved' WHERE id = -9; COMMIT",
            "UPDATE items SET id = -9223372036854775808 WHERE id = 10",
            "UPDATE items SET id = 9223372036854775807 WHERE id = 11")
        self.check(19)

    def test_tenants(self):
        """B137 a changed tenant moves the document to the other namespace"""
        self.begin(["CREATE TABLE items (id bigint PRIMARY KEY, organization int NOT NULL, title text,"
                    f" embedding vector({WIDE}), UNIQUE (id, organization))",
                    "ALTER TABLE items REPLICA IDENTITY USING INDEX items_id_organization_key",
                    "INSERT INTO items SELECT i, i % 3, 'item ' || i, vec(i, " + str(WIDE) + ") FROM generate_series(1, 12) i"],
                   attributes=("title",), tenant="organization", namespace="org-{organization}")
        self.check(12)
        self.walk(
            "UPDATE items SET organization = 1 WHERE id = 2",
            "UPDATE items SET organization = 7 WHERE id = 3",
            "BEGIN; UPDATE items SET organization = 8 WHERE id = 4; UPDATE items SET organization = 1 WHERE id = 4;"
            " UPDATE items SET title = 'back' WHERE id = 4; COMMIT",
            "UPDATE items SET id = 105, organization = 2 WHERE id = 5",
            "DELETE FROM items WHERE id = 6",
            "UPDATE items SET title = 'stays' WHERE id = 7",
            "UPDATE items SET embedding = NULL, organization = 0 WHERE id = 8")
        self.walk("TRUNCATE items",
                  f"INSERT INTO items SELECT i, i % 2, 'new', vec(i, {WIDE}) FROM generate_series(1, 4) i")
        self.check(4)

    def test_truncate(self):
        """B138 TRUNCATE empties the store"""
        self.begin([SMALL, FILL.format(8)], attributes=("title",))
        self.check(20)
        self.walk("TRUNCATE items")
        self.walk("INSERT INTO items SELECT i, 'new', vec(i, 8) FROM generate_series(1, 5) i")
        self.check(5)
        self.script("CREATE TABLE owners (id int PRIMARY KEY)",
                    "ALTER TABLE items ADD owner int REFERENCES owners")
        self.walk("TRUNCATE owners CASCADE", FILL.format(8).replace("items ", "items (id, title, embedding) "),
                  "TRUNCATE owners, items RESTART IDENTITY CASCADE")
        self.check(0)
        self.walk(FILL.format(8).replace("items ", "items (id, title, embedding) "),
                  "BEGIN; SAVEPOINT a; TRUNCATE items; ROLLBACK TO a; DELETE FROM items WHERE id = 1; COMMIT",
                  "BEGIN; TRUNCATE items; ROLLBACK",
                  "BEGIN; DELETE FROM items WHERE id = 2; TRUNCATE items;"
                  " INSERT INTO items VALUES (2, 'after', vec(2, 8)); COMMIT")
        self.check(1)

    def test_truncate_partition(self):
        """B138 TRUNCATE of a partition removes its rows and no others"""
        self.begin(["CREATE TABLE items (id bigint PRIMARY KEY, title text, embedding vector(8)) PARTITION BY RANGE (id)",
                    "CREATE TABLE items_a PARTITION OF items FOR VALUES FROM (0) TO (10)",
                    "CREATE TABLE items_b PARTITION OF items FOR VALUES FROM (10) TO (1000)", FILL.format(8)],
                   attributes=("title",))
        self.check(20)
        self.walk("TRUNCATE items_a")
        self.check(11)
        self.walk("UPDATE items SET id = 5 WHERE id = 15",  # from one partition to the other
                  "BEGIN; TRUNCATE items_b; INSERT INTO items VALUES (11, 'after', vec(1, 8)); COMMIT")
        self.check(2)
        self.walk("TRUNCATE items")
        self.check(0)

    def test_null(self):
        """B148 NULL embeddings are no documents"""
        self.begin([SMALL, "INSERT INTO items VALUES (1, 'none', NULL), (2, 'some', vec(2, 8))"], attributes=("title",))
        self.check(1)
        self.walk("UPDATE items SET embedding = vec(1, 8) WHERE id = 1",
                  "UPDATE items SET embedding = NULL WHERE id = 1",
                  "UPDATE items SET title = NULL WHERE id = 2",
                  "INSERT INTO items VALUES (3, 'none', NULL)",
                  "UPDATE items SET id = 4, embedding = vec(4, 8) WHERE id = 3",
                  "UPDATE items SET id = 5, embedding = NULL WHERE id = 4",
                  "UPDATE items SET title = 'back' WHERE id = 2")
        self.check(1)

    def test_ways_to_write(self):
        """B148 only what is committed arrives whatever wrote it"""
        self.begin([SMALL, "CREATE TABLE owners (id int PRIMARY KEY)",
                    "INSERT INTO owners SELECT generate_series(1, 5)",
                    "ALTER TABLE items ADD owner int DEFAULT 1 REFERENCES owners ON DELETE CASCADE",
                    "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS"
                    " $$BEGIN NEW.title = upper(NEW.title); RETURN NEW; END$$",
                    "CREATE TRIGGER shout BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION shout()"],
                   attributes=("title", "owner"))
        self.addCleanup(self.sql, "DROP FUNCTION shout CASCADE")
        self.walk(
            FILL.format(8).replace("items ", "items (id, title, embedding) "),
            "BEGIN; UPDATE items SET title = 'never'; DELETE FROM items WHERE id < 9; ROLLBACK",
            "BEGIN; SAVEPOINT a; UPDATE items SET title = 'never' WHERE id = 1; ROLLBACK TO a; SAVEPOINT b;"
            " UPDATE items SET title = 'kept' WHERE id = 2; RELEASE b; COMMIT",
            "INSERT INTO items SELECT id, 'twice', embedding FROM items ON CONFLICT (id) DO UPDATE SET title = 'merged'",
            "WITH gone AS (DELETE FROM items WHERE id > 15 RETURNING *)"
            " INSERT INTO items (id, title, embedding, owner) SELECT id + 100, title, embedding, 2 FROM gone",
            "DELETE FROM owners WHERE id = 2",
            "UPDATE items SET owner = 3 WHERE id <= 3")
        with self.world.connect(port=self.proxy.port) as connection, connection.cursor() as cursor:
            import io
            lines = "".join(f"{i}\tcopied {i}\t{[i / 7] * 8}\t3\n" for i in range(200, 260))
            cursor.copy_expert("COPY items FROM STDIN", io.StringIO(lines))
        self.check(75)

    def test_restart(self):
        """B148 what is committed while no proxy runs arrives later and once"""
        self.begin([ITEMS, FILL.format(WIDE)], attributes=("title",))
        self.proxy.kill()
        self.script("UPDATE items SET title = 'meanwhile' WHERE id <= 10", "DELETE FROM items WHERE id = 1",
                    f"INSERT INTO items VALUES (40, 'new', vec(40, {WIDE}))", "UPDATE items SET id = 41 WHERE id = 2")
        self.proxy.start()
        self.proxy.await_phase("dual_writing")
        self.check(20)
        self.assertEqual(self.proxy.stop(), 0)
        self.script("TRUNCATE items", f"INSERT INTO items VALUES (1, 'only', vec(1, {WIDE}))")
        self.proxy.start()
        self.check(1)


class Values(Case):
    """Types of keys, attributes and embeddings."""
    stores = ALL

    def churn(self, table, change):
        self.script(*change)
        self.check()

    def test_composite(self):
        """B134 rows with keys of several columns"""
        self.begin([f"CREATE TABLE items (region text, number int, title text, embedding vector({WIDE}),"
                    " PRIMARY KEY (region, number))",
                    f"INSERT INTO items SELECT 'r' || i % 3, i, 'item', vec(i, {WIDE}) FROM generate_series(1, 12) i"],
                   key=("region", "number"), attributes=("title",))
        self.check(12)
        self.churn("items", ["UPDATE items SET title = 'x' WHERE number < 4", "UPDATE items SET region = 'q\"ü,' WHERE number = 5",
                             "UPDATE items SET number = -number WHERE number = 6", "DELETE FROM items WHERE number = 7"])

    def test_uuid(self):
        """B134 rows with keys of type uuid"""
        self.begin([f"CREATE TABLE items (id uuid PRIMARY KEY, title text, embedding vector({WIDE}))",
                    f"INSERT INTO items SELECT md5(i::text)::uuid, 'item', vec(i, {WIDE}) FROM generate_series(1, 12) i"],
                   attributes=("title",))
        self.check(12)
        self.churn("items", ["UPDATE items SET title = 'x' WHERE id = md5('1')::uuid",
                             "UPDATE items SET id = md5('new')::uuid WHERE id = md5('2')::uuid",
                             "DELETE FROM items WHERE id = md5('3')::uuid"])

    def test_text(self):
        """B134 rows with keys of type text of any length"""
        self.begin(["CREATE TABLE items (id text PRIMARY KEY, title text, embedding vector(8))",
                    "INSERT INTO items VALUES ('', 'empty', vec(1, 8)), ('a', 'short', vec(2, 8)),"
                    " ('~tilde', 'marked', vec(3, 8)), ('grün \"☂\"', 'unicode', vec(4, 8)),"
                    " (repeat('x', 64), 'just', vec(5, 8)), (repeat('x', 65), 'over', vec(6, 8)),"
                    " (repeat('y', 600), 'long', vec(7, 8)), ('/path?a=b&c', 'url', vec(8, 8))"],
                   attributes=("title",))
        self.check(8)
        self.churn("items", ["UPDATE items SET title = 'x'", "UPDATE items SET id = id || repeat('z', 70) WHERE id = 'a'",
                             "UPDATE items SET embedding = vec(9, 8) WHERE length(id) > 60", "DELETE FROM items WHERE id = ''"])

    def test_halfvec(self):
        """B132 halfvec and domains over vectors"""
        self.script("CREATE DOMAIN meaning AS halfvec(16)")
        self.addCleanup(self.sql, "DROP DOMAIN meaning CASCADE")
        self.begin(["CREATE TABLE items (id int PRIMARY KEY, title text, embedding meaning)",
                    "INSERT INTO items SELECT i, 'item', vec(i, 16)::halfvec FROM generate_series(1, 12) i"],
                   attributes=("title",))
        self.check(12)
        self.churn("items", ["UPDATE items SET title = 'x' WHERE id < 4",
                             "UPDATE items SET embedding = vec(id + 0.25, 16)::halfvec WHERE id > 9"])

    def test_attributes(self):
        """B132 attributes of all types are the same by copy and by stream"""
        row = ("true, 1::int2, -2, 9007199254740993, 1.1::real, 1e300, 123456789012345678901234567890.123456789,"
               " 'grün', 'v', md5('u')::uuid, '2020-02-29 12:34:56.789012', '2020-02-29 12:34:56.789012+05',"
               " '2021-03-04', '{\"b\": [1, 2.50]}', 'happy'")
        nulls = ", ".join(["NULL"] * 15)
        self.script("CREATE TYPE mood AS ENUM ('happy', 'sad')")
        self.addCleanup(self.sql, "DROP TYPE mood CASCADE")
        names = ("yes", "two", "four", "eight", "single", "twice", "exact", "words", "short", "token", "moment",
                 "instant", "day", "data", "feeling")
        types = ("boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "text", "varchar(20)",
                 "uuid", "timestamp", "timestamptz", "date", "jsonb", "mood")
        columns = ", ".join(f"{name} {type_}" for name, type_ in zip(names, types))
        self.begin([f"CREATE TABLE items (id int PRIMARY KEY, embedding vector(4), {columns})",
                    f"INSERT INTO items VALUES (1, vec(1, 4), {row}), (2, vec(2, 4), {nulls})"], attributes=names)
        self.check(2)
        self.churn("items", [f"INSERT INTO items VALUES (3, vec(3, 4), {row}), (4, vec(4, 4), {nulls})",
                             "UPDATE items SET exact = '-0.000', single = 0.1, twice = 1/3::float8, words = repeat('w', 9000)"
                             " WHERE id IN (2, 3)",
                             "UPDATE items SET data = '[]', feeling = 'sad', moment = NULL WHERE id = 1",
                             f"UPDATE items SET ({', '.join(names)}) = ({nulls}) WHERE id = 3"])
