"""Runs the tests that reach each mutant."""

import collections
import concurrent.futures
import hashlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

from tree import Trouble

CLUSTER = "IntegrationTests"
#: The longest run of tests, and what is added to four times what the suites last without a mutant.
SECONDS_OF_A_RUN = 300
GRACE = 15
#: Where the clusters of each job have their ports, so that two never want the same one.
PORTS = ("10000-14400", "14500-18900", "22500-26700", "26800-31000")
#: How a mutant that the tests tell apart can end.
FOUND = ("killed", "timed out")
LEFT = ("survived", "not reached")


class Interrupted(Exception):
    """The trial is to stop now."""


class Processes:
    """Starts programs, each in a group of its own that ends with it, and ends all of them at once."""

    def __init__(self):
        self.lock, self.running, self.stopping = threading.Lock(), set(), False

    def run(self, command, seconds, folder, **variables):
        """The exit status, and what was printed. The status is None for a program that had not ended after so many seconds. Raises Interrupted."""
        with self.lock:
            if self.stopping:
                raise Interrupted
            process = subprocess.Popen(
                [str(each) for each in command], env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", start_new_session=True, cwd=folder)
            self.running.add(process)
        if self.stopping:
            self.end(process, GRACE)
        status, output = None, ""
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.end(process, GRACE)
            process.stdout.close()
            with self.lock:
                self.running.discard(process)
        if self.stopping:
            raise Interrupted
        return status, output

    @staticmethod
    def end(process, grace):
        """Ends a program. What it started, such as what ends the database servers of tests when they are over, has so many seconds to end by itself."""
        try:
            process.kill()
            process.wait()
            end = time.monotonic() + grace
            while time.monotonic() < end:
                os.killpg(process.pid, 0)
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop(self):
        self.stopping = True
        for process in list(self.running):
            self.end(process, GRACE)


def exactly(suites):
    """The regular expression for tests of these suites."""
    return "^(" + "|".join(re.escape(each) for each in suites) + r")[/(]"


class Trial:
    """What was found is kept in the tree as it is found: `reach.json` and `results.jsonl`."""

    def __init__(self, tree, processes, jobs, seconds):
        self.tree, self.processes, self.jobs = tree, processes, jobs
        self.deadline = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.reach, self.results, self.skipped = {}, {}, ""
        self.ports = queue.SimpleQueue()
        for job in range(jobs):
            self.ports.put(PORTS[job])

    # What is kept

    def load(self):
        if (self.tree.notes / "reach.json").is_file():
            self.reach = json.loads((self.tree.notes / "reach.json").read_text())
        if (self.tree.notes / "results.jsonl").is_file():
            for line in (self.tree.notes / "results.jsonl").read_text().splitlines():
                try:
                    name, outcome = json.loads(line)
                except ValueError:
                    # The row at which an earlier trial was ended.
                    continue
                self.results[name] = outcome

    def forget(self, names):
        """Forgets these results, and which suites reach what: tests have changed."""
        self.reach = {}
        for name in names:
            self.results.pop(name, None)
        self.keep("reach.json", "{}")
        self.keep("results.jsonl", "".join(json.dumps(list(each)) + "\n" for each in self.results.items()))

    def keep(self, name, text):
        scratch = self.tree.notes / (name + ".part")
        scratch.write_text(text)
        scratch.replace(self.tree.notes / name)

    # Running

    def bundle(self):
        found = sorted((self.tree.tree / ".build" / "debug").glob("*PackageTests.xctest"))
        if not found:
            raise Trouble("the build left no bundle of tests")
        return found[0]

    def tests(self, arguments, seconds, **variables):
        binaries = (self.tree.tree / ".build" / "debug").resolve()
        ports = self.ports.get()
        surroundings = {
            "BOXOFFICE_BINARIES": str(binaries), "BOXOFFICE_CHECKOUT": str(self.tree.tree), "BOXOFFICE_LONG": "0", "BOXOFFICE_TEST_PORTS": ports, **variables}
        try:
            return self.processes.run([self.bundle(), "--testing-library", "swift-testing", *arguments], seconds, self.tree.tree, **surroundings)
        finally:
            self.ports.put(ports)

    def run(self, suites, seconds, **variables):
        skip = ["--skip", self.skipped] if self.skipped else []
        return self.tests(["--filter", exactly(suites), *skip], seconds, **variables)

    def suites(self, targets):
        """The suites of these targets. Tests that bound a time are skipped: beside others they fail without a mutant."""
        folders = [each for each in (self.tree.tree / "Tests" / "Unit" / name for name in targets) if each.is_dir()]
        folders += [each for each in [self.tree.tree / "Tests" / "Cluster" / CLUSTER] if CLUSTER in targets and each.is_dir()]
        if folders:
            command = [sys.executable, "-B", str(self.tree.root / "Tests/Tooling/timing.py"), *map(str, folders)]
            pattern = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            self.skipped = "" if pattern.startswith("^()") else pattern
        status, output = self.tests(["--list-tests"], SECONDS_OF_A_RUN)
        if status != 0:
            raise Trouble(f"the tests cannot be listed:\n{output[-2000:]}")
        found = {line.rsplit("/", 1)[0] if "/" in line else line.split("(")[0] for line in output.split("\n") if line.strip()}
        return sorted(each for each in found if each.split(".")[0] in targets)

    def trace(self, suites):
        """Which mutants each suite reaches, and how long it lasts without any."""
        wanted = [each for each in suites if each not in self.reach]

        def one(suite):
            trace = self.tree.notes / f"trace-{hashlib.sha256(suite.encode()).hexdigest()[:16]}"
            trace.unlink(missing_ok=True)
            start = time.monotonic()
            status, output = self.run([suite], SECONDS_OF_A_RUN, BOXOFFICE_MUTANT_TRACE=str(trace))
            numbers = sorted({int(each) for each in trace.read_text().split()}) if trace.is_file() else []
            trace.unlink(missing_ok=True)
            # A suite whose tests are all skipped ends in its own way.
            return suite, {"passes": status == 0, "seconds": round(time.monotonic() - start, 2), "reaches": numbers}, output

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for done, (suite, record, output) in enumerate(pool.map(one, wanted), 1):
                self.reach[suite] = record
                if not record["passes"]:
                    print(f"  left out, as it fails without a mutant: {suite}: {blamed(output)}", flush=True)
                if done % 20 == 0 or done == len(wanted):
                    self.keep("reach.json", json.dumps(self.reach))
                    print(f"  traced {done} of {len(wanted)} suites", flush=True)

    def attempt(self, number, is_cluster):
        """Runs the suites that reach a mutant: the quickest first, and then the others; of clusters those that reach the fewest mutants."""
        reaching = [
            suite for suite, record in self.reach.items()
            if record["passes"] and number in record["reaches"] and suite.startswith(CLUSTER + ".") == is_cluster]
        if not reaching:
            return {"outcome": "not reached", "by": ""}
        if is_cluster:
            reaching.sort(key=lambda each: len(self.reach[each]["reaches"]))
            parts = [[each] for each in reaching[:4]]
        else:
            reaching.sort(key=lambda each: self.reach[each]["seconds"])
            parts = [part for part in (reaching[:4], reaching[4:]) if part]
        for part in parts:
            limit = min(SECONDS_OF_A_RUN, GRACE + 4 * sum(self.reach[each]["seconds"] for each in part))
            status, output = self.run(part, limit, BOXOFFICE_MUTANT=str(number))
            if is_cluster and status != 0:
                # One that starts processes may fail by what else the machine does; a mutant makes it fail twice.
                status, output = self.run(part, limit, BOXOFFICE_MUTANT=str(number))
            if status is None:
                return {"outcome": "timed out", "by": ", ".join(part[:2])}
            if status != 0:
                return {"outcome": "killed", "by": blamed(output)}
        return {"outcome": "survived", "by": ""}

    def try_all(self, mutants, is_cluster):
        """Tries those that have no result yet, until the time is over."""
        kind = "cluster" if is_cluster else "unit"
        todo = [each.number for each in mutants if f"{kind} {each.number}" not in self.results]

        with (self.tree.notes / "results.jsonl").open("a") as journal, concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:

            def one(number):
                if time.monotonic() > self.deadline:
                    return
                start = time.monotonic()
                outcome = self.attempt(number, is_cluster)
                outcome["seconds"] = round(time.monotonic() - start, 1)
                with self.lock:
                    self.results[f"{kind} {number}"] = outcome
                    # Begins a row of its own, whatever an earlier trial left.
                    journal.write("\n" + json.dumps([f"{kind} {number}", outcome]))
                    journal.flush()

            for done, _ in enumerate(pool.map(one, todo), 1):
                if done % 20 == 0 or done == len(todo):
                    counts = collections.Counter(self.results[f"{kind} {each}"]["outcome"] for each in todo if f"{kind} {each}" in self.results)
                    print(f"  {kind}: {done} of {len(todo)}: " + ", ".join(f"{count} {name}" for name, count in counts.items()), flush=True)

    def outcome(self, number):
        """What is known of a mutant: that of clusters where unit tests did not tell it apart."""
        unit, cluster = self.results.get(f"unit {number}"), self.results.get(f"cluster {number}")
        if unit is not None and unit["outcome"] in LEFT and cluster is not None and cluster["outcome"] != "not reached":
            return cluster
        return unit or {"outcome": "not tried", "by": ""}


def blamed(output):
    """The first test that failed, of an output that may be coloured."""
    found = re.search(r"✘ Test (.+?) (?:recorded|failed)", re.sub(r"\x1b\[[0-9;]*m", "", output))
    return found.group(1) if found else "the process ended"
