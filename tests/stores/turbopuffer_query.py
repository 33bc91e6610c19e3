"""Queries of turbopuffer's API v2, by looking at every document."""
import array
import base64
import heapq
import math
import operator

from emulator import Refused
from turbopuffer_schema import Filters, bad

QUERY_FIELDS = {
    "rank_by", "limit", "top_k", "filters", "include_attributes", "exclude_attributes",
    "consistency", "vector_encoding", "aggregate_by", "group_by"}
MAX_LIMIT = 10_000


def check_consistency(given):
    if given is None:
        return
    if not isinstance(given, dict) or set(given) != {"level"}:
        raise Refused(422, "consistency: missing field `level`")
    if given["level"] not in ("strong", "eventual"):
        raise Refused(422, "consistency.level: unknown variant, expected `strong` or `eventual`")


def run_query(namespace, body):
    if not isinstance(body, dict):
        raise Refused(422, "expected a map")
    unknown = set(body) - QUERY_FIELDS
    if unknown:
        raise bad(f"unknown fields {sorted(unknown)}")
    check_consistency(body.get("consistency"))
    test = None
    if "filters" in body:
        test = Filters(namespace, references=False).compile(body["filters"])
    if "aggregate_by" in body:
        return aggregate(namespace, body, test)
    if "rank_by" not in body:
        raise bad("rank_by or aggregate_by is required")
    limit = limit_of(body)
    show = Projection(namespace, body)
    found = ranked(namespace, body, test, limit)
    return {"rows": [show.row(id_, distance) for distance, id_ in found],
            "billing": {"billable_logical_bytes_queried": 0, "billable_logical_bytes_returned": 0},
            "performance": {"cache_temperature": "hot", "server_total_ms": 1}}


def limit_of(body):
    given = [body[name] for name in ("limit", "top_k") if name in body]
    if len(given) != 1:
        raise bad("rank_by queries must specify top_k or limit")
    if type(given[0]) is not int:
        raise Refused(422, "limit: data did not match any variant of untagged enum LimitInput")
    if not 1 <= given[0] <= MAX_LIMIT:
        raise bad(f"top_k must be between 1 and {MAX_LIMIT}")
    return given[0]


def aggregate(namespace, body, test):
    given = body["aggregate_by"]
    if set(body) - {"aggregate_by", "filters", "consistency"}:
        raise bad("this emulator aggregates without groups, rank_by and limit only")
    if not isinstance(given, dict) or len(given) != 1 or list(given.values())[0] != ["Count"]:
        raise bad("aggregate_by currently requires exactly one function")
    if test is None:
        count = len(namespace.documents)
    else:
        count = sum(test(id_, old, {}) for id_, (_, old) in namespace.documents.items())
    return {"aggregations": {list(given)[0]: count}}


def ranked(namespace, body, test, limit):
    """(distance or None, id) of the best."""
    rank = body["rank_by"]
    if not isinstance(rank, list):
        raise Refused(422, "data did not match any variant of enum a valid variant of RankInput")
    chosen = ((id_, document) for id_, document in namespace.documents.items()
              if test is None or test(id_, document[1], {}))
    if rank in (["id", "asc"], ["id", "desc"]):
        pick = heapq.nsmallest if rank[1] == "asc" else heapq.nlargest
        return [(None, id_) for id_ in pick(limit, (id_ for id_, _ in chosen))]
    if len(rank) != 3 or rank[0] != "vector" or rank[1] not in ("ANN", "kNN"):
        raise Refused(422, "data did not match any variant of enum a valid variant of RankInput")
    if rank[1] == "kNN" and test is None:
        raise bad("kNN needs filters")
    if namespace.dimensions is None:
        raise bad("this namespace has no vectors")
    distance = distance_to(namespace, query_vector(namespace, rank[2]))
    return heapq.nsmallest(limit, ((distance(document[0]), id_) for id_, document in chosen))


def query_vector(namespace, given):
    if isinstance(given, str):
        numbers = array.array("f")
        try:
            numbers.frombytes(base64.b64decode(given, validate=True))
        except ValueError as error:
            raise bad(f"vector: {error}") from None
    elif isinstance(given, list) and all(type(each) in (int, float) for each in given):
        numbers = array.array("f", given)
    else:
        raise Refused(422, "vector: expected numbers or base64")
    if len(numbers) != namespace.dimensions:
        raise bad(f"vector has {len(numbers)} dimensions, expected {namespace.dimensions}")
    return numbers


def distance_to(namespace, query):
    if namespace.metric == "euclidean_squared":
        return lambda raw: math.dist(namespace.numbers(raw), query) ** 2
    length = math.hypot(*query)

    def cosine(raw):
        numbers = namespace.numbers(raw)
        product = length * math.hypot(*numbers)
        return 1 - sum(map(operator.mul, numbers, query)) / product if product else 1.0

    return cosine


class Projection:
    """What of a document is shown."""

    def __init__(self, namespace, body):
        self.namespace = namespace
        wanted = body.get("include_attributes", [])
        if type(wanted) is not bool and not isinstance(wanted, list):
            raise Refused(422, "include_attributes: invalid type")
        if "exclude_attributes" in body:
            raise bad("this emulator has no exclude_attributes")
        if wanted is True:
            wanted = [*namespace.attributes, "vector"]
        self.names = wanted or []
        for name in self.names:
            if name not in ("id", "vector"):
                namespace.attribute(name)
        encoding = body.get("vector_encoding", "float")
        if encoding not in ("float", "base64"):
            raise Refused(422, "vector_encoding: unknown variant, expected `float` or `base64`")
        self.base64 = encoding == "base64"

    def row(self, id_, distance):
        raw, attributes = self.namespace.documents[id_]
        shown = {"id": id_} if distance is None else {"$dist": distance, "id": id_}
        for name in self.names:
            if name == "vector":
                numbers = self.namespace.numbers(raw)
                shown[name] = (base64.b64encode(numbers.tobytes()).decode() if self.base64
                               else numbers.tolist())
            elif name in attributes:
                shown[name] = attributes[name]
        return shown
