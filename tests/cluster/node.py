"""One server of a test cluster: its settings, starting, stopping, killing, replay and promotion."""
import os
import pathlib
import shutil
import signal
import time

import postgres
from postgres import HOST, ClusterError, literal

# Quick and small, but logical, streaming and crash-safe enough for kill and rewind.
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": 300,
    "password_encryption": "scram-sha-256",
    "wal_level": "logical",
    "wal_log_hints": "on",  # pg_rewind needs it
    "max_wal_senders": 20,
    "max_replication_slots": 20,
    "max_slot_wal_keep_size": "2GB",
    "hot_standby": "on",
    "hot_standby_feedback": "on",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
    "fsync": "off",
    "shared_buffers": "128MB",
    # In the data folder, so that a killed server leaves nothing in /dev/shm.
    "dynamic_shared_memory_type": "mmap",
    "autovacuum_max_workers": 1,
    "checkpoint_timeout": "15min",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %u@%d ",
    "log_checkpoints": "off",
}


class Node:
    """A server as cluster.json describes it. `cluster` gives users, passwords and the TLS files."""

    def __init__(self, cluster, info):
        self.cluster, self.info = cluster, info
        self.name, self.port = info["name"], info["port"]
        self.data = pathlib.Path(info["data"])
        self.folder = self.data.parent
        self.pid_file = pathlib.Path(info["pid_file"])
        self.conf, self.own_conf = self.folder / "postgresql.conf", self.folder / "own.conf"

    # Settings. They live outside the data folder, because pg_basebackup and pg_rewind copy that.
    def write_settings(self):
        values = {**SETTINGS, "port": self.port, "cluster_name": self.name,
                  "hba_file": self.cluster.folder / "pg_hba.conf"}
        if self.cluster.tls:
            values.update(ssl="on", ssl_ca_file=self.cluster.tls["ca"],
                          ssl_cert_file=self.cluster.tls["certificate"],
                          ssl_key_file=self.cluster.tls["key"])
        lines = [f"{name} = {literal(value)}" for name, value in values.items()]
        self.conf.write_text("\n".join([*lines, f"include = {literal(self.own_conf)}", ""]))
        self.own_conf.touch()
        postgres.give_away(self.conf)
        postgres.give_away(self.own_conf)

    def own_settings(self):
        """What `set`, `delay` and `follow` changed on this node only."""
        return dict(line.split(" = ", 1) for line in self.own_conf.read_text().splitlines())

    def set(self, **values):
        """Changes settings of this node and reloads it if it runs; None takes one back."""
        settings = self.own_settings()
        for name, value in values.items():
            if value is None:
                settings.pop(name, None)
            else:
                settings[name] = literal(value)
        self.own_conf.write_text("".join(f"{k} = {v}\n" for k, v in settings.items()))
        if self.is_running():
            self.ctl("reload")

    def follow(self, primary):
        """Makes this node a standby of another one from its next start, or at once if it is one."""
        user, password = "repl", self.cluster.users["repl"]
        parts = {"host": HOST, "port": primary.port, "user": user, "password": password,
                 "application_name": self.name}
        conninfo = " ".join(f"{k}={postgres.conninfo_value(v)}" for k, v in parts.items())
        (self.data / "standby.signal").touch()
        postgres.give_away(self.data / "standby.signal")
        self.set(primary_conninfo=conninfo, primary_slot_name=self.slot())

    def slot(self):
        return f"{self.name}_slot"

    # The process.
    def ctl(self, *arguments):
        return postgres.run("pg_ctl", "-D", self.data, "-w", "-t", 60, *arguments)

    def server_pid(self):
        """The postmaster's pid, or None when the file is missing or stale."""
        try:
            pid = int(self.pid_file.read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return pid if postgres.is_alive(pid) else None

    def is_running(self):
        return self.server_pid() is not None

    def start(self):
        if not self.is_running():
            self.remove_leftovers()
        log = self.folder / "log"
        try:
            self.ctl("-l", log, "-o", f"-c config_file={self.conf}", "start")
        except ClusterError:
            tail = log.read_text(errors="replace").splitlines()[-15:] if log.exists() else []
            raise ClusterError("\n  ".join([f"{self.name} did not start:", *tail])) from None

    def stop(self, mode="fast"):
        if self.is_running():
            self.ctl("-m", mode, "stop")

    def restart(self):
        self.stop()
        self.start()

    def kill(self):
        """SIGKILL to the whole server, the postmaster first so that it cannot start a recovery."""
        pid = self.server_pid()
        if pid is None:
            return
        os.kill(pid, signal.SIGSTOP)  # no new backend between the look at /proc and the kill
        family = [pid, *postgres.children(pid)]
        for member in family:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(lambda: not any(map(postgres.is_alive, family)), f"{self.name} to be gone")
        self.remove_leftovers()

    def remove_leftovers(self):
        """What a killed server leaves: a System V segment, which line 7 of its pid file names, and that
        file. Where nobody reaps orphans the dead server still owns its pid, and PostgreSQL would
        refuse to start because of the file."""
        if self.is_running():
            raise ClusterError(f"{self.name} still runs")
        try:
            lines = self.pid_file.read_text().split("\n")
        except OSError:
            return
        if len(lines) > 6 and lines[6].split():
            postgres.run("ipcrm", "-m", lines[6].split()[1], check=False)
        self.pid_file.unlink()

    # SQL and replication.
    def sql(self, text, database="postgres", user="postgres"):
        return postgres.query(self.port, text, user, self.cluster.users[user], database)

    def is_standby(self):
        return self.sql("select pg_is_in_recovery()") == "t"

    def pause(self):
        self.sql("select pg_wal_replay_pause()")
        wait_until(lambda: self.sql("select pg_get_wal_replay_pause_state()") == "paused",
                   f"{self.name} to pause replay")

    def resume(self):
        self.sql("select pg_wal_replay_resume()")

    def delay(self, amount):
        self.set(recovery_min_apply_delay=None if amount == "0" else postgres.milliseconds(amount))

    def promote(self):
        self.ctl("promote")
        # pg_rewind against this node reads the new timeline from its control file.
        self.sql("checkpoint")

    def position(self):
        """Where this node is in the WAL: written on a primary, replayed on a standby."""
        return self.sql("select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() "
                        "else pg_current_wal_lsn() end")

    def ensure_slot(self, name):
        self.sql(f"select pg_create_physical_replication_slot({literal(name)}, true) where not exists"
                 f" (select from pg_replication_slots where slot_name = {literal(name)})")

    def is_fed_by(self, primary):
        return primary.sql("select count(*) from pg_stat_replication where state = 'streaming' and "
                           f"application_name = {literal(self.name)}") == "1"

    def base_backup(self, primary):
        shutil.rmtree(self.data, ignore_errors=True)
        postgres.run("pg_basebackup", "-h", HOST, "-p", primary.port, "-U", "repl", "-D", self.data,
                     "-X", "stream", "-c", "fast", "-N", password=self.cluster.users["repl"])

    def rewind(self, primary):
        """Turns a former primary back to where it left the primary's history; False if it cannot."""
        source = (f"host={HOST} port={primary.port} user=postgres dbname=postgres "
                  f"password={postgres.conninfo_value(self.cluster.users['postgres'])}")
        try:
            postgres.run("pg_rewind", "-D", self.data, "--source-server", source,
                         f"--config-file={self.conf}", "-N")
        except ClusterError:
            return False
        return True

    def status(self):
        state = {"name": self.name, "port": self.port, "running": self.is_running()}
        if not state["running"]:
            return state
        names = ("role", "position", "timeline", "replay", "delay")
        values = self.sql(
            "select case when s then 'replica' else 'primary' end, "
            "case when s then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, "
            "case when s then (select received_tli from pg_stat_wal_receiver) else "
            "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end, "
            "case when s then pg_get_wal_replay_pause_state() end, "
            "current_setting('recovery_min_apply_delay') from pg_is_in_recovery() s")
        return {**state, **dict(zip(names, values.split("|")))}


def wait_until(condition, what, seconds=30):
    """Polls a fact about a server. The limit only turns an endless wait into an error."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise ClusterError(f"gave up waiting for {what}")
        time.sleep(0.02)
