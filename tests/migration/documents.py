"""Compares every row of a table with every document of a store: what should be there, missing, extra, different."""
import array
import dataclasses
import json
import operator
import struct
import uuid

from targets import BITS, ROUNDED, columns_of, digest_of, expression, normalised

NAMESPACE = uuid.UUID("5d9a3c1e-7f40-4e0b-9c55-706777656972")  # of migration/store/ids.cpp
# Of the largest number; of numbers of a normalised embedding, which are at most 1: rounding of 32 bits, and of 16.
ROUNDING, TOLERANCE, HALF_TOLERANCE = 5e-7, 2e-7, 1e-3
SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a migration is about, as its YAML says it."""
    table: str
    key: tuple
    embedding: str = "embedding"
    attributes: tuple = ()
    tenant: str = None
    namespace: str = ""
    metric: str = "cosine"

    def namespace_of(self, values):
        if not self.tenant:
            return self.namespace
        return self.namespace.replace("{" + self.tenant + "}", in_name(values[self.tenant]))

    @property
    def prefix(self):
        return self.namespace.partition("{")[0]


def in_name(value):
    text = "NULL" if value is None else {True: "true", False: "false"}.get(value, value) if isinstance(
        value, bool) else str(value)
    made = ""
    for byte in text.encode():
        char = chr(byte)
        plain = byte < 128 and (char.isalnum() or char in "-.")
        made += char if plain else "__" if char == "_" else f"_{byte:02x}"
    return made


@dataclasses.dataclass
class Findings:
    rows: int = 0
    documents: int = 0
    missing: int = 0
    extra: int = 0
    different: int = 0
    examples: list = dataclasses.field(default_factory=list)

    def note(self, kind, text):
        setattr(self, kind, getattr(self, kind) + 1)
        if getattr(self, kind) <= SHOWN:
            self.examples.append(f"{kind}: {text}")

    @property
    def same(self):
        return not (self.missing or self.extra or self.different)

    def __str__(self):
        counts = (f"{self.rows} rows, {self.documents} documents, {self.missing} missing, {self.extra} extra, "
                  f"{self.different} different")
        return "\n  ".join([counts, *self.examples])


def id_of(key, types, ids):
    """The id that a document with this key must have in a store with these rules."""
    text = json.dumps(list(key), separators=(",", ":"), ensure_ascii=False)
    digest = str(uuid.uuid5(NAMESPACE, text))
    if len(key) != 1:
        return digest
    value, type_ = key[0], types[0]
    if type_ in ("smallint", "integer", "bigint"):
        return value % (1 << 64) if ids.get("numbers") else str(value)
    if type_ == "uuid":
        return value
    if not ids.get("longest_text"):
        return digest
    fits = value and len(value.encode()) <= ids["longest_text"] and not value.startswith("~")
    return value if fits else "~" + digest


class Source:
    """Reads the table itself; `connect` gives connections to the primary."""

    def __init__(self, connect, spec):
        self.connect, self.spec = connect, spec
        connection = connect()
        with connection.cursor() as cursor:
            self.types = columns_of(cursor, spec.table)
            cursor.execute("SELECT relkind FROM pg_class WHERE oid = %s::regclass", (spec.table,))
            self.partitioned = cursor.fetchone()[0] == "p"
        connection.close()
        self.names = list(dict.fromkeys([*spec.key, *spec.attributes, *([spec.tenant] if spec.tenant else [])]))

    @property
    def key_types(self):
        return [self.types[name] for name in self.spec.key]

    def rows(self, binary):
        """Yields (namespace, key, values, part, embedding): its digest, or what vector_send() says."""
        what = f'vector_send("{self.spec.embedding}"::vector)'
        what = what if binary else f"md5({what})"
        names = ", ".join(expression(name, self.types[name]) for name in self.names)
        part = "tableoid::bigint" if self.partitioned else "0"
        connection = self.connect()
        connection.autocommit = False
        try:
            with connection.cursor("rows") as cursor:
                cursor.itersize = 500
                cursor.execute(f'SELECT {what}, {part}, {names} FROM {self.spec.table}'
                               f' WHERE "{self.spec.embedding}" IS NOT NULL')
                for embedding, leaf, *values in cursor:
                    by_name = dict(zip(self.names, values))
                    key = tuple(by_name[name] for name in self.spec.key)
                    yield self.spec.namespace_of(by_name), key, by_name, leaf, embedding
        finally:
            connection.close()

    def attribute(self, found, name):
        """An attribute as the store has it, as expression() would show it."""
        stored = found.attributes
        if found.id is None:  # a table: its columns have the same names
            return stored[name]
        beside = stored.get(f"pgweir_exact_{name}") or stored.get(f"pgweir_real_{name}")
        if self.types[name] == "numeric":
            return beside
        if beside is not None:
            return float(beside) if self.types[name] in ("real", "double precision") else beside
        return stored.get(name)

    def key_in(self, found, ids):
        """The key of a document, and a complaint if its id is not that key's."""
        if found.id is None:
            return tuple(found.attributes[name] for name in self.spec.key), None
        beside = found.attributes.get("pgweir_key")
        key = (found.id,)
        if beside is not None:
            key = tuple(json.loads(beside))
        elif self.key_types[0] in ("smallint", "integer", "bigint"):
            number = int(found.id)
            key = (number - (1 << 64) if number >= 1 << 63 else number,)
        wanted = id_of(key, self.key_types, ids)
        return key, None if found.id == wanted else f"{key}: id {found.id!r} instead of {wanted!r}"


def collect(source, target, gives_back, findings):
    """{(namespace, key): (attributes, part, embedding)} of the store."""
    made = {}
    attributes = [name for name in source.names if name not in source.spec.key]
    for found in target.read(source.spec.prefix):
        findings.documents += 1
        key, complaint = source.key_in(found, target.ids)
        if complaint:
            findings.note("different", complaint)
        embedding = found.digest
        if embedding is None:
            embedding = (digest_of(found.numbers) if gives_back == BITS
                         else array.array("f", found.numbers).tobytes())
        if (found.namespace, key) in made:
            findings.note("extra", f"{found.namespace} {key}: twice")
        made[found.namespace, key] = tuple(source.attribute(found, name) for name in attributes), found.part, embedding
    return made, attributes


def near(raw, sent, gives_back, half):
    """Whether an embedding of a store (floats of this machine) is that of a row, as vector_send() says it."""
    sent = bytes(sent)
    numbers = struct.unpack(f">{(len(sent) - 4) // 4}f", sent[4:])
    stored = array.array("f", raw)
    if len(stored) != len(numbers):
        return False
    tolerance = HALF_TOLERANCE if half else TOLERANCE
    if gives_back == ROUNDED:
        tolerance = ROUNDING * max(map(abs, numbers))
    else:
        numbers = normalised(numbers)
    return max(map(abs, map(operator.sub, stored, numbers))) <= tolerance


def compare(connect, spec, target):
    findings = Findings()
    source = Source(connect, spec)
    gives_back = target.gives_back(spec.metric)
    half = source.types[spec.embedding].startswith("halfvec")
    stored, attributes = collect(source, target, gives_back, findings)
    for namespace, key, values, part, embedding in source.rows(binary=gives_back != BITS):
        findings.rows += 1
        found = stored.pop((namespace, key), None)
        if found is None:
            findings.note("missing", f"{namespace} {key}")
            continue
        wanted = tuple(values[name] for name in attributes)
        if found[0] != wanted:
            findings.note("different", f"{namespace} {key}: attributes {found[0]} instead of {wanted}")
        elif found[1] != part:
            findings.note("different", f"{namespace} {key}: partition {found[1]} instead of {part}")
        elif not (found[2] == embedding if gives_back == BITS else near(found[2], embedding, gives_back, half)):
            findings.note("different", f"{namespace} {key}: embedding")
    for namespace, key in stored:
        findings.note("extra", f"{namespace} {key}")
    return findings
