"""A private primary with streaming replicas: created from nothing, kept in one folder, removed whole."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import certificates
import postgres
from node import Node, wait_until
from postgres import HOST, ClusterError, literal

DATABASE = "app"
# For tests on loopback only, so they may be known. The monitor's role has what the product asks for.
USERS = {
    "postgres": "postgres-secret",  # superuser
    "app": "app-secret",            # owner of database app, SCRAM
    "app2": "app2-secret",          # an ordinary second user, SCRAM
    "md5user": "md5-secret",        # its password is stored and asked for as md5
    "pgweir": "pgweir-secret",      # the proxy's monitor: pg_monitor and REPLICATION
    "repl": "repl-secret",          # the replicas' own
}
HBA = """\
# TYPE  DATABASE     USER     ADDRESS       METHOD
host    all          md5user  127.0.0.1/32  md5
host    all          all      127.0.0.1/32  scram-sha-256
host    replication  all      127.0.0.1/32  scram-sha-256
"""


class Cluster:
    def __init__(self, info):
        self.info = info
        self.folder = pathlib.Path(info["dir"])
        self.users, self.tls = info["users"], info["tls"]
        self.nodes = [Node(self, entry) for entry in info["nodes"]]

    @classmethod
    def start(cls, folder=None, replicas=2, port=None, tls=False, note=None):
        """Makes and starts a cluster. The folder must not exist; without one a temporary one is made.
        `note` is a further file that gets a copy of cluster.json, for callers that need a fixed place."""
        folder, made = _make_folder(folder), None
        try:
            made = cls._describe(folder, replicas, port, tls)
            made._create()
        except BaseException:
            made.destroy() if made else shutil.rmtree(folder)
            raise
        if note:
            made.info["note"] = str(pathlib.Path(note).absolute())
        made.write_info()
        return made

    @classmethod
    def load(cls, place):
        """From a cluster.json (or a copy of it) or the folder that holds one."""
        path = pathlib.Path(place)
        path = path / "cluster.json" if path.is_dir() else path
        try:
            return cls(json.loads(path.read_text()))
        except FileNotFoundError:
            raise ClusterError(f"no cluster at {place}") from None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.destroy()

    @property
    def file(self):
        return self.folder / "cluster.json"

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        raise ClusterError(f"no node {name}: there are {', '.join(n.name for n in self.nodes)}")

    def primary(self):
        for node in self.nodes:
            if node.is_running() and not node.is_standby():
                return node
        raise ClusterError("no running primary")

    @staticmethod
    def _describe(folder, replicas, port, tls):
        count = replicas + 1
        ports = postgres.free_ports(count) if port is None else list(range(port, port + count))
        nodes = []
        for index, number in enumerate(ports):
            home = folder / f"n{index + 1}"
            nodes.append({
                "name": home.name, "host": HOST, "port": number, "data": str(home / "data"),
                "pid_file": str(home / "data" / "postmaster.pid"), "log": str(home / "log"),
                "role": "replica" if index else "primary"})
        paths = certificates.make(folder / "tls") if tls else None
        return Cluster({"dir": str(folder), "host": HOST, "database": DATABASE, "users": USERS,
                        "tls": paths, "nodes": nodes})

    def _create(self):
        hba = self.folder / "pg_hba.conf"
        hba.write_text(HBA)
        postgres.give_away(hba)
        for node in self.nodes:
            node.folder.mkdir()
            postgres.give_away(node.folder)
            node.write_settings()
        primary, *replicas = self.nodes
        self._create_primary(primary)
        for node in self.nodes:
            primary.ensure_slot(node.slot())
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: self._create_replica(node, primary), replicas))
        self.info["version"] = int(primary.sql("show server_version_num")) // 10000
        self.info["system"] = primary.sql("select system_identifier from pg_control_system()")
        self.catch_up()

    def _create_primary(self, node):
        secret = self.folder / "superuser"
        secret.write_text(USERS["postgres"])
        postgres.give_away(secret)
        postgres.run("initdb", "-D", node.data, "-U", "postgres", f"--pwfile={secret}", "-N",
                     "--auth=scram-sha-256", "--locale=C.UTF-8", "--encoding=UTF8")
        secret.unlink()
        node.start()
        roles = [("app", "login"), ("app2", "login"), ("repl", "login replication"),
                 ("pgweir", "login replication in role pg_monitor")]
        statements = [f"create role {name} {options} password {literal(USERS[name])};"
                      for name, options in roles]
        statements += ["set password_encryption = 'md5';",
                       f"create role md5user login password {literal(USERS['md5user'])};"]
        node.sql(" ".join(statements))
        node.sql(f"create database {DATABASE} owner app")
        node.sql("create extension vector; grant create on schema public to app2, md5user", DATABASE)

    @staticmethod
    def _create_replica(node, primary):
        node.base_backup(primary)
        node.follow(primary)
        node.start()

    def write_info(self):
        for path in filter(None, [self.file, self.info.get("note")]):
            postgres.write_json(path, self.info)

    def catch_up(self):
        """Waits until every running, unpaused replica has replayed all the primary has written."""
        primary = self.primary()
        target = primary.position()
        for node in self.nodes:
            if node is primary or not node.is_running():
                continue
            reached = f"select coalesce(pg_last_wal_replay_lsn() >= {literal(target)}, false)"
            wait_until(lambda node=node, sql=reached: node.sql(sql) == "t", f"{node.name} to catch up")

    def rejoin(self, name, primary_name):
        """Makes a node a replica of another one, by the cheapest way that works; says which."""
        node, primary = self.node(name), self.node(primary_name)
        if node is primary:
            raise ClusterError(f"{name} cannot follow itself")
        primary.ensure_slot(node.slot())
        if node.is_running() and node.is_standby():
            node.follow(primary)
            if self._is_fed(node, primary):
                return "follow"
        node.stop()
        way = "rewind"
        if not node.rewind(primary):
            way = self._back_up_again(node, primary)
        node.follow(primary)
        node.start()
        if not self._is_fed(node, primary) and way == "rewind":
            node.stop()
            way = self._back_up_again(node, primary)
            node.follow(primary)
            node.start()
        wait_until(lambda: node.is_fed_by(primary), f"{name} to stream from {primary_name}")
        return way

    @staticmethod
    def _back_up_again(node, primary):
        node.base_backup(primary)
        return "backup"

    @staticmethod
    def _is_fed(node, primary):
        try:
            wait_until(lambda: node.is_fed_by(primary), "streaming", seconds=10)
        except ClusterError:
            return False
        return True

    def destroy(self):
        """Stops every server and removes the folder, whatever state they are in."""
        for node in self.nodes:
            try:
                node.stop("immediate")
            except (ClusterError, subprocess.TimeoutExpired):
                node.kill()
            node.remove_leftovers()
        if self.folder.exists():  # a reboot may have emptied the temporary folder
            shutil.rmtree(self.folder)
        note = self.info.get("note")
        if note:
            pathlib.Path(note).unlink(missing_ok=True)


def _make_folder(folder):
    if folder is None:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pgweir-cluster-"))
    else:
        folder = pathlib.Path(folder).absolute()
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            raise ClusterError(f"{folder} exists already: destroy it, or choose another") from None
    postgres.give_away(folder)
    os.chmod(folder, 0o755)
    # The servers' user must get through all the folders above.
    who = postgres.account()
    if who and subprocess.run(["test", "-x", str(folder)], cwd="/", **who).returncode != 0:
        folder.rmdir()
        raise ClusterError(f"user postgres cannot reach {folder}: choose a folder it can, such as in /tmp")
    return folder
