"""What a fault is. Each is a function in a module beside this one, named after what breaks."""

import contextlib
import dataclasses
import os

from cluster import faketime


@dataclasses.dataclass
class Fault:
    """`happen` breaks the cluster for as long as its context lasts."""

    name: str
    happen: object
    # {alert: labels that it has to have}.
    raises: dict
    # Those of them that end with the fault; others count what happened within half an hour.
    ends: set = dataclasses.field(default_factory=set)
    # Alerts that may fire besides: what follows from the fault.
    also: set = dataclasses.field(default_factory=set)
    # Makes what the cluster starts with, and gives switches of `up`.
    prepare: object = lambda stage: []
    # Why it cannot happen here; None where it can.
    obstacle: object = lambda: None
    seconds: int = 40


FAULTS = []
# Of a service that starts again: it is away for a moment, and then not ready.
RESTART = {"BoxofficeDown", "BoxofficePeerAway", "BoxofficeNotReady", "BoxofficeNoCopyServes", "BoxofficeCatalogueNotFollowed"}


def fault(name, raises, **others):
    """Keeps a function, with `yield` between fault and repair, as a fault."""

    def keep(function):
        FAULTS.append(Fault(name, contextlib.contextmanager(function), raises, **others))
        return function

    return keep


def needs_mounts():
    return None if os.environ.get("BOXOFFICE_OWN_MOUNTS") else "only root may mount, in a mount namespace of its own (unshare --mount)"


def needs_faketime():
    return None if faketime() else "libfaketime is not installed (Debian: faketime)"


def register(stage, count):
    """Apps register: each is a write of authentication. The statuses."""
    statement = stage.cluster.file["softwareStatements"]["acme-tv"]
    return [stage.cluster.call("POST", "/o/client/register", document={"software_statement": statement})[0] for _ in range(count)]
