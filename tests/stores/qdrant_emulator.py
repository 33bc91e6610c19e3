#!/usr/bin/env python3
"""An emulator of Qdrant's REST interface: collections, payload indexes, points. See emulator.py for
its options, and for how to make it misbehave. Stricter than the real one: unknown fields and ids
given twice are refused, and filters need an index, as in strict mode."""
import heapq
import re
import sys

import emulator
from emulator import Refused
from qdrant_filter import Filter, bad, check_fields, check_id, id_order, payload_key
from qdrant_vectors import Shape, parse_points

MAX_BODY = 32 << 20
DISTANCES = ("Cosine", "Euclid", "Dot", "Manhattan")
INDEX_TYPES = ("keyword", "integer", "float", "bool", "datetime", "uuid", "text", "geo")
FORBIDDEN_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
WRITE_QUERY = {"wait", "ordering", "timeout"}
READ_QUERY = {"consistency", "timeout"}


class Collection:
    """Points are (vector, payload)."""

    def __init__(self, size, distance, half):
        self.shape = Shape(size, distance, half)
        self.points = {}
        self.indexes = {}


def check_query(request, allowed):
    unknown = set(request.query) - allowed
    if unknown:
        raise bad(f"unknown parameters {sorted(unknown)}")
    if request.query.get("wait", "false") not in ("true", "false"):
        raise bad("wait: expected a boolean")
    if request.query.get("ordering", "weak") not in ("weak", "medium", "strong"):
        raise bad("ordering: unknown variant")
    consistency = request.query.get("consistency", "1")
    if consistency not in ("majority", "quorum", "all") and not consistency.isdigit():
        raise bad("consistency: unknown variant")


def check_payload(given):
    if not isinstance(given, dict):
        raise bad("Format error in JSON body: payload: expected a map")
    return given


def unique(ids):
    if len(set(ids)) != len(ids):
        raise bad("the emulator refuses ids that are given twice")
    return ids


class Qdrant(emulator.Emulator):
    def new_state(self):
        return {}

    def allowed(self, headers):
        return self.api_key is None or self.api_key in (
            headers.get("api-key"), (headers.get("Authorization") or "").removeprefix("Bearer "))

    def error_body(self, refusal):
        return emulator.json.dumps(
            {"status": {"error": str(refusal)}, "time": 0.0, "result": None}).encode()

    def carry_out(self, request):
        if len(request.body) > MAX_BODY:
            raise Refused(413, "Payload Too Large: JSON payload is larger than allowed")
        result, changed = self.route(request)
        return {"result": result, "status": "ok", "time": 0.001, "usage": None}, changed

    def route(self, request):
        match request.method, request.path:
            case "GET", ["collections"]:
                return {"collections": [{"name": name} for name in self.state]}, False
            case "GET", ["collections", name]:
                return self.info(self.existing(name)), False
            case "GET", ["collections", name, "exists"]:
                return {"exists": name in self.state}, False
            case "PUT", ["collections", name]:
                return self.create(name, request.json()), True
            case "DELETE", ["collections", name]:
                return self.state.pop(name, None) is not None, True
            case ("POST" | "PUT"), ["collections", name, ("points" | "index"), *_]:
                return self.route_points(self.existing(name), request)
        raise Refused(404, f"no such endpoint: {request.method} {request.target}")

    def route_points(self, collection, request):
        upsert = (request.method, request.path[2:]) == ("PUT", ["points"])
        body = parse_points(request) if upsert else request.json()
        reads = {"count": self.count, "scroll": self.scroll, "query": self.query}
        match request.method, request.path[2:]:
            case "PUT", ["index"]:
                write = self.index
            case "PUT", ["points"]:
                write = self.upsert
            case "POST", ["points", "delete"]:
                write = self.delete
            case ("POST" | "PUT"), ["points", "payload"]:
                write = self.set_payload if request.method == "POST" else self.overwrite_payload
            case "POST", ["points", "batch"]:
                check_query(request, WRITE_QUERY)
                return [self.done(request) for apply in self.batch(collection, body) if apply()], True
            case "POST", ["points"]:
                check_query(request, READ_QUERY)
                return self.retrieve(collection, body), False
            case "POST", ["points", ("count" | "scroll" | "query") as name]:
                check_query(request, READ_QUERY)
                return reads[name](collection, body), False
            case _:
                raise Refused(404, f"no such endpoint: {request.method} {request.target}")
        check_query(request, WRITE_QUERY)
        write(collection, body)()
        return self.done(request), True

    @staticmethod
    def done(request):
        waited = request.query.get("wait") == "true"
        return {"operation_id": 1, "status": "completed" if waited else "acknowledged"}

    def existing(self, name):
        if name not in self.state:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.state[name]

    def create(self, name, body):
        if not name or len(name) > 255 or FORBIDDEN_NAME.search(name):
            raise Refused(422, f"Validation error in path parameters: collection name {name!r}")
        check_fields("collection", body, ("vectors",), ("vectors",))
        vectors = body["vectors"]
        check_fields("vectors", vectors, ("size", "distance", "datatype", "on_disk"), ("size", "distance"))
        if type(vectors["size"]) is not int or not 1 <= vectors["size"] <= 65536:
            raise Refused(422, "Validation error: size must be 1..65536")
        if vectors["distance"] not in DISTANCES:
            raise bad("Format error in JSON body: unknown variant of Distance")
        if vectors.get("datatype", "float32") not in ("float32", "float16"):
            raise bad("Format error in JSON body: unknown variant of Datatype")
        if name in self.state:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        self.state[name] = Collection(
            vectors["size"], vectors["distance"], vectors.get("datatype") == "float16")
        return True

    @staticmethod
    def info(collection):
        shape = collection.shape
        vectors = {"size": shape.size, "distance": shape.distance}
        if shape.half:
            vectors["datatype"] = "float16"
        return {"status": "green", "optimizer_status": "ok", "segments_count": 1,
                "points_count": len(collection.points), "indexed_vectors_count": 0,
                "config": {"params": {"vectors": vectors, "shard_number": 1}},
                "payload_schema": {path: {"data_type": type_, "points": 0}
                                   for path, type_ in collection.indexes.items()}}

    @staticmethod
    def index(collection, body):
        check_fields("index", body, ("field_name", "field_schema"), ("field_name", "field_schema"))
        payload_key(body["field_name"])
        if body["field_schema"] not in INDEX_TYPES:
            raise bad("Format error in JSON body: unknown variant of PayloadSchemaType")
        return lambda: collection.indexes.__setitem__(body["field_name"], body["field_schema"])

    @staticmethod
    def upsert(collection, body):
        check_fields("upsert", body, ("points",), ("points",))
        made, shape = {}, collection.shape
        for point in body["points"]:
            check_fields("point", point, ("id", "vector", "payload"), ("id", "vector"))
            payload = check_payload(point.get("payload") or {})
            given = point["vector"]
            make = shape.from_text if isinstance(given, bytes) else shape.from_numbers
            made[check_id(point["id"])] = (make(given), payload)
        if len(made) != len(body["points"]):
            raise bad("the emulator refuses ids that are given twice")
        return lambda: collection.points.update(made) or True

    @staticmethod
    def delete(collection, body):
        check_fields("delete", body, ("points", "filter"))
        if len(body) != 1:
            raise bad("Format error in JSON body: data did not match any variant of PointsSelector")
        if "points" in body:
            ids = unique([check_id(each) for each in body["points"]])
        else:
            test = Filter(collection.indexes).compile(body["filter"])
            ids = [id_ for id_, (_, payload) in collection.points.items() if test(id_, payload)]

        def apply():
            for id_ in ids:
                collection.points.pop(id_, None)
            return True

        return apply

    def set_payload(self, collection, body):
        return self.payload_writer(collection, body, lambda old, new: {**old, **new})

    def overwrite_payload(self, collection, body):
        return self.payload_writer(collection, body, lambda old, new: new)

    @staticmethod
    def payload_writer(collection, body, merge):
        check_fields("payload", body, ("payload", "points"), ("payload", "points"))
        new = check_payload(body["payload"])
        ids = unique([check_id(each) for each in body["points"]])
        for id_ in ids:
            if id_ not in collection.points:
                raise Refused(404, f"Not found: No point with id {id_} found")

        def apply():
            for id_ in ids:
                vector, old = collection.points[id_]
                collection.points[id_] = (vector, merge(old, new))
            return True

        return apply

    def batch(self, collection, body):
        check_fields("batch", body, ("operations",), ("operations",))
        known = {"upsert": self.upsert, "delete": self.delete, "set_payload": self.set_payload,
                 "overwrite_payload": self.overwrite_payload}
        made = []
        for operation in body["operations"]:
            check_fields("operation", operation, known)
            if len(operation) != 1:
                raise bad("Format error in JSON body: an operation has one member")
            [(name, given)] = operation.items()
            made.append(known[name](collection, given))
        return made

    @staticmethod
    def show(collection, id_, body, shown):
        vector, payload = collection.points[id_]
        wanted = body.get("with_payload", False)
        if wanted is True:
            shown["payload"] = payload
        elif isinstance(wanted, list):
            names = [payload_key(path) for path in wanted]
            shown["payload"] = {name: payload[name] for name in names if name in payload}
        elif wanted is not False:
            raise bad("Format error in JSON body: data did not match any variant of WithPayload")
        if body.get("with_vector", False):
            shown["vector"] = collection.shape.numbers(vector).tolist()
        return shown

    def retrieve(self, collection, body):
        check_fields("retrieve", body, ("ids", "with_payload", "with_vector"), ("ids",))
        ids = unique([check_id(each) for each in body["ids"]])
        return [self.show(collection, id_, body, {"id": id_})
                for id_ in ids if id_ in collection.points]

    def scroll(self, collection, body):
        check_fields("scroll", body, ("limit", "offset", "with_payload", "with_vector", "filter"))
        limit = body.get("limit", 10)
        if type(limit) is not int or limit < 1:
            raise Refused(422, "Validation error: limit must be at least 1")
        ids = iter(collection.points)
        if body.get("offset") is not None:
            offset = id_order(check_id(body["offset"]))
            ids = (id_ for id_ in ids if id_order(id_) >= offset)
        if "filter" in body:
            test = Filter(collection.indexes).compile(body["filter"])
            ids = (id_ for id_ in ids if test(id_, collection.points[id_][1]))
        found = heapq.nsmallest(limit + 1, ids, key=id_order)
        return {"points": [self.show(collection, id_, body, {"id": id_}) for id_ in found[:limit]],
                "next_page_offset": found[limit] if len(found) > limit else None}

    @staticmethod
    def count(collection, body):
        check_fields("count", body, ("exact", "filter"))
        if "filter" not in body:
            return {"count": len(collection.points)}
        test = Filter(collection.indexes).compile(body["filter"])
        return {"count": sum(test(id_, payload) for id_, (_, payload) in collection.points.items())}

    def query(self, collection, body):
        check_fields("query", body, ("query", "limit", "filter", "params", "with_payload", "with_vector"),
                     ("query",))
        check_fields("params", body.get("params", {}), ("exact", "hnsw_ef", "indexed_only"))
        limit = body.get("limit", 10)
        if type(limit) is not int or limit < 1:
            raise Refused(422, "Validation error: limit must be at least 1")
        shape = collection.shape
        whole = Shape(shape.size, shape.distance, False)
        score = shape.score(whole.numbers(whole.from_numbers(body["query"])))
        test = Filter(collection.indexes).compile(body["filter"]) if "filter" in body else None
        scored = ((score(vector), id_) for id_, (vector, payload) in collection.points.items()
                  if test is None or test(id_, payload))
        nearest = heapq.nsmallest if shape.distance in ("Euclid", "Manhattan") else heapq.nlargest
        return {"points": [
            self.show(collection, id_, body, {"id": id_, "version": 1, "score": value})
            for value, id_ in nearest(limit, scored, key=lambda each: each[0])]}


if __name__ == "__main__":
    emulator.main(Qdrant)
    sys.exit(0)
