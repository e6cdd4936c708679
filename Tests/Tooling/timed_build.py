"""Runs a build, and notes what each module of it cost.

    timed_build.py FILE COMMAND...

FILE gets a JSON object: seconds of wall clock and of CPU in all, CPU seconds by module, and for how many seconds a module was the only one at work, by one process: what
is on the critical path. Ends with the command's status.

SwiftPM's own records have no CPU time, and count waiting for a free processor as building. So this looks at the compilers that run, ten times a second. What a process
uses after the last look, the system counts in all: each module gets of it as its number of processes is.
"""

import json
import os
import re
import resource
import subprocess
import sys
import threading
import time

INTERVAL = 0.1
TICK = os.sysconf("SC_CLK_TCK")
LINKERS = {"ld", "ld.gold", "gold", "ld.lld", "lld", "swift-autolink-extract", "swift-autolink-", "clang++"}


def text(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def descendants(root):
    """Process ids below this one."""
    waiting = [root]
    while waiting:
        process = waiting.pop()
        for thread in os.listdir(f"/proc/{process}/task") if os.path.isdir(f"/proc/{process}/task") else []:
            for child in text(f"/proc/{process}/task/{thread}/children").split():
                waiting.append(int(child))
                yield int(child)


def module(arguments):
    """The module that a process with this command line works for."""
    words = [word.decode("utf-8", "replace") for word in arguments.split(b"\0")]
    program = os.path.basename(words[0]) if words else ""
    if "-module-name" in words[:-1] and "-emit-executable" not in words and "-emit-library" not in words:
        return words[words.index("-module-name") + 1]
    compiled = re.search(r"/([A-Za-z0-9_]+)\.build/", " ".join(words[words.index("-o") + 1 :]) if "-o" in words else "")
    if program.startswith("clang") and "-c" in words and compiled:
        return compiled.group(1)
    if program in LINKERS or "-emit-executable" in words:
        return "(links)"
    return "(package manager)"


class Sampler(threading.Thread):
    """Keeps what each process had used when it was seen last."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.seen, self.alone, self.ended = root, {}, {}, threading.Event()

    def run(self):
        before = time.monotonic()
        while not self.ended.wait(INTERVAL):
            busy = []
            for process in [self.root, *descendants(self.root)]:
                stat = text(f"/proc/{process}/stat")
                if not stat:
                    continue
                # Behind the name, which may hold anything: state is the first field, user and system time the 12th and 13th, the start the 20th.
                fields = stat[stat.rindex(b")") + 2 :].split()
                used, key = (int(fields[11]) + int(fields[12])) / TICK, (process, fields[19])
                known = self.seen.get(key)
                # A program's command line is that of its parent until it is its own.
                name = known[0] if known and known[2] > 2 else module(text(f"/proc/{process}/cmdline"))
                self.seen[key] = (name, used, known[2] + 1 if known else 1)
                if process != self.root and used > (known[1] if known else 0):
                    busy.append(name)
            now = time.monotonic()
            if len(busy) == 1:
                self.alone[busy[0]] = self.alone.get(busy[0], 0) + now - before
            before = now


def main(path, command):
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command)
    sampler = Sampler(process.pid)
    sampler.start()
    status = process.wait()
    sampler.ended.set()
    sampler.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    used, count = {}, {}
    for name, seconds, _ in sampler.seen.values():
        used[name] = used.get(name, 0) + seconds
        count[name] = count.get(name, 0) + 1
    unseen = max(0, total - sum(used.values())) / max(1, sum(count.values()))
    modules = {name: round(used[name] + unseen * count[name], 1) for name in used}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"wall": round(time.monotonic() - begun, 1), "cpu": round(total, 1), "modules": modules, "alone": {name: round(seconds, 1) for name, seconds in sampler.alone.items()}}, file)
    return status


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("timed_build.py: give the file that gets the record, and the command")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
