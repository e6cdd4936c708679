import Clocks
import ContractRuntime
import Contracts
import Faults
import Foundation
import Logging
import NIOPosix
import Rpc
import Storage
import Synchronization
import Testing
import Transport
import UnixSignals

@testable import ServiceKit

@Suite("A program's parts together")
struct ServiceEnvironmentTests {
    private let folder: Folder
    private let lines = LogLines()

    init() throws {
        folder = try Folder()
        try folder.makePki(["alpha", "gateway", "stranger"])
    }

    private func environment(
        rpcPort: UInt16 = 0, debugPort: UInt16 = 0, stopDelay: Int = 0, drain: Int = 5, storage: String? = nil
    ) throws -> ServiceEnvironment<NoSettings> {
        let settings = """
            {
              "listen": {"address": "127.0.0.1", "port": \(rpcPort)}, "debug": {"address": "127.0.0.1", "port": \(debugPort)},
              "tls": {"certificate": "alpha.crt", "key": "alpha.key", "trustAnchors": "ca.crt"},
              "allow": {"boxoffice.platform.v1.Health": ["gateway.boxoffice"], "boxoffice.platform.v1.Diagnostics": ["gateway.boxoffice"]},
              "data": "data", "limits": {"drainSeconds": \(drain), "stopDelaySeconds": \(stopDelay)}\(storage.map { ", \"storage\": \($0)" } ?? "")
            }
            """
        try folder.write(settings, to: "config.json")
        let file = folder.path + "/config.json"
        return try ServiceEnvironment(
            name: "alpha", document: SettingsReader.read(NoSettings.self, section: "alpha", file: file),
            files: SettingsFiles(settingsFile: file), logger: lines.logger("alpha"), clock: SystemClock(), metrics: PrometheusMetrics())
    }

    /// Runs the program while the body runs, then ends it and waits for its end.
    private func running(_ environment: ServiceEnvironment<NoSettings>, _ body: (RpcAddress) async throws -> Void) async throws {
        let program = Task { try await environment.serve(stoppedBy: []) }
        let outcome: Result<Void, any Error>
        do {
            try await listening()
            outcome = .success(try await body(try #require(lines.field("address", of: "rpc.listening").flatMap { RpcAddress($0) })))
        } catch {
            outcome = .failure(error)
        }
        program.cancel()
        _ = await program.result
        try outcome.get()
    }

    private func listening() async throws {
        try await eventually("listening") {
            lines.field("address", of: "rpc.listening") != nil && lines.field("port", of: "debug.listening") != nil
        }
    }

    private func client(_ name: String, _ address: RpcAddress) throws -> RpcClient {
        RpcClient(
            configuration: .init(addresses: [address], peerName: "alpha.boxoffice", identity: try folder.identity(name), software: "test"),
            group: MultiThreadedEventLoopGroup.singleton, logger: lines.logger("client"))
    }

    @Test("serves over TLS; its health follows its readiness")
    func healthFollowsReadiness() async throws {
        let environment = try environment()
        let obstacle = Obstacle("warming up")
        environment.readiness.require("engine") { obstacle.text }
        try await running(environment) { address in
            let client = try client("gateway", address)
            let health = HealthClient(caller: client)
            try await eventually("says why") {
                let report = try await health.check(CheckHealthRequest(), context: CallContext())
                return report.status == .notServing && report.reason == "engine: warming up"
            }
            obstacle.clear()
            try await eventually("serving") { try await health.check(CheckHealthRequest(), context: CallContext()).status == .serving }
            await client.shutDown()
        }
    }

    /// A program that calls `alpha` there, and offers nothing.
    private func caller(of address: RpcAddress) throws -> ServiceEnvironment<NoSettings> {
        let settings = """
            {
              "debug": {"address": "127.0.0.1", "port": 0}, "tls": {"certificate": "gateway.crt", "key": "gateway.key", "trustAnchors": "ca.crt"},
              "peers": {"alpha": {"addresses": ["\(address)"], "name": "alpha.boxoffice"}}
            }
            """
        try folder.write(settings, to: "caller.json")
        let file = folder.path + "/caller.json"
        return try ServiceEnvironment(
            name: "caller", document: SettingsReader.read(NoSettings.self, section: "caller", file: file),
            files: SettingsFiles(settingsFile: file), logger: lines.logger("caller"), clock: SystemClock(), metrics: PrometheusMetrics())
    }

    @Test("a program whose peer cannot work is ready, says which one, and its metrics tell it without a call")
    func peersCannotWork() async throws {
        let environment = try environment()
        let obstacle = Obstacle("its database is away")
        environment.readiness.require("storage") { obstacle.text }
        try await running(environment) { address in
            let caller = try caller(of: address)
            _ = try caller.peer("alpha")
            func tells(_ lines: [String]) -> Bool { lines.allSatisfy { caller.metrics.text().contains($0 + "\n") } }
            // Connected, and it has said how it is.
            try await eventually("the peer is there") { lines.field("address", of: "rpc.connected") != nil }
            try await eventually("it says so") { caller.readiness.degraded == ["alpha: no copy serves"] }
            #expect(caller.readiness.lacking.isEmpty)
            #expect(tells([#"boxoffice_peer_serving_copies{peer="alpha.boxoffice"} 0.0"#, "boxoffice_ready 1.0"]))
            #expect(environment.metrics.text().contains(#"boxoffice_not_ready{part="storage"} 1.0"#))
            obstacle.clear()
            try await eventually("it serves") { caller.readiness.degraded.isEmpty }
            #expect(tells([#"boxoffice_peer_serving_copies{peer="alpha.boxoffice"} 1.0"#]))
            #expect(environment.metrics.text().contains("boxoffice_ready 1.0"))
        }
    }

    @Test("a caller that is not on the list is refused")
    func refusesStranger() async throws {
        try await running(try environment()) { address in
            let client = try client("stranger", address)
            let fault = await #expect(throws: Fault.self) {
                try await DiagnosticsClient(caller: client).echo(EchoMessage(), context: CallContext())
            }
            #expect(fault?.code == .permissionDenied)
            await client.shutDown()
        }
    }

    @Test("a signal stops the parts in the opposite order of their start, the store last")
    func stopsInOrder() async throws {
        let environment = try environment()
        let steps = Steps()
        let store = try await environment.openStore(migrations: [Migration("1", sql: "CREATE TABLE t (x INTEGER)")])
        environment.onStopping { steps.add("farewell") }
        environment.onStop {
            let isOpen = (try? await store.read { try $0.value("SELECT count(*) FROM t") as Int? }) == 0
            steps.add(isOpen ? "stop with open store" : "stop with closed store")
        }
        environment.background("work") {
            do { try await Task.sleep(for: .seconds(3600)) } catch { steps.add("work ended") }
        }
        signal(SIGUSR2, SIG_IGN)  // one that comes before it is trapped must not end the test process
        let program = Task { try await environment.serve(stoppedBy: [.sigusr2]) }
        try await listening()
        kill(getpid(), SIGUSR2)
        try await program.value
        #expect(steps.all == ["farewell", "work ended", "stop with open store"])
        let fault = await #expect(throws: Fault.self) { try await store.write { try $0.run("DELETE FROM t") } }
        #expect(fault?.code == .unavailable)
        #expect(!environment.readiness.lacking.isEmpty)
    }

    @Test("a program that waits before it stops says at once that it is not ready, and goes on to serve")
    func waitsBeforeItStops() async throws {
        let environment = try environment(stopDelay: 2)
        let steps = Steps()
        environment.onStopping { steps.add("farewell") }
        signal(SIGUSR1, SIG_IGN)
        let program = Task { try await environment.serve(stoppedBy: [.sigusr1]) }
        try await listening()
        let address = try #require(lines.field("address", of: "rpc.listening").flatMap { RpcAddress($0) })
        let client = try client("gateway", address)
        let health = HealthClient(caller: client)
        try await eventually("serving") { try await health.check(CheckHealthRequest(), context: CallContext()).status == .serving }
        let begun = ContinuousClock.now
        kill(getpid(), SIGUSR1)
        try await eventually("not serving") { try await health.check(CheckHealthRequest(), context: CallContext()).status == .notServing }
        #expect(environment.readiness.lacking == ["program: is stopping"])
        #expect(steps.all.isEmpty, "streams go on")
        let second = try self.client("gateway", address)
        _ = try await DiagnosticsClient(caller: second).echo(EchoMessage(content: [1]), context: CallContext())
        for client in [client, second] { await client.shutDown() }
        try await program.value
        #expect(begun.duration(to: .now) >= .seconds(2))
        #expect(steps.all == ["farewell"])
    }

    @Test("work that is done while the program stops disturbs nothing")
    func endsBeforeItsTurn() async throws {
        let environment = try environment()
        let steps = Steps()
        let (done, finish) = AsyncStream<Void>.makeStream()
        let (ended, tell) = AsyncStream<Void>.makeStream()
        environment.background("short") {
            for await _ in done {}
            tell.finish()
        }
        environment.background("long") {
            do { try await Task.sleep(for: .seconds(3600)) } catch { steps.add("long ended") }
        }
        environment.onStopping {
            finish.finish()
            for await _ in ended {}
            // Long enough for the group to hear that a part has ended before its turn.
            try? await Task.sleep(for: .milliseconds(100))
            steps.add("farewell")
        }
        signal(SIGWINCH, SIG_IGN)
        let program = Task { try await environment.serve(stoppedBy: [.sigwinch]) }
        try await listening()
        kill(getpid(), SIGWINCH)
        try await program.value
        #expect(steps.all == ["farewell", "long ended"])
    }

    @Test("a busy port ends the program with one line", arguments: ["listen", "debug"])
    func busyPort(key: String) async throws {
        try await running(try environment()) { address in
            let debugPort = try #require(lines.field("port", of: "debug.listening").flatMap { UInt16($0) })
            let taken = key == "listen" ? UInt16(address.port) : debugPort
            let second = try environment(rpcPort: key == "listen" ? taken : 0, debugPort: key == "debug" ? taken : 0)
            let failure = await #expect(throws: StartFailure.self) { try await second.serve(stoppedBy: []) }
            let reason = "the port is in use; stop its owner or choose another port"
            #expect(failure?.lines == ["\(key): cannot listen on 127.0.0.1:\(taken): \(reason)"])
        }
    }

    @Test("a peer that the settings do not name is a failure that names the key")
    func missingPeer() throws {
        let environment = try environment()
        let failure = #expect(throws: StartFailure.self) { try environment.peer("config") }
        #expect(failure?.lines.first?.contains("config.json: peers.config is missing") == true)
    }

    @Test("an unusable key file is a failure that names it")
    func unusableKey() throws {
        try folder.write("no key", to: "alpha.key")
        let failure = #expect(throws: StartFailure.self) { try environment() }
        #expect(failure?.lines.count == 1)
        #expect(failure?.lines.first?.contains("alpha.key") == true)
    }

    @Test("a broken store file is a failure that names it")
    func brokenStore() async throws {
        let environment = try environment()
        try FileManager.default.createDirectory(atPath: folder.path + "/data", withIntermediateDirectories: true)
        try folder.write(String(repeating: "x", count: 5000), to: "data/alpha.sqlite")
        let failure = await #expect(throws: StartFailure.self) { try await environment.openStore(migrations: []) }
        #expect(failure?.lines.first?.contains("data/alpha.sqlite") == true && failure?.exitStatus == 1)
    }

    @Test("while a program is built its health answers, it is not ready, nothing else listens; then it is")
    func isBuiltBehindItsHealth() async throws {
        let environment = try environment()
        let (built, finish) = AsyncStream<Void>.makeStream()
        let program = Task {
            try await environment.serve(stoppedBy: []) {
                environment.readiness.count(only: "rpc")
                for await _ in built {}
            }
        }
        try await eventually("health") { lines.field("port", of: "debug.listening") != nil }
        let port = try #require(lines.field("port", of: "debug.listening").flatMap { Int($0) })
        #expect(try await ask("/healthz", port: port) == (200, "ok\n"))
        #expect(try await ask("/readyz", port: port) == (503, "start: is under way\n"))
        #expect(lines.field("port", of: "rpc.listening") == nil)
        finish.finish()
        try await eventually("ready") { try await ask("/readyz", port: port) == (200, "ready\n") }
        #expect(lines.field("address", of: "rpc.listening") != nil)
        program.cancel()
        _ = await program.result
    }

    @Test("a signal ends a program that waits for its store, at once and in order")
    func endsWhileItWaits() async throws {
        let environment = try environment(storage: #"{"engine": "postgres", "hosts": ["127.0.0.1:1"]}"#)
        signal(SIGALRM, SIG_IGN)
        let program = Task {
            try await environment.serve(stoppedBy: [.sigalrm]) { _ = try await environment.openStore(migrations: [], postgres: []) }
        }
        try await eventually("it waits") { environment.readiness.lacking.contains { $0.hasPrefix("storage: waiting: cannot be reached") } }
        kill(getpid(), SIGALRM)
        try await program.value
        #expect(environment.readiness.lacking == ["program: is stopping"])
        #expect(lines.all.contains { $0.contains("program.stopped") } && lines.field("address", of: "rpc.listening") == nil)
    }

    @Test("systemd hears that a program stops and how long that may take, and a stop that takes longer is told")
    func limitOfAStop() async throws {
        let socket = try NotifySocket(folder.path + "/notify")
        let environment = try environment(stopDelay: 1, drain: 1)
        let (told, tell) = AsyncStream<Duration>.makeStream()
        let steps = Steps()
        environment.onStop {
            // Takes no notice of being cancelled.
            await Task.detached { for await _ in told { break } }.value
            steps.add("ended")
        }
        signal(SIGQUIT, SIG_IGN)
        let program = Task {
            try await environment.serve(stoppedBy: [.sigquit], toldTo: socket.manager, overdue: { tell.yield($0) })
        }
        try await listening()
        try await eventually("it is watched") { socket.take() == ["WATCHDOG_USEC=30000000"] }
        let begun = ContinuousClock.now
        kill(getpid(), SIGQUIT)
        try await eventually("it is told") { socket.take() == ["STOPPING=1\nEXTEND_TIMEOUT_USEC=9000000"] }
        _ = await program.result
        #expect(steps.all == ["ended"] && begun.duration(to: .now) >= .seconds(7) && environment.stopLimit == .seconds(7))
        environment.drains(within: .seconds(20))
        #expect(environment.stopLimit == .seconds(26))
    }

    @Test("what a build throws ends the program, and a port that somebody has is found before anything is built")
    func failsToBuild() async throws {
        struct Broken: Error {}
        let first = try environment()
        await #expect(throws: Broken.self) { try await first.serve(stoppedBy: []) { throw Broken() } }
        try await running(try environment()) { _ in
            let taken = try #require(lines.fields("port", of: "debug.listening").last.flatMap { UInt16($0) })
            let second = try environment(debugPort: taken)
            let steps = Steps()
            await #expect(throws: StartFailure.self) { try await second.serve(stoppedBy: []) { steps.add("built") } }
            #expect(steps.all.isEmpty)
        }
    }

    @Test("background work that fails ends the program with its error")
    func failingWork() async throws {
        struct Broken: Error {}
        let environment = try environment()
        environment.background("broken") { throw Broken() }
        await #expect(throws: Broken.self) { try await environment.serve(stoppedBy: []) }
    }
}

/// The obstacle that keeps a part from being ready.
private final class Obstacle: Sendable {
    private let state: Mutex<String?>

    init(_ text: String) { state = Mutex(text) }

    var text: String? { state.withLock { $0 } }
    func clear() { state.withLock { $0 = nil } }
}

/// The events, in order.
private final class Steps: Sendable {
    private let state = Mutex<[String]>([])

    var all: [String] { state.withLock { $0 } }
    func add(_ step: String) { state.withLock { $0.append(step) } }
}
