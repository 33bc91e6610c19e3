"""What the emulators of vector stores share: the HTTP server, trouble on demand, and durable state.

An emulator checks every request against the published interface and refuses what the real service
refuses, or may refuse: it is meant to be stricter than the service, never laxer.

Usage: <emulator>.py [--host 127.0.0.1] [--port 0] [--api-key KEY] [--data FOLDER]
  It prints "ready PORT" when it listens. Without --api-key, keys are not checked. With --data, every
  change is in the folder before it is answered, and kill -9 loses nothing that was answered.

POST /_control takes JSON and needs no key:
  {"faults": [F, ...], "seed": 7}  replaces all faults; each request meets the first that applies
  {"take": "requests"}             the number of requests since the last such question; further
                                   names: compressed, refused (the last refusals, as a list)
  {"limits": {"filter_deletes": N}}  replaces limits of the service; {}: its own
  {"drop_state": true}             forgets everything, as a new server
  F = {"kind": ..., "count": N or "probability": P (neither: always), "skip": N, "method": "POST",
       "path": regular expression}
  kinds: status  answers {"status": 429, "headers": {..}, "body": ".."}; nothing is carried out
                 unless "applied": true
         slow    waits "seconds", then goes on; "applied": true carries the request out before that
         reset   resets the connection; nothing is carried out unless "applied": true
         drop    carries the request out and closes without an answer
         half    carries the request out and sends half of the answer
         close   answers, and closes the connection without saying so
"""
import argparse
import gzip
import http.server
import json
import pathlib
import pickle
import random
import re
import socket
import struct
import sys
import threading
import time
import urllib.parse

LOG_TO_COMPACT = 32 << 20


class Refused(Exception):
    """An answer that is not 200."""

    def __init__(self, status, reason, headers=None):
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, headers or {}


class Request:
    """A request as it came, its body unpacked and parsed on demand."""

    def __init__(self, method, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        self.method, self.headers, self.body = method, headers, body
        self.target = target
        self.path = [urllib.parse.unquote(part) for part in parts.path.split("/")[1:]]
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))

    def json(self):
        def no_constant(name):
            raise ValueError(name)

        try:
            return json.loads(self.body, parse_constant=no_constant)
        except ValueError as error:
            raise Refused(400, f"Failed to parse the request body as JSON: {error}") from None


class Journal:
    """Changes as the requests that made them, in order. Records go to the kernel in one write, so a
    killed process leaves whole records and at most one torn one at the end."""

    HEADER = struct.Struct("<II")

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = None

    def _numbers(self, name):
        found = (re.fullmatch(rf"{name}-(\d+)", path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def load(self, restore, replay):
        """Calls restore(state) if there is a snapshot, then replay(method, target, body)."""
        snapshots = self._numbers("snapshot")
        last = snapshots[-1] if snapshots else 0
        if last:
            restore(pickle.loads((self.folder / f"snapshot-{last}").read_bytes()))
        number = last + 1
        for number in [n for n in self._numbers("log") if n > last]:
            self._replay(self.folder / f"log-{number}", replay)
        self.number = number
        self.log = open(self.folder / f"log-{number}", "ab", buffering=0)

    def _replay(self, path, replay):
        data = path.read_bytes()
        at = 0
        while at + self.HEADER.size <= len(data):
            head, body = self.HEADER.unpack_from(data, at)
            end = at + self.HEADER.size + head + body
            if end > len(data):
                break
            begin = at + self.HEADER.size
            method, target = json.loads(data[begin:begin + head])
            replay(method, target, data[begin + head:end])
            at = end
        if at != len(data):
            with open(path, "r+b") as file:
                file.truncate(at)

    def append(self, request):
        head = json.dumps([request.method, request.target]).encode()
        record = self.HEADER.pack(len(head), len(request.body)) + head + request.body
        self.log.write(record)

    def compact(self, state):
        """Starts a new log behind a snapshot; what came before is removed."""
        new = self.folder / "new"
        new.write_bytes(pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL))
        new.rename(self.folder / f"snapshot-{self.number}")
        self.log.close()
        self.log = open(self.folder / f"log-{self.number + 1}", "ab", buffering=0)
        for name in ("snapshot", "log"):
            for number in self._numbers(name):
                if number < self.number + (name == "log"):
                    (self.folder / f"{name}-{number}").unlink()
        self.number += 1


class Faults:
    """Decides which request meets which trouble."""

    def __init__(self):
        self.lock = threading.Lock()
        self.all = []
        self.random = random.Random(0)

    def set(self, faults, seed):
        with self.lock:
            self.all = [dict(fault) for fault in faults]
            self.random = random.Random(seed)

    def meet(self, request):
        with self.lock:
            for fault in self.all:
                if self._applies(fault, request):
                    return fault
        return None

    def _applies(self, fault, request):
        if fault.get("method", request.method) != request.method:
            return False
        if not re.search(fault.get("path", ""), request.target):
            return False
        if fault.get("skip", 0) > 0:
            fault["skip"] -= 1
            return False
        if "probability" in fault:
            return self.random.random() < fault["probability"]
        if "count" in fault:
            fault["count"] -= 1
            return fault["count"] >= 0
        return True


class Emulator:
    """Base of the emulators. A subclass has `state` (anything that can be pickled), carry_out(),
    error_body() and allowed(); carry_out() is called under one lock."""

    def __init__(self, api_key, folder):
        self.api_key = api_key
        self.lock = threading.RLock()
        self.faults = Faults()
        self.limits = {}
        self.counts = {"requests": 0, "compressed": 0}
        self.refused = []
        self.state = self.new_state()
        self.journal = Journal(folder) if folder else None
        if self.journal:
            self.journal.load(self._restore, self._replay)
            if self.journal.log.tell() > LOG_TO_COMPACT:
                self.journal.compact(self.state)

    def new_state(self):
        raise NotImplementedError

    def allowed(self, headers):
        """Whether the key is right."""
        raise NotImplementedError

    def carry_out(self, request):
        """Returns (answer as an object for JSON, whether the state has changed). Raises Refused;
        then nothing has changed."""
        raise NotImplementedError

    def error_body(self, refusal):
        raise NotImplementedError

    def _restore(self, state):
        self.state = state

    def _replay(self, method, target, body):
        self.carry_out(Request(method, target, {}, body))

    def control(self, body):
        wish = json.loads(body or b"{}")
        if "faults" in wish:
            self.faults.set(wish["faults"], wish.get("seed", 0))
        if "limits" in wish:
            self.limits = wish["limits"]
        if wish.get("drop_state"):
            with self.lock:
                self.state = self.new_state()
        if "take" in wish:
            name = wish["take"]
            if name == "refused":
                taken, self.refused = self.refused, []
            else:
                taken, self.counts[name] = self.counts[name], 0
            return taken
        return {}

    def answer(self, request):
        """(status, headers, body) of one request that meets no trouble."""
        try:
            if not self.allowed(request.headers):
                raise Refused(401, "wrong or missing key")
            with self.lock:
                result, changed = self.carry_out(request)
                if changed and self.journal:
                    self.journal.append(request)
            return 200, {}, json.dumps(result, separators=(",", ":")).encode()
        except Refused as refusal:
            if refusal.status not in (401, 404):
                self.refused = self.refused[-99:] + [f"{request.method} {request.target}: {refusal}"]
            return refusal.status, refusal.headers, self.error_body(refusal)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    emulator = None
    rbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)

    def send(self, status, headers, body, cut=None):
        lines = [f"HTTP/1.1 {status} {http.server.BaseHTTPRequestHandler.responses.get(status, ('',))[0]}",
                 "Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        self.wfile.write(whole if cut is None else whole[:len(whole) - max(1, len(body) // 2)])

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def read_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            self.emulator.counts["compressed"] += 1
            body = gzip.decompress(body)
        return Request(self.command, self.path, self.headers, body)

    def handle_any(self):
        request = self.read_request()
        if request.path == ["_control"]:
            self.send(200, {}, json.dumps(self.emulator.control(request.body)).encode())
            return
        self.emulator.counts["requests"] += 1
        fault = self.emulator.faults.meet(request)
        if fault is None:
            self.send(*self.emulator.answer(request))
        else:
            getattr(self, "meet_" + fault["kind"])(fault, request)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def meet_status(self, fault, request):
        if fault.get("applied"):
            self.emulator.answer(request)
        body = fault.get("body")
        refusal = Refused(fault["status"], "asked to refuse")
        self.send(fault["status"], fault.get("headers", {}),
                  body.encode() if body is not None else self.emulator.error_body(refusal))

    def meet_slow(self, fault, request):
        early = self.emulator.answer(request) if fault.get("applied") else None
        time.sleep(fault["seconds"])
        self.send(*(early or self.emulator.answer(request)))

    def meet_reset(self, fault, request):
        if fault.get("applied"):
            self.emulator.answer(request)
        self.reset()

    def meet_drop(self, _, request):
        self.emulator.answer(request)
        self.close_connection = True

    def meet_half(self, _, request):
        self.send(*self.emulator.answer(request), cut=True)
        self.close_connection = True

    def meet_close(self, _, request):
        self.send(*self.emulator.answer(request))
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # the client has gone: nothing to tell
            super().handle_error(request, client_address)


def main(kind):
    options = argparse.ArgumentParser()
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--api-key")
    options.add_argument("--data")
    given = options.parse_args()
    handler = type("BoundHandler", (Handler,), {"emulator": kind(given.api_key, given.data)})
    server = Server((given.host, given.port), handler)
    print("ready", server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
