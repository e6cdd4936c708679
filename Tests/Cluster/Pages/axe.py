"""axe-core, which finds what keeps people from using a page. From PyPI, kept in $BOXOFFICE_AXE or the user's cache."""

import os
import pathlib
import subprocess
import sys

VERSION = "0.1.0"


def script():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "boxoffice"
    folder = pathlib.Path(os.environ.get("BOXOFFICE_AXE", cache / f"axe-venv-{VERSION}"))
    found = list(folder.glob("lib/python3*/site-packages/axe_core_python/axe.min.js"))
    if not found:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", f"axe-core-python=={VERSION}"]
        subprocess.run(pip, check=True)
        found = list(folder.glob("lib/python3*/site-packages/axe_core_python/axe.min.js"))
    return found[0].read_text()


def violations(driver):
    """What axe finds on the page that is shown, one line each."""
    driver.execute_script(script())
    result = driver.execute_async_script("const done = arguments[0]; axe.run().then(done, error => done({failed: String(error)}));")
    assert "violations" in result, f"axe did not run: {result}"
    return [
        f"{violation['id']}: {violation['help']} ({'; '.join(node['html'][:120] for node in violation['nodes'][:3])})"
        for violation in result["violations"]
    ]
