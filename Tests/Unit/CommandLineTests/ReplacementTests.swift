import ArgumentParser
@testable import ClusterCommands
@testable import CommandKit
import ContractRuntime
import Contracts
import Cryptography
import Faults
import Foundation
import Logging
import NIOPosix
@testable import Rpc
import Testing
import Transport

@Suite struct ReplacementTests {
    @Test(
        arguments: [
            ("config=127.0.0.1:7101", ClusterService.config, "127.0.0.1:7101"), ("authorization=[::1]:7103", .authorization, "[::1]:7103"),
            ("authentication=sign-in.example:1", .authentication, "sign-in.example:1"), ("autosignin=h:65535", .autosignin, "h:65535"),
        ])
    func areAServiceAndAnAddress(_ text: String, _ service: ClusterService, _ address: String) throws {
        let replacement = try Replacement(text)
        #expect(replacement.service == service && replacement.address.description == address)
    }

    @Test(
        arguments: [
            ("config", "service=host:port"), ("gateway=h:1", "'gateway' cannot be replaced"), ("sandbox=h:1", "cannot be replaced"),
            ("Config=h:1", "cannot be replaced"), ("=h:1", "cannot be replaced"), ("config=", "is not host:port"),
            ("config=7101", "is not host:port"),
            ("config=:7101", "is not host:port"), ("config=h:0", "1 to 65535"), ("config=h:65536", "1 to 65535"), ("config=h:x", "is not host:port"),
            ("config=::1:7101", "brackets"),
        ])
    func whatIsWrongIsNamed(_ text: String, _ part: String) {
        #expect { try Replacement(text) } throws: { "\(($0 as? ValidationError)?.message ?? "")".contains(part) }
    }

    @Test(arguments: [(["config=a:1", "config=b:1"], "twice"), (["config=a:1", "authorization=a:1"], "at the same address a:1")])
    func eachServiceHasOneAddressOfItsOwn(_ texts: [String], _ part: String) {
        #expect { try Replacement.read(texts) } throws: { "\(($0 as? ValidationError)?.message ?? "")".contains(part) }
    }

    @Test func theOthersGetTheirAddressesAndTheClusterFileNamesThem() throws {
        try withHome { home in
            let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL
            let (pki, ports) = (LocalPki(folder: home.pki), PortPlan(base: 30000))
            try pki.ensureQuickly()
            let replacements = try Replacement.read(["config=other.example:7101", "authentication=[::1]:7102"])
            try SettingsWriter(home: home, ports: ports, checkout: checkout, pki: pki, replacements: replacements).write()
            #expect(try peers(of: .gateway, home) == ["other.example:7101", "[::1]:7102", "127.0.0.1:30003", "127.0.0.1:30004"])
            #expect(try peers(of: .authorization, home) == ["other.example:7101", "[::1]:7102"])

            let file = try ClusterAddresses(ports: ports, replacements: replacements).emptyFile(home: home, pki: pki)
            try file.write(home)
            let read = try #require(try ClusterFile.read(home))
            #expect(read.replacements == replacements)
            #expect(read.services["config"] == ClusterFile.Entry(address: "other.example:7101", debug: nil, pid: 0, replaced: true))
            #expect(read.services["authorization"]?.replaced == nil && read.services["authorization"]?.debug == "127.0.0.1:30013")
            #expect(Set(read.processIDs.keys) == [.authorization, .autosignin, .gateway, .sandbox], "what is replaced has no process here")
        }
    }

    /// The configured addresses of the peers, in the order config, authentication, authorization, autosignin.
    private func peers(of service: ClusterService, _ home: ClusterHome) throws -> [String] {
        let content = try Data(contentsOf: home.settings(of: service))
        let settings = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        let peers = try #require(settings["peers"] as? [String: [String: Any]])
        return Replacement.replaceable.compactMap { (peers[$0.rawValue]?["addresses"] as? [String])?.first }
    }
}

@Suite struct ReplacementProbeTests {
    @Test func nobodyThere() async throws {
        try await expect("connection refused", "start it") { home in
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
            let port = listener.localAddress?.port ?? 0
            try await listener.close()
            return RpcAddress(host: "127.0.0.1", port: port)
        }
    }

    @Test func aCertificateOfAnotherName() async throws {
        try await expect("does not have the DNS name config.boxoffice", "boxoffice pki --issue config") { home in
            try await Self.serve(home.pki, as: "gateway")
        }
    }

    @Test func aCertificateOfAnotherAuthority() async throws {
        try await expect("does not lead to", "boxoffice pki --issue config") { home in
            let other = home.root.appendingPathComponent("other")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            try LocalPki(folder: other).ensureConnections()
            return try await Self.serve(other, as: "config")
        }
    }

    @Test func aCallerThatIsNotOnItsList() async throws {
        try await expect("does not let operator.boxoffice call Health.Check", "list of callers") { home in
            try await Self.serve(home.pki, as: "config", callers: ["gateway.boxoffice"])
        }
    }

    @Test func aServiceThatAnswersIsAccepted() async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        try LocalPki(folder: home.pki).ensureConnections()
        let address = try await Self.serve(home.pki, as: "config")
        try await Self.probe(home, address).wait(for: .serves)
    }

    @Test func anotherVersionOfTheWire() {
        let fault = Fault(
            .unavailable, "", cause: ConnectionEnd(code: "unsupported_version", message: "Protocol version 2; this side speaks 1.", isByPeer: false))
        let problem = ReplacementProblem(
            fault, replacement: Replacement(service: .config, address: RpcAddress(host: "h", port: 1)),
            pki: LocalPki(folder: URL(fileURLWithPath: "/nowhere")))
        #expect(problem.what.contains("speaks another version of the wire") && problem.what.contains("Protocol version 2"))
    }

    private func expect(_ what: String, _ advice: String, _ address: (ClusterHome) async throws -> RpcAddress) async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        try LocalPki(folder: home.pki).ensureConnections()
        let failure = try await Self.failure(of: Self.probe(home, try await address(home), patience: .seconds(1)))
        #expect("\(failure)".contains("the replaced config at 127.0.0.1:") && "\(failure)".contains(what) && "\(failure)".contains(advice))
    }

    /// The failure of a probe that got answers; timeouts are tried again, because other tests can keep a small machine busy for seconds.
    private static func failure(of probe: ReplacementProbe) async throws -> CommandFailure {
        let end = ContinuousClock.now + patience
        while true {
            let failure = try #require(await #expect(throws: CommandFailure.self) { try await probe.wait(for: .answers) })
            guard "\(failure)".contains("deadline_exceeded"), .now < end else { return failure }
        }
    }

    private static let patience: Duration = .seconds(180)

    private static func probe(_ home: ClusterHome, _ address: RpcAddress, patience: Duration = Self.patience) -> ReplacementProbe {
        ReplacementProbe(
            replacement: Replacement(service: .config, address: address), pki: LocalPki(folder: home.pki), console: Console(isQuiet: true),
            patience: patience)
    }

    /// An RPC server that offers `Health` alone; it serves until the test program ends.
    private static func serve(_ pki: URL, as name: String, callers: Set<String> = ["operator.boxoffice"]) async throws -> RpcAddress {
        let files = LocalPki(folder: pki)
        let identity = try TlsIdentity(
            files: TlsFiles(certificate: files.path("\(name).crt"), key: files.path("\(name).key"), trustAnchors: files.path("ca.crt")))
        let configuration = RpcServer.Configuration(
            address: RpcAddress(host: "127.0.0.1", port: 0), identity: identity, allow: AllowList(["boxoffice.platform.v1.Health": callers]),
            software: "test", softwareVersion: "1")
        let server = RpcServer(
            configuration: configuration, services: RpcServices(), group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        server.health.setServing()
        return try await server.start()
    }
}
