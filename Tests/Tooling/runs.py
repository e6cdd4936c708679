"""The runs of the tests that start clusters: one process each, with clusters of its own.

    runs.py TIMING

Reads the names of all tests of the bundle from standard input, as --list-tests prints them, and Tests/Cluster/suites. TIMING is the regular expression of tests that
bound a time, which these runs leave out. Prints a line for each run: its name, a tab, and the arguments of the test runner, each after a tab.

A suite that belongs to no run or does not end in Tests, one of the list that no test is in, and a test of a target that nothing runs are errors.
"""

import pathlib
import re
import sys

TARGET = "IntegrationTests"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def listed(text):
    """Suites and their runs, in the order of the list."""
    suites = {}
    for line in text.splitlines():
        words = line.split("#")[0].split(maxsplit=1)
        if words:
            suites[words[0]] = words[1].strip() if len(words) > 1 else words[0]
    return suites


def suite_of(name, suites):
    """The most special suite of the list that a test is in; None: it is in none."""
    path = name.removeprefix(f"{TARGET}.").split("(")[0].split("/")[:-1]
    for count in range(len(path), 0, -1):
        if "/".join(path[:count]) in suites:
            return "/".join(path[:count])
    return None


def misnamed(name):
    """Whether a suite that a test is in has a name that does not say so."""
    return not all(suite.endswith("Tests") for suite in name.split(".", 1)[1].split("(")[0].split("/")[:-1])


def sorted_out(names, suites, timing, targets):
    """The tests of each run, and what is wrong with the list."""
    runs, problems, met = {run: [] for run in suites.values()}, [], set()
    for name in names:
        target = name.split(".")[0]
        if misnamed(name):
            problems.append(f"{name}: the name of a suite ends in Tests")
        if target != TARGET:
            if target not in targets:
                problems.append(f"{name}: Tests/run runs no target {target}")
            continue
        suite = suite_of(name, suites)
        if suite is None:
            problems.append(f"{name}: its suite is not in Tests/Cluster/suites")
            continue
        met.add(suite)
        if not re.search(timing, name):
            runs[suites[suite]].append(name)
    problems += [f"Tests/Cluster/suites lists {suite}, which has no test" for suite in suites if suite not in met]
    return runs, problems


def arguments(run, suites):
    """What the test runner takes for a run, beside the tests that bound a time."""
    own = [suite for suite in suites if suites[suite] == run]
    # Suites within these that belong to another run.
    other = [suite for suite in suites if suites[suite] != run and any(suite.startswith(f"{outer}/") for outer in own)]
    result = ["--no-parallel", "--filter", f"^{TARGET}\\.({'|'.join(own)})\\b"]
    return result + (["--skip", f"^{TARGET}\\.({'|'.join(other)})\\b"] if other else [])


def main(timing):
    suites = listed((ROOT / "Tests/Cluster/suites").read_text(encoding="utf-8"))
    targets = {folder.name for folder in (ROOT / "Tests/Unit").glob("*Tests")}
    names = [line.strip() for line in sys.stdin if re.match(r"\w+\..*\(", line)]
    runs, problems = sorted_out(names, suites, timing, targets)
    if problems:
        sys.exit("\n".join(problems))
    for run, tests in runs.items():
        if tests:
            print("\t".join([run, *arguments(run, suites), "--skip", timing]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("runs.py needs one argument: the expression that timing.py prints")
    main(sys.argv[1])
