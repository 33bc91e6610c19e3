#!/usr/bin/env python3
"""An emulator of turbopuffer's API v2: writes, queries, schema, metadata, list. See emulator.py for
its options, and for how to make it misbehave."""
import array
import base64
import binascii
import math
import struct
import sys

import emulator
from emulator import Refused
from turbopuffer_query import run_query
from turbopuffer_schema import (
    ID_CHECKS, MAX_DIMENSIONS, METRICS, NAME, VECTOR, Filters, attribute_from, bad, inferred)

MAX_BODY = 512 << 20
MAX_FILTER_DELETES = 5_000_000
WRITE_FIELDS = {
    "upsert_rows", "patch_rows", "deletes", "delete_by_filter", "delete_by_filter_allow_partial",
    "upsert_condition", "patch_condition", "delete_condition", "distance_metric", "schema",
    "return_affected_ids", "disable_backpressure"}


class Namespace:
    """Documents are [vector as bytes, attributes that are not null]."""

    def __init__(self):
        self.id_type = None
        self.dimensions = None
        self.half = False
        self.metric = None
        self.attributes = {}
        self.documents = {}

    def attribute(self, name):
        found = self.attributes.get(name) if isinstance(name, str) else None
        if found is None:
            raise bad(f"attribute {name!r} not found in schema")
        return found

    def vector_type(self):
        return f"[{self.dimensions}]{'f16' if self.half else 'f32'}"

    def pack(self, given):
        """A vector as it is kept: raw little-endian numbers."""
        if isinstance(given, str):
            try:
                raw = binascii.a2b_base64(given, strict_mode=True)
            except binascii.Error as error:
                raise bad(f"vector: {error}") from None
            numbers = array.array("f")
            if len(raw) % 4:
                raise bad("vector: not a number of 32-bit floats")
            numbers.frombytes(raw)
        elif isinstance(given, list) and all(type(each) in (int, float) for each in given):
            numbers = array.array("f", given)
            raw = numbers.tobytes()
        else:
            raise Refused(422, "vector: expected numbers or base64")
        if not math.isfinite(sum(numbers)):
            raise bad("vector: a number is not finite")
        if self.dimensions is None:
            self.dimensions = len(numbers)
        if len(numbers) != self.dimensions:
            raise bad(f"vector has {len(numbers)} dimensions, expected {self.dimensions}")
        if self.half:
            try:
                raw = struct.pack(f"<{len(numbers)}e", *numbers)
            except OverflowError:
                raise bad("vector: out of range of f16") from None
        return raw

    def numbers(self, raw):
        if self.half:
            return array.array("f", struct.unpack(f"<{len(raw) // 2}e", raw))
        return array.array("f", raw)

    def copy(self):
        made = Namespace()
        made.__dict__.update(self.__dict__)
        made.attributes = dict(self.attributes)
        return made  # documents are shared until the write is known to be good


def apply_schema(namespace, schema):
    if not isinstance(schema, dict):
        raise Refused(422, "schema: expected a map")
    for name, given in schema.items():
        if name == "id":
            set_id_type(namespace, given["type"] if isinstance(given, dict) else given)
        elif name == "vector":
            set_vector(namespace, given)
        else:
            made = attribute_from(name, given)
            known = namespace.attributes.get(name)
            if known and known.type != made.type:
                raise bad(f"attribute {name!r} is of type {known.type}, not {made.type}")
            namespace.attributes[name] = made
    if len(namespace.attributes) > 1024:
        raise bad("more than 1024 attributes")


def set_id_type(namespace, type_):
    if type_ not in ID_CHECKS:
        raise bad(f"ids cannot be of type {type_!r}")
    if namespace.id_type not in (None, type_):
        raise bad(f"ids are of type {namespace.id_type}, not {type_}")
    namespace.id_type = type_


def set_vector(namespace, given):
    if not isinstance(given, dict) or given.get("ann") is not True:
        raise bad("the `vector` attribute must have `ann` set to `true`")
    match = VECTOR.fullmatch(str(given.get("type")))
    if not match or int(match[1]) > MAX_DIMENSIONS or set(given) - {"type", "ann"}:
        raise bad(f"no schema of a vector: {given!r}")
    if namespace.documents and namespace.dimensions is None:
        raise bad("Vector provided for namespace without vector attribute")
    if namespace.dimensions is not None and namespace.vector_type() != given["type"]:
        raise bad(f"vectors are {namespace.vector_type()}, not {given['type']}")
    namespace.dimensions, namespace.half = int(match[1]), match[2] == "f16"


class Write:
    """One write request: checked first, then applied whole."""

    def __init__(self, namespace, body, most_deleted):
        self.namespace, self.body, self.most_deleted = namespace, body, most_deleted
        self.seen = set()
        self.counts = {}

    def check_id(self, id_):
        if type(id_) not in (int, str):
            raise Refused(422, "id: data did not match any variant of untagged enum Id")
        if self.namespace.id_type is None:
            self.namespace.id_type = "uint" if type(id_) is int else "string"
        if not ID_CHECKS[self.namespace.id_type](id_):
            raise bad(f"ids are of type {self.namespace.id_type}, got {id_!r:.80}")
        if id_ in self.seen:
            raise bad(f"duplicate document id {id_!r}")
        self.seen.add(id_)

    def rows(self, name):
        rows = self.body.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise Refused(422, f"{name}: expected a sequence of maps")
        for row in rows:
            if "id" not in row:
                raise Refused(422, f"{name}: missing field `id`")
        return rows

    def check_attributes(self, row):
        attributes = self.namespace.attributes
        for name, value in row.items():
            known = attributes.get(name)
            if known is None:
                if value is None:
                    raise bad(f"the type of attribute {name!r} cannot be inferred: declare it")
                known = attributes[name] = inferred(name, value)
            if value is not None:
                known.check(value)

    def check_metric(self):
        metric = self.body.get("distance_metric")
        if metric is None:
            raise bad("distance_metric must be specified for write to namespace with a vector")
        if metric not in METRICS:
            raise Refused(422, f"distance_metric: unknown variant `{metric}`")
        if self.namespace.metric not in (None, metric):
            raise bad(f"distance metric mismatch, expected {self.namespace.metric}, got {metric}")
        self.namespace.metric = metric

    def prepare_upserts(self):
        made = []
        for row in self.rows("upsert_rows"):
            id_ = row.pop("id")
            self.check_id(id_)
            vector = row.pop("vector", None)
            if (vector is None) != (self.namespace.dimensions is None and bool(self.namespace.documents)):
                if vector is None:
                    raise bad(f"document {id_!r} has no vector")
                raise bad("Vector provided for namespace without vector attribute")
            raw = self.namespace.pack(vector) if vector is not None else None
            self.check_attributes(row)
            made.append((id_, raw, {name: value for name, value in row.items() if value is not None}))
        if made and self.namespace.dimensions is not None:
            self.check_metric()
        return made

    def prepare_patches(self):
        made = []
        for row in self.rows("patch_rows"):
            id_ = row.pop("id")
            self.check_id(id_)
            if "vector" in row:
                raise bad("the vector cannot be patched")
            self.check_attributes(row)
            made.append((id_, row))
        return made

    def prepare_deletes(self):
        ids = self.body.get("deletes", [])
        if not isinstance(ids, list):
            raise Refused(422, "deletes: data did not match any variant of untagged enum IdVec")
        for id_ in ids:
            self.check_id(id_)
        return ids

    def condition(self, name, writes):
        if name not in self.body:
            return None
        if writes not in self.body:
            raise bad(f"{name} without {writes}")
        return Filters(self.namespace, references=True).compile(self.body[name])

    def prepare(self):
        """Checks everything; returns what applies it."""
        if self.body.get("schema") is not None:
            apply_schema(self.namespace, self.body["schema"])
        elif "schema" in self.body:
            raise Refused(422, "schema: expected a map")
        upserts, patches, deletes = (
            self.prepare_upserts(), self.prepare_patches(), self.prepare_deletes())
        conditions = [self.condition("upsert_condition", "upsert_rows"),
                      self.condition("patch_condition", "patch_rows"),
                      self.condition("delete_condition", "deletes")]
        by_filter = None
        if "delete_by_filter" in self.body:
            by_filter = Filters(self.namespace, references=False).compile(self.body["delete_by_filter"])

        def apply():
            if by_filter:
                self.delete_by_filter(by_filter)
            self.upsert(upserts, conditions[0])
            self.patch(patches, conditions[1])
            self.delete(deletes, conditions[2])

        return apply

    def delete_by_filter(self, test):
        documents = self.namespace.documents
        found = [id_ for id_, (_, old) in documents.items() if test(id_, old, {})]
        if len(found) > self.most_deleted:
            if not self.body.get("delete_by_filter_allow_partial"):
                raise bad("delete_by_filter matches too many documents")
            found = found[:self.most_deleted]
            self.counts["rows_remaining"] = True
        for id_ in found:
            del documents[id_]
        self.counts["rows_deleted"] = len(found)

    def upsert(self, rows, test):
        documents = self.namespace.documents
        count = 0
        for id_, raw, new in rows:
            old = documents.get(id_)
            if old is None or test is None or test(id_, old[1], new):
                documents[id_] = (raw, new)
                count += 1
        if "upsert_rows" in self.body:
            self.counts["rows_upserted"] = count

    def patch(self, rows, test):
        documents = self.namespace.documents
        count = 0
        for id_, new in rows:
            old = documents.get(id_)
            if old is not None and (test is None or test(id_, old[1], new)):
                merged = {**old[1], **new}
                documents[id_] = (old[0], {n: v for n, v in merged.items() if v is not None})
                count += 1
        if "patch_rows" in self.body:
            self.counts["rows_patched"] = count

    def delete(self, ids, test):
        documents = self.namespace.documents
        count = 0
        for id_ in ids:
            old = documents.get(id_)
            # $ref_new is null for every attribute here.
            if old is not None and (test is None or test(id_, old[1], {})):
                del documents[id_]
                count += 1
        if "deletes" in self.body:
            self.counts["rows_deleted"] = self.counts.get("rows_deleted", 0) + count


class Turbopuffer(emulator.Emulator):
    def new_state(self):
        return {}

    def allowed(self, headers):
        return self.api_key is None or headers.get("Authorization") == f"Bearer {self.api_key}"

    def error_body(self, refusal):
        return emulator.json.dumps({"status": "error", "error": str(refusal)}).encode()

    def carry_out(self, request):
        match request.method, request.path:
            case "GET", ["v1", "namespaces"]:
                return self.list(request.query), False
            case "POST", ["v2", "namespaces", name]:
                return self.write(self.checked(name), request), True
            case "POST", ["v2", "namespaces", name, "query"]:
                return run_query(self.existing(name), request.json()), False
            case "GET", [("v1" | "v2"), "namespaces", name, "metadata"]:
                return self.metadata(self.existing(name)), False
            case "GET", ["v1", "namespaces", name, "schema"]:
                return self.schema(self.existing(name), True), False
            case "POST", ["v1", "namespaces", name, "schema"]:
                namespace = self.existing(name)
                changed = namespace.copy()
                apply_schema(changed, request.json())
                self.state[name] = changed
                return self.schema(changed, True), True
            case "DELETE", ["v2", "namespaces", name]:
                self.existing(name)
                del self.state[name]
                return {"status": "OK"}, True
        raise Refused(404, f"no such endpoint: {request.method} {request.target}")

    def checked(self, name):
        if not NAME.fullmatch(name):
            raise bad("Invalid URL: Namespace contains invalid characters, must be [A-Za-z0-9-_.]")
        return name

    def existing(self, name):
        if self.checked(name) not in self.state:
            raise Refused(404, f"namespace '{name}' was not found")
        return self.state[name]

    def list(self, query):
        if set(query) - {"prefix", "cursor", "page_size"}:
            raise bad(f"unknown parameters: {sorted(query)}")
        size = query.get("page_size", "100")
        if not size.isdigit() or not 1 <= int(size) <= 1000:
            raise bad("page_size must be between 1 and 1000")
        after = base64.b64decode(query.get("cursor", "")).decode()
        found = sorted(n for n in self.state if n.startswith(query.get("prefix", "")) and n > after)
        page = found[:int(size)]
        more = len(found) > len(page)
        return {"namespaces": [{"id": name} for name in page],
                "next_cursor": base64.b64encode(page[-1].encode()).decode() if more else None}

    def schema(self, namespace, short):
        shown = {name: attribute.shown() for name, attribute in namespace.attributes.items()}
        shown["id"] = {"type": namespace.id_type, "filterable": None, "full_text_search": None}
        if namespace.dimensions is not None:
            shown["vector"] = {"type": namespace.vector_type(), "filterable": None,
                               "ann": True if short else {"distance_metric": namespace.metric}}
        return shown

    def metadata(self, namespace):
        return {"schema": self.schema(namespace, False), "index": {"status": "up-to-date"},
                "approx_row_count": len(namespace.documents), "encryption": {"sse": True}}

    def write(self, name, request):
        if len(request.body) > MAX_BODY:
            raise Refused(413, "payload too large")
        body = request.json()
        if not isinstance(body, dict):
            raise Refused(422, "expected a map")
        unknown = set(body) - WRITE_FIELDS
        if unknown:
            raise bad(f"unknown fields {sorted(unknown)}")
        known = self.state.get(name)
        if known is None and not body.get("upsert_rows"):
            raise Refused(404, f"namespace '{name}' was not found")
        namespace = known.copy() if known else Namespace()
        write = Write(namespace, body, self.limits.get("filter_deletes", MAX_FILTER_DELETES))
        apply = write.prepare()
        apply()
        self.state[name] = namespace
        rows = sum(write.counts.get(each, 0) for each in ("rows_upserted", "rows_patched", "rows_deleted"))
        return {"status": "OK", "message": "", "rows_affected": rows, **write.counts,
                "billing": {"billable_logical_bytes_written": len(request.body)},
                "performance": {"server_total_ms": 1}}


if __name__ == "__main__":
    emulator.main(Turbopuffer)
    sys.exit(0)
