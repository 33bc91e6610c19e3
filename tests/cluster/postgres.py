"""Running PostgreSQL's programs: where they are, as which user, and what to do when they fail."""
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import socket
import subprocess

HOST = "127.0.0.1"


class ClusterError(Exception):
    """Something the caller should read; the text says what failed and what PostgreSQL said."""


def bin_dir():
    """The newest installed PostgreSQL, or PGWEIR_PG_BIN."""
    chosen = os.environ.get("PGWEIR_PG_BIN")
    if chosen:
        return pathlib.Path(chosen)
    found = [p.parent for p in pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found:
        raise ClusterError("no PostgreSQL server under /usr/lib/postgresql: run tests/setup")
    return max(found, key=lambda p: int(p.parent.name))


def account():
    """Keyword arguments that make subprocess run as an ordinary user: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError:
        raise ClusterError("called by root and there is no user postgres to become") from None
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def give_away(path):
    """Hand a file or folder to the user the servers run as."""
    who = account()
    if who:
        os.chown(path, who["user"], who["group"])


def environment(password=None):
    # PG* variables of the caller must not redirect us to another server.
    env = {k: v for k, v in os.environ.items() if not k.startswith("PG") or k.startswith("PGWEIR")}
    # The caller's home may be closed to the servers' user, and libpq then gives up on TLS silently.
    env.update(LC_ALL="C.UTF-8", PGCONNECT_TIMEOUT="10", HOME="/nonexistent")
    if password is not None:
        env["PGPASSWORD"] = password
    return env


def run(program, *arguments, password=None, check=True, timeout=120):
    """Runs one of PostgreSQL's programs; returns its standard output without the last newline."""
    path = shutil.which(program) if program in ("openssl", "ipcrm") else str(bin_dir() / program)
    if path is None:
        raise ClusterError(f"{program} is not installed: run tests/setup")
    # A server that pg_ctl starts keeps our pipes open, so its output must not go into them.
    starts_server = program == "pg_ctl" and "-l" in arguments
    output = subprocess.DEVNULL if starts_server else subprocess.PIPE
    done = subprocess.run(
        [path, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        env=environment(password), cwd="/", timeout=timeout, **account())
    if check and done.returncode != 0:
        said = "see the node's log" if starts_server else _text(done.stderr) or _text(done.stdout)
        raise ClusterError(f"{program} failed ({done.returncode}): {said}")
    return _text(done.stdout)


def _text(data):
    return (data or b"").decode(errors="replace").strip()


def query(port, sql, user, password, database="postgres", timeout=120):
    """Runs SQL through psql, one statement per call if it must not be in a transaction block."""
    return run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", HOST, "-p", port, "-U", user,
               "-d", database, "-c", sql, password=password, timeout=timeout)


def literal(value):
    """A string as PostgreSQL's configuration files and SQL write it."""
    return "'" + str(value).replace("'", "''") + "'"


def conninfo_value(value):
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def free_ports(count):
    """Ports nobody listens on, below the range the kernel hands out to clients (32768)."""
    ports, tries = [], 0
    while len(ports) < count:
        tries += 1
        if tries > 1000:
            raise ClusterError("found no free ports between 15000 and 32000")
        port = random.randrange(15000, 32000)
        if port not in ports and port_is_free(port):
            ports.append(port)
    return sorted(ports)


def port_is_free(port):
    with socket.socket() as probe:
        # As PostgreSQL does: a port whose last connections are in TIME_WAIT is usable.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def children(pid):
    """Direct children of a process. A backend that ends meanwhile is simply not in the answer."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            # The name in parentheses may hold anything, the fields after it do not.
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry))
    return found


def is_alive(pid):
    try:
        state = pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def write_json(path, value):
    scratch = pathlib.Path(f"{path}.new")
    scratch.write_text(json.dumps(value, indent=2) + "\n")
    give_away(scratch)
    scratch.replace(path)


def milliseconds(text):
    """'2s', '500ms', '0' as PostgreSQL's settings take them; refuses what they would misread."""
    if not re.fullmatch(r"0|\d+(ms|s|min)", text):
        raise ClusterError(f"'{text}' is no delay: write 0, 500ms, 2s or 1min")
    return text
