"""Calls the operations of the description at a cluster, and keeps what they answer as examples."""

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request

import stable

DEVICE = "dev-7f3a"
# What an example keeps of a list: two objects, or six texts.
OBJECTS, TEXTS = 2, 6
# Of a table of each property on each platform, so many columns and rows.
TABLE, CELLS = "effective", 2
# Ids of nobody in particular: what the description's own examples say in their place.
CODE = "QK7M2XD"


class Answer:
    def __init__(self, status, headers, content):
        self.status, self.headers, self.content = status, headers, content

    @property
    def media(self):
        return self.headers.get("Content-Type", "").split(";")[0]

    @property
    def text(self):
        return self.content.decode()

    @property
    def json(self):
        return json.loads(self.content)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *ignored):
        return None


OPENER = urllib.request.build_opener(Stay)


def send(method, url, headers, data=None):
    try:
        with OPENER.open(urllib.request.Request(url, data=data, method=method, headers=headers), timeout=20) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read())


def shortened(value):
    """The same with fewer entries in its lists."""
    if isinstance(value, dict):
        return {name: corner(member) if name == TABLE and member else shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shortened(element) for element in value[:OBJECTS if any(isinstance(element, (dict, list)) for element in value) else TEXTS]]
    return value


def corner(table):
    return {column: dict(list(rows.items())[:CELLS]) for column, rows in list(table.items())[:CELLS]}


class Recorder:
    def __init__(self, cluster, operations):
        self.cluster, self.operations = cluster, operations
        self.examples = {}
        sandbox = cluster["sandbox"]
        self.stable = stable.Stable({
            cluster["gateway"]: "https://tv.example", cluster["admin"]: "https://admin.tv.example", sandbox["mvpd"]: "https://mvpd.example",
            sandbox["apple"]: "https://apple.example", sandbox["upstream"]: "https://api.upstream.example", cluster["adminToken"]: "..."})

    def call(self, name, *, path=(), query=(), headers=(), form=None, body=None, token=None, records=True):
        """One call of an operation, which must go well; the first one of each operation and status is its example.

        - Parameters:
          - path: values for the path, in its order; below `/admin/v1` ids have `~1` for a slash.
          - form: fields of a form, or pairs of them.
          - body: what is sent as JSON."""
        operation = self.operations[name]
        address = operation.path
        for value in path:
            value = str(value).replace("/", "~1") if operation.is_administration else value
            address = re.sub(r"\{[^}]+\}", lambda _, value=value: urllib.parse.quote(str(value), safe=""), address, count=1)
        assert "{" not in address, f"{name}: {address} wants more values"
        if query:
            address += "?" + urllib.parse.urlencode(query)
        sent = {"Accept": "application/json", "User-Agent": "AcmeTV/1.0", **dict(headers)}
        data = None
        if form is not None:
            sent["Content-Type"], data = "application/x-www-form-urlencoded", urllib.parse.urlencode(form).encode()
        if body is not None:
            sent["Content-Type"], data = "application/json", json.dumps(body).encode()
        if token:
            sent["Authorization"] = "Bearer " + token
        answer = send(operation.method.upper(), self.cluster["admin" if operation.is_administration else "gateway"] + address, sent, data)
        assert 200 <= answer.status < 300, f"{name}: {operation.method} {address}: {answer.status} {answer.text[:2000]}"
        assert str(answer.status) in operation.node["responses"], f"{name}: the description has no {answer.status}"
        if records and answer.content:
            self.keep(operation, answer)
        return answer

    def keep(self, operation, answer, also=()):
        key = operation.id, str(answer.status)
        if key not in self.examples:
            value = answer.json if answer.media.endswith("json") else answer.text
            self.examples[key] = answer.media, self.stable.answer(shortened(value), also)

    def until(self, what, condition):
        """Asks ten times a second, for at most 20 s."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(0.1)
        raise AssertionError(f"waited in vain until {what}")
