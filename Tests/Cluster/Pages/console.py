"""Administrators with a real browser at the console of a running cluster: the whole way by keyboard, on a phone, in the dark, without scripts."""

import atexit
import json
import os
import signal
import urllib.error
import urllib.request
import uuid

import axe
from browser import By, Browser, Keys, run
from television import Device, cluster, gateway

admin = cluster["admin"]
bearer = cluster["adminToken"]
HOSTILE = "<img src=x onerror=alert(1)>\"' Oŋe"


def administer(method, path, body=None, headers=None):
    """One call of the administration API; gives status and decoded JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(admin + "/admin/v1" + path, data=data, method=method, headers={
        "Authorization": "Bearer " + bearer, "Content-Type": "application/json", **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            content = answer.read()
            return answer.status, json.loads(content) if content else None
    except urllib.error.HTTPError as error:
        return error.code, None


def providers(requestor):
    with urllib.request.urlopen(f"{gateway}/api/v1/config/{requestor}.json", timeout=10) as answer:
        return {mvpd["id"] for mvpd in json.loads(answer.read())["requestor"]["mvpds"]}


def sign_in(browser, path=""):
    """Opens a page, and signs in where that is asked for."""
    browser.driver.get(admin + "/console" + path)
    browser.wait("the page, or the sign-in", lambda: browser.driver.find_elements(By.CSS_SELECTOR, "#bearer, nav.places"))
    if browser.driver.find_elements(By.ID, "bearer"):
        browser.driver.find_element(By.ID, "bearer").send_keys(bearer + Keys.ENTER)
        browser.wait("the page behind it", lambda: browser.driver.find_elements(By.CSS_SELECTOR, "nav.places"))


def click(browser, selector):
    browser.driver.find_element(By.CSS_SELECTOR, selector).click()


class ByKeyboard:
    """A person who has no pointer: each step is a key."""

    name = "by keyboard"

    def __init__(self):
        self.browser = Browser(1280, 900)

    def follow(self, words):
        self.browser.tab_to(words, 120)
        self.browser.press(Keys.ENTER)

    def fill(self, name, text):
        field = self.browser.tab_to_field(name)
        if field.tag_name != "select":
            field.send_keys(Keys.CONTROL + "a")
        field.send_keys(text)

    def tick(self, name):
        self.browser.tab_to_field(name)
        self.browser.press(Keys.SPACE)


class WithoutScripts:
    """A person on a phone whose browser runs no scripts."""

    name = "without scripts"

    def __init__(self):
        self.browser = Browser(390, 844, scripts=False)
        self.browser.narrow(390, 844)

    def follow(self, words):
        found = [part for part in self.browser.driver.find_elements(By.CSS_SELECTOR, "nav.places a, main a, main button, main summary, aside a") if words in part.text]
        assert found, f"no link and no button '{words}' at {self.browser.driver.current_url}"
        found[0].click()

    def fill(self, name, text):
        field = self.browser.driver.find_element(By.NAME, name)
        if field.tag_name != "select":
            field.clear()
        field.send_keys(text)

    def tick(self, name):
        self.browser.driver.find_element(By.NAME, name).click()


PEOPLE = {}


def in_both_ways(journey):
    """The journey by keyboard alone, and without scripts on a phone."""
    go(journey, ByKeyboard, WithoutScripts)


def go(journey, *ways):
    """The journey in each of these ways; all journeys share two browsers, and a journey that fails leaves new ones to the next."""
    for way in ways:
        person = PEOPLE[way] = PEOPLE.get(way) or way()
        try:
            administer("DELETE", "/draft")
            journey(person, person.browser)
        except Exception as error:
            PEOPLE.pop(way).browser.driver.quit()
            raise AssertionError(f"{way.name}: {error}") from error


@atexit.register
def leave():
    for person in PEOPLE.values():
        person.browser.driver.quit()


def is_clean(person, what):
    """axe finds nothing on the page; one of the two ways there is enough."""
    if person.name == ByKeyboard.name:
        assert not (found := axe.violations(person.browser.driver)), f"{what}: {found}"


def push(person, words):
    browser = person.browser
    browser.wait("the review", lambda: browser.heading() == "Review changes")
    person.fill("description", words)
    person.follow("Push changes")
    browser.wait("the new version", lambda: "Pushed." in browser.text())


def switches_an_integration_off_and_goes_back(person, browser):
    sign_in(browser)
    person.follow("Integrations")
    browser.wait("the list", lambda: browser.heading() == "Integrations")
    person.follow("ACME1 – OpenFiber")
    browser.wait("the integration", lambda: "OpenFiber" in browser.heading())
    person.follow("Switch off")
    browser.wait("the review", lambda: browser.heading() == "Review changes")
    browser.full_screenshot(f"console-review-{person.name}")
    assert "Enabled: yes → no" in browser.text(), browser.text()
    assert "OpenFiber" in providers("ACME1"), "nothing is live before the push"
    push(person, "Open Fiber has ended its contract")
    browser.full_screenshot(f"console-pushed-{person.name}")
    browser.wait("services to have it", lambda: "OpenFiber" not in providers("ACME1"))
    browser.driver.get(admin + "/console/history")
    before = browser.driver.find_element(By.CSS_SELECTOR, "tbody tr:nth-child(2) th a").text
    person.follow(before)
    browser.wait("the version before", lambda: browser.heading().endswith(before))
    person.follow("Go back to this version")
    person.follow("Make a draft of it")
    push(person, "As it was")
    browser.wait("services to have it again", lambda: "OpenFiber" in providers("ACME1"))


def edits_an_integration_by_its_form(person, browser):
    browser.driver.delete_all_cookies()
    browser.driver.get(admin + "/console/integrations/ACME2/OpenFiber")
    browser.wait("the page of the sign-in", lambda: browser.heading() == "Sign in")
    browser.screenshot(f"console-sign-in-{person.name}")
    browser.press("no such token", Keys.ENTER)
    browser.wait("a word on the wrong token", lambda: "nobody's" in browser.text())
    browser.press(bearer, Keys.ENTER)
    browser.wait("the integration", lambda: "OpenFiber" in browser.heading())
    person.follow("Edit")
    browser.wait("the form", lambda: browser.heading().startswith("Edit"))
    person.tick("autoSignIn")
    person.follow("Save in my draft")
    browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
    browser.screenshot(f"console-saved-{person.name}")
    person.follow("Review changes")
    browser.wait("the review", lambda: browser.heading() == "Review changes")
    assert "autoSignIn" in browser.text() or "sign-in" in browser.text(), f"the review names the property: {browser.text()[:600]}"


def an_integration_is_switched_off_and_on_again():
    in_both_ways(switches_an_integration_off_and_goes_back)


def a_form_is_filled_in_and_saved():
    # The same form is filled in without scripts where an MVPD is integrated.
    go(edits_an_integration_by_its_form, ByKeyboard)


def choose(browser, email):
    browser.wait("the page of the staff's accounts", lambda: browser.heading().endswith("Staff accounts"))
    click(browser, f"button[value='{email}']")


def signs_in_by_the_identity_provider_and_sees_only_its_own():
    browser = Browser(1280, 900)
    try:
        browser.driver.get(admin + "/console/channels")
        browser.wait("the page of the sign-in", lambda: browser.driver.find_elements(By.ID, "provider"))
        browser.screenshot("console-provider")
        click(browser, "#provider")
        browser.wait("the page of the staff's accounts", lambda: browser.heading().endswith("Staff accounts"))
        browser.screenshot("console-staff")
        choose(browser, "nora@staff.example")
        browser.wait("a word on the role", lambda: browser.heading() == "Not signed in")
        assert "The claim 'roles' says 'canteen'" in browser.text(), browser.text()
        browser.screenshot("console-refused")
        problems = axe.violations(browser.driver)
        assert not problems, problems
        click(browser, "main a.button")
        choose(browser, "edda@staff.example")
        browser.wait("the channels", lambda: browser.heading() == "Channels")
        assert "edda@staff.example" in browser.text() and "editor" in browser.text(), "it is her"
        assert "ACME1" in browser.text() and "BRAVO" not in browser.text(), "Bravo is not hers"
        for path in ["/channels/BRAVO", "/integrations/BRAVO/NorthCable", "/applications/BRAVO", "/programmers/bravo"]:
            browser.driver.get(admin + "/console" + path)
            browser.wait("a word that it is not there", lambda: browser.heading() == "Not here")
        browser.driver.get(admin + "/console/upstreams/vendor/reset")
        browser.wait("a word on her role", lambda: browser.heading() == "Not allowed")
        browser.driver.get(admin + "/console/channels?q=bravo")
        assert "BRAVO" not in browser.text().replace("bravo", ""), "the search finds none of it"
        browser.driver.get(admin + "/console/channels/ACME2/edit")
        field = browser.driver.find_element(By.NAME, "name")
        field.clear()
        field.send_keys(HOSTILE)
        browser.driver.delete_all_cookies()
        click(browser, ".editor button[type=submit]")
        browser.wait("the page of the sign-in", lambda: "what you typed is kept" in browser.text())
        browser.screenshot("console-provider-kept")
        first = browser.driver.current_window_handle
        click(browser, "a[target=_blank]")
        browser.driver.switch_to.window(next(w for w in browser.driver.window_handles if w != first))
        choose(browser, "edda@staff.example")
        browser.wait("home", lambda: browser.heading() == "Home")
        browser.driver.close()
        browser.driver.switch_to.window(first)
        click(browser, "#resume")
        browser.wait("what was typed", lambda: "what you typed is here" in browser.text())
        assert browser.driver.find_element(By.CSS_SELECTOR, "input[name=name]").get_attribute("value") == HOSTILE
        browser.driver.get(admin + "/console")
        click(browser, ".account form button")
        browser.wait("the end", lambda: "You are signed out" in browser.text())
        browser.driver.back()
        browser.driver.refresh()
        browser.wait("the page of the sign-in", lambda: browser.heading() == "Sign in")
    finally:
        browser.driver.quit()


def loses_nothing_when_the_session_ends_in_the_middle_of_a_form():
    browser = Browser(1280, 900)
    try:
        administer("DELETE", "/draft")
        sign_in(browser, "/channels/ACME2/edit")
        field = browser.driver.find_element(By.NAME, "name")
        field.clear()
        field.send_keys(HOSTILE)
        browser.driver.delete_all_cookies()
        click(browser, ".editor button[type=submit]")
        browser.wait("the page of the sign-in", lambda: browser.heading() == "Sign in" and "what you typed is kept" in browser.text())
        browser.press(bearer, Keys.ENTER)
        browser.wait("what was typed", lambda: "Nothing is lost" in browser.text())
        browser.screenshot("console-kept")
        browser.press(Keys.ENTER)
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        assert HOSTILE in browser.heading(), f"the name is as it was typed: {browser.heading()}"
    finally:
        browser.driver.quit()


def two_windows_of_one_draft_do_not_overwrite_each_other():
    browser = Browser(1280, 900)
    try:
        administer("DELETE", "/draft")
        sign_in(browser, "/channels/BRAVO/edit")
        _, entry = administer("GET", "/requestors/BRAVO")
        status, _ = administer("PUT", "/requestors/BRAVO", {**entry["entity"], "name": "Changed elsewhere"}, {"If-Match": "*"})
        assert status == 200, f"another window changes the entry: {status}"
        field = browser.driver.find_element(By.NAME, "name")
        field.clear()
        field.send_keys("Mine")
        click(browser, ".editor button[type=submit]")
        browser.wait("a warning", lambda: "changed after you opened" in browser.text())
        click(browser, ".message summary")
        assert "Changed elsewhere" in browser.text(), "it shows how the entry stands"
        browser.screenshot("console-overtaken")
        assert browser.driver.find_element(By.NAME, "name").get_attribute("value") == "Mine", "what was typed stays"
        click(browser, ".editor button[type=submit]")
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        administer("DELETE", "/draft")
    finally:
        browser.driver.quit()


def fails_to_sign_in():
    """A viewer whose MVPD's answer is forged."""
    attack = urllib.request.Request(
        cluster["sandbox"]["mvpd"] + "/control/evil/NorthCable", data=b'{"attack": "xsw3"}', method="POST", headers={"Content-Type": "application/json"})
    urllib.request.urlopen(attack, timeout=10).close()
    try:
        Device().sign_in()
    except urllib.error.HTTPError as error:
        assert error.code == 400, error
        return
    raise AssertionError("a forged answer signs in")


def reads_why_a_sign_in_failed(person, browser):
    sign_in(browser)
    browser.wait("home", lambda: "NorthCable" in browser.text())
    browser.full_screenshot(f"console-home-trouble-{person.name}")
    person.follow("Explain")
    browser.wait("the explanation", lambda: "Every check, in order" in browser.text())
    failed = browser.driver.find_elements(By.CSS_SELECTOR, ".message.bad a")
    assert "Check " in browser.text() and failed, "the failed check stands first, with a way to what it is about"
    browser.full_screenshot(f"console-explained-{person.name}")
    is_clean(person, "the explanation")
    person.follow(failed[0].text)
    browser.wait("the MVPD", lambda: "NorthCable" in browser.driver.current_url and "North" in browser.heading())


def lets_viewers_in_meanwhile(person, browser):
    sign_in(browser)
    person.follow("Let viewers in")
    browser.wait("the form", lambda: browser.driver.find_elements(By.NAME, "agreed"))
    browser.driver.find_element(By.CSS_SELECTOR, "[name=requestor][value=ACME1]").send_keys(Keys.SPACE)
    person.tick("agreed")
    person.follow("Start now")
    browser.wait("a word on the rule", lambda: "It is in force" in browser.text())
    browser.full_screenshot(f"console-degradation-{person.name}")
    is_clean(person, "degradation")
    person.follow("End")
    browser.wait("its end", lambda: "It has ended." in browser.text())


def why_a_sign_in_failed_is_found_and_viewers_are_let_in_meanwhile():
    fails_to_sign_in()
    in_both_ways(reads_why_a_sign_in_failed)
    in_both_ways(lets_viewers_in_meanwhile)
    device = Device()
    device.sign_in()
    assert device.is_signed_in(), "the MVPD's next answer is a good one"
    browser = PEOPLE[ByKeyboard].browser
    sign_in(browser)
    browser.wait("good news", lambda: "No MVPD fails." in browser.text())


def an_mvpd_is_connected_by_its_metadata():
    in_both_ways(connects_an_mvpd)


def connects_an_mvpd(person, browser):
    name = "New" + uuid.uuid4().hex[:8]
    with urllib.request.urlopen(cluster["sandbox"]["mvpd"] + "/saml/NorthCable/metadata", timeout=10) as answer:
        metadata = answer.read().decode()
    sign_in(browser, "/mvpds")
    person.follow("Connect an MVPD")
    browser.wait("the form", lambda: browser.driver.find_elements(By.ID, "metadata"))
    person.fill("id", name)
    person.fill("metadata", "")
    browser.paste(metadata)
    person.follow("See what it says")
    browser.wait("what it says", lambda: "What it says" in browser.text())
    browser.full_screenshot(f"console-connect-{person.name}")
    is_clean(person, "the preview")
    person.tick("fingerprint")
    person.fill("displayName", "New Cable")
    person.follow("Save in my draft")
    browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
    person.follow("Integrate it")
    browser.wait("the form", lambda: browser.driver.find_elements(By.NAME, "metadataKeys"))
    person.fill("requestor", "ACME2")
    person.fill("metadataKeys", "userID")
    person.follow("Save in my draft")
    browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
    tests_a_sign_in_by_the_draft(person, browser, name)
    person.follow("Push changes")
    browser.wait("the new version", lambda: "Pushed." in browser.text())
    browser.wait("services to have it", lambda: name in providers("ACME2"))
    for path in (f"/integrations/ACME2/{name}", f"/mvpds/{name}"):
        assert administer("DELETE", path, headers={"If-Match": "*"})[0] in (200, 204), "it is taken out again"
    assert administer("POST", "/draft/push", {"description": "Without it"})[0] == 202, "as it was before"


def tests_a_sign_in_by_the_draft(person, browser, name):
    """Nothing is pushed: the new tab is at the MVPD as the draft has it, and the page here shows each check of its answer."""
    assert name not in providers("ACME2"), "it is not live"
    person.follow("Test a sign-in before")
    browser.wait("the choice of the channel", lambda: browser.driver.find_elements(By.ID, "requestor"))
    is_clean(person, "the choice")
    person.follow("Start the test")
    browser.wait("the page that waits", lambda: "No answer has come yet." in browser.text())
    person.follow("stop that")
    browser.wait("the page that stands still", lambda: "Look again" in browser.text())
    is_clean(person, "the page that waits")
    browser.full_screenshot(f"console-test-waits-{person.name}")
    here = browser.driver.current_window_handle
    person.follow("in a new tab")
    browser.wait("the new tab", lambda: len(browser.driver.window_handles) == 2)
    browser.driver.switch_to.window(next(handle for handle in browser.driver.window_handles if handle != here))
    browser.sign_in_at_sandbox("ada", has_scripts=person.name == ByKeyboard.name)
    browser.wait("the end of the test", lambda: browser.heading() == "The test is over")
    is_clean(person, "the end of the test")
    browser.driver.close()
    browser.driver.switch_to.window(here)
    person.follow("Look again")
    browser.wait("the verdict", lambda: "Every check passed" in browser.text())
    is_clean(person, "the verdict")
    browser.full_screenshot(f"console-test-passed-{person.name}")
    assert name not in providers("ACME2"), "it is still not live"


def home_waits_for_nobody_who_hangs():
    """Two services stand still for a moment: they neither answer nor close their connections."""
    browser = Browser(1280, 900)
    pids = [cluster["services"][name]["pid"] for name in ("authorization", "authentication")]
    try:
        sign_in(browser)
        browser.wait("what copies say", lambda: browser.driver.refresh() or "Each decision point that was asked lately answers." in browser.text())
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        times = []
        for _ in range(4):
            browser.driver.get(admin + "/console")
            times.append(browser.driver.execute_script(
                "const [page] = performance.getEntriesByType('navigation'); return page.responseEnd - page.requestStart"))
        words = browser.text()
        browser.full_screenshot("console-home-hanging")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        browser.driver.quit()
    assert "The copy of authorization has not answered" in words and "The copy of authentication has not answered" in words, words
    assert "Latest pushes" in words and min(times) < 300, f"home took {times} ms"


def finds_and_ends_a_session(person, browser):
    device = Device()
    device.sign_in()
    sign_in(browser, "/support")
    person.fill("requestor", "ACME1")
    person.fill("viewer", "ZZZZZZZ")
    person.follow("Find")
    browser.wait("an answer", lambda: "There is none" in browser.text())
    browser.full_screenshot(f"console-support-none-{person.name}")
    assert "ZZZZZZZ" not in browser.driver.current_url, "no id is in an address"
    browser.driver.find_element(By.CSS_SELECTOR, "[name=kind][value=device]").send_keys(Keys.SPACE)
    person.fill("viewer", device.id)
    person.follow("Find")
    browser.wait("the session", lambda: "NorthCable" in browser.text() and "End all" in browser.text())
    browser.full_screenshot(f"console-support-{person.name}")
    is_clean(person, "the sessions")
    assert device.is_signed_in(), "to look ends nothing"
    person.tick("confirmed")
    person.follow("End all")
    browser.wait("its end", lambda: "1 session ended. The viewer has to sign in again." in browser.text())
    assert not device.is_signed_in(), "the app hears of it with its next call"


def support_finds_a_viewer_ends_the_session_and_leaves_a_record():
    in_both_ways(finds_and_ends_a_session)
    _, log = administer("GET", "/audit")
    assert any(record["action"] == "viewer_support" and "code ZZZ…, found 0" in record["text"] for record in log["records"]), log


UPSTREAM = {
    "id": "looked-at", "baseUrl": "https://api.vendor.example",
    "clients": [{"id": "tv", "statementReference": "acme-v2", "requestors": "all", "platforms": "all"}],
}


def looks_after_an_upstream_and_is_asked_before_a_reset():
    browser = Browser(1280, 900)
    try:
        administer("DELETE", "/draft")
        assert administer("POST", "/upstreams", UPSTREAM)[0] == 201, "it is in the draft"
        sign_in(browser, "/upstreams")
        browser.driver.find_element(By.LINK_TEXT, "looked-at").click()
        browser.wait("the upstream", lambda: "How it is now" in browser.text())
        assert "acme-v2" in browser.text(), browser.text()
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Reset the client").click()
        browser.driver.find_element(By.NAME, "device").send_keys("dev-7f3a", Keys.ENTER)
        browser.wait("the question", lambda: "Who has to sign in again" in browser.text())
        assert "dev-7f3a" in browser.text() and "dev-7f3a" not in browser.driver.current_url, "no id is in an address"
        assert not (found := axe.violations(browser.driver)), f"the question: {found}"
        browser.full_screenshot("console-upstream-reset")
        browser.driver.find_element(By.LINK_TEXT, "Cancel").click()
        browser.wait("the form again", lambda: browser.driver.find_elements(By.ID, "device"))
    finally:
        administer("DELETE", "/draft")
        browser.driver.quit()


PAGES = [
    "", "/integrations", "/integrations?requestor=ACME1", "/integrations/ACME1/NorthCable", "/integrations/ACME1/NorthCable/edit",
    "/integrations/ACME1/NorthCable/json", "/integrations/ACME1/NorthCable/platforms/roku", "/channels", "/channels/ACME2", "/channels/ACME2/edit", "/mvpds", "/mvpds/LakeTel", "/mvpds/LakeTel/edit", "/test-sign-in?mvpd=LakeTel",
    "/applications", "/applications/acme-tv", "/programmers", "/programmers/acme", "/new/channels", "/new/mvpds", "/new/applications", "/new/programmers", "/draft", "/history", "/promote", "/audit",
    "/sessions", "/sign-ins", "/sign-ins/watch?mvpd=NorthCable&after=0&paused=1", "/degradation", "/degradation/new", "/nothing", "/new/integrations", "/connect", "/usage", "/usage?period=day", "/usage?period=year", "/sign-ins?failed=1", "/reports/authn-ttl", "/reports/authz-ttl", "/reports/sso?chosen=1", "/temp-pass", "/support",
]
PAGES += [
    "/upstreams", "/upstreams/looked-at", "/upstreams/looked-at/edit", "/upstreams/looked-at/check", "/upstreams/looked-at/offers", "/new/upstreams",
    "/audit?action=push&entry=ACME2",
]


def every_page_is_clean_in_every_form():
    administer("POST", "/upstreams", UPSTREAM)
    _, entry = administer("GET", "/requestors/ACME2")
    administer("PUT", "/requestors/ACME2", {**entry["entity"], "name": HOSTILE}, {"If-Match": "*"})
    newest, former = [found["version"] for found in administer("GET", "/versions")[1]["versions"]][:2]
    past = [f"/history/{newest}", f"/history/compare?version={former}&version={newest}"]
    problems = []
    try:
        for form, width, height, dark in (("desktop", 1280, 900, False), ("phone-dark", 390, 844, True)):
            browser = Browser(width, height, dark=dark)
            try:
                if width < 500:
                    browser.narrow(width, height)
                sign_in(browser)
                for page in [*PAGES, *past]:
                    browser.driver.get(admin + "/console" + page)
                    browser.wait("a heading", lambda: browser.driver.find_elements(By.TAG_NAME, "h1"))
                    name = page.strip("/").replace("/", "-").replace("?", "-").replace("=", "-") or "home"
                    browser.full_screenshot(f"console-{form}-{name}")
                    problems += [f"{form} {page}: {found}" for found in axe.violations(browser.driver)]
                    wide = browser.driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    if wide > 0:
                        problems.append(f"{form} {page}: wider than the window by {wide} pixels")
                    if browser.driver.find_elements(By.CSS_SELECTOR, "main img"):
                        problems.append(f"{form} {page}: a name is markup")
                    if (size := len(browser.driver.page_source)) > 200_000:
                        problems.append(f"{form} {page}: {size} characters")
            finally:
                browser.driver.quit()
    finally:
        administer("DELETE", "/draft")
    assert not problems, "\n".join(problems)


run([
    a_form_is_filled_in_and_saved, an_integration_is_switched_off_and_on_again, looks_after_an_upstream_and_is_asked_before_a_reset,
    signs_in_by_the_identity_provider_and_sees_only_its_own, loses_nothing_when_the_session_ends_in_the_middle_of_a_form,
    two_windows_of_one_draft_do_not_overwrite_each_other, why_a_sign_in_failed_is_found_and_viewers_are_let_in_meanwhile, an_mvpd_is_connected_by_its_metadata,
    home_waits_for_nobody_who_hangs, support_finds_a_viewer_ends_the_session_and_leaves_a_record, every_page_is_clean_in_every_form,
])
