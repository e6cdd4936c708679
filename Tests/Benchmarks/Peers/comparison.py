"""Rounds in which ours and its peers run in turns, and what is said about them."""

import contextlib
import dataclasses
import statistics

from processes import Failure, cpu_seconds


@dataclasses.dataclass
class Run:
    """What one run of a load gave."""

    rate: float  # calls per second
    p50: float | None = None  # microseconds
    p99: float | None = None
    wrong: int = 0  # answers that were not the expected ones
    calls: int = 0  # all that were made, those of the warm-up included
    load_cost: float | None = None  # microseconds of CPU per call of the load itself
    note: str = ""
    server_cost: float | None = None  # microseconds of CPU per call of the servers


@dataclasses.dataclass
class Subject:
    """One of those that are compared: `load` runs a load on it; `pids` are the processes that serve it."""

    name: str
    load: object  # (seconds) -> Run
    pids: object = None  # () -> [int]
    batched: str = ""  # what shares a TLS record or a commit


@dataclasses.dataclass
class Pair:
    """One line of the table: a peer, and the least ratio of ours to it, where one is demanded."""

    peer: Subject
    goal: float | None = None
    title: str = ""


def measured(subject, seconds):
    pids = subject.pids() if subject.pids else []
    before = cpu_seconds(pids)
    run = subject.load(seconds)
    served = cpu_seconds(pids) - before
    if pids and run.calls:
        run.server_cost = served * 1e6 / run.calls
    return run


def spread(values):
    return statistics.median(values), min(values), max(values)


class Comparison:
    """Ours beside one or several peers under the same load."""

    def __init__(self, title, ours, pairs, note=""):
        self.title, self.ours, self.pairs, self.note = title, ours, pairs, note
        self.rounds = []  # [ours, peer, peer, ...] each

    def measure(self, rounds, seconds):
        subjects = [self.ours] + [pair.peer for pair in self.pairs]
        # The first calls of a process fill its caches.
        for subject in subjects:
            with contextlib.suppress(Failure):
                subject.load(0.3)
        for _ in range(rounds):
            self.rounds.append([measured(subject, seconds) for subject in subjects])
        return self

    def runs(self, place):
        return [runs[place] for runs in self.rounds]

    def ratios(self, place):
        return [runs[0].rate / runs[place].rate for runs in self.rounds]

    def is_met(self, place):
        goal = self.pairs[place - 1].goal
        wrong = sum(run.wrong for run in self.runs(0) + self.runs(place))
        return wrong == 0 and (goal is None or statistics.median(self.ratios(place)) >= goal)


def number(value, digits=0):
    if value is None:
        return "-"
    return f"{value / 1000:.1f} k" if value >= 10_000 else f"{value:.{digits if value < 100 else 0}f}"


def middle(runs, value):
    values = [value(run) for run in runs if value(run) is not None]
    return statistics.median(values) if values else None


class Table:
    """Prints each comparison when it is done, and all of them again at the end."""

    HEAD = ("| what | calls/s of ours (p50, p99 µs; CPU µs per call: server, load) | peer | calls/s of the peer (the same) | ratio (least–most) | goal |\n"
            "|---|---|---|---|---|---|")

    def __init__(self):
        self.lines, self.missing, self.missed, self.batched = [], [], [], []

    def begin(self):
        print(self.HEAD, flush=True)

    def _line(self, text):
        self.lines.append(text)
        print(text, flush=True)

    @staticmethod
    def _figures(runs):
        p50, p99 = middle(runs, lambda run: run.p50), middle(runs, lambda run: run.p99)
        server, load = middle(runs, lambda run: run.server_cost), middle(runs, lambda run: run.load_cost)
        times = f"{number(p50)}, {number(p99)}" if p50 is not None else "-"
        return f"{number(statistics.median(run.rate for run in runs))} ({times}; {number(server, 1)}, {number(load, 1)})"

    def add(self, comparison):
        for place, pair in enumerate(comparison.pairs, 1):
            median, least, most = spread(comparison.ratios(place))
            met = comparison.is_met(place)
            wrong = sum(run.wrong for run in comparison.runs(0) + comparison.runs(place))
            verdict = "" if pair.goal is None else f"≥ {pair.goal:g} {'met' if met else 'missed'}"
            if wrong:
                verdict += f" {wrong} wrong answers"
            if not met:
                self.missed.append(f"{comparison.title} beside {pair.peer.name}")
            self._line(
                f"| {comparison.title} | {self._figures(comparison.runs(0))} | {pair.peer.name} | {self._figures(comparison.runs(place))} "
                f"| {median:.2f} ({least:.2f}–{most:.2f}) | {verdict} |")
        for place, subject in enumerate([comparison.ours] + [pair.peer for pair in comparison.pairs]):
            notes = [run.note for run in comparison.runs(place) if run.note]
            text = "; ".join(part for part in (subject.batched, notes[-1] if notes else "") if part)
            if text:
                self.batched.append(f"- {comparison.title}, {subject.name}: {text}")
        if comparison.note:
            self.batched.append(f"- {comparison.title}: {comparison.note}")

    def row(self, title, ours, peer, theirs, ratio, verdict, met, note=""):
        """A line that is no rate beside a rate."""
        self._line(f"| {title} | {ours} | {peer} | {theirs} | {ratio} | {verdict} |")
        if not met:
            self.missed.append(title)
        if note:
            self.batched.append(f"- {title}: {note}")

    def lack(self, title, reason):
        self.missing.append(title)
        self._line(f"| {title} | not measured: {' '.join(str(reason).split())} | | | | |")

    def end(self):
        print("\nWhat shares a TLS record or a commit, and what else the figures stand on:\n")
        print("\n".join(self.batched))
        for what, names in (("missed", self.missed), ("not measured", self.missing)):
            if names:
                print(f"\n{what}: " + "; ".join(names))
        return not self.missed and not self.missing
