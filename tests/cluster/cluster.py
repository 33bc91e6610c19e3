#!/usr/bin/env python3
"""A private PostgreSQL primary with streaming replicas and pgvector on loopback, for tests and trials.

  cluster.py start [DIR] [--replicas N] [--port BASE] [--tls] [--note FILE]
  cluster.py run [DIR] [start's options] -- COMMAND …   with PGWEIR_TEST_CLUSTER set; always cleaned up
  cluster.py [--cluster DIR] pause|resume|kill|start-node|restart|promote NODE
  cluster.py [--cluster DIR] stop NODE [fast|immediate|smart] | delay NODE 2s | set NODE NAME=VALUE…
  cluster.py [--cluster DIR] rejoin NODE --primary OTHER | psql NODE SQL [--user U] [--database D]
  cluster.py [--cluster DIR] status | catch-up | destroy
  cluster.py ports N

DIR is the folder or its cluster.json; without --cluster the environment's PGWEIR_TEST_CLUSTER is used.
Nodes are n1 (the primary at the start), n2, n3, … `delay NODE 0` and `set NODE NAME=` take it back.
Users and passwords stand in cluster.json and in pg_cluster.py. Called by root, it becomes postgres.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import postgres  # noqa: E402
from pg_cluster import Cluster  # noqa: E402
from postgres import ClusterError  # noqa: E402

VARIABLE = "PGWEIR_TEST_CLUSTER"
NODE_COMMANDS = {
    "pause": lambda node: node.pause(),
    "resume": lambda node: node.resume(),
    "kill": lambda node: node.kill(),
    "start-node": lambda node: node.start(),
    "restart": lambda node: node.restart(),
    "promote": lambda node: node.promote(),
}


class Interrupted(BaseException):
    """A signal that asks us to end: raised wherever we are, so that cleaning up happens."""


def _interrupt(number, _frame):
    raise Interrupted(number)


def _on_signals(action):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, action)


def _start(arguments):
    _on_signals(_interrupt)  # a half-made cluster is removed as well
    return Cluster.start(arguments.folder, arguments.replicas, arguments.port, arguments.tls,
                         arguments.note)


def start(arguments):
    if arguments.replace:
        _destroy_old(arguments.note or arguments.folder)
    print(json.dumps(_start(arguments).info, indent=2))


def _destroy_old(place):
    """What an interrupted run left at the same place."""
    if place and pathlib.Path(place).exists():
        Cluster.load(place).destroy()


def _guard(cluster):
    """A process of its own that cleans up if the runner dies without doing it (SIGKILL). Returns the
    pipe on which it is told the command's pid and, at the end, that nothing is left to do."""
    reading, writing = os.pipe()
    if os.fork() != 0:
        os.close(reading)
        return os.fdopen(writing, "w", buffering=1)
    os.setsid()
    os.close(writing)
    _on_signals(signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # whoever reads the runner's output must not wait for us
        os.dup2(null, descriptor)
    told = os.fdopen(reading).read().split()
    if "done" not in told:
        for pid in told:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGTERM)  # the command has no cluster any more
        cluster.destroy()
    os._exit(0)


def run(arguments, command):
    if not command:
        raise ClusterError("run needs a command after --")
    cluster = _start(arguments)
    child, code, guard = None, 1, _guard(cluster)
    try:
        child = subprocess.Popen(command, env={**os.environ, VARIABLE: str(cluster.file)})
        print(child.pid, file=guard)
        code = child.wait()
    except Interrupted as signalled:
        code = 128 + signalled.args[0]
    except OSError as error:
        print(f"cluster.py: {error}", file=sys.stderr)
        code = 127
    finally:
        _on_signals(signal.SIG_IGN)
        if child and child.poll() is None:
            _end(child)
        cluster.destroy()
        print("done", file=guard)
    return code if code >= 0 else 128 - code


def _end(child):
    child.terminate()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def psql(cluster, arguments):
    print(cluster.node(arguments.node).sql(arguments.sql, arguments.database, arguments.user))


def change(cluster, arguments):
    pairs = [text.partition("=") for text in arguments.values]
    cluster.node(arguments.node).set(**{name: value or None for name, _, value in pairs})


def parser():
    top = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--cluster", "-C", default=os.environ.get(VARIABLE), metavar="DIR")
    commands = top.add_subparsers(dest="name", required=True)
    for name in ("start", "run"):
        one = commands.add_parser(name)
        one.add_argument("folder", nargs="?", metavar="DIR")
        one.add_argument("--replicas", type=int, default=2)
        one.add_argument("--port", type=int)
        one.add_argument("--tls", action="store_true")
        one.add_argument("--note", metavar="FILE", help="write a copy of cluster.json there too")
    commands.choices["start"].add_argument(
        "--replace", action="store_true", help="destroy a cluster an interrupted run left there")
    for name in NODE_COMMANDS:
        commands.add_parser(name).add_argument("node")
    one = commands.add_parser("stop")
    one.add_argument("node")
    one.add_argument("mode", nargs="?", default="fast", choices=["fast", "immediate", "smart"])
    one = commands.add_parser("delay")
    one.add_argument("node")
    one.add_argument("amount")
    one = commands.add_parser("set")
    one.add_argument("node")
    one.add_argument("values", nargs="+", metavar="NAME=VALUE")
    one = commands.add_parser("rejoin")
    one.add_argument("node")
    one.add_argument("--primary", required=True)
    one = commands.add_parser("psql")
    one.add_argument("node")
    one.add_argument("sql")
    one.add_argument("--user", default="postgres")
    one.add_argument("--database", default="app")
    for name in ("status", "catch-up", "destroy"):
        commands.add_parser(name)
    commands.add_parser("ports").add_argument("count", type=int)
    return top


CLUSTER_COMMANDS = {
    "stop": lambda cluster, a: cluster.node(a.node).stop(a.mode),
    "delay": lambda cluster, a: cluster.node(a.node).delay(a.amount),
    "set": change,
    "rejoin": lambda cluster, a: print(cluster.rejoin(a.node, a.primary)),
    "psql": psql,
    "status": lambda cluster, a: print("\n".join(json.dumps(n.status()) for n in cluster.nodes)),
    "catch-up": lambda cluster, a: cluster.catch_up(),
    "destroy": lambda cluster, a: cluster.destroy(),
}


def main(words):
    # Split by hand: argparse would take the command's options for its own.
    end = words.index("--") if "--" in words else len(words)
    arguments = parser().parse_args(words[:end])
    try:
        if arguments.name == "run":
            return run(arguments, words[end + 1:])
        if arguments.name == "start":
            return start(arguments)
        if arguments.name == "ports":
            return print(*postgres.free_ports(arguments.count))
        if not arguments.cluster:
            raise ClusterError(f"which cluster? Say --cluster DIR or set {VARIABLE}")
        cluster = Cluster.load(arguments.cluster)
        if arguments.name in NODE_COMMANDS:
            return NODE_COMMANDS[arguments.name](cluster.node(arguments.node))
        return CLUSTER_COMMANDS[arguments.name](cluster, arguments)
    except Interrupted as signalled:
        return 128 + signalled.args[0]
    except (ClusterError, subprocess.TimeoutExpired) as error:
        print(f"cluster.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
