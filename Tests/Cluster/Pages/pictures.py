#!/usr/bin/env -S python3 -B
"""Takes pictures of every page on which people sign in, at a running cluster, in five languages, and of the console: on three widths, light and dark.

    Tests/Cluster/Pages/pictures.py FOLDER [LANGUAGE…] [console]

Writes PAGE-LANGUAGE-WIDTH-light.png and -dark.png into the folder, and sheets of them, side by side. They are for people who change the pages: nothing
compares them. Meanwhile the channel ACME1 has 300 TV providers and a look of its own.
"""

import html
import os
import pathlib
import sys

from browser import By, Browser, Keys
from providers import add_providers, administer, go_back, serve_logos
from television import Device, call, cluster, gateway

LANGUAGES = ("en", "de", "es", "fr", "pt")
SIZES = {360: 740, 768: 1024, 1280: 900}
# For each width: how wide a picture is on a sheet, and how many stand on one.
ON_SHEET = {360: (360, 8), 768: (380, 12), 1280: (512, 12)}
# What a form of another page sends, or an MVPD that has misunderstood.
POST = """
    const form = document.createElement("form");
    form.method = "post";
    form.action = arguments[0];
    for (const [name, value] of arguments[1]) {
        const field = document.createElement("input");
        [field.type, field.name, field.value] = ["hidden", name, value];
        form.append(field);
    }
    document.body.append(form);
    form.submit();
"""


# The console's, below its address; in English alone.
CONSOLE = {
    "home": "", "sign-ins": "/sign-ins", "sign-ins-failed": "/sign-ins?failed=1&mvpd=Nobody", "usage": "/usage", "usage-day": "/usage?period=day&zone=9",
    "usage-year": "/usage?period=year&by=requestor-id", "integrations": "/integrations", "integration": "/integrations/ACME1/NorthCable",
    "channel": "/channels/ACME1", "mvpds": "/mvpds", "mvpd": "/mvpds/NorthCable", "mvpd-edit": "/mvpds/NorthCable/edit",
    "applications": "/applications", "programmers": "/programmers", "connect": "/connect", "test": "/test-sign-in?mvpd=LakeTel",
    "watch": "/sign-ins/watch?mvpd=NorthCable&after=0&paused=1", "support": "/support", "degradation": "/degradation", "degrade": "/degradation/new",
    "temp-pass": "/temp-pass", "history": "/history", "draft": "/draft", "audit": "/audit", "sessions": "/sessions", "report": "/reports/authn-ttl",
    "promote": "/promote", "nothing": "/nothing",
}


def pages_of_the_console():
    """Those above; also those of an upstream, where the cluster has one (`boxoffice upstream try` adds one)."""
    pages = dict(CONSOLE)
    for entry in administer("GET", "/upstreams")["items"][:1]:
        path = f"/upstreams/{entry['id']}"
        pages |= {
            "upstreams": "/upstreams", "upstream": path, "upstream-edit": path + "/edit", "upstream-check": path + "/check",
            "upstream-offers": path + "/offers", "upstream-reset": path + "/reset",
        }
    return pages


def few(device):
    """A code of a channel with few providers."""
    return call("POST", "/reggie/v1/ACME2/regcode", form={"deviceId": device.id}, headers=device.bearer)[1]["code"]


class Person:
    """A browser in one language, with a code of its own and one with which it has signed in."""

    def __init__(self, language):
        self.browser = Browser(1280, 900)
        self.driver = self.browser.driver
        # A phone draws them over the page.
        self.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
        self.code, self.used = Device().code(), Device().code()
        self.few = few(Device())
        self.sign_in()

    def sign_in(self):
        self.driver.get(f"{gateway}/activate/sign-in?code={self.used}&mvpd=NorthCable")
        self.browser.confirm()
        self.browser.sign_in_at_sandbox("ada")
        self.browser.wait("the last page", lambda: self.driver.current_url.startswith(gateway + "/activate/done"))
        self.cookies = self.driver.get_cookies()

    def open(self, path):
        self.driver.get(gateway + path)

    def post(self, path, *fields):
        self.open("/activate")
        self.driver.execute_script(POST, path, fields)
        self.browser.wait("another page", lambda: self.driver.current_url.endswith(path) and self.driver.find_elements(By.TAG_NAME, "h1"))

    def forget(self):
        self.driver.delete_all_cookies()

    def remember(self):
        self.forget()
        for cookie in self.cookies:
            self.driver.add_cookie(cookie)

    def pages(self):
        """Each page's name, and what opens it."""
        end, wrong = f"/activate/done?code={self.used}&requestor=ACME1", "/activate/providers?requestor=ACME1&code="
        begin = "/api/v1/authenticate?requestor_id=ACME1&mso_id=NorthCable&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2F&reg_code="
        yield "code", lambda: self.open(f"/activate?requestor=ACME1&code={self.code}")
        yield "code-plain", lambda: self.open("/activate")
        yield "code-short", lambda: self.open(wrong + "AB")
        yield "code-used", lambda: self.open(wrong + self.used)
        yield "provider-unavailable", lambda: self.open(f"/activate/sign-in?code={self.code}&mvpd=Nobody")
        yield "list", lambda: self.open(f"/activate/providers?code={self.code}")
        yield "list-few", lambda: self.open(f"/activate/providers?code={self.few}")
        yield "list-found", lambda: self.open(f"/activate/providers?code={self.code}&choose=1&q=cable+2")
        yield "list-none", lambda: self.open(f"/activate/providers?code={self.code}&choose=1&q=nothing")
        yield "confirm", lambda: self.open(f"/activate/sign-in?code={self.code}&mvpd=Many6")
        yield "done", lambda: (self.open("/activate"), self.remember(), self.open(end))
        yield "done-elsewhere", lambda: (self.forget(), self.open(end))
        yield "done-failed", lambda: self.open(f"/activate/done?code={self.code}&requestor=ACME1&mvpd=Many6")
        yield "refused", lambda: self.post("/sp/saml/SAMLAssertionConsumer", ("SAMLResponse", "a"), ("SAMLResponse", "b"))
        yield "form-refused", lambda: self.post("/activate/sign-in", ("code", self.code), ("mvpd", "Many6"), ("requestor", "ACME1"))
        yield "api-code", lambda: self.open(begin + self.used)
        yield "api-incomplete", lambda: self.open("/api/v1/authenticate?requestor_id=ACME1")
        yield "nothing-here", lambda: self.open("/sp/saml/SAMLAssertionConsumer")
        yield "logged-out", lambda: self.open("/adobe-services/logout/oauth")
        yield "test-over", lambda: self.open("/test-sign-in/gone")
        yield "absent", lambda: self.open("/nowhere")
        yield "devices", lambda: self.open("/devices")
        yield "devices-link", lambda: self.open("/devices/open/gone")

    def take(self, language):
        for width, height in SIZES.items():
            for scheme in ("light", "dark"):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                names = []
                for name, opens in self.pages():
                    self.browser.narrow(width, height)
                    opens()
                    self.browser.full_screenshot(f"{name}-{language}-{width}-{scheme}")
                    names.append(name)
                sheets(self.browser, f"{language}-{width}-{scheme}", width, names)


class Operator:
    """A browser at the console."""

    def __init__(self):
        self.browser = Browser(1280, 900)
        self.driver = self.browser.driver
        self.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        self.shown = pages_of_the_console()

    def sign_in(self):
        self.browser.wait("the page of the sign-in", lambda: self.driver.find_elements(By.ID, "bearer"))
        self.driver.find_element(By.ID, "bearer").send_keys(cluster["adminToken"] + Keys.ENTER)
        self.browser.wait("the console", lambda: self.driver.find_elements(By.CSS_SELECTOR, "nav.places"))

    def take(self):
        for width, height in SIZES.items():
            for scheme in ("light", "dark"):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                # Of all hosts: a sheet of pictures, which has none, is what was open last.
                self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
                self.browser.narrow(width, height)
                self.driver.get(cluster["admin"] + "/console")
                self.browser.full_screenshot(f"sign-in-console-{width}-{scheme}")
                self.sign_in()
                for name, path in self.shown.items():
                    self.browser.narrow(width, height)
                    self.driver.get(cluster["admin"] + "/console" + path)
                    self.browser.full_screenshot(f"{name}-console-{width}-{scheme}")
                sheets(self.browser, f"console-{width}-{scheme}", width, ["sign-in", *self.shown])


def sheets(browser, form, width, names):
    """Pictures of one form, some on a sheet."""
    picture, most = ON_SHEET[width]
    for first in range(0, len(names), most):
        sheet(browser, form, first // most + 1, names[first:first + most], picture)


def sheet(browser, form, place, names, width):
    """Some pictures of one form on one, each with its name, and cut where it is longer than a screen or so."""
    figures = "".join(
        f'<figure><figcaption>{html.escape(name)}</figcaption><div><img src="{name}-{form}.png"></div></figure>' for name in names)
    style = (
        f"body{{display:grid;grid-template-columns:repeat({1572 // (width + 12)},{width}px);gap:12px;margin:8px;font:14px sans-serif;background:#888}}"
        "figure{margin:0}div{max-height:760px;overflow:hidden}img{width:100%;display:block}")
    page = pathlib.Path(os.environ["BOXOFFICE_SCREENSHOTS"]) / "sheet.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style>{figures}")
    browser.narrow(1588, 900)
    browser.driver.get(page.resolve().as_uri())
    browser.full_screenshot(f"sheet-{form}-{place}")
    page.unlink()


def main(folder, languages):
    os.environ["BOXOFFICE_SCREENSHOTS"] = folder
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if "console" in languages:
        operator = Operator()
        try:
            operator.take()
        finally:
            operator.driver.quit()
    languages = [language for language in languages if language != "console"]
    version = add_providers(serve_logos()) if languages else None
    try:
        for language in languages:
            person = Person(language)
            try:
                person.take(language)
            finally:
                person.driver.quit()
    finally:
        if version is not None:
            go_back(version)


if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    raise SystemExit("usage: Tests/Cluster/Pages/pictures.py FOLDER [LANGUAGE…] [console]")
main(sys.argv[1], sys.argv[2:] or [*LANGUAGES, "console"])
