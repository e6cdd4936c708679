"""Makes what differs from one recording to the next the same: ids, times, tokens, keys and addresses. What is left is what a reader learns from."""

import datetime
import hashlib
import re
import time

# The moment of each recording, as the examples tell it.
MOMENT = datetime.datetime(2026, 1, 5, 10, 0, tzinfo=datetime.timezone.utc)
# Members with a version of the catalogue, and objects whose members come in any order.
VERSIONS = {"version", "baseVersion", "a", "b"}
MAPS = {"devices", "services", "tables", "erased", "profiles", "attributes"}
# Members whose text is random, though it may look like a word.
RANDOM = {"id", "kid", "nonce", "client_secret"}
RANDOM_TEXT = re.compile("[A-Za-z0-9_-]{20,}")
YEARS = 20 * 366 * 86400
TOKEN = "eyJhbGciOiJFUzI1NiJ9.e30.AA"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"
# The first that matches counts: those that hold others stand first.
PATTERNS = [
    ("certificate", r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----"),
    ("token", r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*"),
    ("value", r"\basi1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
    ("uuid", r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"),
    ("moment", r"\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"),
    ("day", r"\b20\d\d-\d\d-\d\d\b"),
    ("fingerprint", r"\b(?:[0-9A-F]{2}:){15,}[0-9A-F]{2}\b"),
    ("household", r"\bhousehold-[0-9a-f]{8}\b"),
    ("hexadecimal", r"(?<![A-Za-z0-9+/])_?[0-9a-f]{16,}(?![A-Za-z0-9+/=])"),
    ("base64", r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{64,}|[A-Za-z0-9+/]{20,}(?==))={0,2}(?![A-Za-z0-9+/_=-])"),
    ("scheme", r"\badbe\.[A-Za-z0-9_-]{22}(?=://)"),
    ("name", r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*[a-z])(?=[A-Za-z0-9_-]*[A-Z])(?:(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{20,}|[A-Za-z0-9_-]{40,})"),
    ("milliseconds", r"(?<![\d.])[12]\d{12}(?![\d.])"),
    ("seconds", r"(?<![\d.])[12]\d{9}(?![\d.])"),
    ("duration", r"\bafter \d+ ms\b"),
    ("agent", r"\bPython-urllib/[\d.]+"),
    ("port", r"\b127\.0\.0\.1:\d+"),
]
ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS))


def rounded(seconds):
    """How far a time is from now: what has just happened, happened now; the rest is exact to a minute, and to an hour where it is three hours away or more."""
    if -600 < seconds < 20:
        return 0
    step = 60 if seconds < 10800 else 3600
    return round(seconds / step) * step


class Stable:
    """Known texts, each with what stands for it, such as the cluster's addresses."""

    def __init__(self, known):
        self.known = dict(known)
        self.versions = []

    def know(self, text, instead):
        """From here on the text is told as another one."""
        self.known[text] = instead

    def answer(self, value, also=()):
        """A text, or decoded JSON, of one answer, in which `also` more is known. The same text is replaced by the same one within it."""
        return Answer({**self.known, **dict(also)}, self.versions).value(value)


class Answer:
    def __init__(self, known, versions):
        self.now, self.versions = time.time(), versions
        self.seen = {}
        self.known = known
        self.expression = re.compile("|".join(re.escape(text) for text in sorted(known, key=len, reverse=True))) if known else None

    def value(self, value):
        if isinstance(value, dict):
            return {self.text(name): self.member(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.value(element) for element in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self.number(value)
        return value

    def member(self, name, value):
        if name in VERSIONS and isinstance(value, int):
            return self.version(value)
        if name in RANDOM and isinstance(value, str) and RANDOM_TEXT.fullmatch(value) and self.text(value) == value:
            return self.instead("name", value)
        return self.value(dict(sorted(value.items())) if name in MAPS and isinstance(value, dict) else value)

    def version(self, number):
        """In the order in which they are told first."""
        if number not in self.versions:
            self.versions.append(number)
        return self.versions.index(number) + 1

    def number(self, value):
        for scale in (1, 1000):
            if abs(value / scale - self.now) < YEARS and value > 10 ** 9:
                return int(self.moved(value / scale) * scale)
        return value

    def moved(self, seconds):
        return MOMENT.timestamp() + rounded(seconds - self.now)

    def text(self, text):
        if self.expression:
            # What is known is set apart, so that no pattern finds a part of it.
            pieces, end = [], 0
            for match in self.expression.finditer(text):
                pieces += [ANY.sub(self.replaced, text[end:match.start()]), self.known[match[0]]]
                end = match.end()
            return "".join(pieces) + ANY.sub(self.replaced, text[end:])
        return ANY.sub(self.replaced, text)

    def replaced(self, match):
        return self.instead(match.lastgroup, match[0])

    def instead(self, kind, text):
        number = self.seen.setdefault((kind, text), sum(1 for known, _ in self.seen if known == kind) + 1)
        digest = hashlib.sha256(f"{kind} {number}".encode()).hexdigest()
        match kind:
            case "certificate": return CERTIFICATE
            case "token": return TOKEN
            case "value": return "asi1." + "A" * 22 + "." + "A" * 43
            case "uuid": return f"5b0c7d0e-3c0f-4d0a-9a52-{number:012}"
            case "moment": return self.moment(text)
            case "day": return self.day(text)
            case "fingerprint": return ":".join(digest[place:place + 2].upper() for place in range(0, 64, 2))
            case "base64": return "AAAA"
            case "hexadecimal": return ("_" if text[0] == "_" else "") + (digest * 4)[:len(text.lstrip("_"))]
            case "scheme": return "adbe.AbCdEfGhIjKlMnOpQrStUv"
            case "name": return "AbCdEfGh" + digest[:8]
            case "milliseconds": return str(self.number(int(text)))
            case "seconds": return str(self.number(int(text)))
            case "household": return "household-" + digest[:8]
            case "duration": return "after 3 ms"
            case "agent": return "Mozilla/5.0"
            case "port": return "127.0.0.1:8090"

    def moment(self, text):
        form = re.sub(r"\.\d+", "", text)
        moved = datetime.datetime.fromtimestamp(self.moved(parsed(form).timestamp()), datetime.timezone.utc)
        return moved.strftime(f"%Y{form[4]}%m{form[7]}%d{form[10]}%H:%M:%S") + form[19:]

    def day(self, text):
        """Days from today stay; a certificate that ends in ten years does so in each recording."""
        today = datetime.datetime.fromtimestamp(self.now, datetime.timezone.utc).date()
        return str(MOMENT.date() + (datetime.date.fromisoformat(text) - today))


def parsed(text):
    moment = datetime.datetime.fromisoformat(text.replace("/", "-").replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)
