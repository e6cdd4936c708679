#!/usr/bin/env python3
"""Whether mutants are written where they belong, and leave alone what they must; and whether a trial tells them apart, goes on where it was, and says what it found."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import threading
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
import plan  # noqa: E402
import schemata  # noqa: E402
import trial  # noqa: E402
import tree  # noqa: E402

KNOWN = {"Answer": {"id": '""', "count": "0", "token": "nil"}}


def found(source):
    return [(each.pattern, each.shown) for each in schemata.edits(source, KNOWN)]


def written(source, pattern, shown=None):
    edit = next(each for each in schemata.edits(source, KNOWN) if each.pattern == pattern and shown in (None, each.shown))
    return schemata.apply(source, [(7, edit)])


class Mutants(unittest.TestCase):
    def test_clauses_of_a_guard_change_one_by_one_and_bindings_stay(self):
        source = "func f() {\n    guard let a = b, a.isFit, try c(1, 2) else { return }\n}\n"
        self.assertEqual({shown for _, shown in found(source)}, {"a.isFit", "try c(1, 2)"})
        self.assertIn("guard let a = b, ((a.isFit) || ActiveMutant.chosen(7)), try c(1, 2) else { return }", written(source, "guard never refuses"))

    def test_a_guard_that_only_binds_refuses_always(self):
        source = "func f() {\n    guard let a = b, case .x = a else { return }\n}\n"
        self.assertEqual(found(source), [("guard always refuses", "let a = b, case .x = a")])
        self.assertIn("case .x = a, !ActiveMutant.chosen(7) else {", written(source, "guard always refuses"))

    def test_an_if_is_entered_never_or_always_and_conditions_of_the_compiler_stay(self):
        source = "#if os(Linux)\nfunc f() {\n    if a {\n        b()\n        c()\n    }\n}\n#endif\n"
        self.assertIn("if ((a) && !ActiveMutant.chosen(7)) {", written(source, "if never enters"))
        self.assertIn("if ((a) || ActiveMutant.chosen(7)) {", written(source, "if always enters"))
        self.assertNotIn("os(Linux)", {shown for _, shown in found(source)})

    def test_boundaries_swap_wherever_they_are_compared_and_generics_do_not(self):
        source = "var isOver: Bool { now % 2 < end }\nlet a: Array<Int> = f(b >= c)\nstatic func < (a: Int, b: Int) -> Bool { a.x == b.x }\n"
        self.assertEqual([pattern for pattern, _ in found(source) if "becomes" in pattern], ["< becomes <=", ">= becomes >"])
        self.assertIn("{ now % 2 <! 7 ~! end }", written(source, "< becomes <="))

    def test_functions_return_at_once_and_requirements_have_no_body(self):
        source = (
            "protocol P {\n    func a() -> Bool\n    func b()\n}\nfunc c() throws(Fault) -> Bool {\n    d == e\n}\nfunc f() {\n    g()\n    h()\n}\n"
            "var i: Int? {\n    if x { return 1 }\n    return 2\n}\nfunc j(_ k: (Int) -> Bool) async {\n    l()\n    m()\n}\n")
        self.assertIn("if ActiveMutant.chosen(7) { return true }\nreturn d == e", written(source, "returns true at once"))
        self.assertIn("if ActiveMutant.chosen(7) { return nil }\nif x", written(source, "returns nil at once"))
        self.assertEqual([shown for pattern, shown in found(source) if "at once" in pattern], ["func c", "func c", "func f", "var i", "func j"])

    def test_statements_are_left_out_whole(self):
        source = (
            "func f() {\n    answer.id = try await g(1)\n    x\n        .y()\n    _ = try check(a)\n    call(\n        b)\n    change { c in\n        c.d()\n        c.e()\n    }\n"
            "    let z: Int\n    z = 1\n}\n")
        self.assertEqual(
            [each for each in found(source) if "leaves" in each[0]],
            [("leaves out an assignment", "answer.id = try await g(1)"), ("leaves out a call", "x .y()"), ("leaves out a call", "_ = try check(a)"),
             ("leaves out a call", "call( b)"), ("leaves out a call", "change { c in c.d() c.e() }"), ("leaves out a call", "c.d()"),
             ("leaves out a call", "c.e()")])
        self.assertIn("if !ActiveMutant.chosen(7) { _ = try check(a) }\n", written(source, "leaves out a call", "_ = try check(a)"))

    def test_values_and_properties_of_initializers_are_no_statements_to_leave_out(self):
        source = (
            "struct S {\n    init(a: Int) {\n        self.a = a\n        check(a)\n    }\n    func f() -> Int {\n        g(1)\n    }\n"
            "    func h() -> Int {\n        if a { i(1) } else { j(2) }\n    }\n}\nlet k = l.map { m($0) }\n")
        self.assertEqual([shown for pattern, shown in found(source) if "leaves" in pattern], ["check(a)"])

    def test_errors_are_kept_where_a_guard_or_a_value_needs_them(self):
        source = (
            "func f() throws {\n    guard a else {\n        throw b\n    }\n    if c {\n        d()\n        throw e\n    }\n    throw g\n}\n"
            "func h() throws -> Int {\n    throw i\n}\n")
        self.assertEqual([shown for pattern, shown in found(source) if pattern == "does not throw"], ["throw e", "throw g"])

    def test_fields_of_messages_get_their_defaults(self):
        source = 'func f() -> Answer {\n    Answer(id: try g("x, y"), count: 0, token: nil, other: 1)\n}\n'
        self.assertEqual([shown for pattern, shown in found(source) if pattern == "drops a field"], ['Answer(id: try g("x, y"))'])
        self.assertIn('Answer(id: (ActiveMutant.chosen(7) ? "" : (try g("x, y"))), count: 0', written(source, "drops a field"))

    def test_messages_of_the_contracts_have_fields(self):
        known = plan.messages(ROOT)
        self.assertEqual(known["ResourceDecision"]["authorized"], "false")
        self.assertGreater(len(known), 100)

    def test_comments_and_texts_are_no_code(self):
        source = 'let a = "if b { \\(c("guard d else {")) }" // if e {\n/* guard f else { /* if g { */ } */\nlet h = #"if "i" {"#\n'
        self.assertEqual(found(source), [])

    def test_mutants_of_one_place_nest(self):
        source = "func f() {\n    if a < b {\n        c()\n        d()\n    }\n}\n"
        text = schemata.apply(source, list(enumerate(schemata.edits(source))))
        self.assertEqual(text.count("("), text.count(")"))
        self.assertIn("((((a <! ", text.replace("\n", " "))

    def test_names_outlive_moved_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "A.swift").write_text("func f() {\n    a()\n    a()\n}\n")
            before = [each.key for each in plan.mutants_of(root, "A.swift", {})]
            (root / "A.swift").write_text("// More.\nlet b = 1\n\nfunc f() {\n    a()\n\n    a()\n}\n")
            self.assertEqual(before, [each.key for each in plan.mutants_of(root, "A.swift", {})])
            self.assertIn("A.swift\tf\tleaves out a call\ta() #2", before)
            self.assertEqual(list(plan.stale(root, {before[0]: "", "A.swift\tg\tleaves out a call\ta()": ""})), ["A.swift\tg\tleaves out a call\ta()"])

    def test_each_equivalent_is_in_the_sources_and_has_a_reason(self):
        self.assertEqual(list(plan.stale(ROOT, plan.equivalents(plan.EQUIVALENT.read_text(encoding="utf-8")))), [])
        with self.assertRaises(ValueError):
            plan.equivalents("A.swift\tf\tleaves out a call\ta()\n")


SOURCE = """struct Rule {
    func killed() -> Bool { a && b }
    func check() {
        guard isFit else { return }
        sleepsForever()
        survives()
        breaksTheBuild()
    }
}
"""
BUILD = """#!/usr/bin/env python3
import pathlib, sys
path = pathlib.Path("Services/AutoSignIn/Service/Rule.swift").resolve()
for number, line in enumerate(path.read_text().split("\\n"), 1):
    if "{ breaksTheBuild() }" in line:
        print(f"{path}:{number}:9: error: no")
        sys.exit(1)
bundle = pathlib.Path(".build/debug/aPackageTests.xctest")
bundle.parent.mkdir(parents=True, exist_ok=True)
bundle.write_text(pathlib.Path("bundle").read_text())
bundle.chmod(0o755)
"""
BUNDLE = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
if "--list-tests" in sys.argv:
    print("AutoSignInServiceTests.RuleTests/a()\\nAutoSignInServiceTests.OtherTests/b()\\nElsewhereTests.Suite/c()")
    sys.exit()
keys = {number: key.split("\\t") for key, number, _ in json.loads(pathlib.Path(".build/mutants/plan.json").read_text())["plan"]}
if "RuleTests" not in sys.argv[sys.argv.index("--filter") + 1]:
    sys.exit()
if "BOXOFFICE_MUTANT_TRACE" in os.environ:
    pathlib.Path(os.environ["BOXOFFICE_MUTANT_TRACE"]).write_text("\\n".join(str(each) for each, key in keys.items() if key[2] != "returns at once"))
    sys.exit()
number = int(os.environ["BOXOFFICE_MUTANT"])
with open("runs", "a") as runs:
    runs.write(f"{number}\\n")
if keys[number][3] == "sleepsForever()":
    time.sleep(60)
if keys[number][3] != "survives()":
    print('\\x1b[91m✘\\x1b[0m Test "a rule" recorded an issue at Rule.swift:1:1')
    sys.exit(1)
"""


class Trials(unittest.TestCase):
    """A trial on a checkout of one source, whose compiler and tests are scripts."""

    def setUp(self):
        loader = importlib.machinery.SourceFileLoader("mutants_run", str(HERE / "run"))
        self.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants_run", loader))
        loader.exec_module(self.tool)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root, self.tree = pathlib.Path(scratch.name).resolve() / "root", pathlib.Path(scratch.name).resolve() / "tree"
        for name, text in {
            "Package.swift": "", "build": BUILD, "bundle": BUNDLE, "Services/AutoSignIn/Service/Rule.swift": SOURCE,
            "Services/AutoSignIn/Main/Main.swift": SOURCE, "Tests/Unit/AutoSignInServiceTests/RuleTests.swift": "",
            "Tests/Tooling/timing.py": (ROOT / "Tests/Tooling/timing.py").read_text(),
        }.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        (self.root / "build").chmod(0o755)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.tool.ROOT, self.grace = self.root, trial.GRACE
        trial.GRACE = 2
        self.addCleanup(lambda: setattr(trial, "GRACE", self.grace))

    def conduct(self, processes=None, **changes):
        chosen = types.SimpleNamespace(
            tree=str(self.tree), build="./build", folders=["Services/AutoSignIn"], count=50, seed=1, hours=1, jobs=2, again=False, cluster=None,
            report=str(self.root / "report.md"))
        vars(chosen).update(changes)
        with open(os.devnull, "w") as nothing, unittest.mock.patch("sys.stdout", nothing):
            self.tool.conduct(chosen, processes or trial.Processes())
        return (self.root / "report.md").read_text()

    def runs(self):
        return len((self.tree / "runs").read_text().split())

    def test_mutants_are_told_apart_and_those_that_do_not_compile_are_left_out(self):
        report = self.conduct()
        # Seven are killed: two answers of `killed`, two of the guard; one waits for ever, one survives, one is never reached.
        self.assertIn("| Services/AutoSignIn | 4 | 1 | 1 | 1 | 0 | 0 | 28.6 % |", report)
        self.assertIn("- survived: `Services/AutoSignIn/Service/Rule.swift:6` (check): leaves out a call: `survives()`", report)
        self.assertIn("- not reached: `Services/AutoSignIn/Service/Rule.swift:4` (check): returns at once: `func check`", report)
        self.assertNotIn("Main", report)
        self.assertIn("ActiveMutant.chosen", (self.tree / "Services/AutoSignIn/Service/Rule.swift").read_text())
        self.assertEqual((self.root / "Services/AutoSignIn/Service/Rule.swift").read_text(), SOURCE)

        results = (self.tree / ".build/mutants/results.jsonl").read_text()
        self.assertEqual(results.count('"by": "\\"a rule\\""'), 4, results)

        runs = self.runs()
        self.assertEqual(self.conduct(), report, "started again, it has nothing left to do")
        self.assertEqual(self.runs(), runs)
        self.conduct(again=True)
        self.assertEqual(self.runs(), runs + 1, "the survivor alone")

        reasons = self.root / "equivalent.txt"
        reasons.write_text("Services/AutoSignIn/Service/Rule.swift\tcheck\tleaves out a call\tsurvives()\tNobody asks.\n")
        with unittest.mock.patch.object(plan, "EQUIVALENT", reasons):
            self.assertIn("| Services/AutoSignIn | 4 | 1 | 0 | 1 | 1 | 0 | 16.7 % |", self.conduct())

    def test_an_interrupted_trial_ends_its_programs_and_goes_on(self):
        trial.GRACE = 60
        processes = trial.Processes()
        timer = threading.Timer(1.5, processes.stop)
        timer.start()
        with self.assertRaises(trial.Interrupted):
            self.conduct(processes, jobs=1)
        timer.cancel()
        self.assertIn("not tried", (self.root / "report.md").read_text())
        self.assertFalse(processes.running)
        trial.GRACE = 2
        self.assertIn("| Services/AutoSignIn | 4 | 1 | 1 | 1 | 0 | 0 | 28.6 % |", self.conduct())
        self.assertEqual(self.runs(), 7, "the interrupted one twice, the others once")

    def test_a_folder_that_is_no_copy_is_left_alone(self):
        self.tree.mkdir()
        (self.tree / "letters").write_text("mine")
        with self.assertRaises(tree.Trouble):
            self.conduct()
        with self.assertRaises(tree.Trouble):
            self.conduct(tree=str(self.root))


if __name__ == "__main__":
    unittest.main()
