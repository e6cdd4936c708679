"""Counts the TLS records that a load and a server exchange: a relay between them reads the records' heads, which are not encrypted."""

import socket
import threading

from processes import Failure

APPLICATION = 23  # content type (RFC 8446 §5.1)


class Relay:
    """Listens on `port` and passes everything on to another port of this machine."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.counts = {"requests": 0, "answers": 0}
        self.lock = threading.Lock()
        self.threads = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for ends in ((near, far, "requests"), (far, near, "answers")):
                thread = threading.Thread(target=self._pass, args=ends, daemon=True)
                self.threads.append(thread)
                thread.start()

    def _pass(self, source, target, direction):
        head, left, count = b"", 0, 0
        try:
            while data := source.recv(1 << 18):
                target.sendall(data)
                place = 0
                while place < len(data):
                    if left:
                        step = min(left, len(data) - place)
                        left -= step
                        place += step
                        continue
                    step = min(5 - len(head), len(data) - place)
                    head += data[place:place + step]
                    place += step
                    if len(head) == 5:
                        count += head[0] == APPLICATION
                        left, head = int.from_bytes(head[3:5], "big"), b""
        except OSError:
            pass
        finally:
            with self.lock:
                self.counts[direction] += count
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        """Waits until all that was passed on is counted."""
        self.listener.close()
        for thread in self.threads:
            thread.join(5)


def per_record(port, load):
    """What a load does to a server, in words.
    :param load: called with a port and seconds; returns a Run."""
    relay = Relay(port)
    try:
        run = load(relay.port, 0.4)
    except Failure as failure:
        return f"requests and answers per TLS record not counted: {failure}"
    finally:
        relay.close()
    requests, answers = (max(relay.counts[direction], 1) for direction in ("requests", "answers"))
    return f"{run.calls / requests:.1f} requests and {run.calls / answers:.1f} answers per TLS record (counted by a relay that slows both down)"
