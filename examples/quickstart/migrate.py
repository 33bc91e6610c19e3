"""The quick start's dual write: a store, the migration's start, its progress, and the proof."""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "documents"
PASSWORD = "migrate-secret"  # on loopback only, and for as long as the quick start runs
PR_SET_PDEATHSIG = 1


class PostgresStore:
    """A second server, which `run` has started: PGWEIR_TEST_CLUSTER is its note."""
    kind = "postgres"

    def __init__(self, cluster):
        self.node = cluster.nodes[0]
        self.port = self.node.port
        self.where = f"table pgweir_store.{NAME} of the server on port {self.port}"

    def start(self, folder):
        pass

    def stop(self):
        pass


class ChromaStore:
    kind = "chroma"

    def __init__(self, port):
        self.port, self.process = port, None
        self.where = f"collection {NAME} of Chroma on port {port}"

    def start(self, folder):
        libc = ctypes.CDLL(None)
        self.process = subprocess.Popen(
            [str(ROOT / "tests/stores/chroma_server"), str(folder / "chroma"), str(self.port)],
            stdout=subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM))
        if not any(line.startswith(b"ready") for line in self.process.stdout):
            sys.exit("quickstart: Chroma did not start")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def make_role(primary):
    """As examples/migration-role.sql does it."""
    primary.sql(f"CREATE ROLE pgweir_migrate LOGIN REPLICATION PASSWORD '{PASSWORD}' IN ROLE app")
    primary.sql("GRANT CREATE ON DATABASE app TO pgweir_migrate")


def run_pgweir(proxy, *words):
    """`pgweir migrate …`, as an operator calls it; its output, or the end with what it says."""
    command = [os.environ["PGWEIR_BIN"], "migrate", *words, "--port", str(proxy.port), "--user", "postgres"]
    done = subprocess.run(command, env={**os.environ, "PGPASSWORD": proxy.secrets["postgres"]},
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"quickstart: {done.stderr.strip()}")
    return done.stdout


def status(console):
    console.execute(f"MIGRATE STATUS {NAME}")
    return dict(zip((column[0] for column in console.description), console.fetchone()))


class Line:
    """One line that is written anew on a terminal, and a line each elsewhere, if it has changed."""

    def __init__(self):
        self.last = None

    def show(self, text):
        if text != self.last:
            print(f"\r\033[K{text}" if sys.stdout.isatty() else text, end="" if sys.stdout.isatty() else "\n", flush=True)
            self.last = text

    def end(self):
        if sys.stdout.isatty():
            print(flush=True)


def progress(row):
    copied, wanted = int(row["rows_copied"]), int(row["rows_to_copy"])
    share = min(1.0, copied / wanted) if wanted else 0.0
    bar = "#" * int(30 * share)
    return f"copy  [{bar:30}] {copied} of about {wanted} rows, {int(row['bytes']) / 1e6:.1f} MB  {row['phase']}"


def lag(row):
    return (f"lag   {row['lag_rows']} rows, {row['lag_bytes']} bytes, {float(row['lag_seconds']):.2f} s;"
            f" {row['rows_streamed']} rows followed by the stream")


def follow(console, shown, until, seconds=300):
    """Shows a line of the status until it is as wanted."""
    line, end = Line(), time.monotonic() + seconds
    while True:
        row = status(console)
        line.show(shown(row))
        if until(row):
            line.end()
            return row
        if row["phase"] == "failed" or time.monotonic() > end:
            sys.exit(f"quickstart: the migration is {row['phase']}: {row['reason']} {row['trouble']}")
        time.sleep(0.1)


def start(proxy, console, say, store):
    """Begins the dual write and shows the copy."""
    say(f"pgweir migrate start {NAME}: every committed embedding goes to {store.where} too")
    print(run_pgweir(proxy, "start", NAME), end="")
    follow(console, progress, lambda row: row["phase"] == "dual_writing")


def await_all(console, primary):
    """Until the store has what is committed now; nothing may be writing."""
    end = primary.sql("SELECT pg_current_wal_flush_lsn()")

    def reached(row):
        return position(row["confirmed"]) >= position(end) and row["lag_rows"] == "0"

    return follow(console, lag, reached)


def position(text):
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def verify(proxy, console, say):
    """True if nothing is missing, extra or different."""
    say(f"pgweir migrate verify {NAME}")
    run_pgweir(proxy, "verify", NAME)
    row = follow(console, lambda row: f"verify {row['verify']}", lambda row: row["verify"].startswith(("done", "ended")))
    good = row["verify"].startswith("done") and ", 0 missing, 0 extra, 0 different" in row["verify"]
    return good and row["dead_letters"] == "0"
