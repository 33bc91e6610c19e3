"""What the end-to-end cases share: a table, a proxy with one migration to each store, and the comparison."""
import dataclasses
import unittest

from documents import Spec
from harness import Refused, World, migrations_of
from targets import Broken, wait_for

__all__ = ["ALL", "Broken", "Case", "Refused", "Spec", "wait_for"]

ALL = ("postgres", "chroma", "turbopuffer", "qdrant")
# A vector that is different for each seed, and whose numbers need all their bits.
VEC = ("CREATE OR REPLACE FUNCTION vec(seed float8, n int) RETURNS vector IMMUTABLE LANGUAGE sql AS"
       " $$SELECT array_agg(sin(seed * i + 1))::vector FROM generate_series(1, n) i$$")
WIDE = 1536  # dimensions that are TOASTed


class Case(unittest.TestCase):
    """A class shares its world; a case finds it empty."""
    stores, own_source, replicas = ALL, False, 0

    @classmethod
    def setUpClass(cls):
        cls.world = World(cls.stores, cls.replicas, cls.own_source)
        cls.addClassCleanup(cls.world.destroy)
        cls.world.sql(VEC)

    def setUp(self):
        self.addCleanup(self.world.reset)

    def sql(self, text, *parameters, port=None):
        return self.world.sql(text, *parameters, port=port)

    def script(self, *statements):
        for statement in statements:
            self.sql(statement)

    def together(self, *statements):
        """In one transaction."""
        self.sql("; ".join(["BEGIN", *statements, "COMMIT"]))

    def describe(self, table="items", key=("id",), attributes=(), tenant=None, namespace="", kinds=None, **options):
        """Migrations of a table to the case's stores."""
        spec = Spec(table=f"public.{table}", key=key, attributes=attributes, tenant=tenant, namespace=namespace)
        return migrations_of(self.world, spec, kinds or self.stores, **options)

    def begin(self, ddl, **options):
        """Makes the table, starts a proxy and the migrations, and waits for the copies."""
        for statement in [ddl] if isinstance(ddl, str) else ddl:
            self.sql(statement)
        extra = options.pop("proxy", {})
        self.proxy = self.world.proxy(self.describe(**options), **extra)
        self.proxy.begin()
        return self.proxy

    def check(self, rows=None, proxy=None, seconds=60):
        """The stores have exactly what the table has, and that is as many rows as are wanted."""
        proxy = proxy or self.proxy
        proxy.settle(seconds=seconds)
        for one in proxy.migrations.values():
            with self.subTest(store=one.store.kind):
                self.compare(one, rows)

    def compare(self, migration, rows=None):
        found = migration.compare(self.world)
        if not found.same:
            self.fail(f"{migration.name}: {found}\n{self.proxy.tail()}")
        if rows is not None:
            self.assertEqual(found.rows, rows)

    def count(self, migration):
        """Documents in its store now."""
        return sum(1 for _ in migration.store.read(migration.spec.prefix))

    def phases(self):
        return {name: row["phase"] for name, row in self.proxy.status().items()}

    def with_spec(self, migration, **changes):
        migration.spec = dataclasses.replace(migration.spec, **changes)
        return migration
