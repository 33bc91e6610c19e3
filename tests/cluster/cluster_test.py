#!/usr/bin/env python3
"""The test cluster itself, on real servers: what every integration test relies on."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import postgres  # noqa: E402
from node import wait_until  # noqa: E402
from pg_cluster import DATABASE, USERS, Cluster  # noqa: E402
from postgres import ClusterError  # noqa: E402


def traces(cluster):
    """What a running cluster has on the machine: processes, ports and memory segments."""
    processes, segments = [], []
    for node in cluster.nodes:
        pid = node.server_pid()
        processes += [pid, *postgres.children(pid)]
        segments.append(node.pid_file.read_text().split("\n")[6].split()[1])
    return processes, segments


def memory_segments():
    lines = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return [line.split()[1] for line in lines]


class Tool(unittest.TestCase):
    def expect_nothing_left(self, cluster, processes, segments):
        self.assertFalse(cluster.folder.exists())
        self.assertEqual([p for p in processes if postgres.is_alive(p)], [])
        self.assertEqual([s for s in segments if s in memory_segments()], [])
        self.assertEqual([n.port for n in cluster.nodes if not postgres.port_is_free(n.port)], [])


class Replication(Tool):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster.start(replicas=2)
        cls.addClassCleanup(cls.cluster.destroy)
        cls.n1, cls.n2, cls.n3 = cls.cluster.nodes

    def make_table(self, name):
        self.n1.sql(f"create table {name} (id int)", DATABASE)
        self.cluster.catch_up()

    def rows(self, node, table):
        return node.sql(f"select count(*) from {table}", DATABASE)

    def test_both_replicas_get_what_the_primary_writes(self):
        self.make_table("written")
        self.n1.sql("insert into written select generate_series(1, 7)", DATABASE)
        self.cluster.catch_up()
        self.assertEqual([self.rows(n, "written") for n in self.cluster.nodes], ["7", "7", "7"])
        self.assertEqual([n.is_standby() for n in self.cluster.nodes], [False, True, True])
        with self.assertRaisesRegex(ClusterError, "read-only"):
            self.n2.sql("insert into written values (8)", DATABASE)

    def test_vectors_can_be_searched_on_a_replica(self):
        self.n1.sql("create table items (id int, e vector(2))", DATABASE, "app")
        self.n1.sql("insert into items values (1, '[0,0]'), (2, '[3,4]')", DATABASE, "app")
        self.cluster.catch_up()
        found = self.n2.sql("select id, e <-> '[3,3]' from items order by 2", DATABASE, "app")
        self.assertEqual(found, "2|1\n1|4.242640687119285")

    def test_a_paused_replica_stands_still_until_resumed(self):
        self.make_table("paused")
        self.n2.pause()
        before = self.n2.position()
        self.n1.sql("insert into paused values (1)", DATABASE)
        wait_until(lambda: self.rows(self.n3, "paused") == "1", "n3 to replay")
        self.assertEqual(self.n2.position(), before)
        self.assertEqual(self.n2.status()["replay"], "paused")
        self.n2.resume()
        self.cluster.catch_up()
        self.assertEqual(self.rows(self.n2, "paused"), "1")

    def test_a_delayed_replica_has_the_commit_but_does_not_show_it(self):
        self.make_table("delayed")
        self.n3.delay("60min")
        wait_until(lambda: self.n3.status()["delay"] == "1h", "the delay to be in force")
        self.n1.sql("insert into delayed values (1)", DATABASE)
        target = self.n1.position()
        received = f"select pg_last_wal_receive_lsn() >= '{target}'"
        wait_until(lambda: self.n3.sql(received) == "t", "n3 to receive")
        wait_until(lambda: self.rows(self.n2, "delayed") == "1", "n2 to replay")
        self.assertEqual(self.rows(self.n3, "delayed"), "0")
        self.n3.delay("0")
        self.cluster.catch_up()
        self.assertEqual(self.rows(self.n3, "delayed"), "1")

    def test_users_log_in_with_their_own_password_only(self):
        for user, password in USERS.items():
            database = "postgres" if user == "repl" else DATABASE
            self.assertEqual(
                postgres.query(self.n2.port, "select current_user", user, password, database), user)
            with self.assertRaisesRegex(ClusterError, "password authentication failed"):
                postgres.query(self.n2.port, "select 1", user, password + "x", database)
        kinds = self.n1.sql("select rolname, left(rolpassword, 5) from pg_authid "
                            "where rolname in ('app', 'md5user') order by 1")
        self.assertRegex(kinds, r"^app\|SCRAM\nmd5user\|md5..$")

    def test_the_monitor_role_may_see_what_it_needs(self):
        self.assertEqual(self.n1.sql("select rolreplication, rolsuper, pg_has_role('pg_monitor', 'usage') "
                                     "from pg_roles where rolname = current_user", user="pgweir"), "t|f|t")
        self.assertEqual(self.n2.sql("select received_tli from pg_stat_wal_receiver", user="pgweir"), "1")

    def test_settings_of_one_node_can_be_changed_and_taken_back(self):
        self.n2.set(work_mem="7MB", application_name="it's")
        wait_until(lambda: self.n2.sql("show work_mem") == "7MB", "the setting")
        self.n2.set(work_mem=None)
        wait_until(lambda: self.n2.sql("show work_mem") == "4MB", "the default")
        self.assertEqual(self.n1.sql("show work_mem"), "4MB")

    def test_the_description_tells_the_nodes(self):
        again = Cluster.load(self.cluster.folder)
        self.assertEqual([n["role"] for n in again.info["nodes"]], ["primary", "replica", "replica"])
        self.assertTrue(all(15000 <= n.port < 32768 for n in again.nodes))
        system = self.n3.sql("select system_identifier from pg_control_system()")
        self.assertEqual(again.info["system"], system)

    def test_a_second_cluster_in_the_same_folder_is_refused(self):
        with self.assertRaisesRegex(ClusterError, "exists already"):
            Cluster.start(self.cluster.folder)


class Failover(Tool):
    def test_kill_promote_and_rejoin(self):
        with Cluster.start(replicas=2) as cluster:
            n1, n2, n3 = cluster.nodes
            n1.sql("create table survives (id int); insert into survives values (1)", DATABASE)
            cluster.catch_up()
            n1.kill()
            self.assertFalse(n1.is_running())
            n2.promote()
            n2.sql("insert into survives values (2)", DATABASE)
            self.assertEqual(cluster.rejoin("n3", "n2"), "follow")
            self.assertEqual(cluster.rejoin("n1", "n2"), "rewind")
            cluster.catch_up()
            for node in (n1, n3):
                self.assertEqual(node.sql("select id from survives order by 1", DATABASE), "1\n2")
                self.assertTrue(node.is_standby())
            self.assertEqual(n2.status()["timeline"], "2")

            n3.kill()
            n3.start()  # an ordinary crash: same role, same data
            cluster.catch_up()
            self.assertEqual(n3.sql("select count(*) from survives", DATABASE), "2")
            n3.stop("immediate")
            n2.stop()
            n1.promote()
            n1.sql("insert into survives values (3)", DATABASE)
            cluster.rejoin("n2", "n1")
            cluster.rejoin("n3", "n1")
            cluster.catch_up()
            self.assertEqual(n3.sql("select count(*) from survives", DATABASE), "3")
            processes, segments = traces(cluster)
        self.expect_nothing_left(cluster, processes, segments)


class Cleanup(Tool):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pgweir-cluster-test-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.note = self.scratch / "note.json"

    def command(self, *words):
        return [sys.executable, str(HERE / "cluster.py"), *map(str, words)]

    def run_with_child(self):
        """A `run` whose command waits; returns it with what the cluster has on the machine."""
        ready = self.scratch / "ready"
        script = f"echo $$ > {ready}.part; mv {ready}.part {ready}; exec sleep 3600"
        runner = subprocess.Popen(self.command("run", "--replicas", 1, "--note", self.note,
                                               "--", "sh", "-c", script))
        wait_until(ready.exists, "the command to start")
        cluster = Cluster.load(self.note)
        self.addCleanup(lambda: cluster.folder.exists() and cluster.destroy())
        processes, segments = traces(cluster)
        return runner, cluster, [*processes, int(ready.read_text())], segments

    def test_destroy_leaves_nothing_even_of_a_killed_node(self):
        cluster = Cluster.start(replicas=1, tls=True, note=self.note)
        self.addCleanup(lambda: cluster.folder.exists() and cluster.destroy())
        processes, segments = traces(cluster)
        subject = postgres.run("openssl", "verify", "-CAfile", cluster.tls["ca"], cluster.tls["certificate"])
        self.assertEqual(subject, f"{cluster.tls['certificate']}: OK")
        with self.assertRaises(ClusterError):
            postgres.run("openssl", "verify", "-CAfile", cluster.tls["wrong_ca"], cluster.tls["certificate"])
        self.assertEqual(cluster.nodes[0].sql("select ssl from pg_stat_ssl where pid = pg_backend_pid()"), "t")
        cluster.nodes[1].kill()
        subprocess.run(self.command("--cluster", self.note, "destroy"), check=True)
        self.expect_nothing_left(cluster, processes, segments)
        self.assertFalse(self.note.exists())

    def test_run_passes_the_commands_exit_code_and_cleans_up(self):
        check = 'test -s "$PGWEIR_TEST_CLUSTER" && echo "$PGWEIR_TEST_CLUSTER" && exit 7'
        done = subprocess.run(self.command("run", "--replicas", 0, "--", "sh", "-c", check),
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 7)
        self.assertFalse(pathlib.Path(done.stdout.strip()).parent.exists())

    def test_run_cleans_up_when_told_to_end(self):
        runner, cluster, processes, segments = self.run_with_child()
        runner.send_signal(signal.SIGTERM)
        self.assertEqual(runner.wait(60), 128 + signal.SIGTERM)
        self.expect_nothing_left(cluster, processes, segments)

    def test_run_cleans_up_when_killed(self):
        runner, cluster, processes, segments = self.run_with_child()
        runner.kill()
        runner.wait(60)
        wait_until(lambda: not self.note.exists(), "the guard to clean up")
        wait_until(lambda: not any(map(postgres.is_alive, processes)), "the command to end")
        self.expect_nothing_left(cluster, processes, segments)

    def test_a_failed_start_leaves_nothing(self):
        folder = self.scratch / "taken"
        os.chmod(self.scratch, 0o755)
        with Cluster.start(replicas=0) as first:
            with self.assertRaisesRegex(ClusterError, "Address already in use"):
                Cluster.start(folder, replicas=0, port=first.nodes[0].port)
        self.assertFalse(folder.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
