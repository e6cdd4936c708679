"""A Prometheus of its own, which scrapes a cluster each second."""

import json
import os
import subprocess
import time
import urllib.parse
import urllib.request

import rules


class Prometheus:
    def __init__(self, folder, port, programs):
        """Programs: {address of a debug listener: the service's name}."""
        self.folder, self.port = folder, port
        folder.mkdir()
        (folder / "alerts.yml").write_text(rules.impatient())
        groups = [{"targets": [address], "labels": {"service": service}} for address, service in programs.items()]
        # JSON is YAML. The job and the label are those of the product's prometheus.yml.
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["alerts.yml"],
            "scrape_configs": [{"job_name": "boxoffice", "static_configs": groups}]}))
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen(
            [os.environ["BOXOFFICE_PROMETHEUS"], f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 30
        while len(self.query("up == 1")) < len(programs):
            assert self.process.poll() is None, f"Prometheus ended: {(folder / 'log').read_text(errors='replace')[-1000:]}"
            assert time.monotonic() < end, f"after 30 s Prometheus scrapes {self.query('up')}"
            time.sleep(0.2)

    def query(self, expression):
        """Samples of an instant query: [(labels, value)]; none while it starts."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                result = json.load(answer)["data"]["result"]
        except OSError:
            return []
        return [({name: text for name, text in sample["metric"].items() if name != "__name__"}, float(sample["value"][1])) for sample in result]

    def firing(self):
        """The labels of each alert that fires."""
        return [labels for labels, _ in self.query('ALERTS{alertstate="firing"}')]

    def evaluations(self):
        """How often the group of rules with the most of them was evaluated."""
        url = f"http://127.0.0.1:{self.port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        counts = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("prometheus_rule_group_iterations_total{")]
        return min(counts, default=0)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()
