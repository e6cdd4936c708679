"""What a run cost, at its end; and what has grown.

    report.py WORK [--keep]

WORK is the folder of a run: `suites` has a line for each suite, seconds and its name; `durations` a line for each test, seconds, a tab and its name; `build-NAME.json` is the
record of a build (timed_build.py). Prints seconds by suite, CPU seconds by module, the twenty longest tests, and a line for each build whose CPU seconds are more than 5 %,
and each suite whose seconds are more than 25 %, above the figures in costs.json. --keep writes these figures instead.

Machines differ. A build from nothing compiles the same packages everywhere, so these are the measure of the machine: our own modules are compared in proportion to them.
Suites are compared in proportion to a computation that is always the same.
"""

import json
import pathlib
import re
import sys
import time

KEPT = pathlib.Path(__file__).with_name("costs.json")
# What the package manager compiles of others in each build, and mostly so: its share says whether a build began from nothing.
YARDSTICK = "CNIOBoringSSL"


def pace():
    """CPU seconds of a computation that is always the same; the best of five."""
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        sum(number * number % 7 for number in range(1_000_000))
        best = min(best, time.process_time() - begun)
    return best


def own(record, ours):
    """CPU seconds of our modules and of all others, links apart."""
    mine = sum(seconds for name, seconds in record["modules"].items() if name in ours)
    others = sum(seconds for name, seconds in record["modules"].items() if name not in ours and not name.startswith("("))
    return mine, others


def targets(root):
    """Names of the package's own targets."""
    package = (root / "Package.swift").read_text()
    # Most suites are rows of a table.
    return {*re.findall(r'\b(?:\w*[lL]ibrary|program|service|tests)\(\s*"(\w+)"', package), *re.findall(r"^    (\w+Tests): ", package, re.M), "SamlMutations"}


def grown(kept, builds, suites, now_pace, ours):
    """Lines about what has grown."""
    lines = []
    for name, record in builds.items():
        before = kept.get("builds", {}).get(name)
        if not before or record["modules"].get(YARDSTICK, 0) == 0:
            continue
        mine, others = own(record, ours)
        ratio = (mine / others) / (before["mine"] / before["others"])
        if ratio > 1.05:
            lines.append(f"grown: the {name} build takes {100 * (ratio - 1):.0f} % more CPU seconds for our modules than the figures kept")
    scale = now_pace / kept["pace"] if kept.get("pace") else 0
    for name, seconds in suites.items():
        before = kept.get("suites", {}).get(name)
        # What lasts a few seconds varies by more than that.
        if before and scale and seconds > 1.25 * before * scale and seconds - before * scale > 10:
            lines.append(f"grown: {name} takes {seconds} s, {100 * (seconds / (before * scale) - 1):.0f} % more than the figures kept")
    return lines


def read(work):
    builds = {path.stem.removeprefix("build-"): json.loads(path.read_text()) for path in sorted(work.glob("build-*.json"))}
    suites, durations = {}, []
    for line in (work / "suites").read_text().splitlines() if (work / "suites").exists() else []:
        seconds, name = line.split(" ", 1)
        suites[name] = suites.get(name, 0) + int(seconds)
    for line in (work / "durations").read_text().splitlines() if (work / "durations").exists() else []:
        seconds, _, name = line.partition("\t")
        durations.append((float(seconds), name))
    return builds, suites, durations


def main(work, keep):
    builds, suites, durations = read(work)
    ours, now_pace = targets(pathlib.Path(__file__).parents[2]), pace()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, record in builds.items():
        mine, others = own(record, ours)
        print(f"\nBuild ({name}): {record['wall']:.0f} s, {record['cpu']:.0f} s of CPU: {mine:.0f} for our modules, {others:.0f} for packages. CPU seconds by module:")
        largest = sorted(record["modules"].items(), key=lambda entry: -entry[1])
        for module, seconds in largest[:25]:
            print(f"{seconds:7.0f}  {module}")
        print(f"{sum(seconds for _, seconds in largest[25:]):7.0f}  {max(0, len(largest) - 25)} others")
        alone = sorted(record.get("alone", {}).items(), key=lambda entry: -entry[1])
        print("Alone at work, by one process: " + ", ".join(f"{module} {seconds:.0f} s" for module, seconds in alone[:8]))
    print("\nThe longest tests, in seconds:")
    for seconds, name in sorted(durations, reverse=True)[:20]:
        print(f"{seconds:7.1f}  {name}")
    print("\nSeconds by suite:")
    for name, seconds in suites.items():
        print(f"{seconds:7}  {name}")
    if keep:
        figures = {"pace": round(now_pace, 4), "builds": dict(kept.get("builds", {})), "suites": {**kept.get("suites", {}), **suites}}
        for name, record in builds.items():
            if record["modules"].get(YARDSTICK, 0):
                mine, others = own(record, ours)
                figures["builds"][name] = {"mine": round(mine), "others": round(others)}
        KEPT.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    for line in grown(kept, builds, suites, now_pace, ours):
        print(line)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("report.py: give the folder of a run")
    main(pathlib.Path(sys.argv[1]), "--keep" in sys.argv)
