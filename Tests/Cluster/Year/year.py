"""Days of a cluster: people sign in and play, sessions end to the minute, keys and certificates change, clocks go wrong, and nothing grows without bound.

Timers of the programs run as ever; what they read as the time of day jumps. So each day has a few seconds of work, and 365 of them take about an hour.

Below 90 days the clock is compressed: sessions last hours, and the days lie around the one on which the certificates of the first day are renewed. So 31 days have
all that a year has, but for the changes of summer time, and what brings more than goes is found in them too.
"""

import contextlib
import datetime
import glob
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "OpenApi"))
import person  # noqa: E402

DAY = 86_400
# What starts anew when it is killed, one each month.
SERVICES = ["authentication", "authorization", "config", "autosignin", "gateway"]
# Of the time zone that the programs have: its clock is put forward and back on these days of 2026 to 2028.
ZONE = "America/New_York"
SUMMER = [datetime.datetime(year, month, day, hour, tzinfo=datetime.timezone.utc).timestamp() for year, month, day, hour in [
    (2026, 3, 8, 7), (2026, 11, 1, 6), (2027, 3, 14, 7), (2027, 11, 7, 6), (2028, 3, 12, 7), (2028, 11, 5, 6)]]
# Seconds between two clocks that read the same time: programs look at theirs once a second.
SLACK = 30
# KiB that a write-ahead log may have: twice what it keeps.
JOURNAL = 33_000_000 / 1024
# With fewer days the clock is compressed.
WHOLE = 90
# With fewer there is nothing to judge.
LEAST = 14
# Seconds that a session lasts then.
SHORT_SESSION = 20 * 3600
# Seconds in which each table has been swept: programs do so once a minute of the true clock.
SWEPT = 65
# Seconds after midnight, UTC, at which its days begin, so that each run meets the same things at the same hours.
BEGINNING = 12 * 3600
# Tables that keep rows for longer than the compressed days, and for how long.
KEPT = {
    "authentication.client": "400 days", "authentication.sqlite_sequence": "for ever, a row for each table", "config.grdb_migrations": "for ever",
}


class Clock:
    """What the programs take for the time."""

    def __init__(self, file):
        self.file, self.offset = file, 0
        self.move(0)

    def now(self):
        return time.time() + self.offset

    def move(self, offset):
        self.offset = offset
        temporary = self.file.with_suffix(".new")
        temporary.write_text(f"{offset:+.0f}\n")
        os.replace(temporary, self.file)
        # A program reads it again with the next second of the true clock.
        time.sleep(1.3)

    def go_to(self, moment):
        self.move(moment - time.time())


class Shared:
    """What libfaketime keeps for all programs, for as long as the test runs.

    A program that finds none makes it, named by its process id, and puts the name into its environment: which moves that away from where Swift finds the program's
    arguments. And it cannot where a program of the same id has left one behind. So one that has no arguments makes it for all.
    """

    FOLDER = pathlib.Path("/dev/shm")

    def __init__(self, environment):
        for file in self.FOLDER.glob("*faketime_s*_*"):
            number = file.name.rpartition("_")[2]
            if number.isdigit() and not os.path.exists(f"/proc/{number}"):
                file.unlink(missing_ok=True)
        # Ends with this process, however that ends.
        self.keeper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, env=environment)
        self.name = f"/faketime_sem_{self.keeper.pid} /faketime_shm_{self.keeper.pid}"
        self.files = [self.FOLDER / f"sem.faketime_sem_{self.keeper.pid}", self.FOLDER / f"faketime_shm_{self.keeper.pid}"]
        end = time.monotonic() + 10
        while not all(file.exists() for file in self.files):
            if time.monotonic() > end or self.keeper.poll() is not None:
                sys.exit("libfaketime has made no shared memory in 10 s")
            time.sleep(0.01)

    def close(self):
        self.keeper.stdin.close()
        self.keeper.wait(10)
        for file in self.files:
            file.unlink(missing_ok=True)


class Cluster:
    def __init__(self, folder):
        self.home = folder / "home"
        self.clock = Clock(folder / "clock")
        library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not library:
            sys.exit("libfaketime is not installed: apt-get install faketime")
        timers = folder / "timers.so"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", str(timers), str(pathlib.Path(__file__).with_name("timers.c"))], check=True)
        self.environment = {
            **os.environ, "BOXOFFICE_HOME": str(self.home), "BOXOFFICE_PORT_BASE": str(int(os.environ.get("BOXOFFICE_PORT_BASE", "21000")) + 520), "TZ": ZONE,
            "LD_PRELOAD": f"{timers}:{library[0]}", "FAKETIME_TIMESTAMP_FILE": str(self.clock.file), "FAKETIME_CACHE_DURATION": "0", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
        self.shared = Shared(self.environment)
        self.environment["FAKETIME_SHARED"] = self.shared.name
        self.program = str(pathlib.Path(os.environ["BOXOFFICE_BINARIES"], "boxoffice").resolve())

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError(f"boxoffice {arguments[0]}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def up(self):
        self.run("up", "--detach", "--no-demo")

    @property
    def file(self):
        return json.loads((self.home / "cluster.json").read_text())

    def call(self, method, path, headers=None, form=None, document=None):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        if document is not None:
            headers, data = {**(headers or {}), "Content-Type": "application/json"}, json.dumps(document).encode()
        request = urllib.request.Request(self.file["gateway"] + path, data=data, method=method, headers={"Accept": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def processes(self):
        return {**{name: service["pid"] for name, service in self.file["services"].items()}, "sandbox": self.file["sandbox"]["pid"]}

    def certificate_ends(self):
        """Days left of each certificate of the local authority, by the programs' clock."""
        left = {}
        for file in sorted((self.home / "pki").glob("*.crt")):
            text = subprocess.run(["openssl", "x509", "-noout", "-enddate", "-in", str(file)], capture_output=True, text=True).stdout
            if text.startswith("notAfter="):
                end = datetime.datetime.strptime(text[9:].strip(), "%b %d %H:%M:%S %Y %Z").replace(tzinfo=datetime.timezone.utc).timestamp()
                left[file.name] = (end - self.clock.now()) / DAY
        return left

    def serials(self):
        """The serial number of each program's certificate."""
        return {file.name: subprocess.run(["openssl", "x509", "-noout", "-serial", "-in", str(file)], check=True, capture_output=True, text=True).stdout
                for file in sorted((self.home / "pki").glob("*.crt")) if file.name.startswith((*SERVICES, "https"))}

    def shorten_sessions(self, seconds):
        """By the catalogue, as an operator would: at each MVPD they last so long."""
        file = self.home / "catalogue.json"
        catalogue = json.loads(file.read_text())
        for mvpd in catalogue["mvpds"]:
            if "authnTtl" in mvpd:
                mvpd["authnTtl"] = seconds
        temporary = file.with_suffix(".new")
        temporary.write_text(json.dumps(catalogue))
        os.replace(temporary, file)

    def connects(self):
        """True if a new client takes the gateway's certificate now."""
        url = self.file["gatewayTLS"] + "/api/v1/config/ACME1.json"
        return subprocess.run(
            ["/usr/bin/env", "curl", "-sf", "-o", "/dev/null", "--max-time", "10", "--cacert", str(self.home / "pki/ca.crt"), url], env=self.environment).returncode == 0


class Device:
    def __init__(self, cluster):
        self.cluster, self.id, self.expires, self.token = cluster, str(uuid.uuid4()), 0, None

    def register(self):
        statement = self.cluster.file["softwareStatements"]["acme-tv"]
        status, body = self.cluster.call("POST", "/o/client/register", document={"software_statement": statement})
        assert status == 201, (status, body)
        client = json.loads(body)
        self.credentials = {"client_id": client["client_id"], "client_secret": client["client_secret"], "grant_type": "client_credentials"}

    def call(self, method, path, query=None, form=None):
        query = urllib.parse.urlencode({"requestor": "ACME1", "deviceId": self.id, **(query or {})})
        for attempt in range(2):
            if self.token is None:
                status, body = self.cluster.call("POST", "/o/client/token", form=self.credentials)
                assert status in (200, 201), (status, body)
                self.token = json.loads(body)["access_token"]
            status, body = self.cluster.call(method, f"{path}?{query}", {"Authorization": f"Bearer {self.token}"}, form)
            # A bearer lives for a day.
            if status != 401 or attempt:
                return status, body
            self.token = None

    def check(self):
        return self.call("GET", "/api/v1/checkauthn")[0]

    def sign_in(self, name):
        self.register()
        status, body = self.call("POST", "/reggie/v1/ACME1/regcode", form={"deviceId": self.id})
        assert status == 201, (status, body)
        end = "https://acme.example/signed-in"
        query = urllib.parse.urlencode({
            "reg_code": json.loads(body)["code"], "requestor_id": "ACME1", "mso_id": "NorthCable", "domain_name": "acme.example", "noflash": "true",
            "no_iframe": "true", "redirect_url": end})
        person.sign_in(f"{self.cluster.file['gateway']}/api/v1/authenticate?{query}", end, name)
        status, body = self.call("GET", "/api/v1/tokens/authn")
        assert status == 200, (status, body)
        self.expires = int(json.loads(body)["expires"]) / 1000

    def play(self):
        for path in ("/api/v1/authorize", "/api/v1/mediatoken"):
            status, body = self.call("GET", path, {"resource": "ACME1-NEWS"})
            assert status == 200, (path, status, body)
        return json.loads(body)


def patient(what, attempt):
    """A program that was killed, or whose connections ended, is back within seconds."""
    end = time.monotonic() + 20
    while True:
        try:
            return attempt()
        except (AssertionError, OSError, RuntimeError) as problem:
            assert time.monotonic() < end, f"{what}: {problem}"
            time.sleep(0.25)


def judge(sizes, settled, compressed):
    """True if nothing grows once a day brings as much as goes. False too where there are too few days to say so.

    sizes: pairs of a day and its measures: KiB, of `rows` their number.
    settled: the first day that counts.
    compressed: sessions last hours; then each row that a day leaves behind shows.
    """
    days = [values for day, values in sizes if day >= settled]
    if len(days) < 6:
        print(f"growth: {len(days)} measures from day {settled} on say nothing of it  FAILED")
        return False
    third = len(days) // 3
    good = True
    for name in sorted({name for values in days for name in values}):
        kind, _, rest = name.partition(" ")
        # Rows come until they are swept: what is left behind shows where they are fewest.
        one = min if kind == "rows" else statistics.mean
        first, last = (one([values.get(name, 0) for values in part]) for part in (days[:third], days[-third:]))
        if kind == "rows":
            # Two a day are a row for each that somebody leaves behind between the middles of the thirds, and half of them is no accident.
            between = (len(days) - third) * (1 if compressed else 5)
            grows = rest not in KEPT and not rest.startswith("config.usage") and last - first > max(first * 0.35, between / 2, 4)
        elif kind == "journal":
            grows = last > JOURNAL
        else:
            # Files grow by pages and memory by arenas, which come in the first days.
            grows = last > first * 1.35 + (2048 if kind == "memory" and compressed else 512)
        good = good and not grows
        if grows or kind not in ("table", "rows"):
            print(f"growth: {name:24} {first:9.0f}{'    ' if kind == 'rows' else ' KiB'}, at the end {last:9.0f}{'  GROWS' if grows else ''}")
    return good


class Life:
    def __init__(self, cluster, days):
        self.cluster, self.days, self.live, self.sizes, self.ended = cluster, days, [], [], 0
        self.compressed = days < WHOLE
        # From then on a day brings as much as goes.
        self.settled = 5 if self.compressed else 60
        third = (days - self.settled + 1) // 3
        # The parts that are compared: their first days and their last ones.
        self.parts = {self.settled + third - 1: self.settled, days: days - third + 1}
        self.measured = {}

    def expect(self, device, status, why):
        seen = []

        def attempt():
            seen.append(device.check())
            assert seen[-1] == status, f"{why}: checkauthn {seen[-1]}, not {status}"

        try:
            patient(f"day {self.day}", attempt)
        except AssertionError as problem:
            _, body = device.call("GET", "/api/v1/tokens/authn")
            end = datetime.datetime.fromtimestamp(device.expires, datetime.timezone.utc)
            raise AssertionError(f"{problem}; it was to end at {end:%d %B %H:%M:%S}; asked for it now: {body.decode(errors='replace')}") from None

    def all_are_signed_in(self, why):
        assert self.live, f"day {self.day}: nobody is there to see that {why}"
        for device in self.live:
            self.expect(device, 200, why)

    def end_sessions(self, until):
        """Each session lasts to its end, and not longer."""
        clock = self.cluster.clock
        for device in sorted((device for device in self.live if device.expires <= until), key=lambda device: device.expires):
            clock.go_to(device.expires - SLACK)
            self.expect(device, 200, "half a minute before its end")
            clock.go_to(device.expires + SLACK)
            self.expect(device, 403, "half a minute after its end")
            status, _ = device.call("GET", "/api/v1/tokens/authn")
            assert status == 410, f"an ended session is told as {status}"
            self.live.remove(device)
            self.ended += 1

    def new_viewer(self):
        device = Device(self.cluster)
        name = ["ada", "dan"][self.day % 2]

        def attempt():
            device.sign_in(name)
            return device.play()

        media = patient(f"day {self.day}: a sign-in", attempt)
        lasts = int(media["expires"]) / 1000 - self.cluster.clock.now()
        assert 300 < lasts < 480, f"a media token lasts {lasts:.0f} s"
        self.live.append(device)

    # What goes wrong.

    def hour_back(self):
        clock = self.cluster.clock
        offset = clock.offset
        clock.move(offset - 3600)
        self.all_are_signed_in("the clock went back an hour")
        self.new_viewer()
        clock.move(offset)
        self.all_are_signed_in("the clock is right again")

    def leap_second(self):
        """A second comes twice, as where a machine's clock is put back for it."""
        clock = self.cluster.clock

        def midnight():
            return (int(clock.now()) // DAY + 1) * DAY

        # Sessions that would end before it end as on any day, and somebody signs in whose session goes on.
        self.end_sessions(midnight() + 2 * SLACK)
        leap = midnight()
        if clock.now() < leap - 3600:
            clock.go_to(leap - 3600)
        self.new_viewer()
        clock.go_to(leap - 2)
        self.all_are_signed_in("before a leap second")
        clock.move(clock.offset - 1)
        self.all_are_signed_in("after a leap second")
        self.new_viewer()

    def summer_time(self, moment):
        for side in (-SLACK, SLACK):
            self.cluster.clock.go_to(moment + side)
            self.all_are_signed_in("the zone's clock is put forward or back")

    def new_key(self):
        pki = self.cluster.home / "pki"
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(pki / "access-token.key.new")], check=True,
            capture_output=True)
        os.chmod(pki / "access-token.key.new", 0o600)
        os.replace(pki / "access-token.key.new", pki / "access-token.key")
        time.sleep(2)
        self.all_are_signed_in("access tokens have another key")

    def kill_one(self):
        name = SERVICES[self.day // 30 % len(SERVICES)]
        os.kill(self.cluster.processes()[name], signal.SIGKILL)
        self.cluster.up()
        self.all_are_signed_in(f"{name} was killed")

    # What is measured.

    def measure(self):
        data, logs = self.cluster.home / "data", self.cluster.home / "logs"
        size = lambda folder, pattern: sum(file.stat().st_size for file in folder.rglob(pattern) if file.is_file())  # noqa: E731
        memory = {}
        for name, process in self.cluster.processes().items():
            with contextlib.suppress(OSError):
                lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
                memory[name] = sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
        tables = {f"table {file.parent.name}.{name}": octets / 1024 for file in data.rglob("*.sqlite") for name, octets in self.tables(file)}
        rows = {f"rows {file.parent.name}.{name}": count for file in data.rglob("*.sqlite") for name, count in self.rows(file)}
        journals = {f"journal {folder.name}": size(folder, "*-wal") / 1024 for folder in data.iterdir()}
        stores = {f"store {folder.name}": (size(folder, "*") - size(folder, "*-wal")) / 1024 for folder in data.iterdir()}
        self.sizes.append((self.day, tables | rows | stores | journals | {"logs": size(logs, "*") / 1024} | {f"memory {name}": value for name, value in memory.items()}))

    @staticmethod
    def tables(file):
        """Octets of each table and index of a store."""
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
            return store.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()

    @staticmethod
    def rows(file):
        """Rows of each table of a store."""
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
            names = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return [(name, store.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names]

    def judge(self):
        return judge(self.sizes, self.settled, self.compressed)

    def pass_day(self, day):
        self.day = day
        clock = self.cluster.clock
        tomorrow = self.begin + day * DAY
        events = [(moment, lambda moment=moment: self.summer_time(moment)) for moment in SUMMER if clock.now() + SLACK < moment <= tomorrow - SLACK]
        for moment, happen in events:
            self.end_sessions(moment + 2 * SLACK)
            happen()
        # Those too that would end while the day's work is done.
        self.end_sessions(tomorrow + 2 * SLACK)
        if clock.now() < tomorrow:
            clock.go_to(tomorrow)
        self.new_viewer()
        some = self.live if day % 10 == 0 else self.live[day % 3 :: 3]
        for device in some:
            self.expect(device, 200, "its session goes on")
        if day == 2:
            self.hour_back()
        if day == 3:
            self.leap_second()
        if day % 30 == 4:
            self.new_key()
        if day % 30 == 5:
            self.kill_one()
        if self.compressed or day % 5 == 0 or day == self.days:
            left = self.cluster.certificate_ends()
            # Looked for every few seconds here, as the clock jumps.
            patient(f"day {day}: certificates", lambda: self.fresh_certificates())
            assert self.cluster.connects(), f"day {day}: a new connection does not take the gateway's certificate"
            if self.compressed and day in self.parts:
                time.sleep(max(0, self.measured[self.parts[day]] + SWEPT - time.monotonic()))
            self.measure()
            self.measured[day] = time.monotonic()
            print(f"day {day:3}  {len(self.live)} signed in, {self.ended} ended to the minute, a certificate has {min(left.values()):.0f} days", flush=True)

    def fresh_certificates(self):
        left = {name: days for name, days in self.cluster.certificate_ends().items() if name.startswith((*SERVICES, "https"))}
        assert left and min(left.values()) > 30, f"{min(left, key=left.get)} has {min(left.values()):.0f} days"

    def compress(self):
        """Sessions last hours, and the certificates of today are renewed in the middle of the days to come."""
        left = min(days for name, days in self.cluster.certificate_ends().items() if name.startswith((*SERVICES, "https")))
        # They are renewed with a third of their time left.
        day = (self.cluster.clock.now() + (left * 2 / 3 - self.days / 2) * DAY) // DAY
        self.cluster.clock.go_to(day * DAY + BEGINNING)
        self.cluster.shorten_sessions(SHORT_SESSION)

        def attempt():
            device = Device(self.cluster)
            device.sign_in("ada")
            lasts = device.expires - self.cluster.clock.now()
            assert abs(lasts - SHORT_SESSION) < 120, f"a session lasts {lasts:.0f} s"
            self.live.append(device)

        self.day = 0
        patient("sessions of hours", attempt)

    def live_through(self):
        if self.compressed:
            self.compress()
        serials = self.cluster.serials()
        self.begin = self.cluster.clock.now()
        for day in range(1, self.days + 1):
            self.pass_day(day)
        good = self.judge()
        # What the days were for has happened in them.
        if self.compressed:
            renewed = [name for name, serial in self.cluster.serials().items() if serials[name] != serial]
            assert set(renewed) == set(serials), f"not renewed: {sorted(set(serials) - set(renewed))}"
            assert self.ended >= self.days - 2, f"{self.ended} sessions have ended"
            assert self.sizes[-1][1]["rows authentication.session"] >= 1, "the stores are looked at"
        return good


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit() or not LEAST <= int(sys.argv[1]) <= 3650:
        sys.exit(f"year.py: give the number of days, {LEAST} to 3650: fewer show neither growth nor a renewal")
    days = int(sys.argv[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boxoffice-year-"))
    folder.chmod(0o711)
    cluster = Cluster(folder)
    start = time.monotonic()
    try:
        cluster.up()
        good = Life(cluster, days).live_through()
        print(f"{days} days in {time.monotonic() - start:.0f} s")
    except AssertionError as problem:
        print(f"failed: {problem}")
        for log in sorted((cluster.home / "logs").glob("*.log")):
            print(f"-- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-8:]))
        good = False
    finally:
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            cluster.run("down")
        cluster.shared.close()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
