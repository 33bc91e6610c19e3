"""CPU time and memory of processes, read from /proc."""
import dataclasses
import os
import pathlib
import re
import time

TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Usage:
    """What a process used up to `at` (monotonic seconds); times in microseconds."""
    at: float
    total: float
    user: float
    system: float

    def since(self, before):
        return Usage(self.at - before.at, self.total - before.total, self.user - before.user,
                     self.system - before.system)


def _stat(pid):
    """Parent, user and system ticks; the name in parentheses may hold anything, the fields after it do not."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1]), int(fields[11]), int(fields[12])


def usage(pid):
    """Of one process with all its threads. The total is exact as long as no thread ends; the kernel
    gives user and system time in ticks only, so they are scaled to the total by the caller."""
    _, user, system = _stat(pid)
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    run_ns = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    return Usage(time.monotonic(), run_ns / 1e3, user * 1e6 / TICKS, system * 1e6 / TICKS)


def family(root):
    """The process and all its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                children.setdefault(_stat(entry)[0], []).append(int(entry))
            except OSError:
                pass  # it ended meanwhile
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def busy(pids):
    """Microseconds that these processes used so far, as far as they still live."""
    total = 0
    for pid in pids:
        try:
            _, user, system = _stat(pid)
        except OSError:
            continue
        total += user + system
    return total * 1e6 / TICKS


def machine_busy():
    """Microseconds that all processors together were not idle."""
    with open("/proc/stat") as file:
        values = [int(v) for v in file.readline().split()[1:9]]
    return (sum(values) - values[3] - values[4]) * 1e6 / TICKS


def resident_kb(pid):
    return int(re.search(r"^VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return os.uname().machine
