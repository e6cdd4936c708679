"""Authentication's embedded store with many sessions beside the same store with few."""

import json
import shutil
import time

from builds import TOOLS
from comparison import number, spread
from processes import Failure, run

BYTES_PER_SESSION = 1500  # of disk, with room for the sort of the indexes
PER_DEVICE = 4  # as the goal has it: profiles at four MVPDs


class Store:
    def __init__(self, builder, seconds, rounds, sessions):
        self.builder, self.seconds, self.rounds, self.sessions = builder, seconds, rounds, sessions

    def compare(self, table):
        program = self.builder.ours("store-benchmark") / "store-benchmark"
        # The few are made each time: what a run adds is nothing to the many but much to them.
        small, large = self._filled(program, 10_000, keeps=False), self._filled(program, self.sessions, keeps=True)
        output, _ = run([
            str(program), "compare", "--small", str(small), "--small-sessions", "10000", "--large", str(large), "--large-sessions", str(self.sessions),
            "--per-device", str(PER_DEVICE), "--seconds", str(self.seconds / 4), "--rounds", str(self.rounds)], timeout=self.rounds * self.seconds * 20 + 120)
        self._report(table, json.loads(output.splitlines()[-1]))

    def _filled(self, program, sessions, keeps):
        """
        :param keeps: take the file of an earlier time, unless the program, with the schema in it, has changed since."""
        file = TOOLS / f"sessions-{sessions}-{PER_DEVICE}.sqlite"
        stamp = file.with_suffix(".stamp")
        if keeps and file.exists() and stamp.exists() and program.stat().st_mtime <= stamp.stat().st_mtime:
            return file
        free = shutil.disk_usage(TOOLS).free
        if free < sessions * BYTES_PER_SESSION * 2:
            raise Failure(f"{sessions} sessions need {sessions * BYTES_PER_SESSION * 2 / 1e9:.0f} GB of disk, {free / 1e9:.0f} GB are free")
        print(f"building: a store with {sessions} sessions", flush=True)
        start = time.monotonic()
        run([str(program), "fill", "--file", str(file), "--sessions", str(sessions), "--per-device", str(PER_DEVICE)], timeout=1800)
        stamp.write_text(f"{time.monotonic() - start:.0f} s\n")
        return file

    def _report(self, table, report):
        few, many = f"{report['small']['sessions']:,} sessions, {PER_DEVICE} per device", f"{report['large']['sessions']:,} sessions"
        cases = (
            ("alone", "p99", "p99 µs of a lookup, one at a time, each read from the database", 1.5),
            ("together", "p99", "p99 µs of a lookup, 64 at a time, each read from the database", 1.5),
            ("cached", "p99", "p99 µs of a lookup, 64 at a time, with the service's cache of 65,536 sessions", None),
            ("starts", "p99", "p99 µs of a durable new session, 64 at a time", None))
        for key, field, title, goal in cases:
            ratio, least, most = spread([round_["large"][key][field] / round_["small"][key][field] for round_ in report["rounds"]])
            cells = []
            for name in ("large", "small"):
                figures = {part: spread([round_[name][key][part] for round_ in report["rounds"]])[0] for part in ("p50", "p99", "p999", "rate", "cpu")}
                cells.append(
                    f"{figures['p99']:.1f} (p50 {figures['p50']:.1f}, p99.9 {figures['p999']:.0f}; {number(figures['rate'])}/s, "
                    f"{figures['cpu']:.1f} µs of CPU each)")
            met = goal is None or ratio <= goal
            verdict = "" if goal is None else f"≤ {goal} {'met' if met else 'missed'}"
            table.row(title, f"{many}: {cells[0]}", few, cells[1], f"{ratio:.2f} ({least:.2f}–{most:.2f})", verdict, met)
        for name, words in (("large", many), ("small", few)):
            known = report[name]
            table.batched.append(
                f"- {words}: file of {known['fileBytes'] / 1e6:.0f} MB, read through once before ({known['warmingSeconds']:.1f} s), so the system has it in "
                f"memory as far as there is room; opened in {known['openingSeconds'] * 1000:.0f} ms with {known['openingBytes'] / 1e6:.1f} MB of memory")
        table.batched.append(
            f"- the process with both stores open, after all lookups: {report['residentBytes'] / 1e6:.0f} MB resident; new sessions that wait at the same "
            "moment share a commit (one fsync)")
