#!/usr/bin/python3
"""A service to begin with: it speaks the wire for `config`, `authentication`, `authorization` or `autosignin`, tells that it is healthy, and answers `unimplemented`
to every method of its own until `offer` names a function for it. Numbers with § are sections of Shared/Documents/Wire.md.

Needs python3-protobuf and `protoc` (protobuf-compiler). `boxoffice conformance SERVICE --level minimal` finds nothing to complain of. What the wire demands beyond
that is in config.py beside this file: limits, pings and ends of its own, and what to do with peers that break rules."""
import argparse
import asyncio
import importlib
import inspect
import json
import pathlib
import ssl
import struct
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError, Message

PROTOS = pathlib.Path(__file__).resolve().parents[4] / "Shared/Wire/Contracts/Protos"
OPERATOR = "operator.boxoffice"
# Who may call a service (Replacing.md §1); the operator may call all of them.
CALLERS = {
    "config": {"authentication.boxoffice", "authorization.boxoffice", "autosignin.boxoffice", "gateway.boxoffice"},
    "authentication": {"authorization.boxoffice", "autosignin.boxoffice", "gateway.boxoffice"},
    "authorization": {"gateway.boxoffice"},
    "autosignin": {"gateway.boxoffice"},
}
FRAME_LIMIT = 4 << 20


class Fault(Exception):
    """What a call is answered with in place of a message (§7): code, message, retryable."""

    def __init__(self, code, message, retryable=False):
        super().__init__(code)
        self.fields = {"code": code, "message": message, "retryable": retryable}


def generated():
    """The contracts' Python modules by name, as protoc makes them, and the serialized FileDescriptorSet."""
    files = sorted(PROTOS.glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--python_out={folder}", f"--descriptor_set_out={folder}/set", *files], check=True)
        sys.path.insert(0, folder)
        modules = {file.stem: importlib.import_module(f"{file.stem}_pb2") for file in files}
        return modules, pathlib.Path(folder, "set").read_bytes()


class Service:
    def __init__(self, name):
        modules, self.descriptors = generated()
        self.wire, self.platform = modules["frame"], modules["platform"]
        self.messages = {
            value.DESCRIPTOR.full_name: value for module in modules.values() for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Message)}
        self.callers = CALLERS[name] | {OPERATOR}
        # Every method by its full name: the type of its request, whether it streams, who may call it, and the function; None answers `unimplemented`.
        self.methods = {}
        for file in descriptor_pb2.FileDescriptorSet.FromString(self.descriptors).file:
            if file.package in (f"boxoffice.{name}.v1", "boxoffice.platform.v1"):
                self.add(file)
        platform = "boxoffice.platform.v1."
        self.offer(platform + "Health/Check", lambda _: self.health())
        self.offer(platform + "Health/Watch", self.watch_health)
        self.offer(platform + "Reflection/ListServices", lambda _: self.platform.ListServicesResponse(services=self.services))
        self.offer(platform + "Reflection/GetDescriptorSet", lambda _: self.platform.GetDescriptorSetResponse(file_descriptor_set=self.descriptors))
        self.offer(platform + "Diagnostics/Echo", self.echo)
        # Yours, for example:
        #   self.offer("boxoffice.authorization.v1.Authorization/GetAuthorization", self.get_authorization)
        # A function takes the request and returns the answer, or raises Fault; it may be asynchronous. Of a stream it is an asynchronous generator.

    def add(self, file):
        for service in file.service:
            name = f"{file.package}.{service.name}"
            callers = {OPERATOR} if service.name in ("Reflection", "Diagnostics") else self.callers
            for method in service.method:
                request = self.messages[method.input_type[1:]]
                self.methods[f"{name}/{method.name}"] = [request, method.server_streaming, callers, None]

    def offer(self, method, function):
        self.methods[method][3] = function

    @property
    def services(self):
        return sorted({method.partition("/")[0] for method in self.methods})

    def health(self):
        """Answer NOT_SERVING with a reason while the service cannot work, for example without a catalogue."""
        return self.platform.HealthReport(status="SERVING_STATUS_SERVING", software_version="0")

    async def watch_health(self, _):
        yield self.health()
        await asyncio.Event().wait()

    async def echo(self, request):
        if request.delay_ms > 60_000:
            raise Fault("invalid_request", "delay_ms is at most 60000.")
        await asyncio.sleep(request.delay_ms / 1000)
        return self.platform.EchoMessage(content=request.content)


class Connection:
    """One caller: reads its frames, and answers each call by a task of its own."""

    def __init__(self, service, reader, writer):
        self.service, self.reader, self.writer = service, reader, writer
        certificate = writer.get_extra_info("peercert")
        self.names = {value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"}
        self.calls, self.last_call, self.peer = {}, 0, None

    def send(self, kind, **fields):
        body = self.service.wire.Frame(**{kind: fields}).SerializeToString()
        if self.peer and len(body) > self.peer.max_frame_bytes:
            raise Fault("frame_too_large", "The answer is larger than the caller accepts.")
        self.writer.write(struct.pack(">I", len(body)) + body)

    async def run(self):
        # The callee does not wait for the caller's hello (§3).
        self.send("hello", protocol_version=1, software="stub.py", software_version="0", max_frame_bytes=FRAME_LIMIT, max_calls_in_flight=1024,
                  idle_timeout_ms=0, services=self.service.services)
        try:
            while True:
                length = struct.unpack(">I", await self.reader.readexactly(4))[0]
                if not 1 <= length <= FRAME_LIMIT:
                    return self.leave("frame_too_large" if length else "protocol_error")
                frame = self.service.wire.Frame.FromString(await self.reader.readexactly(length))
                if not self.take(frame):
                    return self.leave("protocol_error")
                await self.writer.drain()
        except DecodeError:
            self.leave("protocol_error")
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass  # the caller has closed, or is gone
        finally:
            for task in self.calls.values():
                task.cancel()
            self.writer.close()

    def leave(self, code):
        self.send("go_away", last_call_id=self.last_call, code=code, message="")

    def take(self, frame):
        """False: the caller breaks a rule."""
        kind = frame.WhichOneof("kind")
        if kind == "hello" and not self.peer and frame.hello.protocol_version == 1 and frame.hello.max_frame_bytes >= 1024:
            self.peer = frame.hello
        elif not self.peer:
            return False
        elif kind == "request" and frame.request.call_id > self.last_call:
            request = frame.request
            self.last_call = request.call_id
            self.calls[request.call_id] = asyncio.create_task(self.answer(request))
        elif kind == "cancel" and frame.cancel.call_id <= self.last_call:
            # What is cancelled is answered no more (§4).
            if task := self.calls.pop(frame.cancel.call_id, None):
                task.cancel()
        elif kind == "ping":
            self.send("pong", nonce=frame.ping.nonce)
        elif kind != "go_away":
            return False
        return True

    async def answer(self, request):
        kind, outcome = "response", {}
        try:
            # In this order (§4): is the method known, may the caller use it, is there time left, does the payload decode.
            message, streams, callers, function = self.service.methods.get(f"{request.service}/{request.method}", (None, False, None, None))
            if message is None:
                raise Fault("unimplemented", "The service or the method is not offered here.")
            if not self.names & callers:
                raise Fault("permission_denied", "The caller may not use the service.")
            if function is None:
                raise Fault("unimplemented", "The method is not written yet.")
            async with asyncio.timeout(request.timeout_us / 1e6 if request.timeout_us else None):
                result = function(message.FromString(request.payload))
                if streams:
                    kind = "stream_end"
                    async for item in result:
                        self.send("stream_item", call_id=request.call_id, payload=item.SerializeToString())
                        await self.writer.drain()
                else:
                    outcome["payload"] = (await result if inspect.isawaitable(result) else result).SerializeToString()
        except Fault as fault:
            outcome["fault"] = fault.fields
        except TimeoutError:
            outcome["fault"] = {"code": "deadline_exceeded", "message": "The deadline is over.", "retryable": True}
        except DecodeError:
            outcome["fault"] = {"code": "invalid_message", "message": "The payload does not decode."}
        except Exception as error:  # what went wrong is for the log alone
            print(json.dumps({"event": "call.failed", "method": request.method, "error": repr(error)}), file=sys.stderr, flush=True)
            outcome["fault"] = {"code": "internal"}
        if self.calls.pop(request.call_id, None):
            try:
                self.send(kind, call_id=request.call_id, **outcome)
            except Fault as fault:
                self.send(kind, call_id=request.call_id, fault=fault.fields)


async def serve(options):
    service = Service(options.service)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version, context.verify_mode, context.num_tickets = ssl.TLSVersion.TLSv1_3, ssl.CERT_REQUIRED, 0
    context.load_verify_locations(options.trust)
    context.load_cert_chain(options.certificate, options.key)
    host, _, port = options.listen.rpartition(":")
    server = await asyncio.start_server(
        lambda reader, writer: Connection(service, reader, writer).run(), host.strip("[]"), int(port), ssl=context, ssl_handshake_timeout=5)
    print(json.dumps({"event": "service.ready", "address": options.listen}), file=sys.stderr, flush=True)
    async with server:
        await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("service", choices=sorted(CALLERS))
    for option in ("listen", "certificate", "key", "trust"):
        parser.add_argument(f"--{option}", required=True)
    try:
        asyncio.run(serve(parser.parse_args()))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"stub.py: {error}")
    except KeyboardInterrupt:
        pass


main()
