@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// Our side of a bridge is killed at each step of a sign-in and a play, and at random moments. What was acknowledged stays, but for a media token that waits;
/// upstream is left one registration and one session that nobody uses for each kill, at most (bridge §4.2, §9.1).
@Suite("Killing our side of the bridge", .serialized, .bridge)
struct BridgeKillTests {
    /// What a viewer does when a service dies, and the call upstream that is under way then.
    enum Step: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case register, token, create, comeBack, adopt, decide, logout

        var testDescription: String { rawValue }

        var operation: String {
            switch self {
            case .register: "register"
            case .token: "token"
            case .create: "createSession"
            case .comeBack, .adopt: "profileByCode"
            case .decide: "authorize"
            case .logout: "logout"
            }
        }

        /// Of `adopt` upstream has told everything, and our side is about to store it.
        var fault: [String: Any] { self == .adopt ? ["kind": "delay", "milliseconds": 1] : ["kind": "applyThenHang"] }
    }

    private static let isLong = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1"
    /// Repeats a run of random moments: it is in the message of each failure.
    private static let seed = ProcessInfo.processInfo.environment["BOXOFFICE_TEST_SEED"].flatMap { UInt64($0) } ?? 57
    private static let moments = isLong ? 100 : 2

    /// Beside others, on the build for development.
    private static let patient = Duration.seconds(20)

    /// A step, and how many copies there are of each service. With one copy it is the same code, after a start: some steps of it in each run.
    private static let cases: [(copies: Int, step: Step)] =
        (isLong ? Step.allCases : [.register, .adopt, .logout]).map { (1, $0) } + Step.allCases.map { (2, $0) }

    @Test("a kill at each step costs nothing that was acknowledged", arguments: cases)
    func survivesKill(copies: Int, at step: Step) async throws {
        _ = try await kill(at: step, copies)
    }

    @Test(
        "after a kill the next call works within a second, or within one after the start of the only copy", .tags(.timing), .onReleasePrograms,
        arguments: [1, 2], [Step.register, .create, .decide])
    func healsQuickly(copies: Int, after step: Step) async throws {
        let healing = try await kill(at: step, copies)
        let bound = (copies == 2 ? .zero : healing.start) + .seconds(1)
        #expect(healing.time <= bound, "it worked again after \(Console.text(of: healing.time)); the start took \(Console.text(of: healing.start))")
    }

    @Test("kills at random moments lose nothing either", arguments: [1, 2])
    func survivesRandomKills(copies: Int) async throws {
        let world = try await KilledWorld.prepare(copies)
        var random = Seeded(state: Self.seed &+ UInt64(copies))
        for moment in 0..<Self.moments {
            async let first: Void = world.watch()
            async let second: Void = world.watch()
            try await Task.sleep(for: .milliseconds(Int64.random(in: 0...600, using: &random)))
            let victim = try world.victims().randomElement(using: &random)
            try await world.kill(try #require(victim))
            do {
                _ = try await (first, second)
            } catch {
                Issue.record("moment \(moment) of seed \(Self.seed): \(error)")
                throw error
            }
            try await world.started()
        }
        try await world.audit()
    }

    /// - Returns: The time from the kill until the step was done, and the time that the start took.
    private func kill(at step: Step, _ copies: Int) async throws -> (time: Duration, start: Duration) {
        let world = try await KilledWorld.prepare(copies)
        let viewer = try await world.viewer()
        let steps = viewer.journey
        let at = viewer.index(of: step)
        for number in 0..<at { try await world.until(steps[number]) }
        try await world.upstream.fail(step.operation, step.fault.merging(["times": 1]) { $1 })
        let number = try await world.upstream.entries().last?.number ?? 0
        let doing = Task { try await world.until(steps[at]) }
        var port = 0
        try await Condition.wait("upstream is asked to \(step.operation)", within: Self.patient) {
            port = try await world.upstream.entries(step.operation, after: number).last?.port ?? 0
            return port > 0
        }
        try await world.kill(try world.holder(of: port))
        let done = try await doing.value
        let start = try await world.started()
        for step in steps[(at + 1)...] { try await world.until(step) }
        try await viewer.checkEnd()
        try await world.audit()
        return (done - world.lastKill, start)
    }

    /// A generator whose numbers can be had again (SplitMix64).
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}

/// A bridge whose programs are killed and started again, and what its viewers were told.
final class KilledWorld: Sendable {
    /// Why a viewer's call failed in a way that a kill does not excuse.
    struct Loss: Error, CustomStringConvertible {
        let description: String
    }

    let cluster: TestCluster
    let upstream: StandInUpstream
    private let starter: ClusterStarter
    private let bearer: String
    private let state = Mutex(State())

    /// What happened so far.
    private struct State {
        var devices: [Device] = []
        var signedIn: Set<String> = []
        var starts = 0
        var kills = 0
        var lastKill = ContinuousClock.now
        var starting: Task<Duration, any Error>?
    }

    private init(_ cluster: TestCluster, _ upstream: StandInUpstream, _ starter: ClusterStarter, bearer: String) {
        (self.cluster, self.upstream, self.starter, self.bearer) = (cluster, upstream, starter, bearer)
    }

    static func prepare(_ copies: Int) async throws -> KilledWorld {
        let cluster = try TestCluster.running()
        var starter = cluster.starter
        starter.copies = copies
        _ = try await starter.start()
        let upstream = try StandInUpstream.running()
        try await upstream.comeBack()
        let world = KilledWorld(cluster, upstream, starter, bearer: try await Client.register("acme-tv").accessToken())
        // The clients of the lists are there before anything is counted.
        let viewer = try await world.viewer()
        try await viewer.walk()
        try await upstream.forgetCalls()
        world.forget()
        return world
    }

    private func forget() { state.withLock { $0 = State() } }

    var lastKill: ContinuousClock.Instant { state.withLock { $0.lastKill } }

    /// One with a new device.
    func viewer() async throws -> Viewer {
        let device = Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: bearer)
        let code = try await retried("a code is made") {
            let answer = try await device.requestCode()
            guard answer.status == 201, let code = answer.object["code"] as? String else {
                if [502, 503, 504].contains(answer.status) { throw CommandFailure("\(answer.status)") }
                throw Loss(description: "\(answer.status) \(answer.text)")
            }
            return code
        }
        state.withLock { $0.devices.append(device) }
        return Viewer(world: self, device: device, code: code)
    }

    func noteStart() { state.withLock { $0.starts += 1 } }

    func note(_ device: Device, isSignedIn: Bool) {
        state.withLock { state in
            guard isSignedIn else {
                state.signedIn.remove(device.id)
                return
            }
            state.signedIn.insert(device.id)
        }
    }

    /// A viewer's whole journey, whatever dies meanwhile.
    func watch() async throws {
        try await viewer().walk()
    }

    // MARK: Deaths

    /// The processes that may die; upstream is no part of ours.
    func victims() throws -> [ServiceProcess] {
        try #require(try ClusterFile.read(cluster.home)).processes.filter {
            [.authentication, .authorization, .gateway, .config].contains($0.service) && $0.isRunning
        }
        .sorted { ($0.service.rawValue, $0.number) < ($1.service.rawValue, $1.number) }
    }

    /// The copy of authentication whose connection to upstream has that source port.
    func holder(of port: Int) throws -> ServiceProcess {
        let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
        let local = String(format: "0100007F:%04X", port)
        let sockets = table.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count > 9 && $0[1] == local }.map {
            "socket:[\($0[9])]"
        }
        for process in try victims() where process.service == .authentication {
            let folder = "/proc/\(process.pid)/fd"
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else { continue }
                if sockets.contains(target) { return process }
            }
        }
        throw Loss(description: "no copy of authentication has the connection of port \(port)")
    }

    /// Kills a process, and begins to start it again.
    func kill(_ process: ServiceProcess) async throws {
        process.signal(SIGKILL)
        let moment = ContinuousClock.now
        state.withLock { state in
            state.lastKill = moment
            state.kills += 1
        }
        try await Condition.wait("\(process.service.rawValue) is gone") { !process.isRunning }
        let starter = starter
        let starting = Task {
            _ = try await starter.start()
            return ContinuousClock.now - moment
        }
        state.withLock { $0.starting = starting }
    }

    /// - Returns: The time from the kill until everything ran again.
    @discardableResult
    func started() async throws -> Duration {
        guard let starting = state.withLock({ $0.starting }) else { return .zero }
        return try await starting.value
    }

    // MARK: Viewers

    /// Does a step until it is done.
    /// - Returns: When it was.
    @discardableResult
    func until(_ step: Viewer.Action) async throws -> ContinuousClock.Instant {
        try await retried(step.name, step.act)
        return .now
    }

    /// What dies answers nobody, or 503 by others' mouths: it is asked again, as apps do. Everything else is final.
    private func retried<Value>(_ name: String, _ act: @Sendable () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            do {
                return try await act()
            } catch let loss as Loss {
                throw Loss(description: "\(name): \(loss)")
            } catch {
                guard ContinuousClock.now < end else { throw Loss(description: "\(name) in vain for 20 s: \(error)") }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    // MARK: What is left

    /// Each device is at upstream what it is here, and nothing was asked more often than kills explain.
    func audit() async throws {
        let (devices, signedIn, starts, kills) = state.withLock { ($0.devices, $0.signedIn, $0.starts, $0.kills) }
        for device in devices {
            let isSignedIn = signedIn.contains(device.id)
            let status = try await retried("the audit") {
                let status = try await device.checkAuthn()
                guard status != 503 else { throw CommandFailure("it is away") }
                return status
            }
            #expect(status == (isSignedIn ? 200 : 403), "\(device.id)")
            // A logout that the dead one did not tell is told by others.
            try await Condition.wait("upstream has \(isSignedIn ? "a" : "no") profile of \(device.id)", within: .seconds(20)) {
                let profiles = try await upstream.control("GET", "profiles?device=\(device.id)").text
                return profiles.contains(device.id) == isSignedIn
            }
        }
        let counts = try await upstream.counts()
        #expect(counts["register"] ?? 0 <= devices.count + kills, "\(counts), \(devices.count) devices, \(kills) kills")
        #expect(counts["createSession"] ?? 0 <= starts + kills, "\(counts), \(starts) starts, \(kills) kills")
    }
}

/// A device and its person, who do the same again when an answer says that they may.
struct Viewer: Sendable {
    struct Action: Sendable {
        let name: String
        let act: @Sendable () async throws -> Void
    }

    let world: KilledWorld
    let device: Device
    let code: String
    private let place = Place()

    /// Where the person is in the browser.
    private actor Place {
        private(set) var address = ""

        func go(to address: String) { self.address = address }
    }

    init(world: KilledWorld, device: Device, code: String) { (self.world, self.device, self.code) = (world, device, code) }

    /// - Throws: `CommandFailure` for an answer after which the call is made again; `Loss` for any other that is not expected.
    private func expect(_ answer: HTTPAnswer, _ statuses: Int...) throws {
        if statuses.contains(answer.status) { return }
        guard [502, 503, 504, 429].contains(answer.status) else { throw KilledWorld.Loss(description: "\(answer.status) \(answer.text.prefix(300))") }
        throw CommandFailure("\(answer.status) \(answer.text.prefix(300))")
    }

    var journey: [Action] {
        [
            Action(name: "the sign-in begins") {
                let begun = try await device.authenticate(code, mvpd: "CoastCable")
                try expect(begun, 302)
                world.noteStart()
                guard let address = begun.header("location") else { throw KilledWorld.Loss(description: "no address") }
                await place.go(to: address)
            },
            Action(name: "the person signs in upstream") {
                let back = try await world.upstream.signIn(at: await place.address)
                guard let address = back.header("location"), address.contains("/bridge/return/") else {
                    throw KilledWorld.Loss(description: "\(back.status) \(back.text.prefix(300))")
                }
                await place.go(to: address)
            },
            Action(name: "the browser comes back") {
                let answer = try await device.cluster.exchange.send("GET", await place.address)
                try expect(answer, 302)
                guard answer.header("location") == device.end else {
                    throw KilledWorld.Loss(description: "it is led to \(answer.header("location") ?? "")")
                }
            },
            Action(name: "the device is signed in") {
                try expect(try await device.get("/api/v1/checkauthn"), 200)
                world.note(device, isSignedIn: true)
            },
            Action(name: "it may play") { try expect(try await device.authorize("ACME1-NEWS"), 200) },
            Action(name: "it has a media token") { try expect(try await device.mediaToken("ACME1-NEWS"), 200) },
            Action(name: "it has another one") { try expect(try await device.mediaToken("ACME1-NEWS"), 200) },
            Action(name: "it signs out") {
                try expect(try await device.cluster.send(device.call("/api/v1/logout", method: "DELETE")), 204)
                world.note(device, isSignedIn: false)
            },
        ]
    }

    /// Where in the journey a step is done.
    func index(of step: BridgeKillTests.Step) -> Int {
        switch step {
        case .register, .token, .create: 0
        case .comeBack, .adopt: 2
        case .decide: 4
        case .logout: 7
        }
    }

    func walk() async throws {
        for step in journey { try await world.until(step) }
        try await checkEnd()
    }

    /// Nobody is signed in again after the logout.
    func checkEnd() async throws {
        try await world.until(Action(name: "nobody is signed in") { try expect(try await device.get("/api/v1/checkauthn"), 403) })
    }
}
