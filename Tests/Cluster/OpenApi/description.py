"""The gateway's OpenAPI description as a file that people keep: parts of it are written anew, and the rest stays as it is, octet for octet."""

import json
import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parents[3] / "Services/Gateway/Pages/openapi.json"
METHODS = ("get", "post", "put", "patch", "delete", "trace")
# The longest line that an object or a list has to itself, in characters.
WIDTH = 160
WHITE = re.compile(r"[ \t\r\n]*")
SCALAR = re.compile(r'"(?:\\.|[^"\\])*"|[^\s,\]}]+')


class Operation:
    """A call that the description tells, without HEAD and OPTIONS."""

    def __init__(self, document, path, method):
        self.document, self.path, self.method = document, path, method
        self.item = document["paths"][path]
        self.node = self.item[method]
        self.id = self.node["operationId"]
        self.alias = self.node.get("x-alias-of")
        self.is_administration = "servers" in self.item

    def resolved(self, node):
        return self.document["components"][node["$ref"].split("/")[-2]][node["$ref"].split("/")[-1]] if "$ref" in node else node

    @property
    def parameters(self):
        return [self.resolved(node) for node in self.item.get("parameters", []) + self.node.get("parameters", [])]

    def body(self):
        """The media type of the first body that is described, and its example; None: it takes none."""
        if "requestBody" not in self.node:
            return None
        media, content = next(iter(self.resolved(self.node["requestBody"])["content"].items()))
        return media, content.get("example")

    def places(self, status):
        """Where the answer of a status is described: in the operation, or where it refers to; as a list of names."""
        answer = self.node["responses"].get(status)
        if answer is None:
            return None
        return answer["$ref"].split("/")[1:] if "$ref" in answer else ["paths", self.path, self.method, "responses", status]

    def answers(self):
        """Each good answer with content, other than pages: status, media type and what is described of it."""
        for status, node in self.node["responses"].items():
            content = self.resolved(node).get("content", {})
            if status[0] == "2" and "text/html" != next(iter(content), "text/html"):
                for media, described in content.items():
                    yield status, media, described

    @property
    def may_be_empty(self):
        """True: some good answer of it has no content."""
        return any(status[0] == "2" and "content" not in self.resolved(node) for status, node in self.node["responses"].items())


def operations(document):
    return {
        operation.id: operation
        for path, item in document["paths"].items() for method in METHODS if method in item
        for operation in [Operation(document, path, method)]}


def formatted(value, indent=0, before=0):
    """JSON as the file has it: in one line what fits in, else a member a line. `before` is what stands before it in its line."""
    line = one_line(value)
    if indent + before + len(line) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner, outer = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(value, list):
        return "[" + ",".join(inner + formatted(element, indent + 2) for element in value) + outer + "]"
    members = (f"{inner}{text(name)}: {formatted(member, indent + 2, len(text(name)) + 2)}" for name, member in value.items())
    return "{" + ",".join(members) + outer + "}"


def text(value):
    return json.dumps(value, ensure_ascii=False)


def one_line(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{text(name)}: {one_line(member)}" for name, member in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(one_line(element) for element in value) + "]"
    return text(value)


class Part:
    """A value in the file's text: where it begins and ends, where its name does, and its members by name."""

    def __init__(self, start, key):
        self.start, self.end, self.key, self.members = start, start, key, {}


def part(content, start, key=0):
    """The value that begins there, with all of its members; of lists the end alone."""
    found = Part(start, key)
    place = start + 1
    if content[start] == "[":
        while (place := WHITE.match(content, place).end()) and content[place] != "]":
            place = part(content, place).end
            place = WHITE.match(content, place).end()
            place += content[place] == ","
    elif content[start] == "{":
        while (place := WHITE.match(content, place).end()) and content[place] != "}":
            name = SCALAR.match(content, place)
            value = WHITE.match(content, content.index(":", name.end()) + 1).end()
            member = found.members[json.loads(name[0])] = part(content, value, place)
            place = WHITE.match(content, member.end).end()
            place += content[place] == ","
    else:
        place = SCALAR.match(content, start).end() - 1
    found.end = place + 1
    return found


def replaced(content, changes):
    """The text with other values where lists of names lead to them. One that does not begin a line takes the nearest value around it along that does."""
    whole, edits = part(content, 0), {}
    for names, value in changes:
        parts = [whole]
        for name in names:
            parts.append(parts[-1].members[name])
        depth = len(names)
        while content[content.rfind("\n", 0, parts[depth].key) + 1:parts[depth].key].strip():
            depth -= 1
        around = parts[depth]
        edit = edits.setdefault(around.start, [around, json.loads(content[around.start:around.end])])
        if depth == len(names):
            edit[1] = value
            continue
        inner = edit[1]
        for name in names[depth:-1]:
            inner = inner[name]
        inner[names[-1]] = value
    for start in sorted(edits, reverse=True):
        around, value = edits[start]
        indent = around.key - content.rfind("\n", 0, around.key) - 1
        content = content[:start] + formatted(value, indent, start - around.key) + content[around.end:]
    return content


def with_examples(content, examples):
    """The file's text with these examples of answers and no others, by id of the operation and status: media type and content."""
    document = json.loads(content)
    known = operations(document)
    wanted = {}
    for operation in known.values():
        for status, media, _ in operation.answers():
            wanted.setdefault(tuple(operation.places(status)), {})
            if found := examples.get((operation.id, status)):
                wanted[tuple(operation.places(status))].setdefault(found[0], found[1])
    changes = []
    for names, found in wanted.items():
        node = document
        for name in names:
            node = node[name]
        answer = json.loads(json.dumps(node))
        for media, described in answer["content"].items():
            described.pop("example", None)
            if media in found:
                described["example"] = found[media]
        if answer != node:
            changes.append((names, answer))
    return replaced(content, changes)
