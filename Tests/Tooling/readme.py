"""The README fits on a screen or two, answers first what a reader asks first, and moves nobody who does not want to be moved."""

import pathlib
import re
import unittest
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = (ROOT / "README.md").read_text().splitlines()
PICTURE = (ROOT / "Shared/Documents/Pictures/terminal-tv.svg").read_text()
# Headings that pages of others link to.
FORMER = [
    "two-commands", "five-minutes-with-curl", "the-cluster", "the-console", "a-provider-of-your-own-from-the-terminal", "outgrow-one-machine",
    "keep-old-apps-going-in-front-of-rest-v2", "where-to-read-on", "licence",
]


class Readme(unittest.TestCase):
    def test_it_is_short(self):
        self.assertLessEqual(len(LINES), 110)

    def test_what_a_reader_asks_first_is_answered_first(self):
        places = {}
        for question in ("What stops, and when", "What this is", "For whom", "What you must bring", "What it costs you", "What it cannot do", "Status"):
            found = [number for number, line in enumerate(LINES, 1) if line.startswith(f"**{question}")]
            self.assertEqual(len(found), 1, question)
            places[question] = found[0]
        self.assertEqual(sorted(places, key=places.get), list(places), "the order of the answers")
        self.assertLessEqual(places["Status"], 40)

    def test_there_are_nine_ways_on(self):
        start = LINES.index("## Where to go next")
        rows = [line for line in LINES[start:] if line.startswith("| ")]
        self.assertEqual(len(rows) - 1, 9)

    def test_former_headings_are_still_places(self):
        headings = {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in LINES if line.startswith("## ")}
        places = headings | set(re.findall(r'<a id="([a-z0-9-]+)">', "\n".join(LINES)))
        self.assertEqual([name for name in FORMER if name not in places], [])


class MovingPicture(unittest.TestCase):
    def test_it_is_small_and_has_no_script(self):
        self.assertLessEqual(len(PICTURE.encode()), 60_000)
        for element in tree.fromstring(PICTURE).iter():
            self.assertIn(element.tag.rpartition("}")[2], {"svg", "title", "desc", "style", "rect", "path", "g", "text"})
            self.assertFalse([name for name in element.keys() if name.startswith("on") or "href" in name])
        self.assertNotIn("url(", PICTURE)

    def test_it_runs_once_for_at_most_thirty_seconds(self):
        times = [float(seconds) for seconds in re.findall(r"animation:s\d+ ([\d.]+)s", PICTURE)]
        self.assertTrue(times and max(times) <= 30, times)
        self.assertNotIn("infinite", PICTURE)
        self.assertNotIn("iteration", PICTURE)

    def test_it_stands_still_for_those_who_want_less_motion(self):
        before, _, moving = PICTURE.partition("@media (prefers-reduced-motion:no-preference){")
        self.assertTrue(moving)
        self.assertNotIn("animation", before)
        self.assertEqual(PICTURE.count('class="s still"'), 1, "one scene is shown to them")


if __name__ == "__main__":
    unittest.main()
