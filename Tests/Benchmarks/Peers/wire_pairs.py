"""The unary call: our wire beside a server in C, gRPC C++ and grpc-swift-2."""

import json
import re

from comparison import Comparison, Pair, Run, Subject
from identities import CIPHER, CLIENT, SERVER
from processes import Failure, Server, run
from records import per_record

PAYLOAD = 32  # bytes
ECHO = ("boxoffice.platform.v1.Diagnostics", "Echo", PAYLOAD)
CONFIGURATION = ("boxoffice.config.v1.Config", "GetConfiguration", 0)


class Wire:
    def __init__(self, builder, identities, seconds, rounds, folder):
        self.builder, self.identities, self.seconds, self.rounds, self.folder = builder, identities, seconds, rounds, folder
        self.limit = seconds * 3 + 20

    # What is compared

    def echo(self, table):
        with self._ours() as ours, self._c_server(0) as limit:
            self._beside_c(table, "echo, 32 bytes, 1 connection × 64 in flight", ours, limit, ECHO, 0.85)

    def configuration(self, table):
        with self._ours() as ours:
            # The C server answers with as many bytes as ours does.
            size = self._wire_load(ours.port, CONFIGURATION, 1, 1, False, 0.2)[1]
            with self._c_server(size - 20) as limit:
                self._beside_c(table, "GetConfiguration, 5 kB, 1 connection × 64 in flight", ours, limit, CONFIGURATION, 0.6)

    def _beside_c(self, table, title, ours, limit, method, goal):
        table.add(Comparison(
            title, self._subject(ours, 1, 64, False, method=method),
            [Pair(self._subject(limit, 1, 64, False, "C, epoll and OpenSSL", method), goal)]).measure(self.rounds, self.seconds))

    def grpc_cpp(self, table):
        programs = self.builder.grpc_cpp()
        with self._ours() as ours, Server(
                [str(programs / "grpc-server"), *self.identities.files(SERVER)], environment=self.identities.environment,
                log=self.folder / "grpc-server.log") as peer:
            for in_flight, single, goal in ((1, False, None), (8, False, None), (64, False, 6), (64, True, None)):
                load = self._grpc_load(programs, in_flight)
                theirs = Subject("gRPC C++ 1.51, asynchronous", lambda seconds, load=load: load(peer.port, seconds), lambda: [peer.pid])
                if in_flight > 1 and not single:
                    theirs.batched = per_record(peer.port, load)
                subject = self._subject(ours, 1, in_flight, single)
                table.add(Comparison(self._title(1, in_flight, single), subject, [Pair(theirs, goal)]).measure(self.rounds, self.seconds))

    def grpc_swift(self, table):
        program = str(self.builder.grpc_swift())
        h2load = self.builder.h2load()
        with self._ours() as ours, Server(
                [program, "serve", *self.identities.files(SERVER)[:2]], log=self.folder / "grpc-swift.log") as peer:
            # (connections, in flight on each, single, goal beside each client)
            for connections, in_flight, single, goal in ((1, 1, False, 6), (1, 64, True, 8), (64, 1, False, None), (1, 64, False, None)):
                loads = {"h2load": self._h2load(h2load, connections, in_flight)}
                if connections == 1:
                    loads["its own client"] = self._grpc_swift_load(program, in_flight)
                pairs = []
                for client, load in loads.items():
                    subject = Subject(f"grpc-swift-2 with {client}", lambda seconds, load=load: load(peer.port, seconds), lambda: [peer.pid])
                    if connections == 1 and in_flight > 1 and single:
                        subject.batched = per_record(peer.port, load)
                    pairs.append(Pair(subject, goal))
                subject = self._subject(ours, connections, in_flight, single)
                table.add(Comparison(self._title(connections, in_flight, single), subject, pairs).measure(self.rounds, self.seconds))

    @staticmethod
    def _title(connections, in_flight, single):
        title = f"echo, {connections} connection{'s' if connections > 1 else ''} × {in_flight} in flight"
        if in_flight == 1:
            return title
        return title + (", one request per TLS record" if single else ", pipelined")

    # Ours and the server in C

    def _ours(self):
        program = self.builder.ours("wire-benchmark") / "wire-benchmark"
        return Server([str(program), "serve", "--identities", str(self.identities.folder)], log=self.folder / "wire-benchmark.log")

    def _c_server(self, answer_bytes):
        program = self.builder.c_wire() / "server"
        return Server([str(program), *self.identities.files(SERVER), str(answer_bytes)], log=self.folder / "c-server.log")

    def _wire_load(self, port, method, connections, in_flight, single, seconds):
        service, name, payload = method
        output, _ = run([
            str(self.builder.c_wire() / "load"), "127.0.0.1", str(port), SERVER, *self.identities.files(CLIENT), service, name, str(payload),
            str(connections), str(in_flight), str(seconds), *(["single"] if single else [])], timeout=self.limit)
        fields = [float(field) for field in output.split()]
        note = f"{fields[6]:.1f} requests and {fields[7]:.1f} answers per TLS record" if connections * in_flight > 1 else ""
        return Run(rate=fields[0], p50=fields[1], p99=fields[2], calls=int(fields[4]), load_cost=fields[5], note=note), int(fields[3])

    def _subject(self, server, connections, in_flight, single, name="ours", method=ECHO):
        return Subject(
            name, lambda seconds: self._wire_load(server.port, method, connections, in_flight, single, seconds)[0], lambda: [server.pid])

    # The peers

    @staticmethod
    def _six_numbers(output):
        fields = [float(field) for field in output.split()]
        if len(fields) != 6:
            raise Failure(f"a load printed '{output.strip()}'")
        return Run(rate=fields[0], p50=fields[1], p99=fields[2], wrong=int(fields[3]), calls=int(fields[4]), load_cost=fields[5])

    def _grpc_load(self, programs, in_flight):
        def load(port, seconds):
            output, _ = run(
                [str(programs / "grpc-load"), str(port), SERVER, *self.identities.files(CLIENT), str(PAYLOAD), str(in_flight), str(seconds)],
                timeout=self.limit, environment=self.identities.environment)
            return self._six_numbers(output)
        return load

    def _grpc_swift_load(self, program, in_flight):
        def load(port, seconds):
            output, _ = run(
                [program, "load", str(port), SERVER, str(self.identities.anchors), str(PAYLOAD), str(in_flight), str(seconds)],
                timeout=self.limit)
            return self._six_numbers(output)
        return load

    def _h2load(self, program, connections, in_flight):
        # A gRPC message: not compressed, its length, field 1 with 32 bytes.
        body = self.folder / "echo.message"
        body.write_bytes(b"\0" + (PAYLOAD + 2).to_bytes(4, "big") + bytes([0x0a, PAYLOAD]) + bytes(PAYLOAD))

        def load(port, seconds):
            warm, main = round(seconds * 200), round(seconds * 1000)
            output, cpu = run([
                program, "-t", "1", "-c", str(connections), "-m", str(in_flight), "-D", f"{main}ms", "--warm-up-time", f"{warm}ms",
                "--tls13-ciphers", CIPHER, "-H", "content-type: application/grpc", "-H", "te: trailers", "-d", str(body),
                f"https://127.0.0.1:{port}/boxoffice.peers.v1.Peer/Echo"], timeout=self.limit)
            return self._h2load_run(output, cpu, main / 1000, (warm + main) / 1000)
        return load

    @staticmethod
    def _h2load_run(output, cpu, seconds, all_seconds):
        requests = re.search(r"requests: (\d+) total.* (\d+) succeeded, (\d+) failed, (\d+) errored", output)
        statuses = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", output)
        mean = re.search(r"time for request:\s+\S+\s+\S+\s+(\S+)", output)
        cipher = re.search(r"Cipher: (\S+)", output)
        if not requests or not statuses or not cipher:
            raise Failure(f"h2load printed {json.dumps(output[-300:])}")
        if cipher[1] != CIPHER:
            raise Failure(f"h2load spoke {cipher[1]}, not {CIPHER}")
        good = int(statuses[1])
        if good == 0:
            raise Failure("h2load got no answers")
        # It counts the calls after its warm-up; those before are taken to be as many per second.
        calls = round(good / seconds * all_seconds)
        return Run(
            rate=good / seconds, wrong=sum(int(statuses[place]) for place in (2, 3, 4)) + int(requests[3]), calls=calls,
            load_cost=cpu * 1e6 / max(calls, 1), note=f"mean time of a request {mean[1]}" if mean else "")
