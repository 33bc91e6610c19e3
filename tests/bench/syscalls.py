"""In what pieces a peer passes a large result on, seen by strace where it is installed."""
import re
import shutil
import subprocess
import tempfile
import time

SECONDS = 2
RECEIVE, SEND = ("read", "readv", "recvfrom", "recvmsg"), ("write", "writev", "sendto", "sendmsg")
CALL = re.compile(r"(?:\d+ +)?(?:\[pid +\d+\] )?(?:<\.\.\. )?(\w+)[ (].* = (\d+)$")


def watch(pid):
    """Receives and sends per megabyte received, of all threads, and their mean size; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("w+", prefix="pgweir-bench-strace-") as trace:
        tracer = subprocess.Popen(
            ["strace", "-f", "-s", "0", "-o", trace.name, "-e", "trace=" + ",".join(RECEIVE + SEND), "-p", str(pid)],
            stderr=subprocess.DEVNULL)
        time.sleep(SECONDS)
        tracer.terminate()
        tracer.wait(10)
        sizes = {RECEIVE: [], SEND: []}
        for line in trace:
            match = CALL.match(line)
            for kind in sizes:
                if match and match[1] in kind and int(match[2]) > 0:
                    sizes[kind].append(int(match[2]))
    megabytes = sum(sizes[RECEIVE]) / 1e6
    if megabytes < 1:
        return None
    return {"receives_per_mb": len(sizes[RECEIVE]) / megabytes, "sends_per_mb": len(sizes[SEND]) / megabytes,
            "receive_bytes": sum(sizes[RECEIVE]) / len(sizes[RECEIVE]),
            "send_bytes": sum(sizes[SEND]) / max(1, len(sizes[SEND]))}
