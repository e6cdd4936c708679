"""A caller's side of a Boxoffice connection, as Shared/Documents/Wire.md describes it; section numbers are that page's."""

import socket
import ssl
import struct
import time

from google.protobuf.message import DecodeError

MAX_FRAME_BYTES = 4 * 1024 * 1024
FIRST_FRAME_BYTES = 1024
PROTOCOL_VERSION = 1
CONNECT_SECONDS = 5
SILENCE_SECONDS = 15
PONG_SECONDS = 5


class PeerError(Exception):
    """Whatever keeps a call from its answer: a stable code and a text."""

    def __init__(self, code, message, retryable=False):
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.retryable = retryable


class CallFault(PeerError):
    """The callee answered with a fault (§7)."""

    def __init__(self, fault):
        text = fault.message + (f" ({fault.details})" if fault.details else "")
        super().__init__(fault.code, text, fault.retryable)
        self.retry_after_ms = fault.retry_after_ms


class Connection:
    """One connection; one call at a time is enough for this client."""

    def __init__(self, frames, address, ca, certificate, key, name):
        self.frames = frames
        self.last_call_id = 0
        self.pings = 0
        self.ping_sent = None
        self.receive_buffer = bytearray()
        self.peer_max_frame_bytes = FIRST_FRAME_BYTES
        self.socket = self._connect(address, ca, certificate, key, name)
        self.heard = time.monotonic()
        self.peer = self._greet()

    # Calls (§4, §5)

    def call(self, service, method, request, response_type, seconds):
        """The response of a method with one answer."""
        deadline = time.monotonic() + seconds
        call_id = self._request(service, method, request, seconds)
        kind, answer = self._answer(call_id, deadline)
        if kind != "response":
            raise self._protocol_error(f"a {kind} for a call with one answer")
        if answer.WhichOneof("outcome") is None:
            raise self._protocol_error("a response without an outcome")
        if answer.WhichOneof("outcome") == "fault":
            raise CallFault(answer.fault)
        return self._message(response_type, answer.payload)

    def stream(self, service, method, request, item_type, seconds=None):
        """The items of a streaming method as they come; `seconds` is the time for all of them."""
        deadline = None if seconds is None else time.monotonic() + seconds
        call_id = self._request(service, method, request, seconds)
        is_over = False
        try:
            while True:
                kind, answer = self._answer(call_id, deadline)
                if kind == "stream_item":
                    yield self._message(item_type, answer.payload)
                    continue
                is_over = True
                if kind == "response" and answer.WhichOneof("outcome") != "fault":
                    raise self._protocol_error("a response with a payload for a stream")
                if answer.HasField("fault"):
                    raise CallFault(answer.fault)
                return
        except PeerError:
            is_over = True
            raise
        finally:
            if not is_over:
                self._send(cancel=self.frames.Cancel(call_id=call_id))

    def close(self):
        """Says go-away and closes (§6)."""
        try:
            self._send(go_away=self.frames.GoAway(code="shutdown"))
            self.socket.unwrap()
        except (OSError, ValueError):
            pass
        self.socket.close()

    # Connection (§1, §3)

    def _connect(self, address, ca, certificate, key, name):
        host, _, port = address.rpartition(":")
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.hostname_checks_common_name = False
            context.load_verify_locations(ca)
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise PeerError("configuration", f"certificate files: {error}") from error
        try:
            plain = socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return context.wrap_socket(plain, server_hostname=name)
        except ssl.SSLCertVerificationError as error:
            raise PeerError("untrusted_peer", f"{address} is not {name}: {error.verify_message}") from error
        except OSError as error:
            raise PeerError("unavailable", f"cannot connect to {address}: {error}", retryable=True) from error

    def _greet(self):
        self._send(hello=self.frames.Hello(
            protocol_version=PROTOCOL_VERSION, software="peer.py", software_version="1", max_frame_bytes=MAX_FRAME_BYTES))
        kind, hello = self._receive(time.monotonic() + CONNECT_SECONDS)
        if kind == "go_away":
            raise self._left(hello)
        if kind != "hello":
            raise self._protocol_error(f"a {kind} before the hello")
        if hello.protocol_version != PROTOCOL_VERSION:
            self._send(go_away=self.frames.GoAway(code="unsupported_version"))
            raise PeerError("unsupported_version", f"the peer speaks version {hello.protocol_version}")
        self.peer_max_frame_bytes = hello.max_frame_bytes
        return hello

    # One call's frames

    def _request(self, service, method, request, seconds):
        self.last_call_id += 1
        timeout_us = 0 if seconds is None else max(1, int(seconds * 1_000_000))
        self._send(request=self.frames.Request(
            call_id=self.last_call_id, service=service, method=method, timeout_us=timeout_us, payload=request.SerializeToString()))
        return self.last_call_id

    def _answer(self, call_id, deadline):
        """The next frame of the call; drops what belongs to calls that were given up."""
        while True:
            try:
                kind, value = self._receive(deadline)
            except TimeoutError:
                self._send(cancel=self.frames.Cancel(call_id=call_id))
                raise PeerError("deadline_exceeded", "no answer in time", retryable=True) from None
            if kind == "go_away":
                if value.last_call_id < call_id:
                    raise self._left(value)
            elif kind not in ("response", "stream_item", "stream_end"):
                raise self._protocol_error(f"a {kind} to a caller")
            elif value.call_id == call_id:
                return kind, value
            elif value.call_id > call_id:
                raise self._protocol_error("an answer to a call that was not made")

    @staticmethod
    def _message(kind, payload):
        try:
            return kind.FromString(payload)
        except DecodeError as error:
            raise PeerError("invalid_message", f"the payload is no {kind.DESCRIPTOR.full_name}") from error

    # Frames (§2), pings (§6)

    def _send(self, **kind):
        body = self.frames.Frame(**kind).SerializeToString()
        if len(body) > self.peer_max_frame_bytes:
            raise PeerError("frame_too_large", f"{len(body)} bytes; the peer accepts {self.peer_max_frame_bytes}")
        self.socket.settimeout(CONNECT_SECONDS)
        try:
            self.socket.sendall(struct.pack(">I", len(body)) + body)
        except OSError as error:
            raise self._broken(error) from error

    def _receive(self, deadline):
        """The next frame but pings and pongs. Raises TimeoutError at the deadline."""
        while True:
            frame = self._decode(self._frame_bytes(deadline))
            kind = frame.WhichOneof("kind")
            if kind is None:
                raise self._protocol_error("a frame of no known kind")
            value = getattr(frame, kind)
            if kind == "ping":
                self._send(pong=self.frames.Pong(nonce=value.nonce))
            elif kind != "pong":
                return kind, value

    def _decode(self, body):
        try:
            return self.frames.Frame.FromString(body)
        except DecodeError as error:
            raise self._protocol_error("a frame that does not decode") from error

    def _frame_bytes(self, deadline):
        self._fill(4, deadline)
        (length,) = struct.unpack_from(">I", self.receive_buffer)
        if length == 0:
            raise self._protocol_error("a frame of no bytes")
        if length > MAX_FRAME_BYTES:
            self._send(go_away=self.frames.GoAway(code="frame_too_large"))
            raise PeerError("frame_too_large", f"the peer sends {length} bytes")
        self._fill(4 + length, deadline)
        body = bytes(self.receive_buffer[4:4 + length])
        del self.receive_buffer[:4 + length]
        return body

    def _fill(self, count, deadline):
        """Reads until so many bytes are there; a deadline leaves them in the buffer, so that the frame can still be read later."""
        while len(self.receive_buffer) < count:
            self.receive_buffer += self._read(deadline)

    def _read(self, deadline):
        now = time.monotonic()
        silence = self.heard + SILENCE_SECONDS if self.ping_sent is None else self.ping_sent + PONG_SECONDS
        until = silence if deadline is None else min(deadline, silence)
        if until <= now:
            if deadline is not None and deadline <= now:
                raise TimeoutError
            self._ask_for_life(now)
            return b""
        self.socket.settimeout(until - now)
        try:
            received = self.socket.recv(65536)
        except TimeoutError:
            return b""
        except OSError as error:
            raise self._broken(error) from error
        if not received:
            raise self._broken("the peer closed")
        self.heard, self.ping_sent = time.monotonic(), None
        return received

    def _ask_for_life(self, now):
        if self.ping_sent is not None:
            raise PeerError("unavailable", "the peer is silent", retryable=True)
        self.pings += 1
        self._send(ping=self.frames.Ping(nonce=self.pings))
        self.ping_sent = now

    # Ends

    def _protocol_error(self, what):
        try:
            self._send(go_away=self.frames.GoAway(code="protocol_error", message=what))
        except PeerError:
            pass
        return PeerError("protocol_error", f"the peer sent {what}")

    def _left(self, go_away):
        return PeerError("unavailable", f"the peer leaves: {go_away.code} {go_away.message}".strip(), retryable=True)

    def _broken(self, error):
        if isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason):
            return PeerError("permission_denied", f"the peer refuses this certificate: {error.reason}")
        return PeerError("unavailable", f"the connection broke: {error}", retryable=True)
