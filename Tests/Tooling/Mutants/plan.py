"""Chooses the mutants of a trial, and names them so that a name outlives moved lines."""

import collections
import dataclasses
import hashlib
import pathlib
import re

import schemata

#: The targets whose tests know a folder's rules.
TARGETS = {
    "Services/Gateway": ["GatewayServiceTests"],
    "Services/Authentication": ["AuthenticationServiceTests"],
    "Services/Authorization": ["AuthorizationServiceTests"],
    "Services/AutoSignIn": ["AutoSignInServiceTests"],
    "Services/Config": ["ConfigServiceTests"],
    "Shared/Domain/SamlProfile": ["SamlProfileTests"],
    "Shared/Domain/Tokens": ["TokensTests"],
    "Shared/Domain/BridgeClient": ["BridgeClientTests", "AuthenticationServiceTests"],
}
SERVICES = [each for each in TARGETS if each.startswith("Services/")]
#: No client sees what a log says.
UNSEEN = re.compile(r"\b(log|logger)\.\w+\(|^(fields|metadata)\[")
#: The name of the file with reasons, beside this one.
EQUIVALENT = pathlib.Path(__file__).resolve().parent / "equivalent.txt"


@dataclasses.dataclass(eq=False)
class Mutant:
    file: str
    edit: schemata.Edit
    #: Which of those that are alike in all else and in one function, from 1.
    occurrence: int
    line: int
    #: As the caller named it.
    folder: str
    number: int = 0

    @property
    def key(self):
        """File, function, pattern, text: what the mutant is called in equivalent.txt."""
        suffix = "" if self.occurrence == 1 else f" #{self.occurrence}"
        return "\t".join([self.file, self.edit.within, self.edit.pattern, self.edit.shown + suffix])

    @property
    def told(self):
        return f"`{self.file}:{self.line}` ({self.edit.within}): {self.edit.pattern}: `{self.edit.shown}`"


def targets(folder):
    """The test targets of a folder, or of one within it; empty where none is known."""
    return next((names for known, names in TARGETS.items() if folder == known or folder.startswith(known + "/")), [])


def module_folder(file):
    """The folder of the target that a file belongs to: Services/Gateway/Edge, Shared/Domain/Tokens."""
    return "/".join(pathlib.PurePath(file).parts[:3])


def messages(root):
    folder = root / "Shared/Wire/Contracts/Generated"
    return schemata.messages(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.swift")))


def mutants_of(root, file, known, folder=""):
    """All mutants of a file of the checkout."""
    source = (root / file).read_text(encoding="utf-8")
    seen = collections.Counter()
    for edit in schemata.edits(source, known):
        name = (edit.within, edit.pattern, edit.shown)
        seen[name] += 1
        if not UNSEEN.search(edit.shown):
            yield Mutant(file, edit, seen[name], source.count("\n", 0, edit.start) + 1, folder)


def sources(root, folder):
    """Sources of a folder. A service's Main connects parts, which only clusters can try."""
    for path in sorted((root / folder).rglob("*.swift")):
        name = path.relative_to(root).as_posix()
        if "/Main/" not in name:
            yield name


def choose(root, folders, count, seed):
    """The plan, numbered from 1, and how many of each folder are tried. A quarter more is planned: some do not compile, and the next ones take their places."""
    known, share, chosen = messages(root), max(1, count // len(folders)), []
    for folder in folders:
        found = [each for name in sources(root, folder) for each in mutants_of(root, name, known, folder)]
        found.sort(key=lambda each: hashlib.sha256(f"{seed} {each.key}".encode()).digest())
        chosen += found[: share + share // 4 + 1]
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return chosen, share


def equivalents(text):
    """The keys of a text like equivalent.txt, with their reasons. Raises ValueError for a line that is not one."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 5 or not parts[4].strip():
            raise ValueError(f"line {number} is not file, function, pattern, text and reason, separated by tabs")
        found["\t".join(parts[:4])] = parts[4].strip()
    return found


def stale(root, known):
    """The keys that name no mutant of the checkout."""
    contracts = messages(root)
    for file in sorted({key.split("\t")[0] for key in known}):
        present = {each.key for each in mutants_of(root, file, contracts)} if (root / file).is_file() else set()
        yield from (key for key in known if key.split("\t")[0] == file and key not in present)
