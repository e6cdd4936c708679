"""Faults of certificates and of the catalogue."""

import os
import signal
import subprocess

from cluster import faketime
from faults import RESTART, fault, needs_faketime


def few_days(stage, days, name="short"):
    """A certificate of the gateway's address that ends in so many days."""
    certificate, key = stage.folder / f"{name}.crt", stage.folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(days), "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


def long_certificate(stage):
    certificate, key = few_days(stage, 300)
    return ["--tls-certificate", str(certificate), "--tls-key", str(key)]


@fault(
    "a certificate near its end", {"BoxofficeCertificateEnds": {"service": "gateway", "certificate": "https"}, "BoxofficeCertificateEndsSoon": {"service": "gateway", "certificate": "https"}},
    ends={"BoxofficeCertificateEnds", "BoxofficeCertificateEndsSoon"}, also=RESTART, prepare=long_certificate)
def certificate_ends(stage):
    def put(days):
        """A program that runs reads its certificates anew each hour for this, one that starts at once."""
        certificate, key = few_days(stage, days, "next")
        os.replace(key, stage.folder / "short.key")
        os.replace(certificate, stage.folder / "short.crt")
        stage.cluster.kill("gateway", signal.SIGTERM)
        stage.cluster.up("--tls-certificate", str(stage.folder / "short.crt"), "--tls-key", str(stage.folder / "short.key"))

    put(20)
    stage.fires("BoxofficeCertificateEnds", {"certificate": "https"}, 40)
    assert not stage.fires_now("BoxofficeCertificateEndsSoon"), "20 days are not soon"
    put(5)
    yield
    put(300)


@fault("a certificate that does not fit its key", {"BoxofficeCertificateRefused": {"certificate": "https"}}, ends={"BoxofficeCertificateRefused"}, prepare=long_certificate)
def certificate_refused(stage):
    kept = (stage.folder / "short.crt").read_bytes()
    few_days(stage, 300, "other")
    os.replace(stage.folder / "other.crt", stage.folder / "short.crt")
    yield
    (stage.folder / "kept.crt").write_bytes(kept)
    os.replace(stage.folder / "kept.crt", stage.folder / "short.crt")


@fault("strangers at the wire", {"BoxofficeStrangersAtTheWire": {"service": "authentication"}})
def strangers(stage):
    address = stage.cluster.file["services"]["authentication"]["address"]

    def call():
        # They have no certificate.
        subprocess.run(["openssl", "s_client", "-connect", address, "-brief"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)

    call()
    stage.scraped()
    for _ in range(15):
        call()
    yield


@fault("a catalogue with mistakes", {"BoxofficeCatalogueRefused": {"service": "config"}})
def catalogue_refused(stage):
    stage.cluster.catalogue(lambda catalogue: catalogue["requestors"].append({"id": 1}))
    yield


@fault("a catalogue with a certificate that has ended", {"BoxofficeCatalogueWarns": {"service": "config"}}, also={"BoxofficeCertificateEnds", "BoxofficeCertificateEndsSoon"}, obstacle=needs_faketime)
def catalogue_warns(stage):
    former = stage.folder / "former.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=former", "-keyout", str(stage.folder / "former.key"), "-out", str(former)],
        check=True, capture_output=True, env=os.environ | {"LD_PRELOAD": faketime(), "FAKETIME": "-400d"})

    def add(catalogue):
        next(mvpd for mvpd in catalogue["mvpds"] if mvpd["id"] == "NorthCable")["saml"]["signingCertificates"].append({"file": str(former)})

    stage.cluster.catalogue(add)
    yield


@fault("config is away", {"BoxofficeCatalogueNotFollowed": {"service": "authorization"}}, ends={"BoxofficeCatalogueNotFollowed"}, also=RESTART)
def config_away(stage):
    stage.cluster.kill("config")
    yield
    stage.cluster.up()


@fault(
    "a service that does not find config", {"BoxofficeCataloguesDiffer": {}, "BoxofficeCatalogueNotFollowed": {"service": "authorization"}},
    ends={"BoxofficeCataloguesDiffer", "BoxofficeCatalogueNotFollowed"}, also=RESTART)
def catalogues_differ(stage):
    peers = []

    def elsewhere(settings):
        peers.append(settings["peers"]["config"]["addresses"])
        settings["peers"]["config"]["addresses"] = ["127.0.0.1:9"]

    def back(settings):
        settings["peers"]["config"]["addresses"] = peers[0]

    stage.cluster.settings("authorization", elsewhere)
    stage.cluster.kill("authorization", signal.SIGTERM)
    stage.cluster.up()
    stage.cluster.catalogue(lambda catalogue: catalogue["requestors"][0].update(name="Another name"))
    yield
    stage.cluster.settings("authorization", back)
    stage.cluster.kill("authorization", signal.SIGTERM)
    stage.cluster.up()


def proxy(stage):
    """LakeTel keeps a list of MVPDs behind it."""
    stage.cluster.up()
    stage.cluster.down()
    token = stage.folder / "proxy.token"
    token.write_text("p" * 40)
    token.chmod(0o600)
    stage.cluster.settings(
        "config", lambda settings: settings["config"]["administrators"].append({"name": "lake-proxy", "role": "proxy", "mvpd": "LakeTel", "tokenFile": str(token)}))
    stage.cluster.settings("gateway", lambda settings: settings["gateway"].update(mvpdProxyAddresses=["127.0.0.1/32"]))
    return []


@fault("a proxy whose list was cut off", {"BoxofficeProxiedMvpdsDropped": {"proxy": "LakeTel"}}, prepare=proxy)
def list_cut_off(stage):
    def send(count):
        towns = "".join(f"<proxiedMvpd><id>Town{number}</id><displayName>Town {number}</displayName><logoURL></logoURL></proxiedMvpd>" for number in range(count))
        status, body = stage.cluster.call(
            "POST", "/control/v3/mvpd-proxies/LakeTel/mvpds", {"Authorization": "Bearer " + "p" * 40}, form={"proxied-mvpds": f"<proxiedMvpds>{towns}</proxiedMvpds>"})
        assert status == 201, (status, body)

    send(6)
    stage.scraped()
    send(2)
    yield
