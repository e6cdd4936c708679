"""A person with a real browser signs a TV in: once with the keyboard alone, on a phone-sized window, at a running cluster."""

import urllib.error
import urllib.request

from browser import By, Browser, Keys, run
from television import Device, cluster, gateway


def signs_in_by_keyboard_on_a_phone():
    """Dashboard #44, #53."""
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
        browser.wait("the page of confirmation", lambda: browser.driver.find_elements(By.ID, "confirm"))
        browser.screenshot("confirm")
        browser.tab_to("Sign in with North Cable")
        browser.press(Keys.ENTER)
        browser.sign_in_at_sandbox("ada")
        browser.wait("the last page", lambda: browser.driver.current_url.startswith(gateway + "/activate/done"))
        browser.screenshot("done")
        browser.wait("the good news", lambda: "connected" in browser.heading())
        assert "signed in with North Cable on Test TV" in browser.text(), "this browser is told where, and for which device"
        assert device.is_signed_in(), "the TV is signed in"
        end = browser.driver.current_url
        browser.driver.delete_all_cookies()
        browser.driver.get(end)
        assert "connected" in browser.heading() and "North Cable" not in browser.text(), "another browser is told that the TV is connected, and no more"
        browser.driver.get(f"{gateway}/activate?code={code}")
        browser.press(Keys.ENTER)
        browser.wait("a word on the used code", lambda: "do not know this code" in browser.text())
        browser.screenshot("used")
    finally:
        browser.driver.quit()


def signs_in_without_scripts_at_a_provider_with_post_binding():
    """Dashboard #53."""
    device, browser = Device(), Browser(1280, 800, scripts=False)
    try:
        browser.driver.get(f"{gateway}/activate?code={device.code()}")
        browser.driver.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        browser.wait("the list of providers", lambda: "provider" in browser.heading())
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "Lake").click()
        browser.confirm()
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
    """Dashboard #46: the code is still good."""
    device, browser = Device(), Browser(390, 844)
    try:
        browser.driver.get(f"{gateway}/activate/providers?code={device.code()}")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
        browser.confirm()
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


def a_refused_answer_leads_back_to_the_same_code():
    """Dashboard #46."""
    device, browser = Device(), Browser(390, 844)
    try:
        attack = urllib.request.Request(
            cluster["sandbox"]["mvpd"] + "/control/evil/NorthCable", data=b'{"attack": "xsw3"}', method="POST",
            headers={"Content-Type": "application/json"})
        urllib.request.urlopen(attack, timeout=10).close()
        code = device.code()
        browser.driver.get(f"{gateway}/activate/providers?code={code}")
        browser.driver.find_element(By.PARTIAL_LINK_TEXT, "North").click()
        browser.confirm()
        browser.sign_in_at_sandbox("ada")
        browser.wait("the refusal", lambda: "did not work" in browser.text())
        browser.screenshot("refused")
        assert browser.driver.find_element(By.LINK_TEXT, "Other provider").get_attribute("href").endswith(f"?code={code}&choose=1")
        browser.driver.find_element(By.LINK_TEXT, "Try again").click()
        browser.confirm()
        browser.wait("the end", lambda: browser.driver.find_elements(By.NAME, "password") or "connected" in browser.heading())
        if browser.driver.find_elements(By.NAME, "password"):
            browser.sign_in_at_sandbox("ada")
        browser.wait("the good news", lambda: "connected" in browser.heading())
        assert device.is_signed_in(), "the TV is signed in"
    finally:
        browser.driver.quit()


def a_wrong_code_gets_a_helpful_word():
    browser = Browser(390, 844)
    try:
        for typed, words in (("AAAAAAA", "do not know this code"), ("AB", "length")):
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


def a_person_whom_an_app_sends_in_vain_reads_a_page():
    address = f"{gateway}/api/v1/authenticate?requestor_id=ACME1&mso_id=NorthCable&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example&reg_code=AAAAAAA"
    browser = Browser(390, 844)
    try:
        browser.driver.get(address)
        browser.wait("a page", lambda: "do not know this code" in browser.text())
        assert "Acme One" in browser.text() and "invalid_registration_code" in browser.text(), browser.text()
        browser.screenshot("authenticate-in-vain")
    finally:
        browser.driver.quit()
    try:
        urllib.request.urlopen(address, timeout=10)
        raise AssertionError("an app is refused")
    except urllib.error.HTTPError as error:
        assert error.code == 400 and error.headers["Content-Type"].startswith("application/xml"), "an app gets the document that it always got"


run([
    signs_in_by_keyboard_on_a_phone, signs_in_without_scripts_at_a_provider_with_post_binding,
    a_wrong_password_and_a_cancelled_login_leave_the_tv_signed_out, a_refused_answer_leads_back_to_the_same_code, a_wrong_code_gets_a_helpful_word,
    a_person_whom_an_app_sends_in_vain_reads_a_page,
])
