#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets from the golden frames: Corpus/<target>/<name>. The first byte of a seed chooses how the target treats it."""

import pathlib

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "Unit/FramesTests/Golden"
# Frame: bit 7 caller, bit 6 the hello is over, low bits the read size.
CALLER, OPEN = 0x80, 0x40
SMALL_READS, LARGE_READS = 0x00, 0x3F
CONVERSATIONS = {
    "callee-check": (0, ["hello-caller", "request", "cancel"]),
    "callee-calls": (0, ["hello-caller", "request", "request-full", "ping", "cancel", "go-away"]),
    "callee-open": (OPEN, ["request", "ping", "request-full"]),
    "caller-answers": (CALLER, ["hello-callee", "response", "response-empty", "response-fault", "stream-item", "stream-end"]),
    "caller-open": (CALLER | OPEN, ["response", "stream-item", "stream-end-fault", "pong", "go-away"]),
}


def golden(name):
    rows = [row for row in (GOLDEN / f"{name}.hex").read_text().splitlines() if not row.startswith("#")]
    return bytes.fromhex(" ".join(rows))


def write(target, name, content):
    folder = HERE / "Corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def main():
    for path in sorted(GOLDEN.glob("*.hex")):
        write("Frame", path.stem, bytes([OPEN | LARGE_READS]) + golden(path.stem))
    for name, (choice, frames) in CONVERSATIONS.items():
        for size in (SMALL_READS, LARGE_READS):
            write("Frame", f"{name}-{size}", bytes([choice | size]) + b"".join(golden(frame) for frame in frames))
    texts = b"\x0a\x04acme\x12\x05\xc3\x9cber."
    for choice in range(8):
        write("Message", f"texts-{choice}", bytes([choice]) + texts)
        write("Message", f"nested-{choice}", bytes([choice]) + b"\x1a" + bytes([len(texts)]) + texts + b"\x22\x02\x08\x01\x2a\x00")


main()
