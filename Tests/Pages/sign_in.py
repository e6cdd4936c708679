"""A person with a real browser signs a TV in: once with the keyboard alone, on a phone-sized window, at a running cluster.

Reads $BOXOFFICE_HOME/cluster.json; keeps screenshots in $BOXOFFICE_SCREENSHOTS when that is set.
"""

import base64
import json
import os
import pathlib
import sys
import urllib.parse
import urllib.request
import uuid

from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

cluster = json.loads((pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice")) / "cluster.json").read_text())
gateway = cluster["gateway"]
device_information = base64.b64encode(b'{"model":"Test TV","osName":"Linux"}').decode()


def call(method, path, form=None, body=None, headers=None):
    """One call as a streaming app; gives status and decoded JSON."""
    data = urllib.parse.urlencode(form).encode() if form else body
    request = urllib.request.Request(gateway + path, data=data, method=method, headers={
        "Accept": "application/json", "X-Device-Info": device_information, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            content = answer.read()
            return answer.status, json.loads(content) if content else None
    except urllib.error.HTTPError as error:
        return error.code, None


class Device:
    """A TV with an app of `acme`."""

    def __init__(self):
        statement = json.dumps({"software_statement": cluster["softwareStatements"]["acme-tv"]}).encode()
        _, client = call("POST", "/o/client/register", body=statement, headers={"Content-Type": "application/json"})
        _, token = call("POST", "/o/client/token", form={
            "client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"})
        self.bearer = {"Authorization": "Bearer " + token["access_token"]}
        self.id = str(uuid.uuid4())

    def code(self):
        return call("POST", "/reggie/v1/ACME1/regcode", form={"deviceId": self.id}, headers=self.bearer)[1]["code"]

    def is_signed_in(self):
        return call("GET", f"/api/v1/checkauthn?requestor=ACME1&deviceId={self.id}", headers=self.bearer)[0] == 200


class Browser:
    def __init__(self, width, height, scripts=True):
        options = webdriver.ChromeOptions()
        for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
            options.add_argument(switch)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def wait(self, what, condition):
        """Waits up to 10 s; a page may be replaced while it is looked at."""
        try:
            WebDriverWait(self.driver, 10, ignored_exceptions=[WebDriverException]).until(lambda _: condition())
        except TimeoutException:
            raise AssertionError(f"waited in vain for {what} at {self.driver.current_url}: {self.text()[:300]}") from None

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def heading(self):
        return self.driver.find_element(By.TAG_NAME, "h1").text

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab_to(self, text):
        """Moves the focus by keyboard until it is on what carries the text."""
        for _ in range(30):
            focused = self.driver.switch_to.active_element
            if focused.tag_name in ("a", "button", "input") and text in (focused.text or focused.get_attribute("value") or ""):
                return
            focused.send_keys(Keys.TAB)
        raise AssertionError(f"the keyboard does not reach '{text}' at {self.driver.current_url}")

    def screenshot(self, name):
        if folder := os.environ.get("BOXOFFICE_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(f"{folder}/{name}.png")

    def sign_in_at_sandbox(self, name):
        self.wait("the login page", lambda: self.driver.find_elements(By.NAME, "password"))
        self.screenshot("login")
        self.driver.find_element(By.NAME, "username").send_keys(name)
        self.driver.find_element(By.NAME, "password").send_keys(name + Keys.ENTER)


def signs_in_by_keyboard_on_a_phone():
    device, browser = Device(), Browser(390, 844)
    try:
        browser.driver.get(gateway + "/activate")
        browser.screenshot("activate")
        code = device.code()
        browser.press(f"{code[:3].lower()}-{code[3:].lower()}", Keys.ENTER)
        browser.wait("the list of providers", lambda: "provider" in browser.heading())
        browser.screenshot("providers")
        browser.tab_to("North Cable")
        browser.press(Keys.ENTER)
        browser.sign_in_at_sandbox("ada")
        browser.wait("the last page", lambda: browser.driver.current_url.startswith(gateway + "/activate/done"))
        browser.screenshot("done")
        browser.wait("the good news", lambda: "connected" in browser.heading())
        assert device.is_signed_in(), "the TV is signed in"
        browser.driver.get(f"{gateway}/activate?code={code}")
        browser.press(Keys.ENTER)
        browser.wait("a word on the used code", lambda: "already" in browser.text())
        browser.screenshot("used")
    finally:
        browser.driver.quit()


def signs_in_without_scripts_at_a_provider_with_post_binding():
    device, browser = Device(), Browser(1280, 800, scripts=False)
    try:
        browser.driver.get(f"{gateway}/activate?code={device.code()}")
        browser.driver.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        browser.wait("the list of providers", lambda: "provider" in browser.heading())
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Lake").click()
        browser.wait("the page that hands over", lambda: browser.driver.find_elements(By.ID, "handover"))
        browser.driver.find_element(By.CSS_SELECTOR, "#handover button").click()
        browser.sign_in_at_sandbox("ada")
        browser.wait("the sandbox's button", lambda: browser.driver.find_elements(By.NAME, "SAMLResponse"))
        browser.driver.find_element(By.CSS_SELECTOR, "form button").click()
        browser.wait("the last page", lambda: "connected" in browser.heading())
        assert device.is_signed_in(), "the TV is signed in"
    finally:
        browser.driver.quit()


def a_wrong_password_and_a_cancelled_login_leave_the_tv_signed_out():
    device, browser = Device(), Browser(390, 844)
    try:
        browser.driver.get(f"{gateway}/activate/providers?code={device.code()}")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
        browser.sign_in_at_sandbox("eve")
        browser.wait("a word on the failed login", lambda: browser.driver.find_elements(By.ID, "problem"))
        browser.screenshot("login-failed")
        browser.driver.find_element(By.ID, "cancel").click()
        browser.wait("the last page", lambda: browser.driver.current_url.startswith(gateway + "/activate/done"))
        browser.screenshot("cancelled")
        browser.wait("the bad news", lambda: "did not finish" in browser.heading())
        assert not device.is_signed_in(), "the TV is not signed in"
    finally:
        browser.driver.quit()


def a_wrong_code_gets_a_helpful_word():
    browser = Browser(390, 844)
    try:
        for typed, words in (("AAAAAAA", "not valid any more"), ("AB", "length")):
            browser.driver.get(gateway + "/activate")
            browser.driver.find_element(By.ID, "code").send_keys(typed + Keys.ENTER)
            browser.wait("a problem", lambda: words in browser.driver.find_element(By.ID, "problem").text)
            problem = browser.driver.find_element(By.ID, "problem")
            assert problem.get_attribute("role") == "alert" and words in problem.text, problem.text
            field = browser.driver.find_element(By.ID, "code")
            assert field.get_attribute("aria-invalid") == "true" and "problem" in field.get_attribute("aria-describedby")
            browser.screenshot("wrong-code")
    finally:
        browser.driver.quit()


tests = [
    signs_in_by_keyboard_on_a_phone, signs_in_without_scripts_at_a_provider_with_post_binding,
    a_wrong_password_and_a_cancelled_login_leave_the_tv_signed_out, a_wrong_code_gets_a_helpful_word,
]
failed = 0
for test in tests:
    try:
        test()
        print("ok   ", test.__name__.replace("_", " "))
    except Exception as error:  # every page is tried, and each failure is shown
        failed += 1
        print("FAIL ", test.__name__.replace("_", " "), "-", error)
sys.exit(1 if failed else 0)
