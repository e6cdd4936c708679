"""The pages of `boxoffice load` as a reader opens them: a ramp, a run that failed, a comparison and joined generators, on a desktop and on a phone."""

import json
import pathlib
import subprocess
import tempfile
import time

import axe
from browser import By, Browser, Keys, run

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="boxoffice-pages-load."))
PROGRAM = pathlib.Path(__file__).parents[3] / "Services/boxoffice"
FORMS = [("desktop", 1280, 900, False), ("phone", 360, 780, False), ("phone-dark", 360, 780, True)]

# How wide the page is at most while a pointer moves over each chart.
WIDEST = """
    let most = document.documentElement.scrollWidth;
    for (const chart of document.querySelectorAll("svg.chart")) {
        const area = chart.getBoundingClientRect();
        for (let place = 0; place <= 20; place++) {
            chart.dispatchEvent(new PointerEvent("pointermove", {clientX: area.left + area.width * place / 20, clientY: area.top + 20}));
            most = Math.max(most, document.documentElement.scrollWidth);
        }
        chart.dispatchEvent(new PointerEvent("pointerleave"));
    }
    return most;
"""


def load(*arguments, status=0):
    done = subprocess.run([PROGRAM, "load", *map(str, arguments)], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == status, f"load {arguments} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def made():
    """Writes all pages; gives what is on which."""
    once = ("--warm-up", "1s", "--quiet")
    load("authentication", "--ramp", "20..80", "--steps", 3, "--step-duration", "2s", *once, "--html", FOLDER / "ramp.html", "--name", "a ramp " + "without-an-end-" * 8)
    # A name, and a note, that are wider than a phone.
    load("gateway", "--path", "/nowhere/" + "on-and-on-" * 12, "--path", "/healthz", "--rate", 40, "-d", "3s", *once, "--assert", "p99<1ns", "--assert", "errors<60%",
         "--metrics", "http://127.0.0.1:9/" + "metrics" * 20, "--html", FOLDER / "failed.html", status=1)
    start = int(time.time()) + 4
    generators = [
        subprocess.Popen([PROGRAM, "load", "gateway", "--path", "/healthz", "--rate", "50", "-d", "3s", *once, "--start-at", str(start),
                          "--json", FOLDER / f"{name}.json"], stdout=subprocess.DEVNULL)
        for name in ("north", "south")]
    assert [generator.wait(60) for generator in generators] == [0, 0], "two generators at once"
    joined = load("join", FOLDER / "north.json", FOLDER / "south.json", "--html", FOLDER / "joined.html", "--json", FOLDER / "joined.json",
                  "--assert", "rate>90")
    assert "2 generators" in joined and "north.json" in joined, joined
    parts = [json.loads((FOLDER / f"{name}.json").read_text()) for name in ("north", "south", "joined")]
    assert parts[2]["totals"]["succeeded"] == parts[0]["totals"]["succeeded"] + parts[1]["totals"]["succeeded"], "the joined calls"
    load("compare", FOLDER / "north.json", FOLDER / "joined.json", "--html", FOLDER / "compare.html")
    return {
        "ramp": ("a ramp", "Ramp"), "failed": ("failed", "Steps"), "joined": ("passed", "Generators"), "compare": ("north.json", "")}


def each_page_is_clean_on_desktop_and_phone():
    problems = []
    for form, width, height, dark in FORMS:
        browser = Browser(1280, 900, dark=dark)
        try:
            browser.narrow(width, height)
            # A page has many thousand marks to look at.
            browser.driver.set_script_timeout(180)
            for page, (words, section) in PAGES.items():
                browser.driver.get((FOLDER / f"{page}.html").as_uri())
                browser.wait("the page", lambda: browser.driver.find_elements(By.TAG_NAME, "h1"))
                assert words in browser.text() and section in browser.text(), f"{page} says neither {words} nor {section}: {browser.text()[:300]}"
                browser.full_screenshot(f"load-{page}-{form}")
                for details in browser.driver.find_elements(By.CSS_SELECTOR, "details summary")[:2]:
                    details.click()
                problems += [f"{page} {form}: {found}" for found in axe.violations(browser.driver)]
                if (wide := browser.driver.execute_script(WIDEST)) > width:
                    problems.append(f"{page} {form}: {wide} pixels wide")
        finally:
            browser.driver.quit()
    assert not problems, "; ".join(problems)


def the_keyboard_reads_a_chart():
    browser = Browser(1280, 900)
    try:
        browser.driver.get((FOLDER / "ramp.html").as_uri())
        chart = browser.driver.find_element(By.CSS_SELECTOR, "svg.chart")
        browser.driver.execute_script("arguments[0].focus()", chart)
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        tip = browser.driver.find_element(By.CSS_SELECTOR, "output.tip:not([hidden])")
        assert "p99" in tip.text and ("ms" in tip.text or "µs" in tip.text), f"the figures of a second: {tip.text}"
        browser.press(Keys.ESCAPE)
        assert not browser.driver.find_elements(By.CSS_SELECTOR, "output.tip:not([hidden])"), "Escape puts them away"
    finally:
        browser.driver.quit()


def numbers_are_there_without_a_script():
    browser = Browser(1280, 900, scripts=False)
    try:
        browser.driver.get((FOLDER / "joined.html").as_uri())
        for words in ("Good answers/s", "p99.9", "north.json", "south.json", "joined from 2 generators"):
            assert words in browser.text(), f"{words} is missing"
    finally:
        browser.driver.quit()


PAGES = made()
run([each_page_is_clean_on_desktop_and_phone, the_keyboard_reads_a_chart, numbers_are_there_without_a_script])
