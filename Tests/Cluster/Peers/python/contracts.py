"""The messages of the contracts, made by protoc when they are needed."""

import importlib
import pathlib
import subprocess
import sys
import tempfile

PROTOS = pathlib.Path(__file__).resolve().parents[4] / "Shared/Wire/Contracts/Protos"


def load(*names):
    """The generated modules of the named .proto files."""
    with tempfile.TemporaryDirectory(prefix="boxoffice-peer-") as folder:
        files = [str(path) for path in sorted(PROTOS.glob("*.proto"))]
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--python_out={folder}", *files], check=True)
        writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        sys.path.insert(0, folder)
        try:
            return [importlib.import_module(f"{name}_pb2") for name in names]
        finally:
            sys.path.remove(folder)
            sys.dont_write_bytecode = writes_bytecode
