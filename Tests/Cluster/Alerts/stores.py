"""Faults of disks and of stores in files."""

import contextlib
import os
import signal
import sqlite3
import subprocess

from cluster import until
from faults import RESTART, fault, needs_mounts, register


def small_disk(stage):
    """A disk of 1.1 GiB, of which a store's alert wants 1 GiB to be free."""
    folder = stage.cluster.home / "data/authentication"
    folder.mkdir(parents=True, mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1100m,mode=700", "boxoffice-alerts", str(folder)], check=True)
    stage.mounted.append(folder)
    return []


def fill(folder, leave):
    """Takes all but so many octets of a disk's room."""
    with open(folder / f"filler-{leave}", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while leave < os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize or not leave:
            file.write(bytes(1 << 20 if leave else 4096))


@fault(
    "a full disk", {"BoxofficeDiskNearlyFull": {"store": "authentication"}, "BoxofficeStoreRefuses": {"store": "authentication"}}, ends={"BoxofficeDiskNearlyFull"},
    also={"BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly", "BoxofficeNotReady", "BoxofficeNoCopyServes"}, prepare=small_disk, obstacle=needs_mounts, seconds=60)
def full_disk(stage):
    folder = stage.cluster.home / "data/authentication"
    fill(folder, 500 << 20)
    stage.fires("BoxofficeDiskNearlyFull", {"store": "authentication"}, 40)
    assert set(register(stage, 3)) == {201}, "a disk with room left is not written to"
    fill(folder, 0)
    until("a registration that is refused", lambda: 503 in register(stage, 20), 30)
    yield
    for filler in folder.glob("filler-*"):
        filler.unlink()


def slow_disk(stage):
    """Programs whose disk takes 0.4 s for each commit while a file is there."""
    source = stage.folder / "slow.c"
    source.write_text(
        '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n'
        f'static void wait_for_disk(void) {{ if (access("{stage.folder}/slow", F_OK) == 0) usleep(400000); }}\n'
        'int fsync(int file) { wait_for_disk(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file); }\n'
        'int fdatasync(int file) { wait_for_disk(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(stage.folder / "slow.so"), str(source), "-ldl"], check=True)
    stage.cluster.environment["LD_PRELOAD"] = str(stage.folder / "slow.so")
    return []


@fault("a slow disk", {"BoxofficeStoreSlow": {"store": "authentication"}}, also={"BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly"}, prepare=slow_disk)
def store_slow(stage):
    register(stage, 2)
    stage.scraped()
    (stage.folder / "slow").touch()
    register(stage, 6)
    yield
    (stage.folder / "slow").unlink()


def small_store(stage):
    """The least limit that a store may have."""
    stage.cluster.up()
    stage.cluster.down()
    stage.cluster.settings("authentication", lambda settings: settings.setdefault("limits", {}).update(storeMebibytes=16))
    return []


@fault("a store near its limit", {"BoxofficeStoreFillsUp": {"store": "authentication"}}, also={"BoxofficeStoreRefuses", "BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly"}, prepare=small_store)
def store_fills_up(stage):
    # Rows of a table that nobody reads, as years of clients would.
    file = next((stage.cluster.home / "data/authentication").glob("*.sqlite"))
    with contextlib.closing(sqlite3.connect(file, timeout=30)) as store:
        store.execute("CREATE TABLE IF NOT EXISTS filler (octets BLOB)")
        store.execute("INSERT INTO filler VALUES (zeroblob(?))", (13_800_000,))
        store.commit()
    register(stage, 5)
    yield


@fault("an audit record that somebody changes", {"BoxofficeHistoryBroken": {"service": "config"}}, also=RESTART)
def history_broken(stage):
    stage.cluster.kill("config", signal.SIGTERM)
    file = next((stage.cluster.home / "data/config").glob("*.sqlite"))
    with contextlib.closing(sqlite3.connect(file, timeout=30)) as store:
        # A trigger keeps records as they are; whoever owns the file can take it away.
        (trigger,) = store.execute("SELECT sql FROM sqlite_master WHERE name = 'audit_stays'").fetchone()
        store.execute("DROP TRIGGER audit_stays")
        assert store.execute("UPDATE audit SET author = 'somebody else' WHERE number = (SELECT min(number) FROM audit)").rowcount == 1
        store.execute(trigger)
        store.commit()
    stage.cluster.up()
    yield
