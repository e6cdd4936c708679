"""How people sign in on pages with the gateway's script of the web SDK, and come back: cases of Specs/web-sdk.md, by whose numbers each docstring begins."""

import html
import json
import subprocess

import axe
from browser import By, Keys
from web_sdk_site import ACME, PORTAL, Site, VENDORS_STATEMENT, cluster, gateway, mvpd_calls, verified


def a_player_page_with_a_picker_of_its_own_signs_in_plays_and_signs_out(visitor):
    """8, 20, 34: one `src`, the endpoint, and the vendor's own statement."""
    visitor.forget()
    Site.statement = VENDORS_STATEMENT
    path = "/player.html?show=1&title=a%20b+c&q=%C3%A9#part-2"
    try:
        visitor.open(path)
        visitor.browser.wait("the end of the check", lambda: visitor.part("provider").text == "Not signed in.")
        visitor.part("sign-in").click()
        visitor.browser.wait("the picker", lambda: visitor.part("picker").is_displayed())
        visitor.browser.screenshot("web-sdk-player-picker")
        visitor.driver.find_element(By.XPATH, "//*[@id='providers']//button[text()='North Cable']").click()
        visitor.sign_in("ben")
        visitor.browser.wait("the page again", lambda: visitor.part("provider").text == "Courtesy of NorthCable")
        assert visitor.driver.current_url == f"https://{ACME}{path}", visitor.driver.current_url
        locks = lambda: {button.text: button.get_attribute("data-locked") for button in visitor.driver.find_elements(By.CSS_SELECTOR, "[data-resource]")}
        visitor.browser.wait("the locks", lambda: locks() == {"News": "false", "Sport": "true", "Kids": "true"})
        visitor.browser.wait("metadata", lambda: visitor.run("return document.body.dataset.householdid || document.body.dataset.householdID"))
        visitor.driver.find_element(By.CSS_SELECTOR, "[data-resource=ACME1-NEWS]").click()
        visitor.browser.wait("the video", lambda: visitor.part("screen").text == "Playing ACME1-NEWS")
        verified(visitor.part("screen").get_attribute("data-token"))
        visitor.driver.find_element(By.CSS_SELECTOR, "[data-resource=ACME1-SPORT]").click()
        visitor.browser.wait("the refusal", lambda: "package" in visitor.part("screen").text)
        assert visitor.part("screen").get_attribute("data-problem") == "Z100"
        visitor.browser.screenshot("web-sdk-player-refused")
        logouts = mvpd_calls("slo")
        visitor.part("sign-out").click()
        visitor.browser.wait("the page again", lambda: visitor.driver.current_url == f"https://{ACME}{path}" and visitor.part("provider").text == "Not signed in.")
        assert mvpd_calls("slo") == logouts + 1, "the MVPD has ended its session too"
    finally:
        Site.statement = cluster["softwareStatements"]["acme-tv"]


def a_page_without_a_picker_gets_the_default_dialog_and_stays_where_it_is(visitor):
    """9, 12: by keyboard, under a strict content policy."""
    visitor.forget()
    visitor.open("/article.html")
    visitor.browser.wait("the script", lambda: visitor.part("watch").is_enabled())
    visitor.part("watch").click()
    dialog = lambda: visitor.driver.find_elements(By.CSS_SELECTOR, "dialog[open]")
    visitor.browser.wait("the dialog", dialog)
    visitor.browser.screenshot("web-sdk-default-dialog")
    assert not axe.violations(visitor.driver), axe.violations(visitor.driver)
    entry = visitor.driver.find_element(By.XPATH, "//dialog//button[contains(., 'North Cable')]")
    assert entry.rect["height"] >= 44 and visitor.run("return document.activeElement.closest('dialog') !== null"), "it has its styles and the focus"
    visitor.browser.press(Keys.ESCAPE)
    visitor.browser.wait("no dialog", lambda: not dialog())
    visitor.part("watch").click()
    visitor.browser.wait("the dialog", dialog)
    visitor.browser.tab_to("North Cable")
    visitor.browser.press(Keys.ENTER)
    visitor.window().sign_in()
    visitor.back()
    visitor.browser.wait("the video", lambda: visitor.part("screen").text == "Playing ACME1-NEWS")
    verified(visitor.part("screen").get_attribute("data-token"))


def a_long_list_can_be_searched(visitor):
    """9: in the page's language; a provider's name is text, whatever it holds."""
    visitor.forget()
    visitor.open()
    names = [f"Provider {number}" for number in range(11)] + ["<b>Café</b> & Söhne"]
    entries = "".join(f"<mvpd><id>M{number}</id><displayName>{html.escape(name)}</displayName></mvpd>" for number, name in enumerate(names))
    visitor.run("delete window.displayProviderDialog; document.documentElement.lang = 'de'; answers.push({ call: 'config', times: 1, status: 200, body: arguments[0] })",
        f"<config><requestor><id>ACME1</id><mvpds>{entries}</mvpds></requestor></config>")
    visitor.begin(more="ae.getAuthentication()")
    shown = lambda: [button.text for button in visitor.driver.find_elements(By.CSS_SELECTOR, "dialog[open] div button") if button.is_displayed()]
    visitor.browser.wait("the whole list", lambda: shown() == names)
    assert visitor.driver.find_element(By.CSS_SELECTOR, "dialog h2").text == "TV-Anbieter wählen"
    visitor.driver.find_element(By.CSS_SELECTOR, "dialog input").send_keys("söhne")
    visitor.browser.wait("one provider", lambda: shown() == names[-1:])
    visitor.driver.find_element(By.XPATH, "//dialog//button[text()='Abbrechen']").click()
    assert visitor.heard("setAuthenticationStatus") == [0, "Provider not Selected Error"]


def a_version_of_the_script_is_pinned_by_its_hash(visitor):
    """2: `boxoffice web-sdk` prints the element; one changed digit, and the browser runs nothing."""
    printed = subprocess.run(["Services/boxoffice", "web-sdk", "--gateway", gateway + "/", "--json"], capture_output=True, text=True, timeout=60, check=True)
    script = json.loads(printed.stdout)
    good = script["integrity"]
    bad = "sha256-" + ("A" if good[7] != "A" else "B") + good[8:]
    for integrity, works in ((good, True), (bad, False)):
        Site.pinned = (script["address"], f' integrity="{integrity}" crossorigin=anonymous')
        visitor.open("/pinned")
        assert visitor.run("return typeof window.AccessEnabler") == ("object" if works else "undefined"), integrity


def two_tabs_and_a_way_back_in_mid_sign_in(visitor):
    """10, 11, 20: both tabs finish; a logout in one is heard in the other; a page that comes out of the browser's cache begins anew."""
    visitor.forget()
    visitor.start()
    visitor.choose()
    visitor.browser.wait("the login page", lambda: visitor.driver.find_elements(By.NAME, "password"))
    visitor.driver.back()
    visitor.returned()
    if not visitor.run("return Boolean(window.ae)"):
        visitor.begin()
        visitor.heard("setConfig")
    assert visitor.check() == 0
    visitor.choose()
    visitor.browser.wait("the login page", lambda: visitor.driver.find_elements(By.NAME, "password"))
    visitor.driver.switch_to.new_window("tab")
    second = visitor.driver.current_window_handle
    visitor.start()
    assert visitor.check() == 0
    visitor.choose()
    visitor.sign_in()
    visitor.returned()
    visitor.start()
    assert visitor.check() == 1, "the second tab is signed in"
    visitor.driver.switch_to.window(visitor.main)
    visitor.sign_in()
    visitor.returned()
    visitor.start()
    assert visitor.check() == 1, "so is the first"
    visitor.run("ae.logout()")
    visitor.browser.wait("the page again", lambda: visitor.run("return !window.ae"))
    visitor.driver.switch_to.window(second)
    assert visitor.check() == 0, "a logout counts in every tab"
    visitor.driver.close()
    visitor.driver.switch_to.window(visitor.main)
    visitor.start()
    assert visitor.check() == 0
    visitor.run("ae.getAuthentication()")
    visitor.heard("displayProviderDialog")
    visitor.run("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); ae.getAuthentication()")
    visitor.heard("displayProviderDialog", 2)


def a_window_that_is_blocked_and_a_person_who_cancels(visitor):
    """13, 15: the page leaves instead; with a window it hears of the cancellation."""
    visitor.forget()
    visitor.start(options={"backgroundLogin": True})
    visitor.run("window.open = () => null")
    visitor.choose()
    visitor.browser.wait("the login page", lambda: visitor.driver.find_elements(By.ID, "cancel"))
    assert visitor.driver.window_handles == [visitor.main]
    visitor.part("cancel").click()
    visitor.returned()
    visitor.start(options={"backgroundLogin": True})
    assert visitor.check() == 0 and "boxoffice-return" not in visitor.driver.current_url
    visitor.choose()
    visitor.window().browser.wait("the login page", lambda: visitor.driver.find_elements(By.ID, "cancel"))
    visitor.part("cancel").click()
    visitor.back()
    assert visitor.heard("setAuthenticationStatus", 2) == [0, "Generic Authentication Error"], visitor.log()
    assert ["sendTrackingData", "mvpdSelection", ["NorthCable", "computer", "html5", "Linux"]] in visitor.log()


def an_mvpd_that_wants_a_frame_has_a_window(visitor):
    """16: of its size; a frame of the documented name is left alone, and the page loads again, as documented."""
    visitor.forget()
    visitor.start(options={"mvpdConfig": {"NorthCable": {"iFrameRequired": True, "iFrameWidth": 520, "iFrameHeight": 410}}})
    visitor.run("""const frame = document.createElement('iframe'); frame.name = 'mvpdframe'; document.body.append(frame);
        const open = window.open; window.isOld = true; window.opened = []; window.open = (...values) => { opened.push(values); return open.apply(window, values); };""")
    visitor.choose()
    visitor.window()
    visitor.browser.wait("the login page", lambda: visitor.driver.find_elements(By.NAME, "password"))
    visitor.driver.switch_to.window(visitor.main)
    assert visitor.run("return opened") == [["", "mvpdframe", "width=520,height=410"], ["", "mvpdwindow", "width=520,height=410"]]
    assert visitor.run("return document.querySelector('iframe').contentWindow.location.href") == "about:blank" and not visitor.log("createIFrame")
    visitor.window().sign_in()
    visitor.back()
    visitor.browser.wait("the page anew", lambda: visitor.run("return !window.isOld && Boolean(window.begin)"))
    visitor.begin()
    visitor.heard("setConfig")
    assert visitor.check() == 1 and not visitor.log("createIFrame", "destroyIFrame")


def a_browser_that_keeps_nothing_signs_in_for_the_page(visitor):
    """17."""
    visitor.forget()
    with visitor.before_each_page("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"):
        visitor.start()
        assert visitor.problems() == ["LS011"]
        visitor.choose()
        visitor.window().sign_in()
        visitor.back()
        assert visitor.heard("setAuthenticationStatus") == [1, ""]
        verified(visitor.play())
        visitor.start()
        assert visitor.check() == 0


def a_player_in_a_frame_of_another_site_has_a_sign_in_of_its_own(visitor):
    """18."""
    visitor.forget()
    visitor.open("/frame", PORTAL)
    visitor.driver.switch_to.frame(0)
    visitor.begin()
    visitor.heard("setConfig")
    visitor.choose()
    visitor.window().sign_in()
    visitor.back()
    visitor.driver.switch_to.frame(0)
    assert visitor.heard("setAuthenticationStatus") == [1, ""]
    verified(visitor.play())
    visitor.driver.switch_to.default_content()
    visitor.start()
    assert visitor.check() == 0, "storage is partitioned: the site itself is signed out"


def odd_addresses_lead_back(visitor):
    """36: what the server does not take is restored here."""
    visitor.forget()
    visitor.start("/bench?a=|x|^y`{}&long=" + "l" * 2100 + "#here'\"")
    address = visitor.run("return location.href")
    visitor.choose()
    visitor.sign_in()
    visitor.returned()
    visitor.browser.wait("the page as it was", lambda: visitor.run("return location.href") == address)
    visitor.begin()
    assert visitor.check() == 1


CASES = [
    a_player_page_with_a_picker_of_its_own_signs_in_plays_and_signs_out,
    a_page_without_a_picker_gets_the_default_dialog_and_stays_where_it_is,
    a_long_list_can_be_searched,
    a_version_of_the_script_is_pinned_by_its_hash,
    two_tabs_and_a_way_back_in_mid_sign_in,
    a_window_that_is_blocked_and_a_person_who_cancels,
    an_mvpd_that_wants_a_frame_has_a_window,
    a_browser_that_keeps_nothing_signs_in_for_the_page,
    a_player_in_a_frame_of_another_site_has_a_sign_in_of_its_own,
    odd_addresses_lead_back,
]
