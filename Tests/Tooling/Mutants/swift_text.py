"""Reads Swift as far as mutants need it: which text is code, and which statements stand in which block."""

import dataclasses
import re

OPENING, CLOSING = "([{", ")]}"


def masked(source):
    """The source with blanks for what stands in comments and texts, so that offsets stay."""
    out = list(source)

    def blank(start, end):
        for index in range(start, min(end, len(source))):
            if out[index] != "\n":
                out[index] = " "

    def text_end(index):
        """Where a text that begins here ends; what it interpolates belongs to it."""
        hashes = 0
        while source[index] == "#":
            hashes, index = hashes + 1, index + 1
        quote = '"""' if source.startswith('"""', index) else '"'
        closing, escape = quote + "#" * hashes, "\\" + "#" * hashes
        index += len(quote)
        while index < len(source):
            if source.startswith(closing, index):
                return index + len(closing)
            if source.startswith(escape + "(", index):
                index, depth = index + len(escape) + 1, 1
                while depth and index < len(source):
                    if source[index] == '"' or re.match(r'#+"', source[index : index + 8]):
                        index = text_end(index)
                        continue
                    depth += {"(": 1, ")": -1}.get(source[index], 0)
                    index += 1
            elif source.startswith(escape, index):
                index += len(escape) + 1
            else:
                index += 1
        return index

    index = 0
    while index < len(source):
        if source.startswith("//", index):
            end = source.find("\n", index)
            end = len(source) if end < 0 else end
            blank(index, end)
        elif source.startswith("/*", index):
            depth, end = 1, index + 2
            while depth and end < len(source):
                step = 1 if source.startswith("/*", end) else -1 if source.startswith("*/", end) else 0
                depth, end = depth + step, end + (2 if step else 1)
            blank(index, end)
        elif source[index] == '"' or source[index] == "#" and re.match(r'#+"', source[index : index + 8]):
            end = text_end(index)
            # The quotes stay: a masked text is still an expression.
            blank(index + 1, end - 1)
            out[index] = out[end - 1] = '"'
        else:
            end = index + 1
        index = end
    return "".join(out)


def pairs(code):
    """The offset of the bracket that closes each opening one."""
    closes, open_ones = {}, []
    for match in re.finditer(r"[(\[{)\]}]", code):
        if match.group() in OPENING:
            open_ones.append(match.start())
        elif open_ones:
            closes[open_ones.pop()] = match.start()
    return closes


def balanced(code):
    return sum((each in OPENING) - (each in CLOSING) for each in code) == 0


def split(code, start, end, separator):
    """The ranges between separators that stand in no bracket."""
    depth, begin, index = 0, start, start
    pattern = re.compile(separator)
    while index < end:
        depth += (code[index] in OPENING) - (code[index] in CLOSING)
        found = pattern.match(code, index, end) if depth == 0 else None
        if found:
            yield begin, index
            index = begin = found.end()
        else:
            index += 1
    yield begin, end


def trimmed(code, start, end):
    while start < end and code[start].isspace():
        start += 1
    while end > start and code[end - 1].isspace():
        end -= 1
    return start, end


@dataclasses.dataclass(eq=False)
class Statement:
    start: int
    end: int


@dataclasses.dataclass(eq=False)
class Block:
    """What stands between two braces. `head` is the text before it that belongs to it: `func f() -> Int`, `else`, `catch`."""

    open: int
    close: int
    head: str
    #: The statement that the block belongs to, and the block in which that stands; `None` for the file.
    statement: Statement = None
    parent: "Block" = None
    in_brackets: bool = False
    statements: list = dataclasses.field(default_factory=list)
    kind: str = "file"

    @property
    def name(self):
        """What declares it: `f` of `func f`, `init`, `x` of `var x`."""
        found = re.search(r"\b(?:func\s+(`?\w+`?|[^\s\w(]+)|(init|deinit|subscript)\b|(?:var|let)\s+(\w+))", self.head)
        return next((each for each in found.groups() if each), "") if found else ""

    @property
    def result(self):
        """The type that a function or property answers with; `None` for a function without one."""
        if self.kind == "property":
            found = re.search(r"\b(?:var|let)\s+\w+\s*:\s*(.+)$", self.head, re.S)
        else:
            opening = re.search(r"\bfunc\s+[^\s(]+?\s*(?:<[^(]*>)?\s*\(", self.head)
            closes = pairs(self.head)
            rest = self.head[closes.get(opening.end() - 1, len(self.head)) :] if opening else ""
            found = re.search(r"->\s*(.+?)(?:\swhere\b.*)?$", rest, re.S)
        return " ".join(found.group(1).split()) if found else None


#: A row that goes on with the statement before it, and the end of one that is not over.
GOES_ON = re.compile(r"[.?:&|+*/=<>,)\]}]|-[ >]|(?:else|where|catch|throws|async)\b(?!\s+let\b)")
NOT_OVER = re.compile(r"(?:[,(\[]|->|\s(?:[-+*/%&|<>=?:!]+)|\b(?:return|try|await|throw|in))$")
CLOSURE_HEAD = re.compile(r"\s*(?:\[[^\]]*\]\s*)?(?!for\b)(?:\([^)]*\)|[\w ,]*?)\s*(?:async\s*)?(?:throws(?:\([^)]*\))?\s*)?(?:->\s*[^\n{]+?\s*)?\bin\b(?=\s)")
TYPES = re.compile(r"\b(?:struct|class|enum|extension|protocol|actor)\s+[\w`]")


def kind(block, code):
    head, statement = block.head, code[block.statement.start : block.open]
    if block.in_brackets:
        return "closure"
    if head.endswith("else"):
        return "guard" if statement.startswith("guard") else "else"
    word = re.match(r"[@\w]*", head).group()
    if word in ("if", "else", "while", "for", "switch", "do", "defer", "repeat", "catch", "set", "get", "willSet", "didSet"):
        return "if" if re.match(r"(?:else\s+)?if\b", head) else word
    if TYPES.search(head) and not re.search(r"\bfunc\b|=", head):
        return "type"
    if re.search(r"\bfunc\b", head):
        return "func"
    if re.search(r"(?:^|\s)(?:init[?!]?\s*[(<]|deinit$)", head):
        return "init"
    if re.match(r"(?:[@\w]+(?:\([^)]*\))?\s+)*(?:var|subscript)\b", head) and not re.search(r"(?<![=!<>])=(?!=)", head):
        return "property"
    return "closure"


def blocks(code):
    """The file as a block, and all blocks within it: outer ones before inner ones."""
    closes, found = pairs(code), []

    def read(block, start, end):
        found.append(block)
        depth, last, begins = 0, start, True
        statement, head = None, start
        # Where texts between brackets or commas begin.
        marks = []
        index = start
        while index < end:
            each = code[index]
            if each in " \t\n":
                begins |= each == "\n"
            elif each == ";" and depth == 0:
                statement, last, begins = None, index + 1, True
            else:
                if statement is None or (begins and depth == 0 and not GOES_ON.match(code, index) and not NOT_OVER.search(code[max(statement.start, last - 12) : last])):
                    statement, head = Statement(index, index), index
                    block.statements.append(statement)
                begins = False
                if each in "([":
                    depth += 1
                    marks.append(index + 1)
                elif each in ")]":
                    depth -= 1
                    if marks:
                        marks.pop()
                elif each == "," and marks:
                    marks[-1] = index + 1
                elif each == "{":
                    close = closes.get(index, end)
                    inner = Block(index, close, code[marks[-1] if marks else head : index].strip(), statement, block, bool(marks))
                    inner.kind = kind(inner, code)
                    body = index + 1
                    if inner.kind == "closure" and (opening := CLOSURE_HEAD.match(code, body, close)):
                        body = opening.end()
                    read(inner, body, close)
                    index, head = close, close + 1
                last = index + 1
                statement.end = last
            index += 1

    read(Block(-1, len(code), ""), 0, len(code))
    return found


def gives_a_value(block, code):
    """Whether the only statement of a block is its value."""
    if len(block.statements) != 1 and block.kind != "switch":
        return False
    if block.kind == "func":
        return block.result is not None
    if block.kind in ("property", "get", "closure"):
        return True
    if block.kind in ("if", "else", "switch") and block.parent is not None:
        before = code[block.statement.start : block.open]
        if re.match(r"(?:let|var|return)\b|[\w.]+ = ", before):
            return True
        return block.parent.kind != "file" and gives_a_value(block.parent, code)
    return False
