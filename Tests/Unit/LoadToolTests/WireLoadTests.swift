import ContractRuntime
import Contracts
import Cryptography
import Foundation
import Logging
import NIOPosix
import Rpc
import Testing
import Transport

@testable import LoadTool

/// The whole tool on a server in the same process.
@Suite(.serialized) struct WireLoadTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private struct Setup: ~Copyable {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("load-\(UUID().uuidString)").path

        init() throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let authority = try CertificateAuthority.create(name: "test")
            try authority.certificate.pem().write(toFile: "\(folder)/ca.crt", atomically: true, encoding: .utf8)
            for name in ["server", "client"] {
                let issued = try authority.issue(commonName: name, names: CertificateNames(dns: ["\(name).boxoffice"]))
                try issued.certificate.pem().write(toFile: "\(folder)/\(name).crt", atomically: true, encoding: .utf8)
                try issued.key.pem().write(toFile: "\(folder)/\(name).key", atomically: true, encoding: .utf8)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func identity(_ name: String) throws -> TlsIdentity {
            try TlsIdentity(files: TlsFiles(certificate: "\(folder)/\(name).crt", key: "\(folder)/\(name).key", trustAnchors: "\(folder)/ca.crt"))
        }

        /// Serves Echo to the client.
        func server(callsPerConnection: Int? = nil) throws -> RpcServer {
            var configuration = RpcServer.Configuration(
                address: RpcAddress(host: "127.0.0.1", port: 0), identity: try identity("server"),
                allow: AllowList([DiagnosticsMethods.service: ["client.boxoffice"], HealthMethods.service: ["client.boxoffice"]]), software: "test")
            if let callsPerConnection { configuration.limits.callsPerConnection = callsPerConnection }
            return RpcServer(
                configuration: configuration, services: RpcServices(), group: MultiThreadedEventLoopGroup.singleton, logger: WireLoadTests.quiet)
        }

        func load(_ address: RpcAddress, _ plan: RunPlan, delay: UInt32 = 0, peerName: String = "server.boxoffice") throws -> WireLoad {
            let echo = PreparedMethod(
                DiagnosticsMethods.echo.identity, payloads: [try EchoMessage(content: [1, 2, 3], delayMilliseconds: delay).serialized()])
            return try load(echo, address, plan, peerName: peerName)
        }

        func load(_ method: PreparedMethod, _ address: RpcAddress, _ plan: RunPlan, peerName: String = "server.boxoffice") throws -> WireLoad {
            WireLoad(
                WireTarget(addresses: [address], peerName: peerName, identity: try identity("client")), methods: [method], plan: plan,
                logger: WireLoadTests.quiet)
        }
    }

    private static func plan(
        _ stages: [LoadPlan.Stage], loop: WorkerSettings.Loop = .open(poisson: false), limit: Int? = nil, timeout: Nanoseconds = Bench.second
    ) -> RunPlan {
        RunPlan(
            plan: LoadPlan(stages: stages), loop: loop, workers: 2, connections: 3, maxOutstanding: 1000, timeout: timeout, iterationLimit: limit,
            seed: 1)
    }

    @Test func keepsTheRateAndCountsEveryCall() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let address = try await server.start()
        let load = try setup.load(address, Self.plan([.init(length: Bench.second, level: 200)]))
        let run = try await load.run(begun: { _, _ in }, progress: { _ in })
        #expect(run.end == .duration)
        #expect(run.totals.due == 200)
        #expect(run.totals.succeeded == 200)
        #expect(run.totals.responseTime.count == 200)
        #expect(run.totals.answerBytes == 200 * 5)
        #expect(run.series.reduce(0) { $0 + $1.succeeded } == 200)
        #expect(run.series.first?.connections == 3)
        await server.drain()
    }

    @Test func endsAfterTheCallsThatWereWanted() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let load = try setup.load(try await server.start(), Self.plan([.init(length: 60 * Bench.second, level: 4)], loop: .closed, limit: 101))
        let run = try await load.run(begun: { _, _ in }, progress: { _ in })
        #expect(run.end == .calls)
        #expect(run.totals.succeeded == 101)
        await server.drain()
    }

    @Test(.tags(.timing)) func anInterruptionEndsItWithWhatWasMeasured() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let load = try setup.load(try await server.start(), Self.plan([.init(length: 60 * Bench.second, level: 100)]))
        let run = try await load.run(
            begun: { run, _ in
                Task {
                    try await Task.sleep(for: .milliseconds(400)); run.interrupt()
                }
            }, progress: { _ in })
        #expect(run.end == .interrupted)
        #expect(run.totals.succeeded > 10)
        #expect(run.elapsed < 30 * Bench.second)
        await server.drain()
    }

    @Test func slowAnswersTimeOut() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let load = try setup.load(
            try await server.start(), Self.plan([.init(length: Bench.second / 2, level: 20)], timeout: 100 * Bench.millisecond), delay: 5000)
        let run = try await load.run(begun: { _, _ in }, progress: { _ in })
        #expect(run.errors.map(\.code) == ["timeout"])
        #expect(run.totals.failed == 10)
        await server.drain()
    }

    private static func watch(items: Int) throws -> PreparedMethod {
        PreparedMethod(HealthMethods.watch.identity, payloads: [try CheckHealthRequest().serialized()], streamItems: items)
    }

    @Test("A stream is over, and gives its place to another, when enough items have come")
    func streamsEndAfterTheirItems() async throws {
        let setup = try Setup()
        let server = try setup.server()
        var plan = Self.plan([.init(length: 60 * Bench.second, level: 8)], loop: .closed, limit: 3000)
        plan.lostAfter = 10 * Bench.second
        let run = try await setup.load(try Self.watch(items: 1), try await server.start(), plan).run(begun: { _, _ in }, progress: { _ in })
        #expect(run.end == .calls)
        #expect(run.totals.succeeded == 3000, "\(run.errors)")
        #expect(run.totals.answerBytes.isMultiple(of: 3000))
        #expect(run.totals.answerBytes > 0)
        await server.drain()
    }

    @Test("A stream's place is free when its user goes on: connections that are full all the time refuse nothing")
    func streamsFillTheirConnections() async throws {
        let setup = try Setup()
        let server = try setup.server(callsPerConnection: 2)
        var plan = Self.plan([.init(length: 60 * Bench.second, level: 32)], loop: .closed, limit: 1000)
        plan.lostAfter = 10 * Bench.second
        let run = try await setup.load(try Self.watch(items: 1), try await server.start(), plan).run(begun: { _, _ in }, progress: { _ in })
        #expect(run.totals.succeeded == 1000, "\(run.errors)")
        await server.drain()
    }

    @Test func aStreamWhoseItemsDoNotComeTimesOut() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let plan = Self.plan([.init(length: Bench.second / 2, level: 20)], timeout: 100 * Bench.millisecond)
        let run = try await setup.load(try Self.watch(items: 2), try await server.start(), plan).run(begun: { _, _ in }, progress: { _ in })
        #expect(run.errors.map(\.code) == ["timeout"])
        #expect(run.totals.failed == 10)
        await server.drain()
    }

    @Test func aServiceThatDiesIsLost() async throws {
        let setup = try Setup()
        let server = try setup.server()
        var plan = Self.plan([.init(length: 60 * Bench.second, level: 100)])
        plan.lostAfter = Bench.second / 2
        let load = try setup.load(try await server.start(), plan)
        let run = try await load.run(
            begun: { _, _ in
                Task {
                    try await Task.sleep(for: .milliseconds(300)); await server.drain()
                }
            }, progress: { _ in })
        #expect(run.end == .targetLost)
        #expect(run.totals.succeeded > 5)
        #expect(run.errors.contains { $0.code == "connection_lost" })
    }

    @Test func aWrongPeerIsRefusedBeforeAnyCall() async throws {
        let setup = try Setup()
        let server = try setup.server()
        let load = try setup.load(try await server.start(), Self.plan([.init(length: Bench.second, level: 10)]), peerName: "other.boxoffice")
        let error = await #expect(throws: TlsError.self) { try await load.run(begun: { _, _ in }, progress: { _ in }) }
        #expect(error?.code == .wrongPeerName)
        await server.drain()
    }
}
