@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// A bridge whose programs are killed and started again, and what its viewers were told.
final class KilledWorld: Sendable {
    /// Why a viewer's call failed in a way that a kill does not excuse.
    struct Loss: Error, CustomStringConvertible {
        let description: String
    }

    let copies: Int
    let cluster: TestCluster
    let upstream: StandInUpstream
    private let starter: ClusterStarter
    private let bearer: String
    private let state = Mutex(State())
    /// How long a viewer takes when nothing dies.
    private let journey = Mutex<Int64>(0)

    /// What happened since the world was counted last.
    private struct State {
        var devices: [Device] = []
        var signedIn: Set<String> = []
        var starts = 0
        var kills = 0
        var lastKill = ContinuousClock.now
        var starting: Task<Duration, any Error>?
    }

    /// That of the last test, which goes on where it fits.
    private static let last = Mutex<KilledWorld?>(nil)

    /// One in which nothing was counted yet.
    static func with(_ copies: Int) async throws -> KilledWorld {
        let cluster = try TestCluster.running()
        let known = last.withLock { $0 }
        if let known, known.copies == copies, known.cluster.home.root == cluster.home.root {
            try await known.forget()
            return known
        }
        var starter = cluster.starter
        starter.copies = copies
        _ = try await starter.start()
        let upstream = try StandInUpstream.running()
        try await upstream.comeBack()
        let world = KilledWorld(copies, cluster, upstream, starter, bearer: try await Client.register("acme-tv").accessToken())
        // The clients of the lists are there before anything is counted.
        let begin = ContinuousClock.now
        try await world.watch()
        world.journey.withLock { $0 = max(100, Int64(begin.duration(to: .now) / .milliseconds(1))) }
        try await world.forget()
        last.withLock { $0 = world }
        return world
    }

    private init(_ copies: Int, _ cluster: TestCluster, _ upstream: StandInUpstream, _ starter: ClusterStarter, bearer: String) {
        (self.copies, self.cluster, self.upstream, self.starter, self.bearer) = (copies, cluster, upstream, starter, bearer)
    }

    private func forget() async throws {
        try await upstream.comeBack()
        try await upstream.forgetCalls()
        state.withLock { $0 = State() }
    }

    var lastKill: ContinuousClock.Instant { state.withLock { $0.lastKill } }
    var journeyMilliseconds: Int64 { journey.withLock { $0 } }

    // MARK: Viewers

    /// One with a new device.
    func viewer() async throws -> Viewer {
        let device = Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: bearer)
        let code = try await retried("a code is made") {
            let answer = try await device.requestCode()
            guard answer.status == 201, let code = answer.object["code"] as? String else { throw Self.trouble(answer) }
            return code
        }
        state.withLock { $0.devices.append(device) }
        return Viewer(world: self, device: device, code: code)
    }

    /// A viewer's whole journey, whatever dies meanwhile. The device polls all the time, as televisions do.
    func watch() async throws {
        let viewer = try await viewer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await viewer.poll() }
            for action in viewer.journey { try await until(action) }
            try await viewer.checkEnd()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    func noteStart() { state.withLock { $0.starts += 1 } }

    func note(_ device: Device, isSignedIn: Bool) {
        state.withLock { state in
            if isSignedIn { state.signedIn.insert(device.id) } else { state.signedIn.remove(device.id) }
        }
    }

    /// Why a call that a kill may excuse is made again, or why it may not be.
    static func trouble(_ answer: HTTPAnswer) -> any Error {
        let text = "\(answer.status) \(answer.text.prefix(300))"
        return isExcused(answer.status) ? CommandFailure(text) : Loss(description: text)
    }

    static func isExcused(_ status: Int) -> Bool { [429, 503].contains(status) }

    /// Does a step until it is done.
    /// - Returns: When it was.
    @discardableResult
    func until(_ action: Viewer.Action) async throws -> ContinuousClock.Instant {
        try await retried(action.name, action.act)
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
        let sockets = try Self.sockets(from: port)
        for process in try victims() where process.service == .authentication {
            let folder = "/proc/\(process.pid)/fd"
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else { continue }
                if sockets.contains(target) { return process }
            }
        }
        throw Loss(description: "no copy of authentication has the connection of port \(port), which is \(sockets)")
    }

    /// The sockets of loopback that have that port, as `/proc/PID/fd` names them.
    private static func sockets(from port: Int) throws -> Set<String> {
        let local = String(format: "0100007F:%04X", port)
        return Set(
            try lines(of: "/proc/net/tcp").compactMap { line in
                let columns = line.split(separator: " ")
                return columns.count > 9 && columns[1] == local ? "socket:[\(columns[9])]" : nil
            })
    }

    /// Such a file has no length, and comes in pieces.
    private static func lines(of path: String) throws -> [Substring] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { throw Loss(description: "\(path) cannot be read") }
        defer { close(descriptor) }
        var (content, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while case let count = read(descriptor, &piece, piece.count), count > 0 { content += piece[..<count] }
        return String(decoding: content, as: UTF8.self).split(separator: "\n")
    }

    /// Kills a process, and begins to start it again.
    func kill(_ process: ServiceProcess) async throws {
        let moment = ContinuousClock.now
        process.signal(SIGKILL)
        state.withLock { state in
            state.lastKill = moment
            state.kills += 1
        }
        try await Condition.wait("\(process.copy.name) is gone") { !process.isRunning }
        let fresh = try await starter.restart(process.service, number: process.number)
        let addresses = ClusterAddresses(ports: cluster.ports, replacements: [], copies: ClusterCopies(copies, store: starter.stores))
        let probe = ReadinessProbe(home: cluster.home, exchange: cluster.exchange, url: addresses.readiness(of: fresh.copy))
        let starting = Task {
            try await probe.wait(for: fresh)
            return moment.duration(to: .now)
        }
        state.withLock { $0.starting = starting }
    }

    /// - Returns: The time from the kill until the process was ready again.
    @discardableResult
    func started() async throws -> Duration {
        guard let starting = state.withLock({ $0.starting }) else { return .zero }
        return try await starting.value
    }

    // MARK: What is left

    /// Each device is at upstream what it is here, and nothing was asked more often than kills explain.
    func audit() async throws {
        let (devices, signedIn, starts, kills) = state.withLock { ($0.devices, $0.signedIn, $0.starts, $0.kills) }
        for device in devices {
            let isSignedIn = signedIn.contains(device.id)
            let status = try await retried("the audit") {
                let answer = try await device.get("/api/v1/checkauthn")
                guard [200, 403].contains(answer.status) else { throw Self.trouble(answer) }
                return answer.status
            }
            #expect(status == (isSignedIn ? 200 : 403), "\(device.id)")
            // A logout that the dead one did not tell is told by others; by those on other hosts when its leases are over.
            try await Condition.wait("upstream has \(isSignedIn ? "a" : "no") profile of \(device.id)", within: .seconds(45)) {
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
    private let code: String
    private let place = Place()

    /// Where the person is, and what the device was told.
    private actor Place {
        /// In the browser.
        private(set) var address = ""
        /// What `checkauthn` has to answer, and how often that has changed; `nil`: either answer is right.
        private(set) var truth: (status: Int?, changes: Int) = (403, 0)

        func go(to address: String) { self.address = address }

        func tell(_ status: Int?) { truth = (status, truth.changes + 1) }
    }

    init(world: KilledWorld, device: Device, code: String) { (self.world, self.device, self.code) = (world, device, code) }

    /// - Throws: `CommandFailure` for an answer after which the call is made again; `Loss` for any other that is not expected.
    private func expect(_ answer: HTTPAnswer, _ status: Int) throws {
        guard answer.status == status else { throw KilledWorld.trouble(answer) }
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
                await place.tell(nil)
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
                await place.tell(200)
            },
            Action(name: "it may play") { try expect(try await device.authorize("ACME1-NEWS"), 200) },
            Action(name: "it still may") { try expect(try await device.authzToken("ACME1-NEWS"), 200) },
            Action(name: "it has a media token") { try expect(try await device.mediaToken("ACME1-NEWS"), 200) },
            Action(name: "it has another one") { try expect(try await device.mediaToken("ACME1-NEWS"), 200) },
            Action(name: "it signs out") {
                await place.tell(nil)
                try expect(try await device.cluster.send(device.call("/api/v1/logout", method: "DELETE")), 204)
                world.note(device, isSignedIn: false)
                await place.tell(403)
            },
        ]
    }

    /// Where in the journey a step is done.
    func index(of step: BridgeKillTests.Step) -> Int {
        switch step {
        case .register, .token, .create: 0
        case .comeBack, .adopt: 2
        case .decide: 4
        case .logout: 8
        }
    }

    /// Nobody is signed in again after the logout.
    func checkEnd() async throws {
        try await world.until(Action(name: "nobody is signed in") { try expect(try await device.get("/api/v1/checkauthn"), 403) })
    }

    /// Asks who is signed in, until it is cancelled. Nobody is told what was not so.
    func poll() async throws {
        while (try? await Task.sleep(for: .milliseconds(60))) != nil {
            let before = await place.truth
            // Whoever died answers nobody.
            guard let status = try? await device.checkAuthn() else { continue }
            let after = await place.truth
            if KilledWorld.isExcused(status) || before.changes != after.changes { continue }
            guard [200, 403].contains(status), before.status.map({ $0 == status }) ?? true else {
                throw KilledWorld.Loss(description: "a poll is answered \(status), not \(before.status ?? 0)")
            }
        }
    }
}
