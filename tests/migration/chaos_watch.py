"""What the chaos test sees of the proxy while it runs: phases, rows, CPU, memory."""
import threading
import time

import harness
from harness import Refused
from targets import Broken


class Rate:
    """Rows over the time in which they were written; counts begin anew with each process."""

    def __init__(self):
        self.rows, self.seconds, self.last = 0, 0.0, None

    def add(self, at, process, count):
        if self.last and self.last[1] == process and count >= self.last[2]:
            gained = count - self.last[2]
            if gained:
                self.rows += gained
                self.seconds += at - self.last[0]
        else:
            self.rows += count
        self.last = (at, process, count)

    def __str__(self):
        return f"{self.rows} rows, {self.rows / self.seconds:.0f} a second" if self.seconds else f"{self.rows} rows"


class Watch(threading.Thread):
    def __init__(self, proxy, interval=0.5):
        super().__init__(daemon=True)
        self.proxy, self.interval = proxy, interval
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.last = {}
        self.rates = {name: {"copied": Rate(), "streamed": Rate()} for name in proxy.migrations}
        self.most_lag = dict.fromkeys(proxy.migrations, 0.0)
        self.cpu, self.cpu_now = 0.0, (None, 0.0)
        self.memory, self.steady_from, self.steady_to, self.cost = [], None, None, None
        self.stale, self.known = set(), {}
        self.begin = time.monotonic()
        self.start()

    def run(self):
        while not self.ended.wait(self.interval):
            self.account()
            try:
                rows = self.proxy.status()
            except (Refused, Broken, ValueError, KeyError, OSError):
                continue
            at, pid = time.monotonic(), self.proxy.pid
            with self.lock:
                self.last = rows
                for name, row in rows.items():
                    if row["phase"] == "off" and row["writer"] != "this":
                        row["phase"] = self.known.get(name, "off")  # a proxy that has not asked yet
                    self.known[name] = row["phase"]
                    self.rates[name]["copied"].add(at, pid, row["rows_copied"])
                    self.rates[name]["streamed"].add(at, pid, row["rows_streamed"])
                    self.most_lag[name] = max(self.most_lag[name], row["lag_seconds"])
                    if row["phase"] in ("stale", "resyncing"):
                        self.stale.add(name)

    def account(self):
        """CPU and memory up to now; to be called before a kill as well."""
        pid = self.proxy.pid
        try:
            used, resident = harness.cpu_seconds(pid), harness.resident_mb(pid)
        except (OSError, TypeError):
            return
        with self.lock:
            if self.cpu_now[0] not in (None, pid):
                self.cpu += self.cpu_now[1]
            self.cpu_now = (pid, used)
            self.memory.append((time.monotonic() - self.begin, pid, resident))

    def phases(self):
        with self.lock:
            return {name: row["phase"] for name, row in self.last.items()}

    def steady(self):
        self.steady_from = time.monotonic() - self.begin

    def end_steady(self):
        self.account()
        self.steady_to = time.monotonic() - self.begin
        with self.lock:  # before verify, which costs CPU and writes no row
            rows = sum(rate.rows for rates in self.rates.values() for rate in rates.values())
            self.cost = (self.cpu + self.cpu_now[1], rows)

    def stop(self):
        self.ended.set()
        self.join(30)

    def report(self):
        for name, rates in self.rates.items():
            yield (f"{name}: copied {rates['copied']}; streamed {rates['streamed']}; longest lag seen "
                   f"{self.most_lag[name]:.1f} s{'; was stale' if name in self.stale else ''}")
        if self.cost:
            cpu, rows = self.cost
            yield (f"proxy: {cpu:.1f} s of CPU while there were writes, {1e6 * cpu / max(rows, 1):.0f} µs a row with the"
                   " clients' traffic and restarts")
        if self.memory:
            at, _, most = max(self.memory, key=lambda each: each[2])
            yield f"memory: at most {most:.0f} MiB, {at:.0f} s after the start of the proxy"
        if self.steady_to:
            yield self._steady_memory()

    def _steady_memory(self):
        """The first third of the quiet stretch against the last one."""
        found = [each[2] for each in self.memory if self.steady_from <= each[0] <= self.steady_to]
        third = max(1, len(found) // 3)
        first, last = sum(found[:third]) / third, sum(found[-third:]) / third
        word = "flat" if last <= 1.1 * first + 5 else "GROWING"
        return f"memory while nothing was killed: {first:.0f} MiB at first, {last:.0f} MiB at last: {word}"
