"""Raises alerts on real clusters: each fault has a cluster of its own and a Prometheus that scrapes it. Called by `run`."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import certificates  # noqa: F401
import databases  # noqa: F401
import rules
import services  # noqa: F401
import stores  # noqa: F401
import upstreams  # noqa: F401
from cluster import Cluster, until
from faults import FAULTS
from prometheus import Prometheus

# Alerts that no fault raises here, and why. tests.yml raises each of them (Shared/Tooling/operations sees to it).
BY_TESTS_ALONE = {
    "BoxofficeTestUserSkipped": "no copy can be kept from a turn for three periods, but by a fault of ours",
    "BoxofficeOverloaded": "only a machine that does nothing else can be overloaded by a known amount; the faults under load do so (--only overload)",
    "BoxofficeUpstreamRefuses": "it wants ten refused calls; of an integration that the upstream has ended the bridge asks no more after the first",
    "BoxofficeUpstreamThrottles": "it wants 50 calls that were too many; the bridge's own limits keep them from being made",
    "BoxofficeUpstreamBearersShort": "it wants a hundred bearers within half an hour",
    "BoxofficeUpstreamSessionsLost": "it wants fifty people who are signed in",
    "BoxofficeUpstreamListOld": "a list has to be a quarter of an hour old",
    "BoxofficeUpstreamAnswersStale": "an answer has to be asked for anew, which takes minutes",
    "BoxofficeOutboxGivesUp": "a call to Apple is given up after a day",
    "BoxofficeTokenReplayed": "it takes an Apple account's token that comes back after its end",
    "BoxofficeObservationLost": "it takes a disk of logs that hangs for longer than the queue of lines lasts",
}
# These bound a time. A machine that is busy with other things may raise them at any moment, where a rule hardly waits.
TIMED = {"BoxofficeStoreSlow", "BoxofficeAuthorizeSlow", "BoxofficeUpstreamSlow"}
FIRST = "a dead service"


class Stage:
    """A cluster, and the Prometheus that watches it."""

    def __init__(self, fault, folder):
        self.fault, self.folder, self.port = fault, folder, int(os.environ.get("BOXOFFICE_PORT_BASE", "21000")) + 560
        self.mounted, self.leaves, self.children, self.seen = [], [], [], set()
        self.while_waiting = lambda: None
        self.cluster, self.prometheus = Cluster(folder, self.port), None

    def set_up(self):
        self.cluster.up(*self.fault.prepare(self))
        self.prometheus = Prometheus(self.folder / "prometheus", self.port + 35, self.cluster.debug())
        # A cluster that is well raises nothing, however little the rules wait.
        self.evaluated(5)
        firing = [labels for labels in self.prometheus.firing() if labels["alertname"] not in TIMED]
        assert not firing, f"a cluster that is well raises {firing}"

    def evaluated(self, count):
        former = self.prometheus.evaluations()
        until(f"{count} more evaluations of the rules", lambda: self.prometheus.evaluations() >= former + count, 60)

    def scraped(self):
        """Prometheus has seen what the programs tell now."""
        self.evaluated(3)

    def fires_now(self, alert, labels=None):
        firing = self.prometheus.firing()
        self.seen |= {each["alertname"] for each in firing}
        return [each for each in firing if each["alertname"] == alert and (labels or {}).items() <= each.items()]

    def wait(self, what, condition, seconds):
        def once():
            self.while_waiting()
            return condition()

        begun = time.monotonic()
        until(what, once, seconds)
        return time.monotonic() - begun

    def fires(self, alert, labels, seconds):
        took = self.wait(f"the alert {alert} {labels}", lambda: self.fires_now(alert, labels), seconds)
        print(f"ok    {self.fault.name}: {alert} fires ({took:.1f} s)", flush=True)

    def ends(self, alert, seconds):
        took = self.wait(f"the end of {alert}", lambda: not self.fires_now(alert), seconds)
        print(f"ok    {self.fault.name}: {alert} ends with it ({took:.1f} s)", flush=True)

    def run_with(self, service, environment):
        """Starts a service again, with other variables. Its process is one of this test's, which ends with the stage."""
        pid = self.cluster.pid(service)
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
        words[0] = os.readlink(f"/proc/{pid}/exe").encode()
        variables = dict(each.split(b"=", 1) for each in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if b"=" in each)
        self.cluster.kill(service, signal.SIGTERM)
        # A Swift program finds no arguments once the library has moved its environment: a shell goes first, and the program inherits that.
        with open(self.cluster.home / f"logs/{service}.log", "ab") as log:
            self.children.append(subprocess.Popen(
                ["sh", "-c", 'exec "$@"', "sh", *words], env=variables | {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        until(f"{service} to answer again", lambda: self.answers(service), 40)

    def answers(self, service):
        try:
            return self.cluster.metric(service, "boxoffice_ready") == 1
        except OSError:
            return False

    def tear_down(self):
        for child in self.children:
            child.kill()
            child.wait()
        if self.prometheus:
            self.prometheus.stop()
        self.cluster.down()
        for leave in self.leaves:
            leave()
        for folder in self.mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


def play(fault):
    """Whether the fault raises what it must, and nothing else."""
    begun = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boxoffice-alerts-"))
    stage = Stage(fault, folder)
    try:
        stage.set_up()
        with fault.happen(stage):
            for alert, labels in fault.raises.items():
                stage.fires(alert, labels, fault.seconds)
        for alert in sorted(fault.ends):
            stage.ends(alert, 90)
        strange = sorted(stage.seen - set(fault.raises) - fault.also - TIMED)
        assert not strange, f"it raises {', '.join(strange)} too, which does not follow from it"
        print(f"ok    {fault.name}: nothing else fires ({time.monotonic() - begun:.0f} s in all)", flush=True)
        return True
    except (AssertionError, OSError, RuntimeError, subprocess.SubprocessError) as problem:
        print(f"FAIL  {fault.name}: {problem}", flush=True)
        for log in sorted((folder / "home/logs").glob("*.log")):
            print(f"      log of {log.stem}:", *log.read_text(errors="replace").splitlines()[-4:], sep="\n      ")
        return False
    finally:
        stage.tear_down()
        shutil.rmtree(folder, ignore_errors=True)


def lists():
    """Both lists, and what is wrong with them."""
    alerts, raised = rules.names(), [alert for fault in FAULTS for alert in fault.raises]
    print("Raised on a real cluster:")
    for fault in FAULTS:
        print(f"  {fault.name}: {', '.join(fault.raises)}")
    print("Raised by tests.yml alone:")
    for alert, reason in BY_TESTS_ALONE.items():
        print(f"  {alert}: {reason}")
    problems = [f"{alert} is in neither list" for alert in alerts if alert not in raised and alert not in BY_TESTS_ALONE]
    problems += [f"{alert} is in both lists" for alert in sorted(set(raised) & set(BY_TESTS_ALONE))]
    named = {*raised, *BY_TESTS_ALONE, *(alert for fault in FAULTS for alert in fault.also | fault.ends)}
    problems += [f"alerts.yml has no {alert}" for alert in sorted(named - set(alerts))]
    problems += [f"{fault.name}: {alert} ends, and is not raised" for fault in FAULTS for alert in sorted(fault.ends - set(fault.raises))]
    rules.impatient()
    return problems


def main(arguments):
    if arguments == ["--lists"]:
        problems = lists()
        print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
        return 1 if problems else 0
    # Whoever ends this ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    names = [fault.name for fault in FAULTS]
    wanted = arguments[1] if arguments[:1] == ["--only"] else None if arguments == ["--all"] else FIRST
    if wanted and wanted not in names:
        sys.exit(f"alerts: there is no fault '{wanted}' (there are {', '.join(names)})")
    print(f"Prometheus evaluates the product's rules, in which each 'for:' is {rules.PATIENCE}.")
    failed = 0
    for fault in FAULTS:
        if wanted not in (None, fault.name):
            continue
        if reason := fault.obstacle():
            print(f"skipped: {fault.name}: {reason}", flush=True)
            continue
        failed += not play(fault)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
