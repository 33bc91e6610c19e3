"""What is compared: PostgreSQL itself, PgBouncer and pgweir, each started on a port of its own."""
import pathlib
import signal
import subprocess
import sys
import time

import postgres

POOL_SIZE = 20
DATABASE, USER = "app", "app"
PGBOUNCER = """\
[databases]
{database} = host=127.0.0.1 port={server} dbname={database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = 2000
max_prepared_statements = 200
pkt_buf = {pkt_buf}
server_tls_sslmode = disable
listen_backlog = 1024
log_connections = 0
log_disconnections = 0
log_stats = 0
pidfile =
"""
# JSON is YAML too, but this is what a reader would write. The servers are the whole cluster, as in real life.
PGWEIR = """\
listen: {{address: 127.0.0.1, port: {port}, max_clients: 2000}}
http: {{listen: "127.0.0.1:{http}"}}
workers: {workers}
clusters:
  main:
    servers: [{servers}]
    monitor: {{user: pgweir, password: "{monitor}"}}
    pool: {{size: {pool}}}
databases: {{{database}: {{cluster: main}}}}
users: [{{name: {user}, password: "{password}"}}]
log: {{connections: false}}
"""


class Peer:
    """Something that speaks the protocol on `port`; `pid` is None where it is PostgreSQL itself."""

    def __init__(self, name, cluster, folder):
        self.name, self.cluster, self.folder = name, cluster, folder / name
        self.port, self.process, self.version = None, None, ""
        self.folder.mkdir(exist_ok=True)
        self.folder.chmod(0o755)

    @property
    def pid(self):
        return self.process.pid if self.process else None

    def launch(self, command, **options):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd="/", start_new_session=True, **options)
        self.wait_ready()

    def wait_ready(self, seconds=20):
        password, end = self.cluster.users[USER], time.monotonic() + seconds
        while True:
            try:
                postgres.query(self.port, "select count(*) from pgbench_branches", USER, password,
                               DATABASE, timeout=seconds)
                return
            except (postgres.ClusterError, subprocess.TimeoutExpired) as error:
                if time.monotonic() > end or self.process.poll() is not None:
                    tail = (self.folder / "log").read_text(errors="replace")[-2000:]
                    sys.exit(f"bench: {self.name} does not answer: {error}\n{tail}")
                time.sleep(0.1)

    def stop(self):
        if self.process is None:
            return
        # For both products SIGTERM may wait for clients and SIGINT does not.
        for number in (signal.SIGINT, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                try:
                    self.process.wait(5)
                except subprocess.TimeoutExpired:
                    print(f"bench: {self.name} did not stop within 5 s", file=sys.stderr)
        self.process = None


class Direct(Peer):
    def start(self):
        self.port = self.cluster.primary().port
        self.version = "PostgreSQL " + postgres.run("postgres", "--version").split()[2]


class PgBouncer(Peer):
    """From a root folder that is not entered: its own loader finds its own libraries."""

    def __init__(self, name, cluster, folder, root, pkt_buf=4096):
        super().__init__(name, cluster, folder)
        loader = next(pathlib.Path(root).glob("usr/lib/*-linux-gnu/ld-linux*.so*"))
        self.command = [str(loader), "--library-path", str(loader.parent), f"{root}/usr/sbin/pgbouncer"]
        self.pkt_buf = pkt_buf
        try:
            said = subprocess.run([*self.command, "--version"], check=True, capture_output=True, text=True,
                                  cwd="/", **postgres.account()).stdout
        except (OSError, subprocess.CalledProcessError):
            sys.exit(f"bench: user postgres cannot run what is in {root}: set PGWEIR_BENCH_DIR to a folder "
                     "it can reach, such as one in /tmp")
        self.version = said.splitlines()[0]

    def start(self):
        self.port = postgres.free_ports(1)[0]
        users = self.folder / "users"
        users.write_text(f'"{USER}" "{self.cluster.users[USER]}"\n')
        ini = self.folder / "pgbouncer.ini"
        ini.write_text(PGBOUNCER.format(
            database=DATABASE, server=self.cluster.primary().port, port=self.port, folder=self.folder,
            pool=POOL_SIZE, pkt_buf=self.pkt_buf))
        for path in (users, ini):
            postgres.give_away(path)
        self.launch([*self.command, "-q", str(ini)], **postgres.account())


class Pgweir(Peer):
    def __init__(self, name, cluster, folder, binary, workers=1):
        super().__init__(name, cluster, folder)
        self.binary, self.workers = binary, workers
        self.version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()

    def start(self):
        self.port, http = postgres.free_ports(2)
        servers = ", ".join(f"{{name: {n.name}, host: 127.0.0.1, port: {n.port}}}"
                            for n in self.cluster.nodes)
        path = self.folder / "pgweir.yaml"
        path.write_text(PGWEIR.format(
            port=self.port, http=http, workers=self.workers, servers=servers, pool=POOL_SIZE,
            monitor=self.cluster.users["pgweir"], database=DATABASE, user=USER,
            password=self.cluster.users[USER]))
        self.launch([self.binary, str(path)])
