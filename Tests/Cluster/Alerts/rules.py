"""The product's rules, and a copy of them that does not wait."""

import pathlib
import re

PROMETHEUS = pathlib.Path(__file__).resolve().parents[3] / "Shared/Documents/Operations/prometheus"
ALERTS = PROMETHEUS / "alerts.yml"
# How long the copy waits before an alert fires. The product's file says minutes: what passes by itself is to wake nobody.
PATIENCE = "2s"


def names():
    """Each alert of the product's file, in its order."""
    return re.findall(r"^ *- alert: (\w+)$", ALERTS.read_text(), re.M)


def impatient():
    """The product's rules, of which nothing differs but how long a condition has to hold."""
    text, count = re.subn(r"^( +for: ).*$", rf"\g<1>{PATIENCE}", ALERTS.read_text(), flags=re.M)
    assert count > 40, f"{ALERTS} has {count} lines 'for:' that this can read"
    return text
