"""The API's pages of a running cluster: each example that reads something works, and the pages are clean in every form."""

import html
import os
import re
import subprocess
import time
import urllib.request

import axe
from browser import Browser, By, run
from television import Device, cluster, gateway

LARGEST = 200_000
# The refusals that an example with its made-up code or device may meet, and none that blames the example itself.
REFUSALS = {"400", "403", "404", "406", "410", "412"}
# One of each template; the pages of the other groups differ in words alone.
CLEAN = ["/docs", "/docs/schemas", "/docs/decisions"]
# Addresses that only an MVPD's message makes sense of: without one they answer 503 (mvpd §2.3).
OF_MVPDS = {"consumeSamlResponseByGet", "receiveLogoutByRedirect"}
# Proxies call from addresses that the settings name; the local cluster names none.
OF_PROXIES = {"listProxiedMvpds"}


def page(path):
    with urllib.request.urlopen(gateway + path, timeout=10) as answer:
        return answer.read().decode()


def groups():
    return sorted(set(re.findall(r'href="/docs/([a-z0-9-]+)"', page("/docs"))) - {"schemas"})


def examples(group):
    """Of each operation that reads: its id, the statuses that it may answer, and the example."""
    for section in page("/docs/" + group).split("<section ")[1:]:
        name = re.match(r'id="([^"]+)"', section)[1]
        found = re.search(r'<pre tabindex="0" data-read="true">(.*?)</pre>', section, re.S)
        if found:
            yield name, set(re.findall(r"<dt>([0-9]{3})</dt>", section)), html.unescape(found[1])


def status(example, environment):
    for _ in range(5):
        done = subprocess.run(["bash", "-c", example], env={**os.environ, **environment}, capture_output=True, timeout=20, check=False)
        assert done.returncode == 0, f"{example}: {done.stderr.decode()}"
        found = re.match(rb"HTTP/[0-9.]+ ([0-9]{3})", done.stdout)[1].decode()
        if found != "429":
            return found
        time.sleep(1)
    return found


def each_example_that_reads_works():
    environment = {
        "TOKEN": Device().bearer["Authorization"].removeprefix("Bearer "), "ADMIN": cluster["admin"], "ADMIN_TOKEN": cluster["adminToken"]}
    problems, good, refused = [], 0, []
    for group in groups():
        for name, documented, example in examples(group):
            found = status(example, environment)
            if found < "400":
                good += 1
            else:
                refused.append(f"{name} {found}")
            if found not in documented or found >= "400" and found not in REFUSALS and name not in OF_MVPDS | OF_PROXIES:
                problems.append(f"{name}: {found}, documented are {sorted(documented)}: {example}")
    print(f"   {good} examples answer with what they ask for; refused: {', '.join(refused)}")
    assert not problems, "\n".join(problems)
    assert good > 40, f"only {good} examples answer with what they ask for"


def bare_addresses_lead_to_pages():
    for base, path in ((gateway, "/activate"), (cluster["admin"], "/console/sign-in")):
        with urllib.request.urlopen(base + "/", timeout=10) as answer:
            assert answer.status == 200 and answer.url.startswith(base + path), answer.url


def groups_stand_beside_the_page_and_examples_are_copied():
    browser = Browser(1280, 900)
    try:
        browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": gateway})
        browser.driver.get(gateway + "/docs")
        browser.driver.find_element(By.CSS_SELECTOR, ".side").find_element(By.LINK_TEXT, "Clients").click()
        browser.wait("the group", lambda: browser.heading() == "Clients")
        here = browser.driver.find_elements(By.CSS_SELECTOR, ".side [aria-current=page]")
        assert [link.text for link in here] == ["Clients"], "the list says where one is"
        browser.driver.find_element(By.CSS_SELECTOR, ".side").find_element(By.PARTIAL_LINK_TEXT, "/o/client/token").click()
        section = browser.driver.find_element(By.CSS_SELECTOR, "#issueAccessToken")
        shown = [found.text for found in section.find_elements(By.TAG_NAME, "pre")]
        assert shown[0].startswith("curl -si") and '"access_token"' in shown[1], shown
        for button, text in zip(section.find_elements(By.CLASS_NAME, "copy"), shown, strict=True):
            button.click()
            browser.wait("its word", lambda button=button: button.text == "Copied")
            copied = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
            assert copied.split() == text.split(), f"copied was: {copied}"
    finally:
        browser.driver.quit()


def a_phone_without_scripts_has_groups_and_examples_too():
    browser = Browser(390, 844, scripts=False)
    try:
        browser.narrow(360, 740)
        browser.driver.get(gateway + "/docs/clients")
        assert not browser.driver.find_elements(By.CLASS_NAME, "copy"), "what would need scripts is not there"
        assert "access_token" in browser.text() and not browser.driver.find_element(By.CSS_SELECTOR, ".side").is_displayed()
        browser.driver.find_element(By.TAG_NAME, "summary").click()
        browser.driver.find_element(By.CSS_SELECTOR, ".narrow").find_element(By.LINK_TEXT, "Decisions").click()
        browser.wait("the group", lambda: browser.heading() == "Decisions")
    finally:
        browser.driver.quit()


def every_page_is_clean_in_every_form():
    problems = []
    paths = ["/docs", "/docs/schemas"] + ["/docs/" + group for group in groups()]
    for form, width, height, dark in (("desktop", 1280, 900, False), ("phone-dark", 390, 844, True)):
        browser = Browser(width, height, dark=dark)
        # The contrast of each of some thousand words takes its time.
        browser.driver.set_script_timeout(240)
        try:
            for path in paths:
                assert len(page(path).encode()) <= LARGEST, f"{path} is too large"
                browser.driver.get(gateway + path)
                browser.screenshot(f"docs-{form}{path.replace('/', '-')}")
                if path in CLEAN:
                    problems += [f"{form} {path}: {found}" for found in axe.violations(browser.driver)]
                wide = browser.driver.execute_script("return document.documentElement.scrollWidth > window.innerWidth")
                if wide:
                    problems.append(f"{form} {path}: wider than the window")
        finally:
            browser.driver.quit()
    assert not problems, "\n".join(problems)


run([
    each_example_that_reads_works, bare_addresses_lead_to_pages, groups_stand_beside_the_page_and_examples_are_copied,
    a_phone_without_scripts_has_groups_and_examples_too, every_page_is_clean_in_every_form,
])
