"""Builds what is compared: ours from the package, the peers from Debian packages and the listed Swift packages."""

import os
import pathlib
import shutil
import subprocess

from processes import Failure

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
PEERS = CHECKOUT / "Tests/Benchmarks/Peers"
BENCHMARKS = CHECKOUT / "Tests/Benchmarks"
TOOLS = CHECKOUT / ".build/benchmarks"


def configuration():
    """`release`, unless BOXOFFICE_BUILD says otherwise."""
    return os.environ.get("BOXOFFICE_BUILD", "release")


class Builder:
    """Each build is made once; what failed is not tried again but fails with the same reason."""

    def __init__(self, skips):
        self.skips = skips  # builds nothing with Swift: what is there is used
        self.done = {}
        self.binaries = None
        TOOLS.mkdir(parents=True, exist_ok=True)

    def _once(self, name, build):
        if name not in self.done:
            try:
                self.done[name] = build()
            except Failure as failure:
                self.done[name] = failure
        if isinstance(self.done[name], Failure):
            raise self.done[name]
        return self.done[name]

    def _command(self, words, *, environment=None, folder=CHECKOUT):
        words = [str(word) for word in words]
        try:
            done = subprocess.run(
                words, cwd=folder, env=dict(os.environ, **(environment or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, check=False, timeout=3600)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"'{' '.join(words[:4])}' cannot be run: {error}") from error
        output = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            errors = [line for line in output.splitlines() if "error" in line.lower()] or output.splitlines()[-5:]
            raise Failure(f"'{' '.join(words[:4])}' failed: {' / '.join(errors[:4])}")
        return output

    def _say(self, text):
        print(f"building: {text}", flush=True)

    def packages(self, *names):
        def install():
            output = self._command([CHECKOUT / "Shared/Tooling/packages", *names])
            if output.strip():
                print(output.strip(), flush=True)
        self._once("packages " + " ".join(names), install)

    def ours(self, *products):
        """Programs of this package.
        :return: the folder that they are in."""
        for product in products:
            self._once(product, lambda product=product: self._product(product))
        return self._binaries()

    def _product(self, product):
        if self.skips:
            if not (self._binaries() / product).exists():
                raise Failure(f"{product} is not built, and --no-build was given")
            return
        self._say(f"{product} ({configuration()})")
        self._command(["swift", "build", "-c", configuration(), "--product", product])

    def _binaries(self):
        if self.binaries is None:
            self.binaries = pathlib.Path(self._command(["swift", "build", "-c", configuration(), "--show-bin-path"]).strip())
        return self.binaries

    def cluster(self):
        return self.ours("config", "authentication", "authorization", "autosignin", "gateway", "sandbox", "boxoffice", "gateway-benchmark")

    def c_wire(self):
        """The load on our wire and the server in C.
        :return: the folder that `load` and `server` are in."""
        def build():
            self.packages("libssl-dev", "libprotobuf-c-dev")
            contracts = CHECKOUT / "Shared/Wire/CContracts"
            self._command(["cc", "-O2", "-Wall", "-Wextra", "-o", TOOLS / "server", BENCHMARKS / "CEcho/server.c", "-lssl", "-lcrypto"])
            self._command([
                "cc", "-O2", f"-I{contracts}/include", "-o", TOOLS / "load", BENCHMARKS / "CEcho/load.c", contracts / "frame.pb-c.c",
                contracts / "platform.pb-c.c", "-lssl", "-lcrypto", "-lprotobuf-c"])
            return TOOLS
        return self._once("c wire", build)

    def http_load(self):
        def build():
            self._command(["cc", "-O2", "-Wall", "-Wextra", "-o", TOOLS / "http-load", BENCHMARKS / "CHttp/http-load.c", "-lm"])
            return TOOLS / "http-load"
        return self._once("http-load", build)

    def h2load(self):
        self.packages("nghttp2-client")
        return shutil.which("h2load")

    def grpc_cpp(self):
        """:return: the folder that `grpc-server` and `grpc-load` are in."""
        def build():
            self.packages("g++", "pkg-config", "libgrpc++-dev", "protobuf-compiler", "protobuf-compiler-grpc")
            folder = TOOLS / "cpp"
            programs = {"server": folder / "grpc-server", "load": folder / "grpc-load"}
            sources = [PEERS / "echo.proto", *(PEERS / "Cpp").iterdir()]
            if all(self._is_current(program, sources) for program in programs.values()):
                return folder
            self._say("server and load on gRPC C++ (-O2)")
            folder.mkdir(exist_ok=True)
            plugin = shutil.which("grpc_cpp_plugin")
            self._command(["protoc", f"-I{PEERS}", f"--cpp_out={folder}", f"--grpc_out={folder}", f"--plugin=protoc-gen-grpc={plugin}", "echo.proto"])
            flags = self._command(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"]).split()
            for name, program in programs.items():
                self._command([
                    "g++", "-std=c++17", "-O2", "-DNDEBUG", "-Wall", "-Wextra", f"-I{folder}", "-o", program, PEERS / f"Cpp/{name}.cc",
                    folder / "echo.pb.cc", folder / "echo.grpc.pb.cc", *flags])
            return folder
        return self._once("grpc c++", build)

    def go(self):
        """:return: the folder that `go-server` and `go-gateway` are in."""
        def build():
            self.packages(
                "golang-go", "protobuf-compiler", "golang-goprotobuf-dev", "golang-google-grpc-dev", "golang-grpc-gateway",
                "golang-github-grpc-ecosystem-grpc-gateway-dev")
            folder = TOOLS / "go"
            programs = {"server": folder / "go-server", "gateway": folder / "go-gateway"}
            sources = [PEERS / "echo.proto", *(path for path in (PEERS / "Go").rglob("*") if path.is_file())]
            if all(self._is_current(program, sources) for program in programs.values()):
                return folder
            self._say("service and gateway on grpc-go")
            generated = folder / "src/peer"
            generated.mkdir(parents=True, exist_ok=True)
            self._command([
                "protoc", f"-I{PEERS}", f"--go_out=plugins=grpc:{generated}",
                f"--grpc-gateway_out=logtostderr=true,grpc_api_configuration={PEERS}/Go/gateway.yaml:{generated}", "echo.proto"])
            variables = {"GO111MODULE": "off", "GOPATH": f"{folder}:/usr/share/gocode", "GOFLAGS": "", "GOCACHE": str(folder / "cache")}
            for name, program in programs.items():
                self._command(["go", "build", "-o", program, PEERS / f"Go/{name}/main.go"], environment=variables)
            return folder
        return self._once("go", build)

    def grpc_swift(self):
        """:return: the program."""
        def build():
            package, scratch = PEERS / "GrpcSwift", TOOLS / "grpc-swift"
            words = ["swift", "build", "-c", "release", "--package-path", package, "--scratch-path", scratch]
            program = scratch / "release/grpc-swift-peer"
            sources = [path for path in package.rglob("*.swift") if ".build" not in path.parts]
            if self._is_current(program, sources):
                return program
            if self.skips:
                raise Failure("grpc-swift-peer is not built, and --no-build was given")
            self._say("grpc-swift-2 and Hummingbird (release; the first time takes some minutes)")
            self._command(words)
            # The compiler leaves a program alone that a change of its sources did not change.
            os.utime(program)
            return program
        return self._once("grpc-swift", build)

    @staticmethod
    def _is_current(program, sources):
        return program.exists() and all(source.stat().st_mtime <= program.stat().st_mtime for source in sources)
