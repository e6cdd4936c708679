"""As much of HTTP/2 (RFC 9113) and HPACK (RFC 7541) as a hostile client needs: frames by hand, headers as literals."""

import functools
import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(values=()):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", key, value) for key, value in values))


def _integer(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out = [first | most]
    value -= most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + [value])


def _text(text):
    raw = text.encode()
    return _integer(len(raw), 7, 0) + raw


def block(method, path, fields=(), authority="localhost", scheme="https"):
    """Each field as a literal that is never indexed."""
    pairs = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path), *fields]
    return b"".join(b"\x10" + _text(name) + _text(value) for name, value in pairs)


def headers(stream, header_block, ends=True):
    return frame(HEADERS, END_HEADERS | (END_STREAM if ends else 0), stream, header_block)


@functools.cache
def _context(authority):
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    return context


class Connection:
    """A connection that sends what it is told to."""

    def __init__(self, port, authority, window=None, source="127.0.0.1", timeout=10):
        raw = socket.create_connection(("127.0.0.1", port), timeout=timeout, source_address=(source, 0))
        self.socket = _context(authority).wrap_socket(raw, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.buffer = b""
        self.send(PREFACE + settings([(4, window)] if window is not None else []))

    def send(self, octets):
        self.socket.sendall(octets)

    def frames(self, until, timeout=10):
        """Frames as they come, until one for which `until` is true, the end, or the time is over."""
        self.socket.settimeout(timeout)
        seen = []
        while True:
            while len(self.buffer) >= 9:
                length = int.from_bytes(self.buffer[:3], "big")
                if len(self.buffer) < 9 + length:
                    break
                kind, flags = self.buffer[3], self.buffer[4]
                stream = int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
                payload, self.buffer = self.buffer[9 : 9 + length], self.buffer[9 + length :]
                seen.append((kind, flags, stream, payload))
                if until(kind, flags, stream, payload):
                    return seen
            try:
                octets = self.socket.recv(65536)
            except (TimeoutError, ssl.SSLError, ConnectionError, OSError):
                return seen
            if not octets:
                return seen
            self.buffer += octets

    def close(self):
        try:
            self.socket.close()
        except OSError:
            pass
