"""Writes mutants into Swift sources: each is a small change behind a number, and an environment variable selects one of them when the tests run.

So all mutants of a module are compiled once. `plan.py` chooses which, and `trial.py` leaves out those that do not compile."""

import dataclasses
import re

import swift_text
from swift_text import balanced, split, trimmed

#: Stands for the number in what is written.
NUMBER = "\x00"
CHOSEN = f"ActiveMutant.chosen({NUMBER})"
#: As many as one trial can tell apart.
MOST = 1 << 16

SUPPORT = """// Selects one mutant, and tells which ones a run reaches. Written by Tests/Tooling/Mutants; never part of a release.
import Glibc

enum ActiveMutant {
    private static let number = getenv("BOXOFFICE_MUTANT").flatMap { Int(String(cString: $0)) } ?? -1
    private static let trace = getenv("BOXOFFICE_MUTANT_TRACE").map { open($0, O_WRONLY | O_CREAT | O_APPEND, 0o644) } ?? -1
    nonisolated(unsafe) private static let reached: UnsafeMutablePointer<UInt8> = {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 16)
        memory.initialize(repeating: 0, count: 1 << 16)
        return memory
    }()

    @inline(never) static func chosen(_ number: Int) -> Bool {
        if trace >= 0, reached[number] == 0 {
            reached[number] = 1
            let line = Array("\\(number)\\n".utf8)
            _ = write(trace, line, line.count)
        }
        return number == Self.number
    }
}

/// The right side of a comparison, with the number of its mutant.
struct NumberedOperand<Value> {
    let number: Int
    let value: Value
}

precedencegroup MutantNumberPrecedence {
    higherThan: ComparisonPrecedence
    lowerThan: NilCoalescingPrecedence
}
infix operator ~! : MutantNumberPrecedence
infix operator <! : ComparisonPrecedence
infix operator <=! : ComparisonPrecedence
infix operator >! : ComparisonPrecedence
infix operator >=! : ComparisonPrecedence

func ~! <Value>(number: Int, value: Value) -> NumberedOperand<Value> { NumberedOperand(number: number, value: value) }
func <! <Value: Comparable>(left: Value, right: NumberedOperand<Value>) -> Bool {
    ActiveMutant.chosen(right.number) ? left <= right.value : left < right.value
}
func <=! <Value: Comparable>(left: Value, right: NumberedOperand<Value>) -> Bool {
    ActiveMutant.chosen(right.number) ? left < right.value : left <= right.value
}
func >! <Value: Comparable>(left: Value, right: NumberedOperand<Value>) -> Bool {
    ActiveMutant.chosen(right.number) ? left >= right.value : left > right.value
}
func >=! <Value: Comparable>(left: Value, right: NumberedOperand<Value>) -> Bool {
    ActiveMutant.chosen(right.number) ? left > right.value : left >= right.value
}
"""


@dataclasses.dataclass(frozen=True)
class Edit:
    """A change of one place: what is put before it and after it. `within` names the function, `shown` is the changed text on one line."""

    start: int
    end: int
    before: str
    after: str
    pattern: str
    shown: str
    within: str = ""


def one_line(text):
    return " ".join(text.split())


def condition_end(code, start, is_guard):
    """Where the condition that begins here ends: before `else` or the brace of the body."""
    depth = 0
    for index in range(start, len(code)):
        if depth == 0 and is_guard and code.startswith("else", index) and re.match(r"else\s*\{", code[index : index + 200]) and not code[index - 1].isalnum():
            return index
        if depth == 0 and not is_guard and code[index] == "{":
            return index
        depth += (code[index] in "([{") - (code[index] in ")]}")
        if depth < 0:
            return None
    return None


def conditions(source, code):
    """Clauses of `guard` and `if` that are always true, or never. Where all of them bind names, the whole is only never true."""
    for match in re.finditer(r"(?<![\w.`#])(guard|if)\s", code):
        is_guard = match.group(1) == "guard"
        end = condition_end(code, match.end(), is_guard)
        if end is None:
            continue
        always, never = ("guard never refuses", "guard always refuses") if is_guard else ("if always enters", "if never enters")
        clauses = [trimmed(code, *each) for each in split(code, match.end(), end, ",")]
        # A clause without text before a comma is none that this reads.
        if any(begin == stop or code[begin] == "#" for begin, stop in clauses):
            continue
        plain = [(begin, stop) for begin, stop in clauses if not re.match(r"(let|var|case)\b", code[begin:stop])]
        for begin, stop in plain:
            shown = one_line(source[begin:stop])
            yield Edit(begin, stop, "((", f") || {CHOSEN})", always, shown)
            yield Edit(begin, stop, "((", f") && !{CHOSEN})", never, shown)
        if not plain:
            begin, stop = clauses[0][0], clauses[-1][1]
            yield Edit(stop, stop, f", !{CHOSEN}", "", never, one_line(source[begin:stop]))


BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def boundaries(source, code):
    for match in re.finditer(r"(?<=[\w)\]}\"?!]) (<=|>=|<|>) (?=[\w(.\"\[$-])", code):
        line = code.rfind("\n", 0, match.start()) + 1
        if re.search(r"\b(func|operator|precedencegroup)\b[^{]*$", code[line : match.start()]):
            continue
        sign, end = match.group(1), code.find("\n", match.end())
        yield Edit(
            match.start(1), match.end(1), "", f"! {NUMBER} ~!", f"{sign} becomes {BOUNDARIES[sign]}", one_line(source[line : end if end >= 0 else len(code)]))


FALLBACKS = [(r"Bool", ("true", "false")), (r".*\?", ("nil",)), (r"\[[^:]*\]", ("[]",)), (r"\[.*:.*\]", ("[:]",)), (r"String", ('""',)), (r"Int|UInt32|UInt64", ("0",))]
KEYWORD = re.compile(
    r"(?:let|var|if|guard|for|while|repeat|switch|do|defer|throw|return|case|default|break|continue|fallthrough|import|func|struct|class|enum|actor|extension|"
    r"typealias|super|precondition|preconditionFailure|assert|assertionFailure|fatalError|unsafe|private|fileprivate|static|public|package|internal|nonisolated)\b"
    r"|async let\b|self\.init\b|init\b|[@#]")


CALL = re.compile(r"(?:try[?!]? )?(?:await )?[a-z_$](?:[\w$.?!\[\]]|\n\s*(?=[.?!]))*\s*[({]")


def functions(source, code, blocks):
    """Functions and properties that return at once: with nothing, or with the emptiest values of their type."""
    for block in blocks:
        if block.kind not in ("func", "property") or not block.statements:
            continue
        shown = f"{'func' if block.kind == 'func' else 'var'} {block.name}"
        start = block.statements[0].start
        if block.kind == "func" and block.result is None:
            if len(block.statements) > 1:
                yield Edit(start, start, f"if {CHOSEN} {{ return }}\n", "", "returns at once", shown)
            continue
        first = code[start : block.statements[0].end]
        if block.result is None or re.match(r"(?:get|set|willSet|didSet|mutating|nonmutating)\b", first):
            continue
        # An only statement that begins with such a word is an expression of several rows, which takes no `return` before it in all places.
        is_value = len(block.statements) == 1 and not KEYWORD.match(first)
        if len(block.statements) == 1 and not is_value and not re.match(r"return\b", first):
            continue
        for answer, values in FALLBACKS:
            if re.fullmatch(answer, block.result):
                for value in values:
                    after = "return " if is_value else ""
                    yield Edit(start, start, f"if {CHOSEN} {{ return {value} }}\n{after}", "", f"returns {value} at once", shown)
                break


def body_of(block):
    """The function, initializer, property or closure that a block belongs to."""
    while block is not None and block.kind not in ("func", "init", "property", "get", "set", "closure"):
        block = block.parent
    return block


def statements(source, code, blocks):
    """Calls and assignments that are left out, and errors that are not thrown."""
    for block in blocks:
        if block.kind in ("file", "type"):
            continue
        body = body_of(block)
        for statement in block.statements:
            text = code[statement.start : statement.end]
            only = len(block.statements) == 1
            shown = one_line(source[statement.start : statement.end])
            change = statement.start, statement.end, f"if !{CHOSEN} {{ ", " }"
            if re.match(r"throw\s", text):
                # A `guard` must leave, and whoever owes a value must give it. An `if` that does nothing else is the same as one that is never entered.
                returns = body is None or body.kind != "func" or body.result is not None
                if block.kind != "guard" and not (only and block.kind == "if") and not (returns and block.kind != "if"):
                    yield Edit(*change, "does not throw", shown)
                continue
            if KEYWORD.match(text) or not balanced(text) or only and swift_text.gives_a_value(block, code):
                continue
            name = re.match(r"([\w$.]+(?:\[[^\]]*\])?(?:[?!]?\.\w+)*) (?:[-+*/|&]|<<|>>)?= ", text)
            if name:
                target = name.group(1)
                if body is not None and body.kind == "init" and re.fullmatch(r"(?:self\.)?\w+", target) and target != "_":
                    continue
                # It has no value before.
                if re.search(rf"\b(?:let|var)\s+(?:\([^)]*\b)?{re.escape(target)}\b[^=\n]*$", code, re.M):
                    continue
                yield Edit(*change, "leaves out a call" if target == "_" else "leaves out an assignment", shown)
            elif CALL.match(text) and text[-1] in ")}":
                yield Edit(*change, "leaves out a call", shown)


def messages(generated):
    """The fields of each message that the contracts generate, with their defaults: {"ResourceDecision": {"resource": '""'}}."""
    found = {}
    for text in generated:
        for match in re.finditer(r"^public struct (\w+): Message \{.*?^    public init\(\n(.*?)^    \) \{", text, re.M | re.S):
            found[match.group(1)] = dict(re.findall(r"^\s+(\w+): [^=\n]+ = (.+?),?$", match.group(2), re.M))
    return found


def fields(source, code, known):
    """Fields of messages that are sent with their default."""
    closes = swift_text.pairs(code)
    for match in re.finditer(r"(?<![\w.])([A-Z]\w+)\(", code):
        defaults = known.get(match.group(1))
        if not defaults or match.end() - 1 not in closes:
            continue
        for begin, stop in split(code, match.end(), closes[match.end() - 1], ","):
            begin, stop = trimmed(code, begin, stop)
            label = re.match(r"(\w+):\s*", code[begin:stop])
            if not label or label.group(1) not in defaults:
                continue
            start, default = begin + label.end(), defaults[label.group(1)]
            if source[start:stop] in (default, "[]", "nil", "false", "0", '""'):
                continue
            yield Edit(
                start, stop, f"({CHOSEN} ? {default} : (", "))", "drops a field", f"{match.group(1)}({one_line(source[begin:stop])})")


def edits(source, known=None):
    """All mutants of a source, in the order of their places. `known` has the messages of the contracts."""
    code = swift_text.masked(source)
    blocks = swift_text.blocks(code)
    found = [
        *conditions(source, code), *boundaries(source, code), *functions(source, code, blocks), *statements(source, code, blocks),
        *fields(source, code, known or {})]
    named = [each for each in blocks if each.kind in ("func", "init", "property")]

    def within(edit):
        return next((each.name for each in reversed(named) if each.open < edit.start <= each.close), "")

    found = [dataclasses.replace(each, within=within(each)) for each in found]
    return sorted(found, key=lambda each: (each.start, each.end, each.pattern))


def apply(source, numbered):
    """The source with these (number, edit) in it. Edits of one place nest."""
    events = []
    for order, (number, edit) in enumerate(numbered):
        before, after = edit.before.replace(NUMBER, str(number)), edit.after.replace(NUMBER, str(number))
        length = edit.end - edit.start
        # Outer ones open first and close last.
        events.append((edit.start, 1, -length, order, before))
        events.append((edit.end, 0 if length else 2, length, -order, after))
    out, last = [], 0
    for place, *_, text in sorted(events):
        out += [source[last:place], text]
        last = place
    return "".join(out) + source[last:]
