"""A balancer in front of two gateways: each connection goes to one that says that it is ready."""

import http.client
import itertools
import socket
import threading
import time


class Balancer:
    """Listens at an address, and asks each gateway for /readyz ten times a second."""

    def __init__(self, address, gateways):
        """Gateways: {address: its debug listener}."""
        self.gateways, self.ready, self.ended = gateways, set(), False
        self.turns = itertools.count()
        self.listener = socket.create_server(address, backlog=512)
        for target in (self.watch, self.accept):
            threading.Thread(target=target, daemon=True).start()

    def watch(self):
        while not self.ended:
            for gateway in self.gateways:
                (self.ready.add if self.is_ready(gateway) else self.ready.discard)(gateway)
            time.sleep(0.1)

    @staticmethod
    def is_ready(gateway):
        """Asked at the gateway's own address, as Hosts.md says."""
        connection = http.client.HTTPConnection(*gateway, timeout=1)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def accept(self):
        while not self.ended:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        ready = sorted(self.ready)
        if not ready:
            client.close()
            return
        try:
            server = socket.create_connection(ready[next(self.turns) % len(ready)], timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        other = threading.Thread(target=self.copy, args=(server, client), daemon=True)
        other.start()
        self.copy(client, server)
        other.join()
        client.close()
        server.close()

    @staticmethod
    def copy(source, target):
        try:
            while octets := source.recv(65536):
                target.sendall(octets)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        self.ended = True
        self.listener.close()
