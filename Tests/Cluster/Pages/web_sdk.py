"""Pages of programmers on the gateway's script of the web SDK, in one Chromium, at a running cluster: the cases of Specs/web-sdk.md.

The two sample pages of `Shared/Client/Web`, over HTTPS from a registered domain, and what happens beside the straight way. Changes the cluster's catalogue, and puts it back."""

import functools
import hashlib
import pathlib
import re

import web_sdk_answers
import web_sdk_journeys
from browser import run
from web_sdk_site import VENDORS_STATEMENT, catalogue, is_registered, sites, until

CHANGES = {
    # Two channels of one page.
    "requestors/ACME2": {"domains": ["acme-two.example", "acme.example"]},
    "applications/acme-tv": {"legacyStatements": [hashlib.sha256(VENDORS_STATEMENT.encode()).hexdigest()]},
}
CASES = web_sdk_journeys.CASES + web_sdk_answers.CASES
# 1 is the gateway's alone: WebSdkScriptTests.
named = {1} | {int(number) for case in CASES for number in re.findall(r"[0-9]+", case.__doc__.split(":")[0])}
numbers = {int(number) for number in re.findall(r"^([0-9]+)\. ", pathlib.Path("Shared/Documents/Specs/web-sdk.md").read_text().split("## 5. Cases")[1], re.M)}
assert named == numbers, f"cases without a test, or tests without a case: {sorted(named ^ numbers)}"


def of(case, visitor):
    return functools.wraps(case)(lambda: case(visitor))


with catalogue(CHANGES), sites() as person:
    until("the listed statement", lambda: is_registered(VENDORS_STATEMENT))
    run([of(case, person) for case in CASES])
