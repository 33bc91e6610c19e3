#!/usr/bin/env python3
"""pgbench's own scripts through the proxy: 200 clients over 20 server connections, all protocol modes, 1 and 2 workers.

Asserts that every transaction went through. PGWEIR_LONG=1 runs a minute each instead of a few transactions.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

SECONDS = 60 if os.environ.get("PGWEIR_LONG") else 0
CLIENTS = 200
EACH = {"select-only": 25, "tpcb-like": 3}  # transactions of a client in the short form


def configuration(cluster, workers, port, http_port):
    servers = "\n".join(
        f"      - {{name: {n['name']}, host: {n['host']}, port: {n['port']}}}" for n in cluster["nodes"]
    )
    return f"""
listen: {{address: 127.0.0.1, port: {port}, max_clients: 1000}}
http: {{listen: "127.0.0.1:{http_port}"}}
workers: {workers}
clusters:
  main:
    servers:
{servers}
    monitor: {{user: pgweir, password: {cluster['users']['pgweir']}, database: {cluster['database']}}}
    pool: {{size: 20}}
databases: {{"*": {{cluster: main}}}}
users:
  - {{name: app, password: {cluster['users']['app']}}}
log: {{connections: false}}
"""


def free_ports(count):
    tool = os.environ["PGWEIR_CLUSTER_TOOL"]
    return [int(p) for p in subprocess.check_output([tool, "ports", str(count)], text=True).split()]


def wait_ready(http_port):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{http_port}/readyz", timeout=1):
                return
        except OSError:
            time.sleep(0.05)  # there is nothing to wait on before it listens
    raise SystemExit("the proxy did not become ready")


def pgbench(environment, port, *arguments):
    command = ["pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", "app", *arguments, "app"]
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=SECONDS + 120)


def run_one(environment, port, workers, script, mode):
    length = ("-T", str(SECONDS)) if SECONDS else ("-t", str(EACH[script]))
    done = pgbench(environment, port, "-n", "-b", script, "-M", mode, "-c", str(CLIENTS), "-j", "2", *length)
    processed = re.search(r"transactions actually processed: (\d+)", done.stdout)
    failed = re.search(r"failed transactions: (\d+)", done.stdout)
    enough = 1 if SECONDS else CLIENTS * EACH[script]
    good = done.returncode == 0 and processed and int(processed[1]) >= enough and failed and failed[1] == "0"
    print(f"{workers} workers, {script}, {mode}: {processed[1] if processed else 'no'} transactions,"
          f" {failed[1] if failed else '?'} failed")
    if not good:
        print(done.stderr[-2000:])
    return good


def main():
    with open(os.environ["PGWEIR_TEST_CLUSTER"]) as file:
        cluster = json.load(file)
    environment = dict(os.environ, PGPASSWORD=cluster["users"]["app"])
    made = pgbench(environment, cluster["nodes"][0]["port"], "-i", "-q", "-s", "10")
    if made.returncode != 0:
        raise SystemExit(made.stderr)
    good = True
    for workers in (1, 2):
        port, http_port = free_ports(2)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(configuration(cluster, workers, port, http_port))
            file.flush()
            proxy = subprocess.Popen([os.environ["PGWEIR_BIN"], file.name], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
            try:
                wait_ready(http_port)
                for script in ("select-only", "tpcb-like"):
                    for mode in ("simple", "extended", "prepared"):
                        good = run_one(environment, port, workers, script, mode) and good
            finally:
                proxy.terminate()
                good = proxy.wait(timeout=90) == 0 and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
