"""Faults of an upstream: the bridge's cluster signs in at the vendor that the sandbox plays."""

import contextlib
import json
import time

from cluster import Viewer, until
from faults import fault

FAILS = {"BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly", "BoxofficeTestUserFails", "BoxofficeUpstreamAnswersStale", "BoxofficeDecisionPointsFail", "BoxofficeUpstreamRests"}
# Its viewers' sign-ins count as those of the MVPD 'upstream sandbox', too.
FAILS |= {"BoxofficeMvpdSignInsFail", "BoxofficeSignInsFail", "BoxofficeSignInsFailSlowly", "BoxofficeMvpdNobodyComesBack", "BoxofficeNobodyComesBack"}


def bridge(stage):
    """A channel of the cluster gets the vendor as its upstream."""
    stage.cluster.up()
    stage.cluster.run("upstream", "try")
    return []


def viewers(stage, count=1):
    """People who are signed in at the upstream."""
    found = [Viewer(stage.cluster) for _ in range(count)]
    for viewer in found:
        viewer.register()
        assert viewer.sign_in_at("CoastCable"), "nobody signs in at the upstream"
    return found


@fault(
    "a missing upstream",
    {"BoxofficeUpstreamFails": {"upstream": "sandbox"}, "BoxofficeUpstreamRests": {"upstream": "sandbox"}, "BoxofficeUpstreamSignInsFail": {"upstream": "sandbox"},
     "BoxofficeUpstreamLogoutsWait": {"upstream": "sandbox"}, "BoxofficeUpstreamPreflightFails": {"upstream": "sandbox"}, "BoxofficeMvpdDecisionsFail": {"mvpd": "upstream sandbox"}},
    # A logout waits for a minute before it is counted, and the store is asked once a minute.
    also=FAILS, prepare=bridge, seconds=150)
def missing(stage):
    watching, leaving = viewers(stage, 2)
    assert watching.authorize("ACME1-NEWS") == 200, "nobody plays through the bridge"
    stage.scraped()
    stage.cluster.kill("sandbox")
    assert leaving.call("DELETE", "/api/v1/logout")[0] < 300, "while the upstream is away nobody can sign out"
    # Series of what fails begin here; increases are what comes later.
    watching.call("GET", "/api/v1/preauthorize", {"resource": "ACME1-PREVIEW"})
    watching.authorize("ACME1-OTHER")
    watching.leave_for("CoastCable")
    stage.scraped()
    for number in range(30):
        watching.call("GET", "/api/v1/preauthorize", {"resource": f"ACME1-PREVIEW-{number}"})
    for number in range(40):
        assert watching.authorize(f"ACME1-OTHER-{number}") != 200, "a play is permitted that nobody decided about"
    for _ in range(20):
        with contextlib.suppress(AssertionError):
            watching.leave_for("CoastCable")

    # Whether calls rest is seen where somebody still calls, and so is an outcome that is new.
    def still_called():
        watching.call("GET", "/api/v1/preauthorize", {"resource": f"ACME1-PREVIEW-{time.monotonic()}"})
        watching.authorize(f"ACME1-LATER-{time.monotonic()}")

    stage.while_waiting = still_called
    yield
    stage.while_waiting = lambda: None
    stage.cluster.up()
    # The next calls find out that it is back. Groups of calls that nobody makes rest on.
    until("a call that the upstream answers", lambda: watching.authorize("ACME1-NEWS") == 200, 60)


@fault(
    "an upstream that has revoked our statement", {"BoxofficeUpstreamStatementRefused": {"upstream": "sandbox"}}, prepare=bridge,
    also=FAILS | {"BoxofficeUpstreamSignInsFail", "BoxofficeUpstreamFails", "BoxofficeUpstreamRefuses"}, seconds=60)
def statement_revoked(stage):
    viewers(stage)
    stage.scraped()
    for statement in json.loads(stage.cluster.sandbox("/control/statements", None, vendor=True, method="GET")):
        stage.cluster.sandbox(f"/control/statements/{statement['id']}?clients=true", None, vendor=True, method="DELETE")
    # Each device is a client of its own there.
    late = Viewer(stage.cluster)
    late.register()
    with contextlib.suppress(AssertionError):
        late.leave_for("CoastCable")
    stage.scraped()
    for _ in range(14):
        viewer = Viewer(stage.cluster)
        viewer.register()
        with contextlib.suppress(AssertionError):
            viewer.leave_for("CoastCable")
    yield


@fault("an upstream that takes its time", {"BoxofficeUpstreamSlow": {"upstream": "sandbox"}}, prepare=bridge, also=FAILS | {"BoxofficeUpstreamFails", "BoxofficeAuthorizeSlow", "BoxofficeMvpdDecisionsFail"}, seconds=60)
def slow(stage):
    viewer = viewers(stage)[0]
    viewer.authorize("ACME1-NEWS")
    stage.scraped()
    stage.cluster.sandbox("/control/faults", {"operations": ["authorize"], "faults": [{"kind": "delay", "milliseconds": 2700, "times": 0}]}, vendor=True)
    for number in range(4):
        viewer.authorize(f"ACME1-OTHER-{number}")
    yield
