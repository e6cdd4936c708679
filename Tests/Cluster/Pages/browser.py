"""Headless Chromium, and how the pages' tests are run. Keeps screenshots in $BOXOFFICE_SCREENSHOTS when that is set."""

import base64
import os
import pathlib
import sys

from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


class Browser:
    def __init__(self, width, height, scripts=True, hosts=None, dark=False):
        """hosts: for names, the `address:port` where this machine serves them instead, with any certificate."""
        options = webdriver.ChromeOptions()
        for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
            options.add_argument(switch)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        if hosts:
            options.add_argument("--host-resolver-rules=" + ", ".join(f"MAP {name} {place}" for name, place in hosts.items()))
            options.accept_insecure_certs = True
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        if dark:
            features = [{"name": "prefers-color-scheme", "value": "dark"}]
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def narrow(self, width, height):
        """Gives the page a width that no window of Chromium can have."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

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

    def focused(self):
        """What has the focus: its element, its text or value, and its name; in one exchange, as a walk by keyboard asks for it at each step."""
        return self.driver.execute_script(
            "const found = document.activeElement; return [found.tagName.toLowerCase(), found.innerText || found.value || '', found.name || ''];")

    def tab(self):
        ActionChains(self.driver).send_keys(Keys.TAB).perform()

    def tab_to(self, text, most=30):
        """Moves the focus by keyboard until it is on what carries the text."""
        for _ in range(most):
            element, words, _ = self.focused()
            if element in ("a", "button", "input", "summary") and text in words:
                return
            self.tab()
        raise AssertionError(f"the keyboard does not reach '{text}' at {self.driver.current_url}")

    def screenshot(self, name):
        if folder := os.environ.get("BOXOFFICE_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(f"{folder}/{name}.png")

    def tab_to_field(self, name):
        """The same, until it is in the field of that name."""
        for _ in range(60):
            if self.focused()[2] == name:
                return self.driver.switch_to.active_element
            self.tab()
        raise AssertionError(f"the keyboard does not reach the field '{name}' at {self.driver.current_url}")

    def paste(self, text):
        """Into the field that has the focus."""
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    def full_screenshot(self, name):
        """All of the page, not only what the window shows."""
        if folder := os.environ.get("BOXOFFICE_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
            pathlib.Path(f"{folder}/{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def confirm(self):
        self.wait("the page of confirmation", lambda: self.driver.find_elements(By.ID, "confirm"))
        self.driver.find_element(By.CSS_SELECTOR, "#confirm button").click()

    def sign_in_at_sandbox(self, name, has_scripts=True):
        self.wait("the login page", lambda: self.driver.find_elements(By.NAME, "password"))
        self.screenshot("login")
        self.driver.find_element(By.NAME, "username").send_keys(name)
        self.driver.find_element(By.NAME, "password").send_keys(name + Keys.ENTER)
        if not has_scripts:
            self.wait("the way back", lambda: self.driver.find_elements(By.ID, "continue"))
            self.driver.find_element(By.ID, "continue").click()


def run(tests):
    """Tries every one, shows each failure, and ends the program with status 1 when there was one."""
    failed = 0
    for test in tests:
        try:
            test()
            print("ok   ", test.__name__.replace("_", " "))
        except Exception as error:
            failed += 1
            print("FAIL ", test.__name__.replace("_", " "), "-", error)
    sys.exit(1 if failed else 0)
