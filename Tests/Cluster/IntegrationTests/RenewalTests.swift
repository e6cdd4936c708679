@testable import WorkshopCommands
@testable import Simulation
@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import Foundation
import Testing

/// Certificates that end while a cluster works.
@Suite("Certificates renew while the cluster runs", .serialized)
struct RenewalTests {
    /// The life of all certificates for TLS; a year in production.
    private static let life: Duration = .seconds(75)

    @Test("calls and new connections go on far beyond the life of the first certificates, without one that fails, and a stop ends the renewal")
    func beyondALife() async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        let outcome = await Result { try await Self.play(cluster) }
        try await cluster.stop()
        try await client.shutdown()
        try outcome.get()
        try await Condition.wait("the keeper has ended") { try Self.isFree(cluster.home.root.appendingPathComponent("keeper")) }
        cluster.removeState()
    }

    private static func play(_ cluster: TestCluster) async throws {
        let pki = LocalPki(folder: cluster.home.pki)
        try cluster.home.prepare()
        try pki.ensure()
        try shorten(pki)
        let first = try contents(pki)
        let begin = ContinuousClock.now
        _ = try await cluster.starter.start()

        // Connections that were made at the beginning, and new ones all the time.
        let app = try await cluster.app()
        _ = try await cluster.signIn(app, code: try await app.requestCode().code)
        var (asked, rounds) = (0, 0)
        while begin.duration(to: .now) < life + .seconds(25) {
            #expect(try await app.isSignedIn())
            if rounds.isMultiple(of: 4) {
                // The operator's identity as of now, at a service that must show one that is good.
                try await askAnew(cluster)
                let other = try await cluster.app()
                _ = try await cluster.signIn(other, code: try await other.requestCode().code)
                #expect(try await other.isSignedIn())
                asked += 1
            }
            rounds += 1
            try await Task.sleep(for: .milliseconds(500))
        }
        #expect(asked > 20)
        let now = SystemClock().now()
        for (name, content) in try contents(pki) { #expect(content != first[name], "\(name)") }
        #expect(try Certificate(pemFile: pki.path("config.crt")).isValid(at: now))
        for service in [ClusterService.config, .authentication, .authorization, .autosignin, .gateway] {
            let log = try String(contentsOf: cluster.home.log(of: service), encoding: .utf8)
            #expect(log.contains("\"tls.reloaded\"") && !log.contains("tls.reload_refused"), "\(service.rawValue)")
        }
        #expect(try String(contentsOf: cluster.home.certificateRenewalLog, encoding: .utf8).contains("\"pki.renewed\""))
    }

    private static func askAnew(_ cluster: TestCluster) async throws {
        let file = try #require(try ClusterFile.read(cluster.home))
        let answer = await HealthQuestion(
            address: try #require(file.services["authentication"]?.address), service: .authentication, pki: file.pki
        ).ask()
        #expect(answer.problems.isEmpty && answer.report?.status == .serving, "\(answer.problems)")
    }

    private static func shorten(_ pki: LocalPki) throws {
        let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: pki.path("ca.crt"), keyFile: pki.path("ca.key")))
        let now = Timestamp(seconds: SystemClock().now().seconds)
        for connection in LocalPki.connections {
            let key = try CertifiedKey(certificateFile: pki.path("\(connection.file).crt"), keyFile: pki.path("\(connection.file).key")).key
            let issued = try authority.issue(
                commonName: connection.commonName, names: connection.names, key: key,
                validity: CertificateValidity(notBefore: now - .seconds(1), notAfter: now + life))
            try Data(issued.certificate.pem().utf8).write(to: URL(fileURLWithPath: pki.path("\(connection.file).crt")))
        }
    }

    private static func contents(_ pki: LocalPki) throws -> [String: String] {
        try LocalPki.connections.reduce(into: [:]) { $0[$1.file] = try String(contentsOfFile: pki.path("\($1.file).crt"), encoding: .utf8) }
    }

    private static func isFree(_ lock: URL) throws -> Bool {
        let descriptor = open(lock.path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}
