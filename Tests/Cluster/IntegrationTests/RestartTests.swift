@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing

/// Kills services while people sign in.
@Suite("Killing and restarting services", .serialized, .cluster)
struct RestartTests {
    /// From the moment the restarted service is ready, the whole flow must work again within this time.
    static let recovery: Duration = .seconds(1)

    /// How often each service is killed.
    static let rounds = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1" ? 5 : 1

    @Test(
        "a killed service comes back, the loop of sign-ins with it, and nothing acknowledged is lost",
        arguments: [
            ClusterService.config, .authentication, .authorization, .autosignin, .gateway, .sandbox,
        ])
    func survivesKill(of service: ClusterService) async throws {
        for _ in 0..<Self.rounds { _ = try await kill(service) }
    }

    @Test(
        "the loop of sign-ins works again a second after a killed service is back", .tags(.timing), .onReleasePrograms,
        arguments: [ClusterService.authentication, .gateway])
    func recoversQuickly(_ service: ClusterService) async throws {
        let took = try await kill(service)
        #expect(took < Self.recovery, "the loop worked again after \(Console.text(of: took))")
    }

    /// - Returns: The time from the moment that the service is back until a sign-in succeeded.
    private func kill(_ service: ClusterService) async throws -> Duration {
        let cluster = try TestCluster.running()
        let signedIn = try await cluster.app()
        try await signInOnce(signedIn, cluster)
        let waiting = try await cluster.app()
        let code = try await waiting.requestCode()

        let loop = SignInLoop(cluster: cluster)
        let running = Task { await loop.run() }
        try await loop.waitForSuccess(after: .now)
        try cluster.process(service).signal(SIGKILL)
        try await Condition.wait("\(service.rawValue) is gone") { try !cluster.process(service).isRunning }
        let started = try await cluster.starter.start()
        #expect(started.map(\.service) == [service], "up starts only what is not running")
        let back = ContinuousClock.now
        try await loop.waitForSuccess(after: back)
        let took = ContinuousClock.now - back
        running.cancel()
        let acknowledged = await running.value

        #expect(try await signedIn.isSignedIn(), "the session from before is still there")
        _ = try await cluster.signIn(waiting, code: code.code)
        #expect(try await waiting.isSignedIn(), "the registration code from before still works")
        for app in acknowledged { #expect(try await app.isSignedIn(), "a session that was acknowledged during the kill is there") }
        return took
    }

    private func signInOnce(_ app: StreamingApp, _ cluster: TestCluster) async throws {
        let code = try await app.requestCode()
        _ = try await cluster.signIn(app, code: code.code)
        try #require(try await app.isSignedIn())
    }
}

/// Signs in new devices, one after the other, as fast as it can.
actor SignInLoop {
    private let cluster: TestCluster
    private var successes: [(start: ContinuousClock.Instant, app: StreamingApp)] = []

    init(cluster: TestCluster) { self.cluster = cluster }

    /// Runs until cancelled.
    /// - Returns: The devices that had a session.
    func run() async -> [StreamingApp] {
        while !Task.isCancelled {
            let start = ContinuousClock.now
            if let app = try? await signIn() {
                successes.append((start, app))
            } else {
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        return successes.map(\.app)
    }

    /// Waits for a whole sign-in that began after the moment, at most 10 s.
    nonisolated func waitForSuccess(after moment: ContinuousClock.Instant) async throws {
        try await Condition.wait("a sign-in succeeds") { await self.hasSuccess(after: moment) }
    }

    private func hasSuccess(after moment: ContinuousClock.Instant) -> Bool { successes.contains { $0.start >= moment } }

    private nonisolated func signIn() async throws -> StreamingApp {
        let app = try await cluster.app()
        let code = try await app.requestCode()
        _ = try await cluster.signIn(app, code: code.code)
        guard try await app.isSignedIn() else { throw CommandFailure("no session") }
        try await app.authorize("ACME1-NEWS")
        _ = try await app.mediaToken("ACME1-NEWS")
        return app
    }
}

/// Waiting for something to become true, with a bound.
enum Condition {
    static func wait(_ what: String, within limit: Duration = .seconds(10), until isMet: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while try await !isMet() {
            guard ContinuousClock.now < end else { throw CommandFailure("waited \(limit) in vain until \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
