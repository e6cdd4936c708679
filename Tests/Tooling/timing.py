"""Which tests bound a time: their functions carry the tag .timing.

    timing.py FOLDER...

FOLDER has the sources of a test target, whose name it bears. Prints one regular expression, for --filter and --skip of the test runner, that fits those tests of all these targets.
"""

import pathlib
import re
import sys

ATTRIBUTE = re.compile(r"@Test\b")


def tagged(attribute):
    """Whether a text that begins with an attribute has the tag, down to its function."""
    # The text of an attribute may hold any word: texts in quotes are no tags.
    head = re.split(r"\bfunc\b", re.sub(r'"(\\.|[^"\\])*"', "", attribute), maxsplit=1)[0]
    return re.search(r"\.tags\([^)]*\.timing\b", head) is not None


def functions(source):
    """Names of the functions with the tag."""
    plain = re.sub(r'"(\\.|[^"\\\n])*"', '""', source)
    for match in ATTRIBUTE.finditer(plain):
        rest = plain[match.start() :]
        name = re.search(r"\bfunc\s+(\w+)", rest)
        if name and tagged(rest):
            yield name.group(1)


def main(folders):
    names = {
        f"{pathlib.Path(folder).name}\\..*/{name}"
        for folder in folders
        for path in pathlib.Path(folder).rglob("*.swift")
        for name in functions(path.read_text(encoding="utf-8"))
    }
    print(f"^({'|'.join(sorted(names))})\\(")


if __name__ == "__main__":
    main(sys.argv[1:])
