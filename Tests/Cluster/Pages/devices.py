"""A person with a real browser looks after the devices that sign in by themselves, at a running cluster."""

import base64
import json
import uuid

from browser import By, Browser, run
from television import Device, call, gateway


class AppleDevice(Device):
    """A device of an Apple Account, as far as the service sees it."""

    def ask(self, method, path, body=None):
        return call(method, f"/auto-signin/v1/ACME1/{path}", body=None if body is None else json.dumps(body).encode(), headers={
            **self.bearer, "AP-Device-Identifier": "fingerprint " + base64.b64encode(self.id.encode()).decode(),
            "Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"})

    def opt_in(self):
        app = {"bundleId": "example.acme.tv", "environment": "sandbox"}
        status, issued = self.ask("POST", "tokens", {**app, "contextAuthorization": "granted"})
        assert status == 201, f"a value is issued: {status}"
        status, _ = self.ask("POST", f"tokens/{issued['familyId']}/stored", {"outcome": "stored"})
        assert status == 200, f"it is stored: {status}"
        return {**app, "value": issued["value"]}

    def redeem(self, value):
        return self.ask("POST", "redeem", value)[0]

    def link(self):
        return self.ask("POST", "web-link")[1]["url"]


def signed_in_device(browser):
    device = AppleDevice()
    browser.driver.get(f"{gateway}/activate/providers?code={device.code()}")
    browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
    browser.confirm()
    browser.sign_in_at_sandbox("ada")
    browser.wait("the end of the sign-in", lambda: device.is_signed_in())
    return device


def open_devices(browser, device):
    browser.driver.get(device.link())
    browser.driver.find_element(By.CSS_SELECTOR, "form button").click()
    browser.wait("the devices", lambda: browser.heading() == "Your devices")


def turns_automatic_sign_in_off_from_the_apps_link_on_a_phone():
    browser = Browser(390, 844)
    try:
        first, second = signed_in_device(browser), AppleDevice()
        value = first.opt_in()
        assert second.redeem(value) == 200 and second.is_signed_in(), "a second device signs in by itself"
        link = first.link()
        browser.driver.get(link)
        browser.screenshot("devices-link")
        browser.driver.find_element(By.CSS_SELECTOR, "form button").click()
        browser.wait("the devices", lambda: "Turned on" in browser.text())
        browser.screenshot("devices")
        browser.tab_to("Turn off")
        browser.driver.switch_to.active_element.click()
        browser.wait("what it did", lambda: "is turned off" in browser.text())
        browser.screenshot("devices-turned-off")
        assert AppleDevice().redeem(value) == 401, "the value opens nothing any more"
        browser.wait("the end of the second device's session", lambda: not second.is_signed_in())
        assert first.is_signed_in(), "who signed in at the TV provider stays signed in"
        browser.driver.delete_all_cookies()
        browser.driver.get(link)
        browser.driver.find_element(By.CSS_SELECTOR, "form button").click()
        browser.wait("a word on the used link", lambda: "Turned on" not in browser.text() and browser.heading() != "Your devices")
        browser.screenshot("devices-link-used")
    finally:
        browser.driver.quit()


def signs_out_everywhere_without_scripts():
    browser = Browser(1280, 800, scripts=False)
    try:
        browser_with_scripts = Browser(390, 844)
        try:
            first = signed_in_device(browser_with_scripts)
        finally:
            browser_with_scripts.driver.quit()
        others = [AppleDevice() for _ in range(2)]
        value = first.opt_in()
        for other in others:
            assert other.redeem(value) == 200, "a device signs in by itself"
        open_devices(browser, first)
        browser.tab_to("Sign out everywhere")
        browser.driver.switch_to.active_element.click()
        browser.wait("the end of every opt-in", lambda: "Turn off" not in browser.text())
        for other in others:
            browser.wait("the end of a device's session", lambda device=other: not device.is_signed_in())
    finally:
        browser.driver.quit()


def signs_in_with_apple_and_leaves():
    browser = Browser(390, 844)
    account = "person-" + uuid.uuid4().hex[:12]
    try:
        for is_first in (True, False):
            browser.driver.get(gateway + "/devices")
            browser.screenshot("devices-start")
            browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Sign in with Apple").click()
            browser.wait("Apple's page", lambda: browser.driver.find_elements(By.ID, "account"))
            browser.driver.find_element(By.ID, "account").send_keys(account)
            if is_first:
                browser.driver.find_element(By.ID, "firstName").send_keys("<b>Noa</b>")
            browser.driver.find_element(By.ID, "continue").click()
            if is_first:
                browser.wait("the question", lambda: "new account" in browser.heading())
                browser.screenshot("devices-new-account")
                browser.driver.find_element(By.CSS_SELECTOR, "form button").click()
            browser.wait("the devices", lambda: "not turned on anywhere" in browser.text())
            assert "Noa" in browser.text(), "the person is called by the name that came once"
            assert not browser.driver.find_elements(By.CSS_SELECTOR, "main b"), "a name is text"
            browser.tab_to("Sign out of this page")
            browser.driver.switch_to.active_element.click()
            browser.wait("the start", lambda: browser.driver.find_elements(By.PARTIAL_LINK_TEXT, "Sign in with Apple"))
    finally:
        browser.driver.quit()


def cancelling_at_apple_comes_back():
    browser = Browser(390, 844)
    try:
        browser.driver.get(gateway + "/devices")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Sign in with Apple").click()
        browser.wait("Apple's page", lambda: browser.driver.find_elements(By.ID, "cancel"))
        browser.driver.find_element(By.ID, "cancel").click()
        browser.wait("the start", lambda: browser.driver.current_url.startswith(gateway + "/devices"))
        browser.screenshot("devices-cancelled")
    finally:
        browser.driver.quit()


run([
    turns_automatic_sign_in_off_from_the_apps_link_on_a_phone, signs_out_everywhere_without_scripts, signs_in_with_apple_and_leaves,
    cancelling_at_apple_comes_back,
])
