"""Throwaway keys and certificates, of the kind that Boxoffice has: ECDSA on P-256."""

import pathlib

from processes import run

SERVER = "benchmark-server.boxoffice"
CLIENT = "benchmark-client.boxoffice"
# Ours has this cipher alone. OpenSSL would choose AES-256 otherwise; the libraries of Go and Swift choose this one by themselves.
CIPHER = "TLS_AES_128_GCM_SHA256"


class Identities:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.anchors = self.folder / "ca.crt"
        authority = self.folder / "ca.key"
        self._key(authority)
        self._openssl(
            "req", "-x509", "-new", "-key", authority, "-subj", "/CN=benchmark", "-days", "2", "-out", self.anchors,
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        for name in (SERVER, CLIENT):
            self._issue(name, authority)
        (self.folder / "openssl.cnf").write_text(
            "openssl_conf = start\n[start]\nssl_conf = tls\n[tls]\nsystem_default = all\n"
            f"[all]\nMinProtocol = TLSv1.3\nCiphersuites = {CIPHER}\n")
        self.environment = {"OPENSSL_CONF": str(self.folder / "openssl.cnf")}

    @staticmethod
    def _openssl(*words):
        run(["openssl", *(str(word) for word in words)], timeout=30)

    def _key(self, path):
        self._openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)

    def _issue(self, name, authority):
        key, request, extensions = (self.folder / f"{name}.{suffix}" for suffix in ("key", "csr", "ext"))
        extensions.write_text(
            f"subjectAltName = DNS:{name}\nbasicConstraints = critical,CA:FALSE\nkeyUsage = critical,digitalSignature\n"
            "extendedKeyUsage = serverAuth,clientAuth\n")
        self._key(key)
        self._openssl("req", "-new", "-key", key, "-subj", "/CN=benchmark", "-out", request)
        self._openssl(
            "x509", "-req", "-in", request, "-CA", self.anchors, "-CAkey", authority, "-days", "2", "-set_serial", "1" if name == SERVER else "2",
            "-extfile", extensions, "-out", self.certificate(name))

    def certificate(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    def files(self, name):
        """Certificate, key and trust anchors, as programs of ours take them."""
        return [str(self.certificate(name)), str(self.key(name)), str(self.anchors)]
