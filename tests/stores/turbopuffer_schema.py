"""Types, values and filters of turbopuffer as its documentation has them (turbopuffer.com/docs/write
and /query)."""
import re

from emulator import Refused

NAME = re.compile(r"[A-Za-z0-9\-_.]{1,128}")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
VECTOR = re.compile(r"\[([1-9][0-9]*)\](f32|f16)")
METRICS = ("cosine_distance", "euclidean_squared")
MAX_DIMENSIONS = 10_752
MAX_FILTERABLE = 4096
MAX_VALUE = 8 << 20
MAX_ID = 64


def bad(reason):
    return Refused(400, reason)


def is_int(value):
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def is_uint(value):
    return type(value) is int and 0 <= value < 1 << 64


CHECKS = {
    "string": lambda value: type(value) is str,
    "int": is_int,
    "uint": is_uint,
    "float": lambda value: type(value) is float,
    "bool": lambda value: type(value) is bool,
    "uuid": lambda value: type(value) is str and UUID.fullmatch(value) is not None,
}
ID_CHECKS = {
    "uint": is_uint,
    "uuid": CHECKS["uuid"],
    "string": lambda value: type(value) is str and 0 < len(value.encode()) <= MAX_ID,
}


class Attribute:
    """The schema of one attribute."""

    def __init__(self, name, type_, filterable=True):
        self.name, self.type, self.filterable = name, type_, filterable

    def check(self, value):
        if not CHECKS[self.type](value):
            raise bad(f"attribute {self.name!r} is of type {self.type}, got {value!r:.60}")
        if self.type == "string":
            size = len(value.encode())
            if size > (MAX_FILTERABLE if self.filterable else MAX_VALUE):
                raise bad(f"value of attribute {self.name!r} is too large: {size} bytes")

    def shown(self):
        return {"type": self.type, "filterable": self.filterable, "full_text_search": None}


def attribute_from(name, given):
    if not isinstance(name, str) or not name or len(name) > 128 or name.startswith("$"):
        raise bad(f"no name for an attribute: {name!r}")
    if isinstance(given, str):
        given = {"type": given}
    if not isinstance(given, dict) or "type" not in given:
        raise Refused(422, f"schema of {name!r}: missing field `type`")
    unknown = set(given) - {"type", "filterable"}
    if unknown:
        raise bad(f"schema of {name!r}: unknown fields {sorted(unknown)}")
    if given["type"] not in CHECKS:
        raise bad(f"schema of {name!r}: unknown type {given['type']!r}")
    if type(given.get("filterable", True)) is not bool:
        raise Refused(422, f"schema of {name!r}: filterable: expected a boolean")
    return Attribute(name, given["type"], given.get("filterable", True))


def inferred(name, value):
    for type_ in ("string", "bool", "int"):
        if CHECKS[type_](value):
            return attribute_from(name, type_)
    raise bad(f"the type of attribute {name!r} cannot be inferred: declare it")




def compare(op):
    """Lt and Lte hold for null, as the documentation has it; Gt and Gte do not."""
    return {
        "Lt": lambda value, other: value is None or value < other,
        "Lte": lambda value, other: value is None or value <= other,
        "Gt": lambda value, other: value is not None and value > other,
        "Gte": lambda value, other: value is not None and value >= other,
    }[op]


class Filters:
    """Compiles filters into predicates of (id, attributes, new attributes)."""

    def __init__(self, namespace, references):
        self.namespace, self.references = namespace, references

    def compile(self, given):
        if not isinstance(given, list) or not given:
            raise bad(f"no filter: {given!r:.80}")
        if given[0] in ("And", "Or") and len(given) == 2 and isinstance(given[1], list):
            parts = [self.compile(part) for part in given[1]]
            if not parts:
                raise bad(f"{given[0]} without filters")
            if given[0] == "And":
                return lambda *doc: all(part(*doc) for part in parts)
            return lambda *doc: any(part(*doc) for part in parts)
        if given[0] == "Not" and len(given) == 2:
            part = self.compile(given[1])
            return lambda *doc: not part(*doc)
        if len(given) != 3:
            raise bad(f"no filter: {given!r:.80}")
        return self.compile_one(*given)

    def compile_one(self, name, op, operand):
        get, check = self.access(name)
        if isinstance(operand, dict):
            return self.compile_reference(name, op, operand, get)
        if op in ("In", "NotIn"):
            if not isinstance(operand, list):
                raise bad(f"{op} needs a list")
            for each in operand:
                check(each)
            wanted = set(operand)
            if op == "In":
                return lambda id_, old, new: get(id_, old) in wanted
            return lambda id_, old, new: get(id_, old) not in wanted
        if op in ("Eq", "NotEq"):
            if operand is not None:
                check(operand)
            if op == "Eq":
                return lambda id_, old, new: get(id_, old) == operand
            return lambda id_, old, new: get(id_, old) != operand
        if op not in ("Lt", "Lte", "Gt", "Gte"):
            raise bad(f"unknown operator {op!r}")
        if operand is None:
            raise bad(f"{op} with null")
        check(operand)
        self.check_ordered(name, op)
        test = compare(op)
        return lambda id_, old, new: test(get(id_, old), operand)

    def compile_reference(self, name, op, operand, get):
        if not self.references or set(operand) != {"$ref_new"}:
            raise bad(f"no operand: {operand!r:.80}")
        other = operand["$ref_new"]
        first, second = self.namespace.attribute(name), self.namespace.attribute(other)
        if first.type != second.type:
            raise bad(f"{name!r} and {other!r} are of different types")
        if op in ("Eq", "NotEq"):
            return lambda id_, old, new: (get(id_, old) == new.get(other)) == (op == "Eq")
        self.check_ordered(name, op)
        test = compare(op)

        def evaluate(id_, old, new):
            value = new.get(other)
            return value is not None and test(get(id_, old), value)

        return evaluate

    def check_ordered(self, name, op):
        if name != "id" and self.namespace.attribute(name).type == "bool":
            raise bad(f"{op} of a boolean")

    def access(self, name):
        if name == "id":
            def check_id(value):
                if not ID_CHECKS[self.namespace.id_type](value):
                    raise bad(f"ids are of type {self.namespace.id_type}, got {value!r:.60}")

            return (lambda id_, old: id_), check_id
        attribute = self.namespace.attribute(name)
        if not attribute.filterable:
            raise bad(f"attribute {name!r} is not filterable")

        def check_value(value):
            if not CHECKS[attribute.type](value):
                raise bad(f"attribute {name!r} is of type {attribute.type}, got {value!r:.60}")

        return (lambda id_, old: old.get(name)), check_value
