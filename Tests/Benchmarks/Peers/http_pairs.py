"""Through the gateway: beside grpc-gateway, Hummingbird, glewlwyd and bare signatures."""

import contextlib
import json
import os

from comparison import Comparison, Pair, Run, Subject
from glewlwyd import Glewlwyd
from http_load import HttpLoad, request, write
from identities import SERVER
from processes import Failure, Server, run

KEEP_ALIVE = "64 keep-alive connections"


class Cluster:
    """A cluster with signed-in devices and the files of their requests."""

    def __init__(self, builder, folder, port_base, devices):
        binaries = builder.cluster()
        self.folder = folder / "cluster"
        self.folder.mkdir()
        self.program = str(binaries / "boxoffice")
        self.server = Server(
            [str(binaries / "gateway-benchmark"), "fleet", "--folder", str(self.folder), "--devices", str(devices), "--port-base", str(port_base)],
            port=0, log=folder / "cluster.log", pipe=True, group=True)
        try:
            # It signs all devices in first.
            line = self.server.line(patience=400)
            description = json.loads(line or "null") or {}
            self.port, self.processes, self.data = description["port"], description["processes"], description["data"]
        except (ValueError, KeyError) as error:
            self.stop(patience=0)
            raise Failure(f"the cluster did not start{Server.last_words(folder / 'cluster.log')}") from error
        except BaseException:
            self.stop(patience=0)
            raise

    def requests(self, name):
        return self.folder / f"{name}.requests"

    def pids(self):
        return list(self.processes.values())

    def stop(self, patience=30):
        """Lets it end by itself; whatever is left then is ended here."""
        self.server.stop(patience)
        if (self.folder / "home/cluster.json").exists():
            run([self.program, "down"], timeout=60, environment={"BOXOFFICE_HOME": str(self.folder / "home")})


class Http:
    def __init__(self, builder, identities, seconds, rounds, folder, port_base, devices):
        self.builder, self.identities, self.seconds, self.rounds = builder, identities, seconds, rounds
        self.folder, self.port_base, self.devices = folder, port_base, devices
        self._cluster = None

    @property
    def cluster(self):
        if self._cluster is None:
            try:
                self._cluster = Cluster(self.builder, self.folder, self.port_base, self.devices)
            except Failure as failure:
                self._cluster = failure
        if isinstance(self._cluster, Failure):
            raise self._cluster
        return self._cluster

    def close(self):
        if isinstance(self._cluster, Cluster):
            self._cluster.stop()

    def _ours(self, requests, status, batched=""):
        load = HttpLoad(self.builder.http_load()).load(self.cluster.port, status, self.cluster.requests(requests))
        return Subject("ours", load, self.cluster.pids, batched)

    # HTTP -> gateway -> service -> back

    def go_gateway(self, table):
        folder = self.builder.go()
        with self._go(folder) as peer:
            self._gateways(table, peer, 1.8)

    def hummingbird(self, table):
        program = str(self.builder.grpc_swift())
        with self._hop("Hummingbird + grpc-swift-2", [program, "serve"], [program, "gateway"]) as peer:
            self._gateways(table, peer, 5)

    def _gateways(self, table, peer, goal):
        ours = self._ours(
            "checkauthn", 200,
            "checkauthn, which does more than the peer's question: throttle, access token, device information, the stored session, the catalogue's "
            "rules, a log line and metrics in two services. The 64 requests come on 64 connections; the gateway's calls that are due at the same "
            "moment share a TLS record on its connection to the service, as under any load with so many clients")
        table.add(Comparison(f"HTTP → gateway → service → back, {KEEP_ALIVE}", ours, [Pair(peer, goal)]).measure(self.rounds, self.seconds))

    def _go(self, folder):
        return self._hop("Go grpc-gateway + grpc-go", [str(folder / "go-server")], [str(folder / "go-gateway")])

    @contextlib.contextmanager
    def _hop(self, name, service, gateway):
        with contextlib.ExitStack() as stack:
            behind = stack.enter_context(Server([*service, *self.identities.files(SERVER)[:2]], log=self.folder / "hop-service.log"))
            front = stack.enter_context(
                Server([*gateway, str(behind.port), SERVER, str(self.identities.anchors)], log=self.folder / "hop-gateway.log"))
            requests = write(self.folder / "sessions.requests", [
                request("GET", f"/v1/session?requestor=ACME1&{parameter}=device-{number}")
                for number in range(1024) for parameter in (["deviceId"] if "Humming" in name else ["device_id"])])
            load = HttpLoad(self.builder.http_load()).load(front.port, 200, requests, "NorthCable")
            yield Subject(
                name, load, lambda: [behind.pid, front.pid],
                "a question with a constant answer over one HTTP/2 connection with TLS; the library decides what shares a record")

    # glewlwyd

    def codes(self, table):
        with self._glewlwyd() as peer:
            ours = self._ours("codes", 201, "durable: codes of callers that wait at the same moment share a commit (one fsync)")
            connections, load = self._at_its_best(peer, 200, write(self.folder / "glewlwyd-codes.requests", peer.code_requests()), "user_code")
            theirs = Subject(
                "glewlwyd device authorization, SQLite", load, lambda: [peer.pid],
                f"durable: SQLite's defaults, a commit for each code, on the same disk; {connections} connections, its best of 1, 8 and 64")
            table.add(Comparison(f"registration code, durable, {KEEP_ALIVE}", ours, [Pair(theirs, 20)]).measure(self.rounds, self.seconds))

    def polls(self, table):
        with self._glewlwyd() as peer:
            # Twice as many codes as are polled in an interval.
            requests = write(self.folder / "glewlwyd-polls.requests", peer.poll_requests(3000))
            connections, load = self._at_its_best(peer, 400, requests, "authorization_pending")
            theirs = Subject(
                "glewlwyd authorization_pending", load, lambda: [peer.pid],
                "3000 distinct codes in turn, so that none is polled twice in the interval; every answer is checked to be authorization_pending; "
                f"{connections} connections, its best of 1, 8 and 64")
            ours = self._ours("polls", 403, "checkauthn of 2048 devices with a registration code and without a session; the service remembers that they have none")
            table.add(Comparison(f"poll for a session, {KEEP_ALIVE}", ours, [Pair(theirs, 20)]).measure(self.rounds, self.seconds))

    def _at_its_best(self, peer, status, requests, text):
        """:return: the number of connections that the peer answers most with, and the load with them."""
        loads = {count: HttpLoad(self.builder.http_load(), count).load(peer.port, status, requests, text) for count in (1, 8, 64)}
        rates = {}
        for count, load in loads.items():
            try:
                rates[count] = load(self.seconds / 2).rate
            except Failure:
                rates[count] = 0.0
        best = max(rates, key=rates.get)
        return best, loads[best]

    def _glewlwyd(self):
        self.builder.packages("glewlwyd")
        self.instances = getattr(self, "instances", 0) + 1
        return Glewlwyd(self.folder / f"glewlwyd-{self.instances}", self.port_base + 90 + self.instances)

    # Media tokens

    def media_reference(self, table):
        self._media(table, "media token, reference form", "media-reference", "rsa2048", 0.85)

    def media_es256(self, table):
        self._media(table, "media token, ES256 form", "media-es256", "ecdsap256", 0.4)

    def _media(self, table, title, requests, algorithm, goal):
        cores = len(os.sched_getaffinity(0))

        def sign(seconds):
            output, cpu = run(["openssl", "speed", "-seconds", str(max(1, round(seconds))), "-multi", str(cores), algorithm], timeout=60)
            numbers = [float(word) for word in output.strip().splitlines()[-1].split() if word.replace(".", "", 1).isdigit()]
            return Run(rate=numbers[-2], load_cost=cores * 1e6 / numbers[-2])

        peer = Subject(f"openssl speed {algorithm} sign, {cores} cores", sign)
        ours = self._ours(requests, 200, "one token per HTTP request, each with its own decision and signature")
        comparison = Comparison(
            f"{title}, {KEEP_ALIVE}", ours, [Pair(peer, goal)],
            note="`openssl speed` has all cores to itself, ours shares them with the load and three services: the CPU per call says where they go")
        table.add(comparison.measure(self.rounds, self.seconds))
