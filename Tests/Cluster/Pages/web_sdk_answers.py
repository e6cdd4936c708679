"""What calls of the gateway's script of the web SDK bring: cases of Specs/web-sdk.md, by whose numbers each docstring begins."""

import base64
import json
import urllib.request

from browser import By
from web_sdk_site import BRAVO, FOREIGN, SECOND, SECURE, cluster, disturb, gateway, mvpd_calls, until, verified

OUT, NO_RIGHT = "User Not Authenticated Error", "User Not Authorized Error"


def entitlement_loaded_comes_first_wherever_the_instance_is_made(visitor):
    """3, 4."""
    for path, most in (("/early", 1), ("/inside", 1)):
        visitor.forget()
        visitor.open(path)
        assert visitor.heard("setAuthenticationStatus") == [0, OUT]
        names = visitor.names()
        assert names[0] == "entitlementLoaded" and names.count("entitlementLoaded") == most, f"{path}: {names}"
        assert names.count("setConfig") == 1 and names.index("setConfig") == 1 and names.count("setAuthenticationStatus") == 1, f"{path}: {names}"
    visitor.start()
    assert visitor.names()[:2] == ["entitlementLoaded", "entitlementLoaded"], "the second one finds the instance that the page made late"
    visitor.begin()
    visitor.heard("setConfig", 2)
    assert visitor.names().count("entitlementLoaded") == 2


def calls_wait_for_the_configuration(visitor):
    """5, 7, 31: but `preauthorize`, which fails at once; without setRequestor each call fails in its own way."""
    visitor.forget()
    visitor.open()
    ask = """
        ae.checkAuthentication(); ae.checkAuthorization("ACME1-NEWS"); ae.checkPreauthorizedResources(["ACME1-NEWS"]); ae.getMetadata("zip"); ae.getMetadata("TTL_AUTHN");
        ae.getSelectedProvider();
        const request = new AccessEnabler.models.PreauthorizeRequest.getBuilder().setResources(["ACME1-NEWS"]).build();
        ae.preauthorize(request, { onResponse: found => log.push(["onResponse", found]), onFailure: found => log.push(["onFailure", found]) });"""
    visitor.begin(more=ask + "log.push(['returned']);")
    visitor.heard("selectedProvider")
    log = visitor.log()
    names = [name for name in visitor.names() if name != "entitlementLoaded"]
    assert names[:3] == ["returned", "onFailure", "setConfig"], names
    assert [entry[1]["status"]["code"] for entry in log if entry[0] == "onFailure"] == ["requestor_not_configured"]
    assert names[3:6] == ["sendTrackingData", "onProblem", "setAuthenticationStatus"], names
    assert ["tokenRequestFailed", "ACME1-NEWS", OUT, ""] in log and ["preauthorizedResources", []] in log and ["setMetadataStatus", "zip", False, None] in log
    assert ["setMetadataStatus", "TTL_AUTHN", False, ""] in log and ["selectedProvider", {"MVPD": None, "AE_State": "New User"}] in log
    # A stranger costs the server one call.
    assert [f"{call['method']} {call['path']}" for call in visitor.calls()] == ["GET /api/v1/config/ACME1"], visitor.calls()
    visitor.clear()
    visitor.run("window.ae = new AccessEnabler.AccessEnabler('x'); ae.bind('errorEvent', 'onProblem');" + ask + "ae.getAuthentication(); ae.logout();")
    visitor.heard("setAuthenticationStatus", 3)
    log = visitor.log()
    assert ["tokenRequestFailed", "ACME1-NEWS", "Internal Error", ""] in log and [entry for entry in log if entry[0] == "setAuthenticationStatus"] == [
        ["setAuthenticationStatus", 0, "Internal Error"]] * 3
    assert set(visitor.problems()) == {"500", "P100"} and not visitor.calls()


def two_calls_at_once_are_told_apart(visitor):
    """6, 14: one dialog, and a word; with backgroundLogin the dialog again. A closed window says nothing, and stops nothing."""
    visitor.forget()
    visitor.start()
    visitor.run("ae.getAuthentication(); ae.getAuthentication();")
    visitor.heard("setAuthenticationStatus")
    assert visitor.log("displayProviderDialog", "setAuthenticationStatus")[1:] == [["setAuthenticationStatus", 0, "Multiple Authentication Requests Error"]]
    providers = visitor.log("displayProviderDialog")[0][1]
    north = next(provider for provider in providers if provider["ID"] == "NorthCable")
    assert north["displayName"] == "North Cable" and set(north) == {"ID", "displayName", "logoURL", "tempPass", "iFrameRequired"}, north
    assert "ParkedTV" not in [provider["ID"] for provider in providers]
    visitor.run("ae.setSelectedProvider(null)")
    assert visitor.heard("setAuthenticationStatus", 2) == [0, "Provider not Selected Error"] and visitor.problems() == ["N005"]
    visitor.run("ae.setSelectedProvider(null)")
    visitor.start(options={"backgroundLogin": True})
    visitor.run("ae.getAuthentication(); ae.getAuthentication();")
    visitor.heard("displayProviderDialog", 2)
    visitor.run("ae.setSelectedProvider('NorthCable')")
    visitor.window()
    visitor.browser.wait("the login page", lambda: visitor.driver.find_elements(By.NAME, "password"))
    visitor.driver.close()
    visitor.back()
    visitor.run("ae.getAuthentication()")
    visitor.heard("displayProviderDialog", 3)
    assert not visitor.log("setAuthenticationStatus", "createIFrame"), visitor.log()


def a_device_lasts_as_long_as_the_sites_storage(visitor):
    """19, 26: one for all requestors, each of which has its own session."""
    visitor.signed_in()
    device = visitor.kept("device")
    assert len(device) == 32 and device not in visitor.driver.current_url
    visitor.begin(requestor="ACME2", more="window.two = ae")
    visitor.heard("setConfig")
    visitor.run("two.checkAuthentication()")
    assert visitor.heard("setAuthenticationStatus") == [0, OUT]
    visitor.start()
    assert visitor.check() == 1 and visitor.kept("device") == device
    visitor.run("localStorage.clear()")
    assert visitor.check() == 0
    visitor.start(options={"backgroundLogin": True})
    visitor.choose("Preview10")
    assert visitor.heard("setAuthenticationStatus") == [1, ""] and visitor.kept("device") not in (device, None)


def a_logout_in_the_background_and_one_that_the_server_does_not_hear(visitor):
    """21, 22."""
    visitor.signed_in(options={"backgroundLogout": True})
    logouts = mvpd_calls("slo")
    visitor.run("window.isOld = true; ae.logout()")
    assert visitor.heard("setAuthenticationStatus") == [0, OUT] and visitor.run("return window.isOld"), "the page stays"
    assert mvpd_calls("slo") == logouts + 1 and visitor.check() == 0 and not visitor.run("return document.querySelector('iframe')")
    visitor.choose("Preview10")
    visitor.heard("setAuthenticationStatus", 3)
    visitor.run("answers.push({ call: 'DELETE /api/v1/logout', times: 1 }); ae.logout()")
    assert visitor.heard("setAuthenticationStatus", 4) == [0, OUT] and "CFG404" in visitor.problems()
    assert visitor.check() == 0 and visitor.kept("session.ACME1")["state"] == "out"
    visitor.start()
    until("the server's word", lambda: visitor.kept("session.ACME1") is None)
    assert [call["path"] for call in visitor.calls("DELETE")] == ["/api/v1/logout"] and visitor.check() == 0
    # A page whose policy allows no frame.
    visitor.signed_in()
    visitor.start("/unframed", options={"backgroundLogout": True}, more="ae.logout()")
    assert visitor.heard("setAuthenticationStatus") == [0, OUT] and visitor.check() == 0 and visitor.kept("session.ACME1") is None
    # A page that never got the configuration.
    visitor.run("localStorage.setItem('boxoffice.session.ACME1', JSON.stringify({ mvpd: 'NorthCable', state: 'in', stamp: '1' }))")
    visitor.open()
    visitor.begin(endpoints=["127.0.0.1:1"], more="ae.logout()")
    assert visitor.heard("setAuthenticationStatus") == [0, OUT] and visitor.kept("session.ACME1")["state"] == "out"


def a_session_that_ends_a_token_and_a_client_that_are_forgotten(visitor):
    """23, 33: what somebody else ends, or the server forgets, while the page is open."""
    visitor.signed_in()
    known, client = visitor.kept("device"), next(iter(visitor.run("return Object.keys(localStorage).filter(name => name.startsWith('boxoffice.client.'))")))
    spoil = "const client = JSON.parse(localStorage.getItem(arguments[0])); Object.assign(client, arguments[1]); localStorage.setItem(arguments[0], JSON.stringify(client))"
    visitor.run(spoil, client, {"token": "forgotten"})
    verified(visitor.play())
    assert len(visitor.calls("/o/client/token")) == 1 and not visitor.calls("/o/client/register")
    visitor.clear()
    visitor.run(spoil, client, {"id": "forgotten", "token": "forgotten", "until": 0})
    verified(visitor.play())
    assert len(visitor.calls("/o/client/register")) == 1 and not visitor.problems(), "a new client finds the same session"
    token = json.loads(visitor.run("return localStorage.getItem(arguments[0])", client))["token"]
    query = f"{gateway}/api/v1/logout?requestor=ACME1&deviceId={known}"
    urllib.request.urlopen(urllib.request.Request(query, headers={"Authorization": f"Bearer {token}"}, method="DELETE"), timeout=10).close()
    visitor.clear()
    assert visitor.play() == ["ACME1-NEWS", OUT, ""], visitor.log()
    assert visitor.check() == 0 and visitor.kept("session.ACME1") is None


def too_many_not_now_and_a_clock_that_is_off_by_a_day(visitor):
    """24, 25."""
    visitor.forget()
    slow = "window.answers = [{ call: 'GET /api/v1/config', times: 1, status: 429, headers: { 'Retry-After': '1' } }];"
    with visitor.before_each_page(slow):
        visitor.start()
        first, second = visitor.calls("config")
        assert 1000 <= second["at"] - first["at"] < 3000, "as late as the server says"
    # A day ahead, and then a day behind.
    wrong = lambda days: visitor.before_each_page(f"const now = Date.now; Date.now = () => now() + {days} * 86400000;")
    with wrong(1):
        visitor.forget()
        visitor.start(options={"backgroundLogin": True})
        visitor.choose()
        visitor.window().sign_in()
        visitor.back()
        assert visitor.heard("setAuthenticationStatus") == [1, ""] and visitor.problems() == ["CFG100"], visitor.log()
        verified(visitor.play())
    with wrong(-1):
        visitor.start()
        assert visitor.check() == 1
        verified(visitor.play())
    visitor.start(more="""const call = 'GET /api/v1/tokens/authn';
        answers.push({ call, times: 3, status: 503, headers: { 'Retry-After': '1' } }, { call, times: 1, status: 500 })""")
    assert visitor.check() == 1 and visitor.problems() == ["CFG503", "CFG500"], "what the server cannot say stays as it was"


def a_foreign_domain_and_servers_that_are_not_there(visitor):
    """27, 28."""
    visitor.forget()
    visitor.open("/bench", FOREIGN)
    visitor.begin(more="ae.checkAuthentication(); ae.getAuthentication(); ae.checkAuthorization('ACME1-NEWS')")
    visitor.heard("tokenRequestFailed")
    assert visitor.problems() == ["SEC403"] and not visitor.log("setConfig", "displayProviderDialog"), visitor.log()
    assert visitor.heard("setAuthenticationStatus", 2) == [0, "Internal Authentication Error"]
    assert {call["path"] for call in visitor.calls()} == {"/api/v1/config/ACME1"}
    visitor.open("/player.html", FOREIGN)
    visitor.browser.wait("a word on the domain", lambda: visitor.part("screen").get_attribute("data-problem") == "SEC403" and visitor.part("provider").text == "Not signed in.")
    visitor.part("sign-in").click()
    visitor.driver.find_element(By.CSS_SELECTOR, "[data-resource=ACME1-NEWS]").click()
    visitor.browser.wait("no video", lambda: visitor.part("screen").text == "ACME1-NEWS: Internal Authorization Error")
    assert not visitor.part("picker").is_displayed()
    visitor.open("/article.html", FOREIGN)
    visitor.browser.wait("the script", lambda: visitor.part("watch").is_enabled())
    visitor.part("watch").click()
    visitor.browser.wait("no video", lambda: visitor.part("screen").text == "ACME1-NEWS: Internal Authorization Error")
    visitor.open()
    for requestor, endpoints, problem in (("NOBODY", None, "CFG400"), ("ACME1", ["127.0.0.1:1/adobe-services"], "CFG404"), ("ACME1", ["not an address"], "CFG404"), ("", None, "CFG400")):
        visitor.clear()
        visitor.begin(requestor=requestor, endpoints=endpoints)
        visitor.heard("onProblem")
        assert visitor.problems() == [problem] and not visitor.log("setConfig"), (requestor, visitor.log())
    visitor.clear()
    other = "<config><requestor><id>ACME1</id><mvpds><mvpd><id>NorthCable</id></mvpd><mvpd><id>Other</id><displayName>Other</displayName></mvpd></mvpds></requestor></config>"
    visitor.run("answers.push({ call: 'config', origin: arguments[0], times: 1, status: 200, body: arguments[1] })", SECOND, other)
    visitor.begin(endpoints=[f"{gateway}/adobe-services/", SECOND])
    union = visitor.heard("setConfig")[0]
    assert union.count("<id>NorthCable</id>") == 1 and union.count("<id>Other</id>") == 1 and union.count("<id>LakeTel</id>") == 1, union
    visitor.clear()
    visitor.begin(statement="a.b.c")
    visitor.heard("setConfig")
    visitor.choose()
    assert visitor.heard("setAuthenticationStatus") == [0, "Internal Authentication Error"] and visitor.problems() == ["R400"]


def a_free_preview_needs_no_page(visitor):
    """29, 7, 28."""
    visitor.forget()
    visitor.start()
    visitor.choose("Preview10", "getAuthorization('ACME1-NEWS')")
    visitor.heard("setToken")
    assert visitor.log("setAuthenticationStatus") == [] and visitor.problems() == ["Z011"] and visitor.driver.window_handles == [visitor.main]
    assert [entry[1] for entry in visitor.log("sendTrackingData")] == ["mvpdSelection", "authorizationDetection"]
    assert visitor.check() == 1 and "N011" in visitor.problems()
    visitor.run("answers.push({ call: 'freepreview', times: 1, status: 400, body: '{\"status\":400,\"message\":\"over\"}' }); ae.logout()")
    visitor.heard("setAuthenticationStatus", 2)
    visitor.choose("Preview10")
    assert visitor.heard("setAuthenticationStatus", 3) == [0, OUT] and "N111" in visitor.problems()
    # The endpoint as pages write it: without a scheme, which is HTTPS.
    visitor.start(endpoints=[SECURE.removeprefix("https://") + "/adobe-services"])
    visitor.choose("Preview10")
    assert visitor.heard("setAuthenticationStatus") == [1, ""]
    verified(visitor.play())
    assert {call["origin"] for call in visitor.calls()} == {SECURE}


def a_refusal_is_told_in_the_mvpds_words_and_by_its_kind(visitor):
    """30: without enhanced errors every refusal is Z100."""
    visitor.forget()
    visitor.start(name=BRAVO, requestor="BRAVO", statement=cluster["softwareStatements"]["bravo-tv"], options={"backgroundLogin": True})
    visitor.choose()
    visitor.window().sign_in("cleo")
    visitor.back()
    visitor.heard("setAuthenticationStatus")
    visitor.clear()
    resource, code, details = visitor.play("ACME1-NEWS")
    assert (resource, code) == ("ACME1-NEWS", NO_RIGHT) and "package" in details and visitor.problems() == ["Z100"], visitor.log()
    tracked = visitor.log("sendTrackingData")[0]
    assert tracked[1] == "authorizationDetection" and tracked[2][:2] == [False, "NorthCable"] and tracked[2][4:6] == [NO_RIGHT, details], tracked
    disturb("pdp/NorthCable", {"mode": "error", "times": 1})
    assert visitor.play("ACME1-SPORT")[1] == NO_RIGHT and visitor.problems() == ["Z100", "Z120"], visitor.log()
    assert visitor.play("<rss><broken")[1] == NO_RIGHT and visitor.problems()[2:] == ["Z130"], visitor.log()
    for answer, code, problem in (
        ({"status": 403, "code": "authorization_denied_by_degradation_rule"}, NO_RIGHT, "Z169"), ({"status": 500}, "Internal Authorization Error", "Z500"),
    ):
        visitor.clear()
        visitor.run("answers.push({ call: 'GET /api/v1/authorize', times: 1, status: arguments[0].status, body: JSON.stringify(arguments[0]) })", answer)
        assert visitor.play("ACME1-NEWS")[1] == code and visitor.problems() == [problem], visitor.log()


def preauthorizations_by_both_calls(visitor):
    """31, 6: the documented scenarios; a cache that can be passed by; two tokens for two calls at once."""
    visitor.signed_in("ben")
    decide = """const done = arguments[1], builder = AccessEnabler.models.PreauthorizeRequest.getBuilder();
        if (arguments[0]) builder.setResources(arguments[0]);
        const request = builder.disableFeatures('LOCAL_CACHE').build();
        ae.preauthorize(request, { onResponse: found => done(['onResponse', found]), onFailure: found => done(['onFailure', found]) });"""
    decided = lambda resources: visitor.driver.execute_async_script(decide, resources)
    assert decided(["ACME1-NEWS", "ACME1-SPORT"]) == ["onResponse", {"status": None, "decisions": [
        {"id": "ACME1-NEWS", "authorized": True, "error": None}, {"id": "ACME1-SPORT", "authorized": False, "error": None}]}]
    for resources, status, code in ((None, 400, "internal_error"), ([], 412, "missing_resource"), ([f"R{number}" for number in range(6)], 403, "too_many_resources")):
        name, found = decided(resources)
        assert name == "onResponse" and found["decisions"] == [] and (found["status"]["status"], found["status"]["code"]) == (status, code), found
    visitor.clear()
    ask = lambda count, more="": (visitor.run(f"ae.checkPreauthorizedResources(['ACME1-NEWS', 'ACME1-SPORT']{more})"), visitor.heard("preauthorizedResources", count))[1]
    assert ask(1) == [["ACME1-NEWS"]] and not visitor.calls("preauthorize"), "both are cached"
    assert ask(2, ", false") == [["ACME1-NEWS"]] and len(visitor.calls("preauthorize")) == 1
    visitor.run("ae.checkPreauthorizedResources(['A', 'B', 'C', 'D', 'E', 'F'])")
    assert visitor.heard("preauthorizedResources", 3) == [[]] and visitor.problems() == ["P100"]
    visitor.run("ae.checkAuthorization('ACME1-NEWS'); ae.checkAuthorization('ACME1-NEWS')")
    visitor.heard("setToken", 2)
    tokens = {entry[2] for entry in visitor.log("setToken")}
    assert len(tokens) == 2
    visitor.run("ae.getMetadata('TTL_AUTHN'); ae.getMetadata('TTL_AUTHZ', ['ACME1-NEWS']); ae.getMetadata('DEVICEID'); ae.getMetadata('zip'); ae.getMetadata('householdID')")
    visitor.heard("setMetadataStatus", 5)
    values = {entry[1]: entry[2:] for entry in visitor.log("setMetadataStatus")}
    assert values["zip"][0] is True and values["householdID"][0] is False and values["householdID"][1] and values["DEVICEID"] == [False, ""], values
    assert int(values["TTL_AUTHN"][1]) > int(values["TTL_AUTHZ"][1]) > 10 ** 12 and len(visitor.calls("usermetadata")) == 1, values


def handlers_options_and_callbacks_that_fail(visitor):
    """32, 35, 37."""
    visitor.forget()
    visitor.open()
    visitor.begin(options={"visitorID": "visitor 1", "applicationId": "player"}, more="""
        ae.bind('errorEvent', 'own.problems'); ae.bind('otherEvent', 'setToken'); ae.bind('errorEvent', '-no'); ae.bind('errorEvent', 'missing.one');
        window.setConfig = window.fails;
        ae.checkAuthentication();""")
    visitor.heard("setAuthenticationStatus")
    visitor.browser.wait("the page's own error", lambda: any("of the page" in str(entry) for entry in visitor.log("onerror")))
    assert [entry[1] for entry in visitor.log("onProblem", "own.problems")] == [{"errorId": "N000", "level": "info"}] * 2 and not visitor.log("setToken")
    visitor.run("ae.unbind('errorEvent', 'onProblem')")
    visitor.check()
    assert len(visitor.log("onProblem")) == 1 and len(visitor.log("own.problems")) == 2
    visitor.run("ae.unbind('errorEvent')")
    visitor.choose("Preview10")
    visitor.heard("setAuthenticationStatus", 3)
    assert len(visitor.log("own.problems")) == 2
    for call in visitor.calls():
        if not call["path"].startswith("/o/client/"):
            assert call["query"].get("ap_vi") == "visitor 1", call
            information = call["headers"].get("X-Device-Info")
            assert "config" in call["path"] or json.loads(base64.b64decode(information))["applicationId"] == "player", call
        assert call["credentials"] == "omit", call


CASES = [
    entitlement_loaded_comes_first_wherever_the_instance_is_made,
    calls_wait_for_the_configuration,
    two_calls_at_once_are_told_apart,
    a_device_lasts_as_long_as_the_sites_storage,
    a_logout_in_the_background_and_one_that_the_server_does_not_hear,
    a_session_that_ends_a_token_and_a_client_that_are_forgotten,
    too_many_not_now_and_a_clock_that_is_off_by_a_day,
    a_foreign_domain_and_servers_that_are_not_there,
    a_free_preview_needs_no_page,
    a_refusal_is_told_in_the_mvpds_words_and_by_its_kind,
    preauthorizations_by_both_calls,
    handlers_options_and_callbacks_that_fail,
]
