#!/usr/bin/env python3
"""Writes the golden frames with Google's protobuf, so that they prove more than that our codec agrees with itself.

usage: generate.py    (needs protoc and python3-protobuf; writes *.hex beside itself)
"""

import importlib
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PROTOS = HERE.parents[3] / "Shared/Wire/Contracts/Protos"


def modules(*names):
    with tempfile.TemporaryDirectory() as folder:
        files = [str(PROTOS / f"{name}.proto") for name in names]
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--python_out={folder}", *files], check=True)
        sys.dont_write_bytecode = True
        sys.path.insert(0, folder)
        return [importlib.import_module(f"{name}_pb2") for name in names]


wire, platform = modules("frame", "platform")
report = platform.HealthReport(status=1, software_version="1.0").SerializeToString()

FRAMES = {
    "hello-caller": ("a caller says hello: it takes no calls", dict(hello=wire.Hello(
        protocol_version=1, software="peer.py", software_version="1", max_frame_bytes=4194304))),
    "hello-callee": ("a callee says hello", dict(hello=wire.Hello(
        protocol_version=1, software="config", software_version="1.0", max_frame_bytes=4194304, max_calls_in_flight=1024,
        idle_timeout_ms=300000, services=["boxoffice.config.v1.Config", "boxoffice.platform.v1.Health"]))),
    "request": ("Health.Check, half a second to answer, no message fields", dict(request=wire.Request(
        call_id=1, service="boxoffice.platform.v1.Health", method="Check", timeout_us=500000))),
    "request-full": ("a request with every field", dict(request=wire.Request(
        call_id=300, service="boxoffice.platform.v1.Diagnostics", method="Echo", timeout_us=2000000,
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate="vendor=value",
        idempotency_key="7f1c", payload=platform.EchoMessage(content=b"hi\0", delay_ms=5).SerializeToString()))),
    "response": ("the answer to Health.Check: serving, version 1.0", dict(response=wire.Response(call_id=1, payload=report))),
    "response-empty": ("an answer whose message has no fields: the payload is there, and empty", dict(response=wire.Response(call_id=2, payload=b""))),
    "response-fault": ("an answer that is a fault", dict(response=wire.Response(call_id=3, fault=wire.WireFault(
        code="overloaded", message="Too many calls are in flight.", retryable=True, retry_after_ms=100)))),
    "response-fault-details": ("a fault with a third party's text", dict(response=wire.Response(call_id=4, fault=wire.WireFault(
        code="authorization_denied_by_mvpd", message="Denied.", details="Nicht im Paket enthalten – bitte anrufen")))),
    "stream-item": ("an item of a stream", dict(stream_item=wire.StreamItem(call_id=5, payload=report))),
    "stream-end": ("a stream that ended as it should", dict(stream_end=wire.StreamEnd(call_id=5))),
    "stream-end-fault": ("a stream that broke", dict(stream_end=wire.StreamEnd(call_id=6, fault=wire.WireFault(
        code="unavailable", message="The callee leaves.", retryable=True)))),
    "cancel": ("the caller no longer waits for call 7", dict(cancel=wire.Cancel(call_id=7))),
    "ping": ("are you there?", dict(ping=wire.Ping(nonce=1))),
    "pong": ("yes", dict(pong=wire.Pong(nonce=1))),
    "go-away": ("no new calls; those up to 300 are still answered", dict(go_away=wire.GoAway(
        last_call_id=300, code="shutdown", message="The callee leaves."))),
}


def main():
    for name, (meaning, kind) in FRAMES.items():
        body = wire.Frame(**kind).SerializeToString()
        frame = struct.pack(">I", len(body)) + body
        rows = [frame[start:start + 16].hex(" ") for start in range(0, len(frame), 16)]
        (HERE / f"{name}.hex").write_text(f"# {meaning}\n" + "\n".join(rows) + "\n")


main()
