"""Administrators with a real browser at the console of a running cluster: the whole way by keyboard, on a phone, in the dark, without scripts."""

import json
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
    browser.driver.get(admin + "/console" + path)
    browser.wait("the page of the sign-in", lambda: browser.driver.find_elements(By.ID, "bearer"))
    browser.driver.find_element(By.ID, "bearer").send_keys(bearer + Keys.ENTER)
    browser.wait("the page behind it", lambda: browser.driver.find_elements(By.CSS_SELECTOR, "nav.places"))


def click(browser, selector):
    browser.driver.find_element(By.CSS_SELECTOR, selector).click()


def push(browser, words):
    browser.wait("the review", lambda: browser.heading() == "Review changes")
    browser.tab_to_field("description").send_keys(words)
    browser.tab_to("Push changes")
    browser.press(Keys.ENTER)
    browser.wait("the new version", lambda: "Pushed." in browser.text())


def switches_an_integration_off_and_on_by_keyboard_alone():
    browser = Browser(1280, 900)
    try:
        administer("DELETE", "/draft")
        browser.driver.get(admin + "/console")
        browser.wait("the page of the sign-in", lambda: browser.heading() == "Sign in")
        browser.screenshot("console-sign-in")
        browser.press("no such token", Keys.ENTER)
        browser.wait("a word on the wrong token", lambda: "nobody's" in browser.text())
        browser.press(bearer, Keys.ENTER)
        browser.wait("home", lambda: browser.heading() == "Home")
        browser.tab_to("Integrations")
        browser.press(Keys.ENTER)
        browser.wait("the list", lambda: browser.heading() == "Integrations")
        browser.tab_to("ACME1 – OpenFiber", 60)
        browser.press(Keys.ENTER)
        browser.wait("the integration", lambda: "OpenFiber" in browser.heading())
        browser.tab_to("Edit")
        browser.press(Keys.ENTER)
        browser.wait("the form", lambda: browser.heading().startswith("Edit"))
        field = browser.tab_to_field("enabled")
        assert field.is_selected(), "it is on"
        browser.press(Keys.SPACE)
        browser.tab_to("Save in my draft", 60)
        browser.press(Keys.ENTER)
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        browser.screenshot("console-saved")
        assert "OpenFiber" in providers("ACME1"), "nothing is live before the push"
        browser.tab_to("Review changes", 60)
        browser.press(Keys.ENTER)
        browser.wait("the review", lambda: browser.heading() == "Review changes")
        browser.full_screenshot("console-review")
        push(browser, "Open Fiber has ended its contract")
        browser.full_screenshot("console-pushed")
        browser.wait("services to have it", lambda: "OpenFiber" not in providers("ACME1"))
        browser.driver.get(admin + "/console/integrations/ACME1/OpenFiber")
        browser.tab_to("Switch on")
        browser.press(Keys.ENTER)
        push(browser, "Open Fiber is back")
        browser.wait("services to have it again", lambda: "OpenFiber" in providers("ACME1"))
    finally:
        browser.driver.quit()


def does_the_same_without_scripts_on_a_phone():
    browser = Browser(390, 844, scripts=False)
    browser.narrow(390, 844)
    try:
        administer("DELETE", "/draft")
        sign_in(browser, "/integrations/ACME2/OpenFiber")
        click(browser, "a[href$='/edit']")
        click(browser, "[name=autoSignIn]")
        click(browser, ".editor button[type=submit]")
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        browser.driver.back()
        browser.driver.refresh()
        click(browser, "a.button[href='/console/draft']")
        browser.driver.find_element(By.NAME, "description").send_keys("Open Fiber signs in by itself")
        browser.screenshot("console-phone-push")
        click(browser, ".editor button[type=submit]")
        browser.wait("the new version", lambda: "Pushed." in browser.text())
        click(browser, "a[href='/console/history']")
        click(browser, "tbody tr:nth-child(2) th a")
        browser.driver.find_element(By.TAG_NAME, "summary").click()
        click(browser, "form[action$='/restore'] button")
        browser.wait("the review", lambda: browser.heading() == "Review changes")
        browser.driver.find_element(By.NAME, "description").send_keys("As it was")
        click(browser, ".editor button[type=submit]")
        browser.wait("the new version", lambda: "Pushed." in browser.text())
    finally:
        browser.driver.quit()


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


def finds_why_a_sign_in_failed_and_lets_viewers_in_meanwhile():
    browser = Browser(1280, 900)
    try:
        attack = urllib.request.Request(
            cluster["sandbox"]["mvpd"] + "/control/evil/NorthCable", data=b'{"attack": "xsw3"}', method="POST",
            headers={"Content-Type": "application/json"})
        urllib.request.urlopen(attack, timeout=10).close()
        browser.driver.get(f"{gateway}/activate/providers?code={Device().code()}")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
        browser.confirm()
        browser.sign_in_at_sandbox("ada")
        browser.wait("the refusal", lambda: "did not work" in browser.text())
        sign_in(browser)
        browser.wait("home", lambda: "NorthCable" in browser.text())
        browser.full_screenshot("console-home-trouble")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Explain").click()
        browser.wait("the explanation", lambda: "Every check, in order" in browser.text())
        assert "Check " in browser.text() and browser.driver.find_elements(By.CSS_SELECTOR, ".message.bad"), "the failed check stands first"
        browser.full_screenshot("console-explained")
        assert not (found := axe.violations(browser.driver)), f"the explanation: {found}"
        browser.driver.get(admin + "/console")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Let viewers in").click()
        click(browser, "[name=requestor][value=ACME1]")
        click(browser, "[name=agreed]")
        click(browser, ".editor button[type=submit]")
        browser.wait("a word on the rule", lambda: "It is in force" in browser.text())
        browser.full_screenshot("console-degradation")
        assert not (found := axe.violations(browser.driver)), f"degradation: {found}"
        click(browser, "form[action='/console/degradation/end'] button")
        browser.wait("its end", lambda: "It has ended." in browser.text())
        device = Device()
        browser.driver.get(f"{gateway}/activate/providers?code={device.code()}")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
        browser.confirm()
        browser.wait("the end of the sign-in", lambda: "/activate/done" in browser.driver.current_url or browser.driver.find_elements(By.NAME, "password"))
        if browser.driver.find_elements(By.NAME, "password"):
            browser.sign_in_at_sandbox("ada")
        browser.wait("the end of the sign-in", lambda: device.is_signed_in())
        browser.driver.get(admin + "/console")
        browser.wait("good news", lambda: "No MVPD fails." in browser.text())
    finally:
        browser.driver.quit()


def connects_an_mvpd_by_its_metadata():
    browser = Browser(1280, 900)
    try:
        administer("DELETE", "/draft")
        name = "New" + uuid.uuid4().hex[:8]
        with urllib.request.urlopen(cluster["sandbox"]["mvpd"] + "/saml/NorthCable/metadata", timeout=10) as answer:
            metadata = answer.read().decode()
        sign_in(browser, "/mvpds")
        browser.driver.find_element(By.LINK_TEXT, "Connect an MVPD").click()
        browser.driver.find_element(By.NAME, "id").send_keys(name)
        browser.driver.execute_script("document.getElementById('metadata').value = arguments[0]", metadata)
        click(browser, ".editor button[type=submit]")
        browser.wait("what it says", lambda: "What it says" in browser.text())
        browser.full_screenshot("console-connect")
        assert not (found := axe.violations(browser.driver)), f"the preview: {found}"
        click(browser, "[name=fingerprint]")
        field = browser.driver.find_element(By.NAME, "displayName")
        field.clear()
        field.send_keys("New Cable")
        click(browser, ".editor button[type=submit]")
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Integrate it").click()
        browser.driver.find_element(By.NAME, "requestor").send_keys("ACME2")
        browser.driver.find_element(By.NAME, "metadataKeys").send_keys("userID")
        click(browser, ".editor button[type=submit]")
        browser.wait("a word on the draft", lambda: "Saved in your draft" in browser.text())
        tests_a_sign_in_by_the_draft(browser, name)
        click(browser, "form[action='/console/draft/push'] button")
        browser.wait("the new version", lambda: "Pushed." in browser.text())
        browser.wait("services to have it", lambda: name in providers("ACME2"))
        for path in (f"/integrations/ACME2/{name}", f"/mvpds/{name}"):
            assert administer("DELETE", path, headers={"If-Match": "*"})[0] in (200, 204), "it is taken out again"
        assert administer("POST", "/draft/push", {"description": "Without it"})[0] == 202, "as it was before"
    finally:
        browser.driver.quit()


def tests_a_sign_in_by_the_draft(browser, name):
    """Nothing is pushed: the new tab is at the MVPD as the draft has it, and the page here shows each check of its answer."""
    assert name not in providers("ACME2"), "it is not live"
    browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Test a sign-in before").click()
    browser.wait("the choice of the channel", lambda: browser.driver.find_elements(By.ID, "requestor"))
    browser.full_screenshot("console-test-sign-in")
    assert not (found := axe.violations(browser.driver)), f"the choice: {found}"
    click(browser, ".editor button[type=submit]")
    browser.wait("the page that waits", lambda: "No answer has come yet." in browser.text())
    browser.driver.find_element(By.LINK_TEXT, "stop that").click()
    browser.wait("the page that stands still", lambda: "Look again" in browser.text())
    assert not (found := axe.violations(browser.driver)), f"the page that waits: {found}"
    browser.full_screenshot("console-test-waits")
    here = browser.driver.current_window_handle
    browser.driver.find_element(By.PARTIAL_LINK_TEXT, "in a new tab").click()
    browser.wait("the new tab", lambda: len(browser.driver.window_handles) == 2)
    browser.driver.switch_to.window(next(handle for handle in browser.driver.window_handles if handle != here))
    browser.sign_in_at_sandbox("ada")
    browser.wait("the end of the test", lambda: browser.heading() == "The test is over")
    browser.full_screenshot("console-test-over")
    assert not (found := axe.violations(browser.driver)), f"the end of the test: {found}"
    browser.driver.close()
    browser.driver.switch_to.window(here)
    browser.driver.find_element(By.LINK_TEXT, "Look again").click()
    browser.wait("the verdict", lambda: "Every check passed" in browser.text())
    assert not (found := axe.violations(browser.driver)), f"the verdict: {found}"
    browser.full_screenshot("console-test-passed")
    assert name not in providers("ACME2"), "it is still not live"


def support_finds_nobody_by_keyboard_and_leaves_a_record():
    browser = Browser(1280, 900)
    try:
        sign_in(browser, "/support")
        browser.driver.find_element(By.NAME, "requestor").send_keys("ACME1")
        browser.driver.find_element(By.NAME, "viewer").send_keys("ZZZZZZZ", Keys.ENTER)
        browser.wait("an answer", lambda: "There is none" in browser.text())
        browser.full_screenshot("console-support-none")
        assert "ZZZZZZZ" not in browser.driver.current_url, "no id is in an address"
        _, log = administer("GET", "/audit")
        assert any(record["action"] == "viewer_support" and "code ZZZ…, found 0" in record["text"] for record in log["records"]), log
    finally:
        browser.driver.quit()


PAGES = [
    "", "/integrations", "/integrations?requestor=ACME1", "/integrations/ACME1/NorthCable", "/integrations/ACME1/NorthCable/edit",
    "/integrations/ACME1/NorthCable/json", "/integrations/ACME1/NorthCable/platforms/roku", "/channels", "/channels/ACME2", "/channels/ACME2/edit", "/mvpds", "/mvpds/LakeTel", "/mvpds/LakeTel/edit", "/test-sign-in?mvpd=LakeTel",
    "/applications", "/applications/acme-tv", "/programmers", "/programmers/acme", "/new/channels", "/new/mvpds", "/draft", "/history", "/audit",
    "/sessions", "/sign-ins", "/sign-ins/watch?mvpd=NorthCable&after=0&paused=1", "/degradation", "/degradation/new", "/nothing", "/new/integrations", "/connect", "/usage", "/usage?period=day", "/reports/authn-ttl", "/reports/sso?chosen=1", "/temp-pass", "/support",
]


def every_page_is_clean_in_every_form():
    _, entry = administer("GET", "/requestors/ACME2")
    administer("PUT", "/requestors/ACME2", {**entry["entity"], "name": HOSTILE}, {"If-Match": "*"})
    problems = []
    try:
        for form, width, height, dark in (("desktop", 1280, 900, False), ("phone-dark", 390, 844, True)):
            browser = Browser(width, height, dark=dark)
            try:
                if width < 500:
                    browser.narrow(width, height)
                sign_in(browser)
                for page in PAGES:
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
    switches_an_integration_off_and_on_by_keyboard_alone, does_the_same_without_scripts_on_a_phone,
    signs_in_by_the_identity_provider_and_sees_only_its_own,
    loses_nothing_when_the_session_ends_in_the_middle_of_a_form, two_windows_of_one_draft_do_not_overwrite_each_other,
    finds_why_a_sign_in_failed_and_lets_viewers_in_meanwhile, connects_an_mvpd_by_its_metadata, support_finds_nobody_by_keyboard_and_leaves_a_record,
    every_page_is_clean_in_every_form,
])
