"""The copy of the checkout into which mutants are written, and which is built."""

import collections
import json
import pathlib
import re
import shlex
import shutil
import subprocess

import schemata
from plan import module_folder

SUPPORT = "ActiveMutant.swift"


class Trouble(Exception):
    """Why a trial cannot go on, in words for whoever started it."""


class Tree:
    def __init__(self, root, tree, build, processes):
        self.root, self.tree, self.command, self.processes = root, tree, shlex.split(build), processes
        self.notes = tree / ".build" / "mutants"
        if tree == root:
            raise Trouble("the tree is the checkout itself; name a copy, which will be changed")
        if tree.exists() and any(tree.iterdir()) and not (tree / "Package.swift").is_file():
            raise Trouble(f"'{tree}' is no copy of the checkout, and not empty; what it holds would be changed")
        self.notes.mkdir(parents=True, exist_ok=True)

    def copy(self, mutants):
        """Brings the tree to the checkout. Files that stay as they are keep their times: little is compiled anew. Those with mutants are left to `write`."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root, capture_output=True, check=True).stdout.decode()
        wanted = {name for name in listed.split("\0") if name and (self.root / name).is_file()}
        mutated = {each.file for each in mutants}
        for name in wanted - mutated:
            source, target = self.root / name, self.tree / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        kept = wanted | {f"{module_folder(name)}/{SUPPORT}" for name in mutated}
        for top in ("Services", "Shared", "Tests"):
            for path in (self.tree / top).rglob("*.swift"):
                if path.relative_to(self.tree).as_posix() not in kept:
                    path.unlink()

    def write(self, planned, alive):
        """Writes these mutants into the sources of all that were planned."""
        by_file = collections.defaultdict(list)
        for mutant in alive:
            by_file[mutant.file].append((mutant.number, mutant.edit))
        for name in {each.file for each in planned}:
            self.put(name, schemata.apply((self.root / name).read_text(encoding="utf-8"), by_file[name]))
        for folder in {module_folder(each.file) for each in planned}:
            self.put(f"{folder}/{SUPPORT}", schemata.SUPPORT)

    def put(self, name, text):
        target = self.tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")

    def build(self, planned, alive):
        """Builds, and leaves out what does not compile until everything does. Returns what is left."""
        for attempt in range(1, 31):
            self.write(planned, alive)
            checked = self.check({module_folder(each.file) for each in planned})
            # Where an error is far from all mutants, what an earlier build left may be too old to check with.
            if all(self.at(*place, reaches=NEAR) for place in self.places(checked)) and (bad := self.culprits(checked)):
                alive = self.without(alive, bad)
                continue
            print(f"building with {len(alive)} mutants (attempt {attempt})", flush=True)
            status, output = self.processes.run(self.command, None, self.tree)
            (self.notes / "build.txt").write_text(output)
            if status == 0:
                return alive
            bad = self.culprits(output)
            if not bad:
                raise Trouble(f"the build fails for a reason that no mutant explains; read {self.notes / 'build.txt'}")
            alive = self.without(alive, bad)
        raise Trouble("thirty builds were not enough; try another seed")

    @staticmethod
    def without(alive, bad):
        for mutant in alive:
            if mutant.number in bad:
                print(f"  does not compile: {mutant.told}", flush=True)
        return [each for each in alive if each.number not in bad]

    def check(self, folders):
        """What the compiler says of the changed modules. A build stops at the first module with an error; this tells the errors of all, where an earlier build left
        its commands."""
        manifest, said = self.tree / ".build" / "debug.yaml", []
        if not manifest.is_file():
            return ""
        calls = [json.loads(line) for line in re.findall(r'^    args: (\["[^\n]*"-module-name"[^\n]*\])$', manifest.read_text(errors="replace"), re.M)]
        for folder in sorted(folders):
            call = next((each for each in calls if self.compiles(each, folder)), None)
            if call is None:
                continue
            kept, index = [], 0
            while index < len(call):
                word = call[index]
                if word in ("-emit-module-path", "-output-file-map", "-emit-objc-header-path", "-index-store-path", "-num-threads", "-o"):
                    index += 2
                    continue
                if word not in ALONE and not word.startswith(("@", "-j")) and not word.endswith(".swift"):
                    kept.append(word)
                index += 1
            sources = [str(each) for each in sorted((self.tree / folder).rglob("*.swift"))]
            print(f"checking {folder}", flush=True)
            _, output = self.processes.run([*kept, "-emit-sib", "-wmo", "-o", str(self.notes / "checked.sib"), *sources], None, self.tree)
            said.append(output)
        (self.notes / "check.txt").write_text("\n".join(said))
        return "\n".join(said)

    def compiles(self, call, folder):
        """Whether a call of the compiler is for the sources of a folder."""
        names = next((pathlib.Path(each[1:]) for each in call if each.startswith("@") and each.endswith("sources")), None)
        text = names.read_text() if names is not None and names.is_file() else " ".join(call)
        return f"{self.tree}/{folder}/" in text

    @staticmethod
    def places(output):
        """The files and lines of the compiler's errors."""
        return {(pathlib.Path(path), int(line)) for path, line in re.findall(r"^(/\S+?\.swift):(\d+):\d+: error:", output, re.M)}

    def culprits(self, output):
        """The mutants that the compiler's errors are about."""
        return {number for place in self.places(output) for number in self.at(*place)}

    def at(self, path, line, reaches=(0, 1, 3, 8, 20, 100, 1000)):
        """The mutants of a line of the changed sources, or, where it has none, of the lines near it."""
        if not path.is_file():
            return set()
        rows = path.read_text(encoding="utf-8").split("\n")
        for reach in reaches:
            near = "\n".join(rows[max(0, line - 1 - reach) : line + reach])
            numbers = {int(each) for pair in re.findall(r"ActiveMutant\.chosen\((\d+)\)|! (\d+) ~!", near) for each in pair if each}
            if numbers:
                return numbers
        return set()


NEAR = (0, 1, 3, 8)
#: Switches of a build that are none of a check.
ALONE = {
    "-parseable-output", "-emit-module", "-emit-dependencies", "-incremental", "-c", "-emit-objc-header", "-enable-batch-mode", "-whole-module-optimization",
    "-serialize-diagnostics", "-emit-object", "-disable-batch-mode",
}
