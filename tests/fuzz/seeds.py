#!/usr/bin/env python3
"""Writes what the fuzzers begin with: seeds.py FOLDER makes FOLDER/<target>/<name>."""
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def message(kind, *parts):
    body = b"".join(parts)
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


def text(value):
    return value.encode() + b"\0"


def packet(code, *parts):
    body = struct.pack("!I", code) + b"".join(parts)
    return struct.pack("!I", len(body) + 4) + body


def error(code):
    return message("E", b"SERROR\0", b"VERROR\0", b"C" + text(code), b"Mno\0", b"\0")


QUERY = message("Q", text("select 1"))
PARSE = message("P", text("s"), text("select $1::int"), struct.pack("!HI", 1, 23))
BIND = message("B", text(""), text("s"), struct.pack("!HHHI", 1, 0, 1, 1), b"7", struct.pack("!HH", 1, 0))
DESCRIBE, EXECUTE, SYNC = message("D", b"S", text("s")), message("E", text(""), struct.pack("!I", 0)), message("S")
COPY = message("d", b"1\t2\n") + message("c") + message("f", text("no"))
CALL = message("F", struct.pack("!IHHIHH", 957, 0, 0, 0, 0, 0))
READY = message("Z", b"I")
ROW = message("T", struct.pack("!H", 1), text("a"), struct.pack("!IHIHIH", 0, 0, 23, 4, 0xFFFFFFFF, 0))
DATA = message("D", struct.pack("!HI", 1, 1), b"1")
DONE = message("C", text("SELECT 1"))
STATUS = message("S", text("TimeZone"), text("UTC"))
NOTICE = message("N", b"SNOTICE\0", b"C00000\0", b"Mhm\0", b"\0")
KEY = message("K", struct.pack("!II", 1, 2))
LET_IN = message("R", struct.pack("!I", 0))
SASL = message("R", struct.pack("!I", 10), text("SCRAM-SHA-256"), b"\0")
CONTINUE = message("R", struct.pack("!I", 11), b"r=nonceabc,s=MDEyMzQ1Njc4OWFiY2RlZg==,i=2")
FINAL = message("R", struct.pack("!I", 12), b"v=AAAA")
START = packet(3 << 16, text("user"), text("ann"), text("options"), text("-c work_mem=1MB"), b"\0")

# A first byte says which half of the target it is for; see the targets.
FRONT, BACK = b"\1\0", b"\0\0"


def asking(*kinds):
    """As fuzz server.cpp reads it: which messages the client sends, none of them noted."""
    return b"\0" + bytes([len(kinds)]) + b"".join(bytes([kind, 1]) for kind in kinds)


SIMPLE, EXTENDED = asking(6), asking(0, 1, 2, 3, 5)
SEEDS = {
    "frames": [FRONT + QUERY, FRONT + PARSE + BIND + DESCRIBE + EXECUTE + SYNC, FRONT + COPY, FRONT + CALL,
               FRONT + message("p", text("SCRAM-SHA-256"), struct.pack("!I", 4), b"n,,n"), BACK + ROW + DATA + DONE + READY,
               BACK + error("42601") + READY, BACK + STATUS + NOTICE + KEY, BACK + LET_IN + SASL + CONTINUE + FINAL,
               BACK + message("A", struct.pack("!I", 7), text("channel"), text("payload")),
               BACK + message("v", struct.pack("!II", 3 << 16, 1), text("_pq_.x")), b"\1\3\1\2\3" + PARSE + SYNC],
    "login": [b"\1" + START, b"\1" + packet(80877103), b"\1" + packet(80877104), b"\1" + packet(80877102, struct.pack("!II", 1, 2)),
              b"\1" + packet((3 << 16) + 2, text("user"), text("ann"), text("_pq_.x"), text("1"), b"\0"),
              b"\1" + packet(3 << 16, text("user"), text("a"), text("options"), text("-c=" * 20), b"\0"),
              b"\0\1n,,n=,r=abc\xffc=biws,r=abcserver-nonce,p=AAAA\xffr=client-nonceabc,s=MDEy,i=2\xffv=AAAA\xffpass\xc3\xa9",
              b"\0\7p=tls-server-end-point,,n=,r=abc\xffc=biws,r=x,p=\xffe=other-error\xff\xffSCRAM-SHA-256$2:AAAA$AAAA:AAAA"],
    "sql": [b"select 1", b"SELECT id FROM items WHERE org = $2 ORDER BY embedding <=> $1 LIMIT 10",
            b"/* pgweir: consistency=bounded:2s target=replica */ select 'a''b', E'\\'', $q$x$q$, U&\"d\\0061\"",
            b"BEGIN; SET LOCAL search_path = a, b; SELECT set_config('x.y', '1', false); COMMIT",
            b"with x as (insert into t values (1) returning *) select * from x for update",
            b"prepare p (int) as select $1; execute p (1); deallocate all; listen c; declare d cursor with hold for select 1",
            b"select '[1,2,3]'::vector <-> embedding from t -- end", b"((((((((((select 1))))))))))", b"select 1e5, .5, 0x1F, 1_000"],
    "server": [SIMPLE + ROW + DATA + DONE + READY, SIMPLE + error("42601") + READY, SIMPLE + NOTICE + STATUS + DONE + READY,
               EXTENDED + message("1") + message("2") + message("n") + DONE + READY, EXTENDED + error("0A000") + READY,
               SIMPLE + message("G", struct.pack("!BH", 0, 0)), SIMPLE + DATA + DATA, SIMPLE + READY + READY,
               b"\1" + LET_IN + STATUS + KEY + READY, b"\1" + SASL + CONTINUE + FINAL + LET_IN + KEY + READY,
               b"\1" + message("R", struct.pack("!I", 3)), b"\1" + message("R", struct.pack("!II", 5, 1)),
               b"\1" + message("E", b"SFATAL\0", b"Mno code\0", b"\0")],
    "yaml": [path.read_bytes() for path in sorted((ROOT / "examples").rglob("*.yaml"))] + [
        b"listen: {port: 1}\nclusters: {main: {servers: [{host: a}], monitor: {user: m}}}\ndatabases: {'*': {cluster: main}}\n",
        b"a: &a [*a]\n", b"users: [{name: a, password: \"${X}\"}]\nrouting: {rules: [{match: {vector: true}, consistency: {bounded: 5s}}]}\n"],
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, seeds in SEEDS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (folder / target / f"seed{number}").write_bytes(seed)


if __name__ == "__main__":
    main()
