"""Faults of services, of MVPDs and of clocks."""

import contextlib
import random
import time
import urllib.request

from cluster import Viewer, faketime, until
from faults import RESTART, fault, needs_faketime, register


@fault(
    "a dead service",
    {"BoxofficeDown": {"service": "authentication"}, "BoxofficePeerAway": {"service": "gateway"}, "BoxofficeRequestsFail": {}, "BoxofficeRequestsFailSlowly": {}},
    ends={"BoxofficeDown", "BoxofficePeerAway"}, also=RESTART)
def dead_service(stage):
    assert set(register(stage, 5)) == {201}, "apps cannot register at a cluster that is well"
    stage.cluster.kill("authentication")
    # People go on. A rate sees a series from its second sample on.
    stage.while_waiting = lambda: register(stage, 3)
    assert set(register(stage, 20)) == {503}, "without authentication apps are not answered 503"
    yield
    stage.while_waiting = lambda: None
    stage.cluster.up()


@fault("a service that keeps ending", {"BoxofficeRestarts": {"service": "autosignin"}}, also=RESTART)
def restarts(stage):
    for _ in range(3):
        # A counter that begins anew is seen where it has come further than a start.
        address = stage.cluster.file["services"]["autosignin"]["debug"]
        for _ in range(150):
            urllib.request.urlopen(f"http://{address}/metrics", timeout=10).read()
        stage.scraped()
        stage.cluster.kill("autosignin")
        stage.cluster.up()
        stage.scraped()
    yield


def trust_another_key(catalogue):
    """As where an MVPD signs with a new key that nobody has told of."""
    mvpds = {mvpd["id"]: mvpd for mvpd in catalogue["mvpds"]}
    mvpds["NorthCable"]["saml"]["signingCertificates"] = mvpds["LakeTel"]["saml"]["signingCertificates"]


@fault(
    "an MVPD that signs with another key",
    {"BoxofficeMvpdSignInsFail": {"mvpd": "NorthCable"}, "BoxofficeSignInsFail": {}, "BoxofficeSignInsFailSlowly": {}, "BoxofficeTestUserFails": {"mvpd": "NorthCable"}},
    also={"BoxofficeNobodyComesBack", "BoxofficeMvpdNobodyComesBack"}, seconds=270)
def foreign_key(stage):
    versions = stage.cluster.versions()
    stage.cluster.catalogue(trust_another_key)
    until("the changed catalogue everywhere", lambda: all(new > versions[name] for name, new in stage.cluster.versions().items()))
    viewer = Viewer(stage.cluster)
    viewer.register()
    # An increase is what came after the first sample of a series.
    assert not viewer.sign_in_at("NorthCable")
    stage.scraped()
    assert not any(viewer.sign_in_at("NorthCable") for _ in range(14)), "somebody is signed in by a signature of another key"
    yield


@fault("an MVPD whose pages are away", {"BoxofficeMvpdNobodyComesBack": {"mvpd": "LakeTel"}, "BoxofficeNobodyComesBack": {}}, also={"BoxofficeTestUserFails"})
def pages_away(stage):
    stage.cluster.kill("sandbox")
    viewer = Viewer(stage.cluster)
    viewer.register()
    viewer.leave_for("LakeTel")
    stage.scraped()
    for _ in range(26):
        viewer.leave_for("LakeTel")
    yield
    stage.cluster.up()


@fault(
    "a decision point that fails", {"BoxofficeMvpdDecisionsFail": {"mvpd": "NorthCable"}, "BoxofficeDecisionPointsFail": {}},
    # Its breaker answers for it, and has a rest.
    also={"BoxofficeAuthorizeSlow"})
def decision_point(stage):
    viewer = Viewer(stage.cluster)
    viewer.sign_in("ada")
    assert viewer.authorize("ACME1-NEWS") == 200
    stage.cluster.sandbox("/control/pdp/NorthCable", {"mode": "error"})
    statuses = {viewer.authorize("ACME1-SPORT")}
    stage.scraped()
    statuses |= {viewer.authorize(f"ACME1-SPORT-{number}") for number in range(30)}
    assert 200 not in statuses, "a decision point that fails permits"
    yield
    stage.cluster.sandbox("/control/pdp/NorthCable", {"mode": "none"})


@fault("a decision point that takes its time", {"BoxofficeAuthorizeSlow": {}}, also={"BoxofficeDecisionPointsFail", "BoxofficeMvpdDecisionsFail"})
def slow_decisions(stage):
    viewer = Viewer(stage.cluster)
    viewer.sign_in("ada")
    # A series that does not exist yet has no rate.
    viewer.authorize("ACME1-NEWS")
    stage.scraped()
    stage.cluster.sandbox("/control/pdp/NorthCable", {"delayMilliseconds": 1300})
    for number in range(4):
        viewer.authorize(f"ACME1-SPORT-{number}")
    yield
    stage.cluster.sandbox("/control/pdp/NorthCable", {"delayMilliseconds": 0})


@fault(
    "clocks that MVPDs do not share", {"BoxofficeClockDoubtful": {"service": "authentication", "clock": "behind"}}, obstacle=needs_faketime,
    also=RESTART | {"BoxofficeSignInsFail", "BoxofficeSignInsFailSlowly", "BoxofficeTestUserFails", "BoxofficeRequestsFail", "BoxofficeRequestsFailSlowly"})
def clock_doubtful(stage):
    stage.run_with("authentication", {"LD_PRELOAD": faketime(), "FAKETIME": "-120", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"})
    end = time.monotonic() + 30
    while stage.cluster.metric("authentication", "boxoffice_authentication_clock_refused_mvpds") < 3:
        assert time.monotonic() < end, "three MVPDs do not show that the clock is wrong"
        viewer = Viewer(stage.cluster)
        with contextlib.suppress(AssertionError):
            viewer.register()
            for mvpd in ("NorthCable", "LakeTel", "OpenFiber"):
                viewer.sign_in_at(mvpd)
    yield


def no_throttle(stage):
    """So many calls of one address that its own pace does not turn them away."""
    stage.cluster.up()
    stage.cluster.down()
    stage.cluster.settings("gateway", lambda settings: settings["gateway"]["throttle"].update(perSecond=1000, burst=100000))
    return []


@fault("somebody who guesses codes", {"BoxofficeCodesGuessed": {}}, prepare=no_throttle, seconds=60)
def codes_guessed(stage):
    # Not from loopback, which is exempt: the cluster's own proxy says so.
    stranger = {"X-Forwarded-For": "203.0.113.9"}
    until("as many wrong codes as the alert wants", lambda: stage.cluster.metric("gateway", "boxoffice_gateway_code_attempts_refused_total") >= 450 or guess(stage, stranger), 120)
    yield


def guess(stage, headers):
    for _ in range(50):
        code = "".join(random.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(7))
        stage.cluster.call("GET", f"/activate/providers?code={code}", headers)
