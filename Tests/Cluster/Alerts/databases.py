"""Faults of PostgreSQL: two servers, of which the first one's commits wait for the second."""

import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from cluster import Viewer, ended, faketime, until
from faults import RESTART, fault, needs_faketime

MINE = os.getuid() != 0


def programs():
    """The folder of the newest server that is installed; None where there is none."""
    return max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]), default=None)


def needs_postgres():
    return None if programs() else "PostgreSQL is not installed (Debian: postgresql)"


class Servers:
    """They run as the user postgres where this runs as root: no server does."""

    def __init__(self, stage):
        self.folder, self.ports = stage.folder / "servers", {"a": stage.port + 36, "b": stage.port + 37}
        self.folder.mkdir()
        self.folder.chmod(0o755)
        stage.folder.chmod(0o711)
        if not MINE:
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-D", self.folder / "a", "-U", "postgres", "--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8", "--no-sync")
        with open(self.folder / "a/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"listen_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\nmax_connections = 200\n")
        self.start("a")
        self.sql("CREATE ROLE boxoffice LOGIN PASSWORD 'alerts' IN ROLE pg_read_all_stats")
        for service in ("config", "authentication", "authorization", "autosignin"):
            self.sql(f"CREATE DATABASE \"{service}\" OWNER boxoffice TEMPLATE template0 ENCODING 'UTF8'")
        self.run("pg_basebackup", "-D", self.folder / "b", "-R", "-X", "stream", "-c", "fast", "-d", f"host={self.folder} port={self.ports['a']} user=postgres application_name=b")
        self.start("b")
        self.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (a, b)'")
        self.sql("SELECT pg_reload_conf()")
        until("a standby that streams", lambda: self.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'") == "1")

    def run(self, program, *arguments):
        owner = {} if MINE else {"user": "postgres", "group": "postgres", "extra_groups": [], "env": os.environ | {"HOME": pwd.getpwnam("postgres").pw_dir}}
        log = self.folder / "said"
        with open(log, "ab") as file:
            done = subprocess.run([f"{programs()}/{program}", *map(str, arguments)], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, timeout=60, **owner)
        assert not done.returncode, f"{program}: {log.read_text()[-1000:]}"
        return done.stdout.decode().strip()

    def sql(self, statement, server="a"):
        return self.run("psql", "-h", self.folder, "-p", self.ports[server], "-U", "postgres", "-d", "postgres", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement)

    def start(self, server):
        self.run("pg_ctl", "-D", self.folder / server, "-l", self.folder / f"{server}.log", "-o", f"-p {self.ports[server]}", "-w", "start")

    def stop(self, server):
        with contextlib.suppress(AssertionError):
            self.run("pg_ctl", "-D", self.folder / server, "-m", "immediate", "stop")

    def receiver(self):
        """The process that takes in what the primary writes."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if b"walreceiver" in (process / "cmdline").read_bytes() and (process / "cwd").resolve() == (self.folder / "b").resolve():
                    return int(process.name)
        return None

    @contextlib.contextmanager
    def standing_still(self):
        """The standby confirms nothing; its connection stays."""
        receiver = until("the standby's receiver", self.receiver)
        os.kill(receiver, signal.SIGSTOP)
        try:
            yield
        finally:
            if not ended(receiver):
                os.kill(receiver, signal.SIGCONT)

    def url(self):
        return f"postgres://boxoffice:alerts@127.0.0.1:{self.ports['a']}"


def with_standby(stage):
    stage.servers = Servers(stage)
    stage.leaves.append(lambda: [stage.servers.stop(name) for name in ("a", "b")])
    return ["--store", stage.servers.url()]


# While commits wait, all that needs one is refused.
REFUSED = {"BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly", "BoxofficeNotReady", "BoxofficeNoCopyServes", "BoxofficeStoreRefuses", "BoxofficeStoreSlow", "BoxofficeCatalogueNotFollowed"}


@fault(
    "a standby that stands still", {"BoxofficeCommitsWait": {}}, ends={"BoxofficeCommitsWait"}, also=REFUSED | {"BoxofficeStandbyLags"}, prepare=with_standby, obstacle=needs_postgres)
def commits_wait(stage):
    with stage.servers.standing_still():
        yield


@fault("a lagging standby", {"BoxofficeStandbyLags": {"standby": "b"}}, ends={"BoxofficeStandbyLags"}, also=REFUSED | {"BoxofficeCommitsWait"}, prepare=with_standby, obstacle=needs_postgres, seconds=60)
def standby_lags(stage):
    # Commits do not wait for it here: it may lag for as long as it likes.
    stage.servers.sql("ALTER SYSTEM SET synchronous_commit = 'local'")
    stage.servers.sql("SELECT pg_reload_conf()")
    with stage.servers.standing_still():
        # 80 MiB that nothing compresses.
        stage.servers.sql("SELECT count(pg_logical_emit_message(false, 'filler', repeat('x', 1048576))) FROM generate_series(1, 80)")
        yield


@fault("a standby that is gone", {"BoxofficeStandbyMissing": {}}, ends={"BoxofficeStandbyMissing"}, also=REFUSED | {"BoxofficeCommitsWait"}, prepare=with_standby, obstacle=needs_postgres, seconds=60)
def standby_missing(stage):
    stage.servers.stop("b")
    yield
    stage.servers.start("b")


@fault(
    "a database that is away", {"BoxofficeNotReady": {"service": "authentication"}, "BoxofficeNoCopyServes": {"service": "gateway"}}, ends={"BoxofficeNotReady", "BoxofficeNoCopyServes"},
    also=REFUSED | {"BoxofficeStandbyMissing", "BoxofficeCommitsWait"}, prepare=with_standby, obstacle=needs_postgres, seconds=60)
def database_away(stage):
    stage.servers.stop("a")
    yield
    stage.servers.start("a")


@fault(
    "a clock that is not the database's", {"BoxofficeClocksApart": {"service": "authentication"}}, also=RESTART,
    prepare=with_standby, obstacle=lambda: needs_postgres() or needs_faketime())
def clocks_apart(stage):
    stage.run_with("authentication", {"LD_PRELOAD": faketime(), "FAKETIME": "+9", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"})
    viewer = Viewer(stage.cluster)
    with contextlib.suppress(AssertionError):
        viewer.register()
    yield
