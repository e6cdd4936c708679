"""The HTTP load in C and its files of requests."""

from comparison import Run
from processes import Failure, run


def request(method, target, headers=(), form=None):
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", "User-Agent: boxoffice-device", "Accept: application/json"]
    lines += [f"{name}: {value}" for name, value in headers]
    if form is not None:
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(form)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + (form or "")).encode()


def write(path, requests):
    with open(path, "wb") as file:
        for text in requests:
            file.write(len(text).to_bytes(4, "big") + text)
    return path


class HttpLoad:
    def __init__(self, program, connections=64):
        self.program, self.connections = str(program), connections

    def load(self, port, status, requests, text=None):
        """:return: what runs the load for so many seconds."""
        def load(seconds):
            output, _ = run(
                [self.program, "load", str(port), str(self.connections), str(seconds), str(status), str(requests), *([text] if text else [])],
                timeout=seconds * 3 + 20)
            fields = [float(field) for field in output.split()]
            if len(fields) != 6:
                raise Failure(f"http-load printed '{output.strip()}'")
            return Run(rate=fields[0], p50=fields[1], p99=fields[2], wrong=int(fields[3]), calls=int(fields[4]), load_cost=fields[5])
        return load
