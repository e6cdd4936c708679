#!/usr/bin/env -S python3 -B
"""The TV of `boxoffice device` in a terminal, as a moving picture, at the cluster in $BOXOFFICE_HOME.

    Tests/Cluster/Readme/terminal_tv.py --draw FILE       plays a sign-in on the TV and draws it
    Tests/Cluster/Readme/terminal_tv.py --compare FILE    plays it, and fails where the picture has other words

The picture is an SVG without scripts. It runs once, and stands still for people who want less motion. Codes, ids, addresses, times and sizes differ from
run to run, and are not compared.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import sys
import termios
import threading
import time
import xml.etree.ElementTree as tree
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "OpenApi"))
import person  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
COLUMNS, ROWS = 80, 24
ENTER, ESCAPE, TAB, QUIT = b"\r", b"\x1b", b"\t", b"q"
# The seconds for which each scene of the picture is shown; the one that stands still has the code.
SECONDS = {"channels": 3, "providers": 3, "code": 7, "automatic": 4, "plays": 5, "open": 3, "second": 4}
STILL = "code"
PATIENCE = 30
STYLES = {"0": "", "1": "b", "2": "f", "7": "i", "31": "r", "32": "g"}


class Terminal:
    """The program on a terminal of its own, and what its screen shows."""

    def __init__(self, *command):
        process, self.end = pty.fork()
        if process == 0:
            os.environ["TERM"] = "xterm-256color"
            os.environ.pop("NO_COLOR", None)
            os.execvp(command[0], command)
        self.process, self.rows, self.is_over = process, [], False
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        pending = ""
        while True:
            try:
                octets = os.read(self.end, 65536)
            except OSError:
                octets = b""
            if not octets:
                self.is_over = True
                return
            pending += octets.decode(errors="replace")
            # A screen is drawn from the upper corner to the end.
            whole = pending.rfind("\x1b[J")
            start = pending.rfind("\x1b[H", 0, whole)
            if whole >= 0 and start >= 0:
                self.rows = [runs(row) for row in pending[start + 3:whole].split("\r\n")]
                pending = pending[whole + 3:]

    def press(self, key):
        os.write(self.end, key)

    def wait(self, *words):
        """Gives the screen that has all of them and is at rest."""
        end, seen = time.monotonic() + PATIENCE, None
        while time.monotonic() < end and not self.is_over:
            rows, text = self.rows, "\n".join(plain(row) for row in self.rows)
            if all(word in text for word in words):
                if normal(rows) == seen:
                    return rows
                seen = normal(rows)
            time.sleep(0.3)
        raise SystemExit(f"terminal_tv: the TV does not show {words}:\n" + "\n".join(plain(row) for row in self.rows))


def runs(row):
    """A row as texts of one style each."""
    found, style = [], ""
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", row):
        if part.startswith("\x1b["):
            if part.endswith("m"):
                style = STYLES.get(part[2:-1] or "0", "")
        elif part:
            found.append((style, part))
    return found


def plain(row):
    return "".join(text for _, text in row)


def normal(rows):
    """The words of a screen without what differs from run to run."""
    lines = []
    for row in rows:
        line = re.sub("[█▀▄]", " ", plain(row))
        for pattern, word in (
            (r"https?://[^/ ]+", "http://localhost:8080"), (r"\b[A-Z0-9]{3} [A-Z0-9]{3,5}(?= +│)", "CODE"), (r"\b\d+:\d\d\b", "M:SS"),
            (r"━[━─ ]*", "━ "), (r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?", "TIME"), (r"\b[0-9a-f-]{16,}…?", "ID"), (r"\b[\d,]+ bytes", "N bytes"),
            (r"\b\d+ (s|min|h|minutes|seconds)\b", "N s"),
        ):
            line = re.sub(pattern, word, line)
        lines.append(re.sub(" +", " ", line).strip())
    return [line for line in lines if line]


def record():
    """Plays the sign-in. Gives each scene's name and screen."""
    file = pathlib.Path(os.environ.get("BOXOFFICE_HOME", ".boxoffice")) / "cluster.json"
    if not file.is_file():
        raise SystemExit("terminal_tv: no cluster runs here: start one with ./Services/up, or set BOXOFFICE_HOME")
    gateway = json.loads(file.read_text())["gateway"]
    terminal = Terminal(str(ROOT / "Services/boxoffice"), "device")
    try:
        yield "channels", terminal.wait("Choose a channel and press Enter")
        terminal.press(ENTER)
        yield "providers", terminal.wait("Who provides your TV?")
        terminal.press(ENTER)
        screen = terminal.wait("Good for", "Waiting for your sign-in")
        yield "code", screen
        text = "\n".join(plain(row) for row in screen)
        code = re.search(r"│  ([A-Z0-9]{3}) ([A-Z0-9]{3,5}) +│", text).expand(r"\1\2")
        mvpd = re.search(r"Sign in at (\w+)", text)[1]
        person.sign_in(f"{gateway}/activate/sign-in?code={code}&mvpd={mvpd}", f"{gateway}/activate/done", "ada")
        yield "automatic", terminal.wait("Sign in automatically?")
        terminal.press(ENTER)
        yield "plays", terminal.wait("media token")
        terminal.press(ESCAPE)
        yield "open", terminal.wait("●", "press Tab")
        terminal.press(TAB)
        yield "second", terminal.wait("Bedroom", "without a code")
        terminal.press(QUIT)
    finally:
        os.close(terminal.end)
        os.waitpid(terminal.process, 0)


# The picture: a cell of the terminal, and the edge of the TV, in points.
CELL_WIDTH, CELL_HEIGHT, EDGE = 8.4, 18, 22
STYLE = """
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d5dce4;white-space:pre}
.b{font-weight:700;fill:#fff}.f{fill:#93a1af}.g{fill:#84d6a3}.r{fill:#ffb4b0}.i{fill:#10151b}
.s{visibility:hidden}.s.still{visibility:visible}
"""


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def squares(rows):
    """The light fields of a QR code, of which a character holds two: as one path, in steps of half a row."""
    path = []
    for index, row in enumerate(rows):
        text = plain(row)
        for half, signs in ((0, "█▀"), (1, "█▄")):
            for match in re.finditer(f"[{signs}]+", text):
                x, y = EDGE + match.start() * CELL_WIDTH, EDGE + (index + half / 2) * CELL_HEIGHT
                width = number(len(match[0]) * CELL_WIDTH)
                path.append(f"M{number(x)} {number(y)}h{width}v{number(CELL_HEIGHT / 2)}h-{width}z")
    return f'<path fill="#fff" shape-rendering="crispEdges" d="{"".join(path)}"/>' if path else ""


def words(rows):
    """The texts of a screen, each at its column: fonts differ in width."""
    drawn = []
    for index, row in enumerate(rows):
        column, y = 0, EDGE + index * CELL_HEIGHT
        for style, text in row:
            text = re.sub("[█▀▄]", " ", text)
            if style == "i":
                drawn.append(f'<rect x="{EDGE}" y="{number(y)}" width="{number(COLUMNS * CELL_WIDTH)}" height="{CELL_HEIGHT}" fill="#d5dce4"/>')
            for match in re.finditer(r"\S+(?: \S+)*", text):
                length, x = number(len(match[0]) * CELL_WIDTH), number(EDGE + (column + match.start()) * CELL_WIDTH)
                kind = f' class="{style}"' if style else ""
                drawn.append(f'<text x="{x}" y="{number(y + 13.5)}" textLength="{length}" lengthAdjust="spacingAndGlyphs"{kind}>{escape(match[0])}</text>')
            column += len(text)
    return "".join(drawn)


def draw(scenes):
    total, start, rules, groups = sum(SECONDS.values()), 0, [], []
    for place, (name, rows) in enumerate(scenes):
        end = start + SECONDS[name]
        shown = [f"{number(100 * start / total)}%{{visibility:visible}}"]
        shown += ["0%{visibility:hidden}"] if start else []
        shown += [f"{number(100 * end / total)}%,100%{{visibility:hidden}}"] if end < total else ["100%{visibility:visible}"]
        rules.append(f"@keyframes s{place}{{{''.join(shown)}}}#s{place}{{animation:s{place} {total}s steps(1,end) both}}")
        still = " still" if name == STILL else ""
        groups.append(f'<g class="s{still}" id="s{place}">{squares(rows)}{words(rows)}</g>')
        start = end
    width, height = number(2 * EDGE + COLUMNS * CELL_WIDTH), number(2 * EDGE + ROWS * CELL_HEIGHT)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="title description">
<title id="title">A TV in a terminal</title>
<desc id="description">The TV lists channels. Somebody chooses one and a TV provider. The TV shows a code and a QR code, and waits. The person signs in on a phone. The TV asks whether it may sign in automatically, then plays and lists the proof that the player's backend got. A second TV of the same Apple Account is signed in without a code.</desc>
<style>{STYLE}@media (prefers-reduced-motion:no-preference){{{"".join(rules)}}}</style>
<rect width="{width}" height="{height}" rx="14" fill="#05080b"/><rect x="8" y="8" width="{number(float(width) - 16)}" height="{number(float(height) - 16)}" rx="8" fill="#141a21"/>
{chr(10).join(groups)}
</svg>
"""


def drawn(picture):
    """The words of each scene of a picture, as `normal` gives them."""
    space, scenes = "{http://www.w3.org/2000/svg}", []
    for group in tree.fromstring(picture).iter(f"{space}g"):
        rows = {}
        for text in group.iter(f"{space}text"):
            rows.setdefault(float(text.get("y")), []).append((float(text.get("x")), text.text))
        # The gap between two texts is one blank or many: `normal` takes both for one.
        scenes.append(normal([[("", " ".join(text for _, text in sorted(row)))] for _, row in sorted(rows.items())]))
    return scenes


def main(mode, file):
    file = pathlib.Path(file)
    scenes = list(record())
    if mode == "--draw":
        file.write_text(draw(scenes))
        return
    picture, problems = file.read_text(), []
    told = drawn(picture)
    if len(told) != len(scenes):
        problems.append(f"the picture has {len(told)} scenes, the TV {len(scenes)}")
    for (name, rows), words_of_picture in zip(scenes, told):
        for line in normal(rows):
            if line not in words_of_picture:
                problems.append(f"{name}: the TV says '{line}', the picture does not")
        for line in words_of_picture:
            if line not in normal(rows):
                problems.append(f"{name}: the picture says '{line}', the TV does not")
    if problems:
        raise SystemExit("\n".join(problems) + f"\nterminal_tv: draw it again: Tests/Cluster/Readme/terminal_tv.py --draw {file}")


if len(sys.argv) != 3 or sys.argv[1] not in ("--draw", "--compare"):
    raise SystemExit("terminal_tv: give --draw FILE or --compare FILE")
main(*sys.argv[1:])
