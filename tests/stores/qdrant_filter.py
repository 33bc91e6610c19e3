"""Filters and ids of Qdrant's REST interface (api.qdrant.tech)."""
import re

from emulator import Refused

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
PLAIN_KEY = re.compile(r"[A-Za-z0-9_\-]+")
QUOTED_KEY = re.compile(r'"([^"]+)"')
INDEX_FOR_MATCH = {str: ("keyword", "uuid"), bool: ("bool",), int: ("integer",)}


def bad(reason):
    return Refused(400, reason)


def check_fields(what, given, allowed, needed=()):
    if not isinstance(given, dict):
        raise bad(f"Format error in JSON body: {what}: expected a map")
    unknown = set(given) - set(allowed)
    if unknown:
        raise bad(f"Format error in JSON body: {what}: unknown field {sorted(unknown)}")
    for name in needed:
        if name not in given:
            raise bad(f"Format error in JSON body: {what}: missing field `{name}`")


def check_id(given):
    if type(given) is int and 0 <= given < 1 << 64:
        return given
    if type(given) is str and UUID.fullmatch(given):
        return given
    raise bad(f"Format error in JSON body: value {given!r:.60} is not a valid point ID")


def id_order(id_):
    """Numbers before UUIDs."""
    return (type(id_) is str, id_)


def payload_key(path):
    """The name of a top-level member; paths into nested values are not needed here."""
    if isinstance(path, str):
        if PLAIN_KEY.fullmatch(path):
            return path
        quoted = QUOTED_KEY.fullmatch(path)
        if quoted:
            return quoted[1]
    raise bad(f"Format error in JSON body: invalid JsonPath: {path!r}")


def is_number(value):
    return type(value) in (int, float)


class Filter:
    """Compiles a filter into a predicate of (id, payload). `indexes`: payload indexes by path; a
    filter by anything else is refused, as a server with strict mode does."""

    def __init__(self, indexes):
        self.indexes = indexes

    def compile(self, given):
        check_fields("filter", given, ("must", "should", "must_not"))
        must = self.compile_all(given.get("must"))
        must_not = self.compile_all(given.get("must_not"))
        should = self.compile_all(given.get("should"))

        def test(id_, payload):
            return (all(each(id_, payload) for each in must)
                    and not any(each(id_, payload) for each in must_not)
                    and (not should or any(each(id_, payload) for each in should)))

        return test

    def compile_all(self, given):
        if given is None:
            return []
        return [self.compile_one(each) for each in (given if isinstance(given, list) else [given])]

    def compile_one(self, given):
        if not isinstance(given, dict):
            raise bad("Format error in JSON body: no condition")
        kinds = set(given) - {"key"}
        if "key" in given and kinds == {"match"}:
            return self.compile_match(given["key"], given["match"])
        if "key" in given and kinds == {"range"}:
            return self.compile_range(given["key"], given["range"])
        if "key" not in given and kinds == {"is_empty"}:
            check_fields("is_empty", given["is_empty"], ("key",), ("key",))
            name = payload_key(given["is_empty"]["key"])
            return lambda id_, payload: payload.get(name) in (None, [])
        if "key" not in given and kinds == {"is_null"}:
            check_fields("is_null", given["is_null"], ("key",), ("key",))
            name = payload_key(given["is_null"]["key"])
            return lambda id_, payload: name in payload and payload[name] is None
        if "key" not in given and kinds == {"has_id"}:
            wanted = {check_id(each) for each in given["has_id"]}
            return lambda id_, payload: id_ in wanted
        raise bad(f"Format error in JSON body: data did not match any variant of Condition: {sorted(given)}")

    def compile_match(self, path, given):
        check_fields("match", given, ("value",), ("value",))
        value = given["value"]
        if type(value) not in INDEX_FOR_MATCH:
            raise bad(f"Format error in JSON body: match by {type(value).__name__}")
        name = self.indexed(path, INDEX_FOR_MATCH[type(value)])
        return lambda id_, payload: type(payload.get(name)) is type(value) and payload[name] == value

    def compile_range(self, path, given):
        check_fields("range", given, ("lt", "lte", "gt", "gte"))
        if not all(is_number(each) for each in given.values()):
            raise bad("Format error in JSON body: range of other than numbers")
        name = self.indexed(path, ("integer", "float"))
        # Both sides are compared as doubles.
        low, low_open = (float(given["gt"]), True) if "gt" in given else (given.get("gte"), False)
        high, high_open = (float(given["lt"]), True) if "lt" in given else (given.get("lte"), False)

        def test(_, payload):
            value = payload.get(name)
            if not is_number(value):
                return False
            value = float(value)
            above = low is None or (value > low if low_open else value >= float(low))
            below = high is None or (value < high if high_open else value <= float(high))
            return above and below

        return test

    def indexed(self, path, types):
        name = payload_key(path)
        if self.indexes.get(path) not in types:
            raise bad(f'Bad request: Index required but not found for "{path}" of one of the '
                      f"following types: {list(types)}")
        return name
