#!/usr/bin/python3
"""A Config service in one file, written from WIRE.md and the .proto files alone; section numbers are WIRE.md's.

Needs python3-protobuf, `protoc` and `openssl`. The catalogue is a file with the JSON form of boxoffice.config.v1.Configuration, as `boxoffice
catalogue` prints it. Its changes go to the subscribers within a second; a broken file leaves the last version."""
import argparse, asyncio, base64, contextlib, hashlib, importlib, inspect, json, os, pathlib
import secrets, signal, ssl, struct, subprocess, sys, tempfile, time
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
PROTOS = pathlib.Path(__file__).resolve().parents[4] / "Shared/Wire/Contracts/Protos"
OPERATOR = {"operator.boxoffice"}
CALLERS = OPERATOR | {f"{name}.boxoffice" for name in ("authentication", "authorization", "autosignin", "gateway")}
MIB = 1 << 20

class Fault(Exception):
    """What a call is answered with in place of a message (§7): code, message, retryable, retry_after_ms."""

def log(event, **fields):
    print(json.dumps({"event": event, **{name: str(value) for name, value in fields.items()}}), file=sys.stderr, flush=True)

def contracts(*names):
    """The modules that protoc makes of the .proto files, once for each state of these, and their serialized FileDescriptorSet."""
    files = sorted(PROTOS.glob("*.proto"))
    build = os.environ.get("CONFIG_BUILD", pathlib.Path(__file__).resolve().parent / ".build")
    folder = pathlib.Path(build) / hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        draft = tempfile.mkdtemp(dir=folder.parent)
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--python_out={draft}", f"--descriptor_set_out={draft}/set", *files], check=True)
        with contextlib.suppress(OSError):  # another start was quicker
            os.rename(draft, folder)
    sys.path.insert(0, str(folder))
    return *(importlib.import_module(f"{name}_pb2") for name in names), (folder / "set").read_bytes()

def has_nul(value):
    """Whether a text of the message, however deep, holds a NUL (§2)."""
    if isinstance(value, Message):
        return any(has_nul(part) for _, part in value.ListFields())
    return "\0" in value if isinstance(value, str) else hasattr(value, "extend") and any(has_nul(part) for part in value)

def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

def public_key(file):
    """The P-256 key in the file as a JSON Web Key, named by its thumbprint (RFC 7638)."""
    public = subprocess.run(["openssl", "pkey", "-in", file, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    if len(public) != 91 or public[26] != 4:
        raise ValueError(f"{file} is no P-256 key")
    jwk = {"crv": "P-256", "kty": "EC", "x": base64url(public[27:59]), "y": base64url(public[59:])}
    return {**jwk, "kid": base64url(hashlib.sha256(json.dumps(jwk, separators=(",", ":")).encode()).digest()), "alg": "ES256", "use": "sig"}

class Service:
    def __init__(self, options):
        self.options, self.connections, self.seen, self.current, self.changed = options, set(), None, None, asyncio.Event()
        self.frames, p, self.config, descriptors = contracts("frame", "platform", "config")
        self.key, serving = public_key(options.statement_key), p.HealthReport(status="SERVING_STATUS_SERVING", software_version="1")
        described = p.GetDescriptorSetResponse(file_descriptor_set=descriptors)
        self.methods = {  # who may call, the type of the request, and the work: an answer, or an asynchronous generator of a stream's items
            "boxoffice.config.v1.Config/GetConfiguration": (CALLERS, self.config.GetConfigurationRequest, lambda _: self.current),
            "boxoffice.config.v1.Config/WatchConfiguration": (CALLERS, self.config.WatchConfigurationRequest, self.watch),
            "boxoffice.config.v1.Config/IssueSoftwareStatement": (OPERATOR, self.config.IssueSoftwareStatementRequest, self.issue),
            "boxoffice.platform.v1.Health/Check": (CALLERS, p.CheckHealthRequest, lambda _: serving),
            "boxoffice.platform.v1.Health/Watch": (CALLERS, p.CheckHealthRequest, lambda _: self.once(serving)),
            "boxoffice.platform.v1.Reflection/ListServices": (OPERATOR, p.ListServicesRequest, lambda _: p.ListServicesResponse(services=self.names)),
            "boxoffice.platform.v1.Reflection/GetDescriptorSet": (OPERATOR, p.GetDescriptorSetRequest, lambda _: described),
            "boxoffice.platform.v1.Diagnostics/Echo": (OPERATOR, p.EchoMessage, self.echo),
        }
        self.names = sorted({name.partition("/")[0] for name in self.methods})

    def load(self):
        """Serves the file's content if it changed. The version is the file's time in milliseconds, so that it rises over restarts too."""
        file, seen = os.stat(self.options.catalogue), self.seen
        self.seen = (file.st_mtime_ns, file.st_size, file.st_ino)
        if self.seen == seen:
            return
        new = json_format.Parse(pathlib.Path(self.options.catalogue).read_text(encoding="utf-8"), self.config.Configuration())
        if has_nul(new):
            raise ValueError("a text holds a NUL")
        new.statement_keys, new.changed_at_ms = json.dumps({"keys": [self.key]}), file.st_mtime_ns // 1_000_000
        new.version = max(new.changed_at_ms, self.current.version + 1 if self.current else 1)
        self.changed.set()
        self.current, self.changed = new, asyncio.Event()
        log("catalogue.accepted", version=new.version)

    async def follow(self):
        while True:
            await asyncio.sleep(0.25)
            try:
                self.load()
            except (OSError, ValueError, json_format.ParseError) as error:
                log("catalogue.refused", error=error)

    async def watch(self, request):
        known = request.known_version
        while True:
            changed, current = self.changed, self.current
            if current.version != known:
                yield current
            known = current.version
            await changed.wait()

    async def once(self, item):
        yield item
        await asyncio.Event().wait()

    async def issue(self, request):
        application = next((one for one in self.current.applications if one.id == request.application_id), None)
        if application is None:
            raise Fault("invalid_request", "The catalogue has no application of that id.")
        if not application.software_ids:
            raise Fault("unapproved_software_statement", "The application's software statement is revoked.")
        software_id, pipe = application.software_ids[0], asyncio.subprocess.PIPE
        claims = {"software_id": software_id, "sub": application.id, "client_name": application.name, "iss": self.options.issuer,
                  "jti": secrets.token_urlsafe(16), "iat": int(time.time())}
        content = ".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "ES256", "kid": self.key["kid"], "typ": "software-statement+jwt"}, claims))
        signer = await asyncio.create_subprocess_exec("openssl", "dgst", "-sha256", "-sign", self.options.statement_key, stdin=pipe, stdout=pipe)
        der, _ = await signer.communicate(content.encode())
        second = 4 + der[3]  # SEQUENCE { INTEGER r, INTEGER s } becomes r and s of 32 bytes each
        signature = b"".join(int.from_bytes(part, "big").to_bytes(32, "big") for part in (der[4:second], der[second + 2:]))
        return self.config.SoftwareStatement(statement=f"{content}.{base64url(signature)}", software_id=software_id)

    async def echo(self, request):
        if request.delay_ms > 60_000:
            raise Fault("invalid_request", "delay_ms is at most 60000.")
        await asyncio.sleep(request.delay_ms / 1000)
        return type(request)(content=request.content)

    async def run(self):
        self.load()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.verify_mode, context.num_tickets = ssl.TLSVersion.TLSv1_3, ssl.CERT_REQUIRED, 0
        context.load_verify_locations(self.options.trust)
        context.load_cert_chain(self.options.certificate, self.options.key)
        loop, stop, (host, _, port) = asyncio.get_running_loop(), asyncio.Event(), self.options.listen.rpartition(":")
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        listener = await loop.create_server(lambda: Connection(self), host.strip("[]"), int(port), ssl=context, ssl_handshake_timeout=5, ssl_shutdown_timeout=1)
        following = asyncio.create_task(self.follow())  # the variable keeps it alive
        log("service.ready", address=self.options.listen)
        await stop.wait()
        listener.close()
        for connection in list(self.connections):
            connection.leave("shutdown")
        end = time.monotonic() + 12
        while self.connections and time.monotonic() < end:
            await asyncio.sleep(0.02)

class Connection(asyncio.Protocol):
    def __init__(self, service):
        self.service, self.options, self.received, self.peer = service, service.options, bytearray(), None
        self.calls, self.last_call_id, self.last_nonce, self.caller_left = {}, 0, 0, False  # calls: by id the task, and whether it streams
        self.left_at = self.ping_sent = self.full_since = None
        self.begun = self.heard = self.busy = time.monotonic()

    def connection_made(self, transport):
        self.transport, self.writable, self.clock = transport, asyncio.Event(), asyncio.create_task(self.keep_time())
        self.names = {name for kind, name in transport.get_extra_info("peercert").get("subjectAltName", ()) if kind == "DNS"}
        transport.set_write_buffer_limits(high=MIB)
        self.writable.set()
        self.service.connections.add(self)
        self.send("hello", protocol_version=1, software="config.py", software_version="1", max_frame_bytes=self.options.max_frame_bytes,
                  max_calls_in_flight=self.options.max_calls, idle_timeout_ms=self.options.idle_seconds * 1000, services=self.service.names)
        if len(self.service.connections) > self.options.max_connections:
            self.refuse("too_many_connections", "No more connections are accepted.")

    def connection_lost(self, error):
        for task in [self.clock, *(task for task, _ in self.calls.values())]:
            task.cancel()
        self.service.connections.discard(self)

    def pause_writing(self):
        self.writable.clear()

    def resume_writing(self):
        self.writable.set()

    def data_received(self, data):
        self.heard, self.ping_sent, self.received = time.monotonic(), None, self.received + data
        while len(self.received) >= 4 and not self.transport.is_closing():
            length = int.from_bytes(self.received[:4], "big")
            if not 1 <= length <= self.options.max_frame_bytes:
                return self.refuse("frame_too_large" if length else "protocol_error", f"A frame of {length} bytes.")
            if len(self.received) < 4 + length:
                return
            body, self.received = bytes(self.received[4:4 + length]), self.received[4 + length:]
            self.take(body)

    def send(self, kind, **fields):
        body = self.service.frames.Frame(**{kind: fields}).SerializeToString()
        if self.peer and len(body) > self.peer.max_frame_bytes:
            raise Fault("frame_too_large", f"The answer has {len(body)} bytes; the caller accepts {self.peer.max_frame_bytes}.")
        self.transport.write(struct.pack(">I", len(body)) + body)

    def refuse(self, code, text):
        log("connection.refused", code=code, reason=text, caller=sorted(self.names))
        self.send("go_away", last_call_id=self.last_call_id, code=code, message=text)
        self.transport.close()

    def take(self, body):
        try:
            frame = self.service.frames.Frame.FromString(body)
        except DecodeError:
            return self.refuse("protocol_error", "A frame that does not decode.")
        kind = frame.WhichOneof("kind")
        value = getattr(frame, kind or "hello")
        match kind:
            case "hello" if not self.peer and value.protocol_version != 1:
                self.refuse("unsupported_version", f"Protocol version {value.protocol_version}; this side speaks 1.")
            case "hello" | "go_away" if has_nul(value) or kind == "hello" and value.max_frame_bytes < 1024:
                self.refuse("protocol_error", "A text with a NUL, or a peer that accepts less than 1024 bytes.")
            case "hello" if not self.peer:
                self.peer, self.busy = value, time.monotonic()
            case "go_away":
                self.caller_left, self.left_at = True, self.left_at or time.monotonic()
            case "request" if self.peer and not self.caller_left and value.call_id > self.last_call_id:
                if not self.left_at:
                    self.last_call_id, self.busy, streams = value.call_id, time.monotonic(), value.method.startswith("Watch")
                    self.calls[value.call_id] = asyncio.create_task(self.answer(value, streams, len(self.calls) < self.options.max_calls)), streams
            case "cancel" if self.peer and (0 < value.call_id <= self.last_call_id or self.left_at):
                if value.call_id in self.calls:
                    self.calls.pop(value.call_id)[0].cancel()
            case "ping" if self.peer:
                self.send("pong", nonce=value.nonce)
            case "pong" if 0 < value.nonce <= self.last_nonce:
                pass
            case _:
                self.refuse("protocol_error", f"A frame of kind '{kind}' where none of it may be.")

    async def answer(self, request, streams, has_room):
        kind, end = "response", {}
        try:
            callers, message, work = self.service.methods.get(f"{request.service}/{request.method}", (CALLERS, None, None))
            if work is None:
                raise Fault("unimplemented", "The service or the method is not offered here.")
            if not self.names & callers:
                raise Fault("permission_denied", "The caller may not use the service.")
            if not has_room:
                raise Fault("overloaded", "Too many calls are in flight.", True, 100)
            async with asyncio.timeout(request.timeout_us / 1e6 if request.timeout_us else None):
                if has_nul(content := message.FromString(request.payload)):
                    raise Fault("invalid_message", "A text holds a NUL.")
                result = work(content)
                if streams:
                    kind = "stream_end"
                    async for item in result:
                        self.send("stream_item", call_id=request.call_id, payload=item.SerializeToString())
                        await self.writable.wait()
                else:
                    end["payload"] = (await result if inspect.isawaitable(result) else result).SerializeToString()
        except Exception as error:
            end["fault"] = self.fault(error, request)
        if self.calls.pop(request.call_id, None):
            try:
                self.send(kind, call_id=request.call_id, **end)
            except Fault as error:
                self.send("response", call_id=request.call_id, fault=self.fault(error, request))

    def fault(self, error, request):
        known = {DecodeError: ("invalid_message", "The payload does not decode."), TimeoutError: ("deadline_exceeded", "The deadline is over.", True)}
        values = error.args if isinstance(error, Fault) else known.get(type(error), ("internal",))
        if values[0] == "internal":
            log("call.failed", method=request.method, error=repr(error))
        return dict(zip(("code", "message", "retryable", "retry_after_ms"), values))

    def leave(self, code):
        if not self.left_at:  # no new calls; streams end, other calls are finished (§6)
            self.left_at = time.monotonic()
            self.send("go_away", last_call_id=self.last_call_id, code=code, message="The callee leaves.")
            for call_id in [call_id for call_id, (_, streams) in self.calls.items() if streams]:
                self.calls.pop(call_id)[0].cancel()
                self.send("stream_end", call_id=call_id, fault={"code": "unavailable", "message": "The callee leaves.", "retryable": True})

    async def keep_time(self):
        while not self.transport.is_closing():
            await asyncio.sleep(0.1)
            now, unread = time.monotonic(), self.transport.get_write_buffer_size()
            self.busy, self.full_since = now if self.calls else self.busy, (self.full_since or now) if unread > MIB else None
            if unread > 16 * MIB or self.full_since and now > self.full_since + 10:
                self.refuse("slow_reader", "The caller does not read.")
                self.transport.abort()
            elif not self.peer and now > self.begun + 5:
                self.refuse("protocol_error", "No hello in time.")
            elif self.left_at and now > self.left_at + (10 if self.calls else 0 if self.caller_left else 1):
                self.transport.close()
            elif self.ping_sent and now > self.ping_sent + 5:
                self.transport.abort()
            elif now > self.heard + 15 and not self.ping_sent:
                self.last_nonce, self.ping_sent = self.last_nonce + 1, now
                self.send("ping", nonce=self.last_nonce)
            elif self.options.idle_seconds and now > self.busy + self.options.idle_seconds:
                self.leave("idle")

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
limits = {"max-connections": 1024, "max-calls": 1024, "max-frame-bytes": 4 * MIB, "idle-seconds": 300}
for option, value in {**dict.fromkeys(("listen", "catalogue", "certificate", "key", "trust", "statement-key")), "issuer": "boxoffice", **limits}.items():
    parser.add_argument(f"--{option}", required=value is None, type=int if option in limits else str, default=value)
try:
    asyncio.run(Service(parser.parse_args()).run())
except (OSError, ValueError, json_format.ParseError, subprocess.CalledProcessError) as error:
    sys.exit(f"config.py: {error}")
