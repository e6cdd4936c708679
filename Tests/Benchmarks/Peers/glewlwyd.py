"""glewlwyd with the device authorization grant (RFC 8628) and its state in SQLite on disk."""

import concurrent.futures
import gzip
import http.client
import json
import pathlib
import re
import sqlite3
import urllib.parse

from http_load import request
from processes import Failure, Server, wait_for

SETTINGS = pathlib.Path("/usr/share/glewlwyd/templates/glewlwyd-debian.conf.properties")
SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
CLIENT = "tv"
# A code may be polled once in so many seconds; sooner, it gets the cheaper answer `slow_down`.
INTERVAL = 1
GRANT = urllib.parse.quote("urn:ietf:params:oauth:grant-type:device_code", safe="")


class Glewlwyd:
    def __init__(self, folder, port):
        self.port, self.folder, self.cookie = port, folder, None
        self.database = folder / "glewlwyd.db"
        folder.mkdir()
        settings = self._settings()
        self.server = Server(["/usr/bin/glewlwyd", f"--config-file={settings}"], port=port, log=folder / "glewlwyd.out")
        try:
            wait_for(self._answers, "glewlwyd answers")
            self._configure()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self):
        return self.server.pid

    def stop(self):
        self.server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _settings(self):
        schema = SCHEMA.read_bytes() if SCHEMA.exists() else gzip.decompress(SCHEMA.with_suffix(".gz").read_bytes())
        with sqlite3.connect(self.database) as database:
            database.executescript(schema.decode())
        database.close()
        text = SETTINGS.read_text(encoding="utf-8")
        for pattern, line in (
                (r"port=.*", f"port={self.port}"), (r"#?bind_address=.*", 'bind_address="127.0.0.1"'),
                (r"external_url=.*", f'external_url="http://127.0.0.1:{self.port}"'), (r"log_file=.*", f'log_file="{self.folder}/glewlwyd.log"'),
                (r"log_level=.*", 'log_level="WARNING"'),
                (r"@include .*", f'database = {{ type = "sqlite3" path = "{self.database}" }};')):
            text = re.sub(rf"(?m)^{pattern}$", line, text, count=1)
        settings = self.folder / "glewlwyd.conf"
        settings.write_text(text, encoding="utf-8")
        return settings

    def _answers(self):
        if self.server.process.poll() is not None:
            raise Failure("glewlwyd ended at once: " + (self.folder / "glewlwyd.out").read_text(errors="replace")[-300:])
        try:
            return self._call("GET", "/api/auth/") is not None
        except OSError:
            return False

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if cookie := answer.getheader("Set-Cookie"):
            self.cookie = cookie.split(";")[0]
        return answer.status

    def _configure(self):
        parameters = {
            "iss": f"http://127.0.0.1:{self.port}/", "jwt-type": "sha", "jwt-key-size": "256", "key": "a secret of this benchmark",
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600, "refresh-token-rolling": True,
            "allow-non-oidc": True, "auth-type-device-enabled": True, "auth-type-refresh-enabled": True,
            "device-authorization-expiration": 1800, "device-authorization-interval": INTERVAL,
            **{f"auth-type-{name}-enabled": False for name in ("code", "token", "id-token", "none", "password", "client")}}
        for path, body in (
                ("/api/auth/", {"username": "admin", "password": "password"}),
                ("/api/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "oidc", "order_rank": 0, "parameters": parameters}),
                ("/api/scope/", {"name": "tv", "display_name": "tv", "password_required": False, "scheme": {}}),
                ("/api/client/", {
                    "client_id": CLIENT, "name": CLIENT, "enabled": True, "confidential": False, "redirect_uri": [], "scope": ["tv"],
                    "authorization_type": ["device_authorization", "refresh_token"], "token_endpoint_auth_method": ["none"]})):
            status = self._call("POST", path, body)
            if status != 200:
                raise Failure(f"glewlwyd answers {status} to POST {path}")

    def code_requests(self):
        return [request("POST", "/api/oidc/device_authorization", form=f"client_id={CLIENT}&scope=tv")]

    def poll_requests(self, count):
        """Polls of distinct codes, which are made for it."""
        def some(share):
            connection, requests = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), []
            for _ in range(share):
                connection.request(
                    "POST", "/api/oidc/device_authorization", f"client_id={CLIENT}&scope=tv",
                    {"Content-Type": "application/x-www-form-urlencoded"})
                answer = connection.getresponse()
                code = json.loads(answer.read())["device_code"]
                requests.append(request("POST", "/api/oidc/token", form=f"grant_type={GRANT}&client_id={CLIENT}&device_code={code}"))
            connection.close()
            return requests
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return [text for part in pool.map(some, [count // 8] * 8) for text in part]
