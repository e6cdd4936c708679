"""Programs that run beside the driver: started, measured and stopped by their process id."""

import contextlib
import os
import resource
import select
import signal
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """Why there is nothing to measure."""


class Server:
    """A program that serves until it is stopped.

    :param port: where it listens, when it was told; otherwise the first line that it prints.
    :param pipe: what it prints is to be read with `line` even though the port is known.
    :param group: it starts further programs; those that it leaves behind are ended with it."""

    def __init__(self, command, *, port=None, environment=None, log=None, pipe=False, group=False):
        self.name = os.path.basename(command[0])
        variables = dict(os.environ, **(environment or {}))
        self.group = group
        self.log = open(log, "wb") if log else subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE if port is None or pipe else self.log, stderr=self.log, env=variables,
                start_new_session=group)
        except OSError as error:
            raise Failure(f"{command[0]} cannot be started: {error}") from error
        self.pid = self.process.pid
        self.port = port
        if port is None:
            line = self.line()
            if not line.isdigit():
                self.stop()
                raise Failure(f"{self.name} did not say its port but '{line}'{self.last_words(log)}")
            self.port = int(line)

    def line(self, patience=30):
        """The next line that it prints; empty when none came in so many seconds, or when it ended."""
        if not select.select([self.process.stdout], [], [], patience)[0]:
            return ""
        return self.process.stdout.readline().decode(errors="replace").strip()

    @staticmethod
    def last_words(log):
        if not log:
            return ""
        with open(log, "rb") as file:
            words = file.read()[-400:].decode(errors="replace").strip()
        return f"; it said: {words}" if words else ""

    def stop(self, patience=0.0):
        """With patience: closes its input and waits so many seconds; then ends it at once."""
        if self.process.poll() is None and patience > 0:
            self.process.stdin.close()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            if stream and not stream.closed:
                stream.close()
        if self.log is not subprocess.DEVNULL:
            self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def cpu_seconds(pids):
    """User and system time of processes, from fields 14 and 15 of /proc/PID/stat (proc(5)); the name in field 2 may hold blanks."""
    total = 0.0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def run(command, *, timeout, environment=None, folder=None):
    """Runs a program to its end and returns what it printed and the CPU seconds that it used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False, cwd=folder,
            env=dict(os.environ, **(environment or {})))
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{os.path.basename(command[0])} took longer than {timeout:.0f} s") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        words = (done.stderr.decode(errors="replace").strip() or output.strip())[-600:]
        raise Failure(f"{os.path.basename(command[0])} failed with status {done.returncode}: {words}")
    return output, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"waited in vain until {what}")
        time.sleep(0.02)
