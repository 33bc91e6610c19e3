#!/usr/bin/env python3
"""Tests of the emulators themselves: what they refuse, how they misbehave, what survives kill -9."""
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
UUID = "769c134d-07b8-4225-954a-b6cc5ffc320c"


class Running:
    """An emulator as a process."""

    def __init__(self, name, *options):
        self.command = [sys.executable, str(HERE / f"{name}_emulator.py"), *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, method, target, body=None, headers=None):
        """(status, parsed body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        try:
            connection.request(method, target, data, headers or {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def control(self, **wish):
        return self.ask("POST", "/_control", wish)[1]


class EmulatorCase(unittest.TestCase):
    name = None

    @classmethod
    def setUpClass(cls):
        cls.at = Running(cls.name)

    @classmethod
    def tearDownClass(cls):
        cls.at.kill()

    def setUp(self):
        self.at.control(drop_state=True, faults=[])


class TurbopufferTest(EmulatorCase):
    name = "turbopuffer"
    SCHEMA = {"vector": {"type": "[2]f32", "ann": True}, "n": "int", "u": "uint", "f": "float",
              "b": "bool", "t": "string", "hidden": {"type": "string", "filterable": False}}

    def write(self, name="ns", **body):
        return self.at.ask("POST", f"/v2/namespaces/{name}", body)

    def query(self, **body):
        return self.at.ask("POST", "/v2/namespaces/ns/query", body)

    def begin(self, *rows, **more):
        status, _ = self.write(distance_metric="cosine_distance", schema=self.SCHEMA,
                               upsert_rows=list(rows) or [{"id": 1, "vector": [1, 2], "n": 5}], **more)
        self.assertEqual(status, 200)

    def test_writes_that_are_refused(self):
        self.begin()
        self.at.control(take="refused")
        row, metric = {"id": 2, "vector": [1, 2]}, "cosine_distance"
        refused = [
            {"upsert_rows": [row]},
            {"upsert_rows": [row], "distance_metric": "euclidean_squared"},
            {"upsert_rows": [row], "distance_metric": "dot_product"},
            {"upsert_rows": [row, row], "distance_metric": metric},
            {"upsert_rows": [row], "deletes": [2], "distance_metric": metric},
            {"upsert_rows": [{"id": 2}], "distance_metric": metric},
            {"upsert_rows": [{"vector": [1, 2]}], "distance_metric": metric},
            {"upsert_rows": [{"id": "2", "vector": [1, 2]}], "distance_metric": metric},
            {"upsert_rows": [{"id": -1, "vector": [1, 2]}], "distance_metric": metric},
            {"upsert_rows": [{"id": 1 << 64, "vector": [1, 2]}], "distance_metric": metric},
            {"upsert_rows": [{"id": 2, "vector": [1, 2, 3]}], "distance_metric": metric},
            {"upsert_rows": [{"id": 2, "vector": "AACAPw=="}], "distance_metric": metric},
            {"upsert_rows": [{"id": 2, "vector": "no base64"}], "distance_metric": metric},
            {"upsert_rows": [{"id": 2, "vector": "AAAAAAAAgH8="}], "distance_metric": metric},
            {"upsert_rows": [{**row, "$x": 1}], "distance_metric": metric},
            {"upsert_rows": [{**row, "n": "5"}], "distance_metric": metric},
            {"upsert_rows": [{**row, "n": True}], "distance_metric": metric},
            {"upsert_rows": [{**row, "n": 1 << 63}], "distance_metric": metric},
            {"upsert_rows": [{**row, "u": -1}], "distance_metric": metric},
            {"upsert_rows": [{**row, "f": 1}], "distance_metric": metric},
            {"upsert_rows": [{**row, "b": 1}], "distance_metric": metric},
            {"upsert_rows": [{**row, "t": "x" * 4097}], "distance_metric": metric},
            {"upsert_rows": [{**row, "new": 1.5}], "distance_metric": metric},
            {"patch_rows": [{"id": 1, "vector": [1, 2]}]},
            {"patch_rows": [{"id": 1, "n": "x"}]},
            {"deletes": ["x"]},
            {"deletes": [True]},
            {"deletes": [1], "unknown": 1},
            {"deletes": [1], "delete_condition": ["hidden", "Eq", "x"]},
            {"deletes": [1], "delete_condition": ["n", "Lte", "x"]},
            {"deletes": [1], "delete_condition": ["n", "Lte", 1.0]},
            {"deletes": [1], "delete_condition": ["nowhere", "Eq", 1]},
            {"deletes": [1], "delete_condition": ["n", "Like", 1]},
            {"delete_by_filter": ["n", "Eq", {"$ref_new": "n"}]},
            {"schema": {"n": "string"}},
            {"schema": {"vector": {"type": "[3]f32", "ann": True}}},
            {"schema": {"vector": "[2]f32"}},
            {"schema": {"x": {"type": "decimal"}}},
            {"schema": {"x": {"filterable": True}}},
        ]
        for body in refused:
            with self.subTest(body=body):
                self.assertIn(self.write(**body)[0], (400, 422))
        self.assertEqual(self.query(aggregate_by={"n": ["Count"]})[1]["aggregations"], {"n": 1})
        self.assertEqual(len(self.at.control(take="refused")), len(refused))

    def test_names_and_ids(self):
        for name in ("a%20b", "a" * 129, "%C3%BC"):
            self.assertEqual(self.write(name, upsert_rows=[{"id": 1, "vector": [1]}],
                                        distance_metric="cosine_distance")[0], 400)
        row = {"vector": [1, 2]}
        for schema, good, wrong in (("uuid", UUID, "x"), ("string", "x" * 64, "x" * 65), ("uint", 7, "7")):
            name = "ids-" + schema
            body = {"distance_metric": "cosine_distance", "schema": {"id": schema}}
            self.assertEqual(self.write(name, upsert_rows=[{"id": wrong, **row}], **body)[0], 400)
            self.assertEqual(self.write(name, upsert_rows=[{"id": good, **row}], **body)[0], 200)

    def test_missing_namespaces(self):
        self.assertEqual(self.query(aggregate_by={"n": ["Count"]})[0], 404)
        self.assertEqual(self.write(deletes=[1])[0], 404)
        self.assertEqual(self.write(schema={"n": "int"})[0], 404)
        self.assertEqual(self.at.ask("GET", "/v1/namespaces/ns/metadata")[0], 404)

    def test_conditions(self):
        self.begin({"id": 1, "vector": [1, 2], "n": 5}, {"id": 2, "vector": [1, 2]})
        newer = ["n", "Lt", {"$ref_new": "n"}]
        answer = self.write(
            distance_metric="cosine_distance", upsert_condition=newer,
            upsert_rows=[{"id": 1, "vector": [1, 2], "n": 4}, {"id": 2, "vector": [1, 2], "n": 4},
                         {"id": 3, "vector": [1, 2], "n": 1}])[1]
        self.assertEqual(answer["rows_upserted"], 2)  # Lt holds for null; a missing one is written
        answer = self.write(patch_condition=newer, patch_rows=[
            {"id": 1, "n": 5}, {"id": 2, "n": 6}, {"id": 404, "n": 6}])[1]
        self.assertEqual(answer["rows_patched"], 1)
        answer = self.write(deletes=[1, 2, 3, 404], delete_condition=["n", "Lte", 5])[1]
        self.assertEqual(answer["rows_deleted"], 2)
        rows = self.query(rank_by=["id", "asc"], limit=10, include_attributes=["n"])[1]["rows"]
        self.assertEqual(rows, [{"id": 2, "n": 6}])

    def test_queries_that_are_refused(self):
        self.begin()
        ids = {"rank_by": ["id", "asc"], "limit": 1}
        for body in (
                {"rank_by": ["id", "asc"]}, {**ids, "limit": 0}, {**ids, "limit": 10_001},
                {**ids, "unknown": 1}, {**ids, "include_attributes": ["nowhere"]},
                {**ids, "consistency": {"level": "weak"}}, {**ids, "vector_encoding": "hex"},
                {**ids, "filters": ["hidden", "Eq", "x"]}, {**ids, "filters": ["n", "Eq", 1.5]},
                {**ids, "filters": ["id", "In", ["1"]]}, {**ids, "filters": ["And", []]},
                {"rank_by": ["vector", "kNN", [1, 2]], "limit": 1},
                {"rank_by": ["vector", "ANN", [1, 2, 3]], "limit": 1},
                {"aggregate_by": {"n": ["Count"]}, "top_k": 1},
                {"aggregate_by": {"n": ["Count"], "m": ["Count"]}}):
            with self.subTest(body=body):
                self.assertIn(self.query(**body)[0], (400, 422))

    def test_null_in_filters(self):
        self.begin({"id": 1, "vector": [1, 2], "n": 5}, {"id": 2, "vector": [1, 2]})

        def found(*filters):
            rows = self.query(rank_by=["id", "asc"], limit=10, filters=list(filters))[1]["rows"]
            return [row["id"] for row in rows]

        self.assertEqual(found("n", "Lt", 6), [1, 2])
        self.assertEqual(found("n", "Gt", 4), [1])
        self.assertEqual(found("n", "NotEq", 5), [2])
        self.assertEqual(found("n", "Eq", None), [2])
        self.assertEqual(found("And", [["n", "Lt", 6], ["n", "NotEq", None]]), [1])


class QdrantTest(EmulatorCase):
    name = "qdrant"
    VECTORS = {"size": 2, "distance": "Dot"}

    def setUp(self):
        super().setUp()
        self.assertEqual(self.at.ask("PUT", "/collections/c", {"vectors": self.VECTORS})[0], 200)

    def points(self, path="", body=None, method="POST", query="?wait=true"):
        status, answer = self.at.ask(method, f"/collections/c/points{path}{query}", body)
        return status, answer["result"]

    def put(self, *points):
        return self.points(body={"points": list(points)}, method="PUT")

    def test_requests_that_are_refused(self):
        self.assertEqual(self.put({"id": 1, "vector": [1, 2], "payload": {"n": 1}})[0], 200)
        point = {"id": 2, "vector": [1, 2]}
        for given in ({**point, "id": -1}, {**point, "id": "x"}, {**point, "id": 1.5}, {"id": 2},
                      {**point, "vector": [1]}, {**point, "vector": [1, "2"]},
                      {**point, "vector": [1, True]}, {**point, "vector": [1, 1e39]},
                      {**point, "payload": 1}, {**point, "unknown": 1}):
            with self.subTest(given=given):
                self.assertEqual(self.put(given)[0], 400)
        self.assertEqual(self.put(point, point)[0], 400)
        for path, body in (
                ("/delete", {}), ("/delete", {"points": [1], "filter": {}}), ("/delete", {"points": ["x"]}),
                ("/delete", {"filter": {"must": [{"key": "n", "match": {"value": 1}}]}}),
                ("/batch", {"operations": [{"unknown": {}}]}),
                ("/query", {"query": [1]}), ("/query", {"query": [1, 2], "limit": 0}),
                ("/scroll", {"limit": 0}), ("/count", {"unknown": 1})):
            with self.subTest(path=path, body=body):
                query = "?wait=true" if path in ("/delete", "/batch") else ""
                self.assertIn(self.points(path, body, query=query)[0], (400, 422))
        self.assertEqual(self.points("/delete", {"points": [1]}, query="?unknown=1")[0], 400)
        self.assertEqual(self.points("/count", {"exact": True}, query="")[1], {"count": 1})

    def test_large_batches_are_checked_like_small_ones(self):
        def batch(last):
            return [{"id": i, "vector": [i, 0.5]} for i in range(99)] + [{"id": 99, "vector": last}]

        self.assertEqual(self.put(*batch([1, 2]))[0], 200)
        self.assertEqual(self.points(body={"ids": [98, 99], "with_vector": True}, query="")[1],
                         [{"id": 98, "vector": [98.0, 0.5]}, {"id": 99, "vector": [1.0, 2.0]}])
        for last in ([1], [1, 2, 3], [1, "2"], [1, None], [[1, 2]], [], 5):
            with self.subTest(last=last):
                self.assertEqual(self.put(*batch(last))[0], 400)

    def test_payload_of_a_missing_point(self):
        body = {"operations": [{"overwrite_payload": {"points": [404], "payload": {}}}]}
        self.assertEqual(self.points("/batch", body)[0], 404)

    def test_collections(self):
        self.assertEqual(self.at.ask("PUT", "/collections/c", {"vectors": self.VECTORS})[0], 409)
        for body in ({}, {"vectors": {"size": 0, "distance": "Dot"}},
                     {"vectors": {"size": 2, "distance": "L2"}}, {"vectors": self.VECTORS, "x": 1}):
            self.assertIn(self.at.ask("PUT", "/collections/d", body)[0], (400, 422))
        self.assertEqual(self.at.ask("GET", "/collections/d")[0], 404)
        self.assertEqual(self.at.ask("POST", "/collections/d/points/count", {})[0], 404)
        self.assertEqual(self.at.ask("PUT", "/collections/a%2Fb", {"vectors": self.VECTORS})[0], 422)

    def test_doubles_hide_large_integers(self):
        self.put(*({"id": i, "vector": [1, 2], "payload": {"n": (1 << 53) + i}} for i in range(2)))
        self.at.ask("PUT", "/collections/c/index?wait=true", {"field_name": "n", "field_schema": "integer"})

        def count(condition):
            return self.points("/count", {"filter": {"must": [{"key": "n", **condition}]}}, query="")[1]["count"]

        self.assertEqual(count({"range": {"gt": 1 << 53}}), 0)
        self.assertEqual(count({"match": {"value": (1 << 53) + 1}}), 1)


class TroubleTest(EmulatorCase):
    name = "qdrant"

    def get(self):
        return self.at.ask("GET", "/collections")

    def test_counts_and_skips(self):
        self.at.control(faults=[{"kind": "status", "status": 500, "count": 2, "skip": 1, "method": "GET"}])
        self.assertEqual([self.get()[0] for _ in range(5)], [200, 500, 500, 200, 200])

    def test_probability_is_repeatable(self):
        seen = []
        for _ in range(2):
            self.at.control(faults=[{"kind": "status", "status": 500, "probability": 0.5}], seed=42)
            seen.append([self.get()[0] for _ in range(20)])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(set(seen[0]), {200, 500})

    def test_connections_that_break(self):
        for kind in ("reset", "half", "drop"):
            self.at.control(faults=[{"kind": kind, "count": 1}])
            with self.subTest(kind=kind), self.assertRaises((OSError, http.client.HTTPException)):
                self.get()
            self.assertEqual(self.get()[0], 200)

    def test_what_is_carried_out(self):
        body = {"vectors": {"size": 2, "distance": "Dot"}}
        for kind, more, carried_out in (
                ("status", {"status": 500}, False), ("status", {"status": 500, "applied": True}, True),
                ("reset", {}, False), ("reset", {"applied": True}, True), ("drop", {}, True), ("half", {}, True)):
            self.at.control(drop_state=True, faults=[{"kind": kind, "count": 1, **more}])
            try:
                self.at.ask("PUT", "/collections/c", body)
            except (OSError, http.client.HTTPException):
                pass
            self.assertEqual(self.at.ask("GET", "/collections/c")[0] == 200, carried_out, (kind, more))


class KeyTest(unittest.TestCase):
    def test_keys(self):
        for name, target, right in (("turbopuffer", "/v1/namespaces", {"Authorization": "Bearer k"}),
                                    ("qdrant", "/collections", {"api-key": "k"})):
            at = Running(name, "--api-key", "k")
            try:
                self.assertEqual(at.ask("GET", target)[0], 401)
                self.assertEqual(at.ask("GET", target, headers={"api-key": "x", "Authorization": "x"})[0], 401)
                self.assertEqual(at.ask("GET", target, headers=right)[0], 200)
            finally:
                at.kill()


class DurabilityTest(unittest.TestCase):
    """Two writers until the emulator is killed; afterwards everything answered is there."""

    def check(self, name, write, read, prepare=lambda at: None):
        with tempfile.TemporaryDirectory() as folder:
            at = Running(name, "--data", folder)
            prepare(at)
            answered = []
            for round_ in range(3):
                enough = threading.Event()

                def work(first):
                    for i in range(first, first + 100_000, 2):
                        try:
                            status = write(at, i)
                        except (OSError, http.client.HTTPException):
                            return
                        self.assertEqual(status, 200)
                        answered.append(i)
                        if len(answered) > 60 * (round_ + 1):
                            enough.set()

                writers = [threading.Thread(target=work, args=(round_ * 1_000_000 + n,)) for n in (0, 1)]
                for writer in writers:
                    writer.start()
                enough.wait(60)
                at.kill()
                for writer in writers:
                    writer.join()
                log = max(pathlib.Path(folder).glob("log-*"))
                with open(log, "ab") as file:
                    file.write(b"\x40\x00\x00\x00torn")
                at.start()
                there = read(at)
                self.assertLessEqual(set(answered), there)
                self.assertLessEqual(len(there) - len(answered), 2 * (round_ + 1))
            at.kill()

    def test_turbopuffer(self):
        def write(at, i):
            return at.ask("POST", "/v2/namespaces/ns", {
                "distance_metric": "cosine_distance", "upsert_rows": [{"id": i, "vector": [1, i]}]})[0]

        def read(at):
            body = {"rank_by": ["id", "asc"], "limit": 10_000}
            return {row["id"] for row in at.ask("POST", "/v2/namespaces/ns/query", body)[1]["rows"]}

        self.check("turbopuffer", write, read)

    def test_qdrant(self):
        def prepare(at):
            at.ask("PUT", "/collections/c", {"vectors": {"size": 2, "distance": "Cosine"}})

        def write(at, i):
            return at.ask("PUT", "/collections/c/points?wait=true",
                          {"points": [{"id": i, "vector": [1, i]}]})[0]

        def read(at):
            result = at.ask("POST", "/collections/c/points/scroll", {"limit": 10_000})[1]["result"]
            return {point["id"] for point in result["points"]}

        self.check("qdrant", write, read, prepare)

    def test_snapshots(self):
        with tempfile.TemporaryDirectory() as folder:
            at = Running("qdrant", "--data", folder)
            at.ask("PUT", "/collections/c", {"vectors": {"size": 1000, "distance": "Dot"}})
            text = json.dumps([0.123456789] * 1000).encode()
            for i in range(30):
                points = b",".join(b'{"id":%d,"vector":%b}' % (i * 100 + n, text) for n in range(100))
                body = b'{"points":[%b]}' % points
                self.assertEqual(at.ask("PUT", "/collections/c/points?wait=true", body)[0], 200)
            for _ in range(2):
                at.kill()
                at.start()
                self.assertEqual(len(list(pathlib.Path(folder).glob("snapshot-*"))), 1)
                self.assertEqual(len(list(pathlib.Path(folder).glob("log-*"))), 1)
                count = at.ask("POST", "/collections/c/points/count", {})[1]["result"]["count"]
                self.assertEqual(count, 3000)
            at.kill()


if __name__ == "__main__":
    socket.setdefaulttimeout(30)
    unittest.main()
