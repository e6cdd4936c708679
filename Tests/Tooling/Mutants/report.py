"""Tells what a trial found."""

import collections

from trial import FOUND, LEFT

COLUMNS = ["killed", "timed out", "survived", "not reached", "equivalent", "not tried"]


def judge(mutants, trial, known):
    """Each mutant with its outcome, and the keys of `known` that a test did tell apart. `known` has the reasons of equivalents."""
    judged, wrong = [], []
    for mutant in mutants:
        found = trial.outcome(mutant.number)
        outcome = found["outcome"]
        if mutant.key in known:
            if outcome in FOUND:
                wrong.append((mutant, found["by"]))
            elif outcome in LEFT:
                outcome = "equivalent"
        judged.append((mutant, outcome))
    return judged, wrong


def row(name, counts):
    found = sum(counts[each] for each in FOUND)
    tried = found + sum(counts[each] for each in LEFT)
    share = f"{100 * (tried - found) / tried:.1f} %" if tried else "none tried"
    return f"| {name} | " + " | ".join(str(counts[each]) for each in COLUMNS) + f" | {share} |"


def table(title, judged, name):
    counts = collections.defaultdict(collections.Counter)
    for mutant, outcome in judged:
        counts[name(mutant)][outcome] += 1
    lines = [f"| {title} | " + " | ".join(COLUMNS) + " | left, of those tried |", "|---" * (len(COLUMNS) + 2) + "|"]
    lines += [row(each, counts[each]) for each in sorted(counts)]
    return [*lines, row("all", sum(counts.values(), collections.Counter()))]


def write(mutants, trial, known, stale):
    """The report, in Markdown."""
    judged, wrong = judge(mutants, trial, known)
    lines = table("folder", judged, lambda each: each.folder) + [""] + table("pattern", judged, lambda each: each.edit.pattern) + [""]
    spent = [each["seconds"] for each in trial.results.values() if "seconds" in each]
    if spent:
        lines += [f"{len(spent)} runs took {sum(spent) / 60:.0f} minutes, {sum(spent) / len(spent):.1f} s each.", ""]
    left = sorted((each for each in judged if each[1] in LEFT), key=lambda each: (each[0].file, each[0].line))
    lines += [f"- {outcome}: {mutant.told}" for mutant, outcome in left]
    lines += [f"- listed as equivalent, and killed by {by}: {mutant.told}" for mutant, by in wrong]
    lines += [f"- listed as equivalent, and in no source: `{' | '.join(key.split(chr(9)))}`" for key in stale]
    return "\n".join(lines).rstrip() + "\n"
