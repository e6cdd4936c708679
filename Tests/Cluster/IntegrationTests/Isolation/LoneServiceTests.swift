@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import PeerDoubles
import Testing

/// One real service with doubles of its peers: `boxoffice run SERVICE --doubles`.
@Suite("A service by itself", .serialized)
struct LoneServiceTests {
    @Test func aSignInPassesThroughTheGatewayAlone() async throws {
        try await withLone(.gateway, behaviour: DoubleBehaviour()) { _, running, exchange in
            let statement = try #require(running.file.softwareStatements["acme-tv"])
            let setup = DeviceSetup(
                exchange: exchange, gateway: running.file.gateway, requestor: "ACME1", statement: statement,
                certificates: try String(contentsOfFile: running.file.mediaTokenCertificate, encoding: .utf8))
            let session = DeviceSession(
                console: Console(isQuiet: true), setup: setup, resource: "ACME1-NEWS", viewer: .simulated(name: "ada", mvpd: "NorthCable"))
            try await session.play(deviceID: "lone-\(UUID().uuidString)")
        }
    }

    /// A sign-in with the code of a TV, a logout, and trials.
    @Test(arguments: [V2Flow.b, .g, .l])
    func flowsOfRestV2PassThroughTheGatewayAlone(_ flow: V2Flow) async throws {
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        try await withLone(.gateway, behaviour: behaviour) { _, running, exchange in
            let statement = try #require(running.file.softwareStatements["acme-tv"])
            let setup = DeviceSetup(
                exchange: exchange, gateway: running.file.gateway, requestor: "ACME1", statement: statement,
                certificates: try String(contentsOfFile: running.file.mediaTokenCertificate, encoding: .utf8))
            let stage = V2Lines(console: Console(isQuiet: true), gateway: running.file.gateway, hasQrCode: false)
            try await V2Player(
                setup: setup, stage: stage, person: "ada", resource: "ACME1-NEWS", channels: ["ACME1-NEWS"], pollInterval: .milliseconds(200)
            ).play(flow)
        }
    }

    @Test func everyDeviceIsSignedInUnlessToldOtherwise() async throws {
        for (signedIn, isSignedIn) in [(DoubleBehaviour.SignedIn.everyDevice, true), (.afterSignIn, false)] {
            var behaviour = DoubleBehaviour()
            behaviour.signedIn = signedIn
            try await withLone(.gateway, behaviour: behaviour) { _, running, exchange in
                let app = try await app(running, exchange)
                #expect(try await app.isSignedIn() == isSignedIn)
            }
        }
    }

    @Test func authorizationDecidesWithoutAnybody() async throws {
        try await withLone(.authorization, behaviour: DoubleBehaviour()) { lone, running, exchange in
            #expect(running.file.doubles == ["config", "authentication"])
            #expect(running.file.services.keys.sorted() == ["authentication", "authorization", "config"])
            let answer = try await exchange.send("GET", "http://\(ClusterAddresses(ports: lone.ports).debug(.authorization))/readyz")
            #expect(answer.status == 200)
        }
    }

    @Test func doublesAreSlowAndFailWhenAsked() async throws {
        var behaviour = DoubleBehaviour()
        (behaviour.latency, behaviour.errors) = (.milliseconds(300), 1)
        try await withLone(.gateway, behaviour: behaviour) { _, running, exchange in
            let begin = ContinuousClock.now
            await #expect(throws: (any Error).self) { _ = try await app(running, exchange) }
            #expect(begin.duration(to: .now) >= .milliseconds(300))
        }
    }

    @Test func aServiceThatDiesLeavesItsLastWords() async throws {
        try await withLone(.authentication, behaviour: DoubleBehaviour()) { lone, running, _ in
            running.process.signal(SIGKILL)
            try await Condition.wait("the process has ended") { !running.process.isRunning }
            #expect(!lone.lastLines().isEmpty)
        }
    }

    private func app(_ running: LoneService.Running, _ exchange: HTTPExchange) async throws -> StreamingApp {
        var app = StreamingApp(exchange: exchange, gateway: running.file.gateway, requestor: "ACME1", deviceID: "lone-\(UUID().uuidString)")
        try await app.register(statement: try #require(running.file.softwareStatements["acme-tv"]))
        return app
    }

    private func withLone(
        _ service: ClusterService, behaviour: DoubleBehaviour, _ body: (LoneService, LoneService.Running, HTTPExchange) async throws -> Void
    ) async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-lone-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: root) }
        var lone = LoneService(service: service, home: ClusterHome(root: root), ports: PortPlan(base: try FreePorts.base()))
        lone.behaviour = behaviour
        lone.binaries = try TestCluster.binaries(Checkout.current)
        let client = HTTPExchange.makeClient()
        let exchange = HTTPExchange(client: client)
        do {
            let running = try await lone.start(exchange: exchange)
            do {
                try await body(lone, running, exchange)
            } catch {
                await lone.stop(running)
                throw error
            }
            #expect(await !lone.stop(running), "it stops when asked to")
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
