"""Vectors of the Qdrant emulator. Parsing 1536 decimal numbers takes Python longer than everything
else a write needs, so of large batches only the first vector is parsed at once; of the others the
characters and the number of commas are checked, and they are parsed when somebody reads them."""
import array
import json
import math
import operator
import struct

from qdrant_filter import bad

MARK = b'"vector":['
PARSED_AT_ONCE = 16
NUMBER_BYTES = b"0123456789+-.eE, \n\r\t"


class Vector:
    """As text, until it is read, then as raw numbers."""

    __slots__ = ("text", "raw")

    def __init__(self, text=None, raw=None):
        self.text, self.raw = text, raw


class Shape:
    """What the vectors of a collection have in common."""

    def __init__(self, size, distance, half):
        self.size, self.distance, self.half = size, distance, half

    def from_numbers(self, given):
        if not isinstance(given, list):
            raise bad("Format error in JSON body: vector: expected a sequence of numbers")
        self.check_size(len(given))
        try:
            numbers = array.array("f", given)
        except TypeError:
            raise bad("Format error in JSON body: vector: expected numbers") from None
        if bool in set(map(type, given)) or not math.isfinite(sum(numbers)):
            raise bad("Format error in JSON body: vector: expected finite numbers")
        if self.distance == "Cosine":
            length = math.sqrt(sum(map(operator.mul, numbers, numbers)))
            if length > 0:
                numbers = array.array("f", [each / length for each in numbers])
        return Vector(raw=struct.pack(f"<{self.size}e", *numbers) if self.half else numbers.tobytes())

    def from_text(self, text):
        if text.translate(None, NUMBER_BYTES):
            raise bad("Format error in JSON body: vector: expected numbers")
        self.check_size(text.count(b",") + 1)
        return Vector(text=text)

    def check_size(self, size):
        if size != self.size:
            raise bad(f"Wrong input: Vector dimension error: expected dim: {self.size}, got {size}")

    def numbers(self, vector):
        if vector.raw is None:
            vector.raw = self.from_numbers(json.loads(b"[" + vector.text + b"]")).raw
            vector.text = None
        if self.half:
            return array.array("f", struct.unpack(f"<{self.size}e", vector.raw))
        return array.array("f", vector.raw)

    def score(self, query):
        if self.distance == "Euclid":
            return lambda vector: math.dist(self.numbers(vector), query)
        return lambda vector: sum(map(operator.mul, self.numbers(vector), query))


def parse_points(request):
    """The body of an upsert, with vectors that are lists of numbers or, from the second on, texts.

    The mark cannot stand within a string, where quotes follow a backslash. If it stands anywhere but
    in front of each point's vector, everything is parsed as usual."""
    body = request.body
    parts, texts, at = [], [], 0
    while (begin := body.find(MARK, at)) >= 0:
        end = body.find(b"]", begin)
        parts += [body[at:begin + len(MARK) - 1], b"%d" % len(texts)]
        texts.append(body[begin + len(MARK):end])
        at = end + 1
    if len(texts) <= PARSED_AT_ONCE:
        return request.json()
    parts.append(body[at:])
    try:
        parsed = json.loads(b"".join(parts))
        points = parsed["points"]
        if [point["vector"] for point in points] != list(range(len(texts))):
            return request.json()
        points[0]["vector"] = json.loads(b"[" + texts[0] + b"]")
    except (ValueError, TypeError, KeyError, IndexError):
        return request.json()
    for point, text in zip(points[1:], texts[1:]):
        point["vector"] = text
    return parsed
