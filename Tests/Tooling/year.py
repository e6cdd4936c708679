"""Whether the year of a cluster (Tests/Cluster/Year) finds what grows, by measures that are made up."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Cluster/Year"))
import year  # noqa: E402


def measures(days, **changing):
    """One of each kind for each day; `changing` has functions of the day by name, with `_` for the blank."""
    steady = {"table a.b": 40, "rows a.session": 2, "store a": 600, "journal a": 4000, "logs": 300, "memory gateway": 14_000}
    return [(day, steady | {name.replace("_", " ", 1): value(day) for name, value in changing.items()}) for day in range(1, days + 1)]


class Judge(unittest.TestCase):
    def judged(self, sizes, compressed=True):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            good = year.judge(sizes, 5 if compressed else 60, compressed)
        self.assertEqual(good, "GROWS" not in told.getvalue() and "FAILED" not in told.getvalue())
        return good

    def test_what_is_steady_is_good(self):
        self.assertTrue(self.judged(measures(31)))
        self.assertTrue(self.judged(measures(31, rows_a_session=lambda day: 2 + day % 2, memory_gateway=lambda day: 14_000 + 900 * (day % 3))))
        self.assertTrue(self.judged(measures(365)[4::5], compressed=False))
        self.assertTrue(self.judged(measures(31, rows_a_used=lambda day: 5 * (day % 9))), "swept every nine days")

    def test_too_few_days_are_no_verdict(self):
        self.assertFalse(self.judged(measures(7)))
        self.assertFalse(self.judged(measures(80)[4::5], compressed=False))

    def test_a_row_that_each_day_leaves_behind_is_found(self):
        self.assertFalse(self.judged([(day, values | {"rows a.used": day}) for day, values in measures(31)]))
        self.assertFalse(self.judged([(day, values | {"rows a.used": 2 * day}) for day, values in measures(year.LEAST)]))
        self.assertTrue(self.judged([(day, values | {"rows authentication.client": day}) for day, values in measures(31)]), "kept for longer")

    def test_a_table_that_comes_late_counts(self):
        self.assertFalse(self.judged([(day, values | ({"rows a.late": 9 * (day - 20)} if day > 20 else {})) for day, values in measures(31)]))

    def test_memory_stores_and_journals_that_grow_are_found(self):
        self.assertFalse(self.judged([(day, values | {"memory gateway": 14_000 + 600 * day}) for day, values in measures(31)]))
        self.assertFalse(self.judged([(day, values | {"store a": 600 + 100 * day}) for day, values in measures(31)]))
        self.assertFalse(self.judged([(day, values | {"journal a": year.JOURNAL + 1}) for day, values in measures(31)]))
        self.assertFalse(self.judged([(day, values | {"memory gateway": 14_000 + 40 * day}) for day, values in measures(365)][4::5], compressed=False))


if __name__ == "__main__":
    unittest.main()
