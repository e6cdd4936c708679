import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Foundation
import Logging
import OutboundHttp
import Testing
import Tokens

/// The way to a decision point over real sockets.
@Suite struct DecisionPointConnectionTests {
    // Where a timeout is not what is tested, it is far longer than a busy machine needs.
    private static let patient: UInt32 = 60_000

    /// Authorizes against the server.
    private func outcome(
        _ server: MisbehavingServer, total: UInt32 = patient, response: UInt32 = patient
    ) async throws -> (fault: Fault?, elapsed: Duration, requests: Int) {
        let url = try await server.start()
        let transport = OutboundHttp()
        let start = ContinuousClock.now
        let fault = try await fault(at: url, transport: transport, total: total, response: response)
        let elapsed = start.duration(to: .now)
        await transport.shutdown()
        try await server.stop()
        return (fault, elapsed, server.requestCount)
    }

    private func fault(
        at url: String, transport: OutboundHttp, anchors: [[UInt8]] = [], total: UInt32 = patient, response: UInt32 = patient,
        certificate: String = "", of certificates: ClientCertificates = ClientCertificates()
    ) async throws -> Fault? {
        var configuration = AuthorizationFixture.configuration
        configuration.mvpds[0].authorization = AuthorizationEndpoint(
            protocol: .xacmlJson, url: url, trustAnchors: anchors, connectTimeoutMilliseconds: Self.patient, responseTimeoutMilliseconds: response,
            totalTimeoutMilliseconds: total, clientCertificate: certificate)
        let fixture = try AuthorizationFixture()
        let keys = SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate())))
        let service = AuthorizationService(
            catalogue: ChangingCatalogue(configuration), sessions: fixture.sessions, store: fixture.store, transport: transport,
            clientCertificates: certificates,
            mediaTokens: MediaTokenIssuer(
                referenceKey: ReferenceSigningKey(try AuthorizationFixture.key.get()), jwsKeys: keys, pool: SigningPool(threads: 1)),
            publishedKeys: try PublishedMediaTokenKeys(certificates: [], jwsKeys: keys), storedTokenKeys: keys, clock: fixture.clock,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        return await AuthorizationServiceTests.fault {
            try await service.authorize(AuthorizeRequest(call: fixture.call(), resource: "CHAN7-HD"), context: CallContext())
        }
    }

    @Test func carriesAnAnswer() async throws {
        let (fault, _, requests) = try await outcome(MisbehavingServer(MisbehavingServer.http(Xacml.permit())))
        #expect(fault == nil)
        #expect(requests == 1)
    }

    @Test("mvpd #101: a decision point that hangs is a timeout, in time, and is asked once", .tags(.timing))
    func aHangIsATimeout() async throws {
        let (fault, elapsed, requests) = try await outcome(MisbehavingServer(.hang), response: 300)
        #expect(fault?.code == .networkConnectionTimeout)
        #expect(elapsed < .seconds(5))
        #expect(requests == 1)
    }

    @Test("mvpd §4.3: the budget of the whole step ends a slow answer")
    func theBudgetEndsTheStep() async throws {
        let (fault, _, _) = try await outcome(MisbehavingServer(.hang), total: 200)
        #expect(fault?.code == .maximumExecutionTimeExceeded)
    }

    @Test("mvpd #102: a reset before the answer is repeated exactly once")
    func aResetIsRepeatedOnce() async throws {
        let recovered = try await outcome(MisbehavingServer(.reset, MisbehavingServer.http(Xacml.permit())))
        #expect(recovered.fault == nil)
        #expect(recovered.requests == 2)
        let broken = try await outcome(MisbehavingServer(.reset))
        #expect(broken.fault?.code == .networkReceivedError)
        #expect(broken.requests == 2)
    }

    @Test("mvpd §4.3: no server listens")
    func refusedConnectionsAreErrors() async throws {
        let server = MisbehavingServer(.hang)
        let url = try await server.start()
        try await server.stop()
        let transport = OutboundHttp()
        #expect(try await fault(at: url, transport: transport)?.code == .networkReceivedError)
        await transport.shutdown()
    }

    @Test(
        "mvpd §4.3: an answer that is no HTTP, no JSON, cut off, redirected or too large",
        arguments: [
            MisbehavingServer.Manner.answerAndClose("hello\r\n\r\n"), MisbehavingServer.http("<x/>"),
            MisbehavingServer.http("", status: "500 Broken"),
            .answer("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
            MisbehavingServer.http(String(repeating: " ", count: 300_000) + "{}"),
            .answerAndClose("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}"),
        ])
    func unusableAnswersAreErrors(manner: MisbehavingServer.Manner) async throws {
        let (fault, _, requests) = try await outcome(MisbehavingServer(manner))
        #expect(fault?.code == .networkReceivedError)
        #expect(requests == 1)
    }

    @Test("mvpd §4.2: a decision point proves itself with a certificate under the endpoint's own trust anchors, for its own address")
    func trustsTheEndpointsAnchorsOnly() async throws {
        let authority = try CertificateAuthority.create(name: "MVPD authority")
        let stranger = try CertificateAuthority.create(name: "MVPD authority")
        let genuine = try authority.issue(commonName: "pdp", names: CertificateNames(addresses: ["127.0.0.1"]))
        let elsewhere = try authority.issue(commonName: "pdp", names: CertificateNames(dns: ["other.example"]))
        #expect(try await tlsFault(genuine, anchors: [authority.certificate.der]) == nil)
        #expect(try await tlsFault(genuine, anchors: [stranger.certificate.der])?.code == .networkReceivedError)
        #expect(try await tlsFault(genuine, anchors: [])?.code == .networkReceivedError)
        #expect(try await tlsFault(elsewhere, anchors: [authority.certificate.der])?.code == .networkReceivedError)
        #expect(try await tlsFault(genuine, anchors: [[1, 2, 3]])?.code == .networkReceivedError)
    }

    @Test("mvpd §4.2: mutual TLS: a decision point that demands a certificate gets the one that its record names, and believes no other")
    func showsAClientCertificate() async throws {
        let authority = try CertificateAuthority.create(name: "MVPD authority"), stranger = try CertificateAuthority.create(name: "another")
        let identity = try authority.issue(commonName: "pdp", names: CertificateNames(addresses: ["127.0.0.1"]))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = OutboundHttp()
        let certificates = ClientCertificates([
            "own": .success(try Self.clientCertificate(of: authority, in: folder, "own")),
            "foreign": .success(try Self.clientCertificate(of: stranger, in: folder, "foreign")),
        ])
        let server = MisbehavingServer(MisbehavingServer.http(Xacml.permit()))
        let url = try await server.start(identity: identity, clients: authority.certificate)
        let anchors = [authority.certificate.der]
        #expect(try await fault(at: url, transport: transport, anchors: anchors, certificate: "own", of: certificates) == nil)
        for name in ["", "foreign", "absent"] {
            #expect(
                try await fault(at: url, transport: transport, anchors: anchors, certificate: name, of: certificates)?.code == .networkReceivedError,
                "\(name)")
        }
        await transport.shutdown()
        try await server.stop()
        #expect(server.requestCount == 1)
    }

    @Test func aReplacedClientCertificateIsShownFromTheNextCallOn() async throws {
        let authority = try CertificateAuthority.create(name: "MVPD authority"), stranger = try CertificateAuthority.create(name: "another")
        let identity = try authority.issue(commonName: "pdp", names: CertificateNames(addresses: ["127.0.0.1"]))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = OutboundHttp()
        let certificates = ClientCertificates(["own": .success(try Self.clientCertificate(of: stranger, in: folder, "first"))])
        let server = MisbehavingServer(MisbehavingServer.http(Xacml.permit()))
        let url = try await server.start(identity: identity, clients: authority.certificate)
        let anchors = [authority.certificate.der]
        #expect(try await fault(at: url, transport: transport, anchors: anchors, certificate: "own", of: certificates)?.code == .networkReceivedError)
        certificates.replace(["own": .success(try Self.clientCertificate(of: authority, in: folder, "second"))])
        #expect(try await fault(at: url, transport: transport, anchors: anchors, certificate: "own", of: certificates) == nil)
        certificates.replace([:])
        #expect(try await fault(at: url, transport: transport, anchors: anchors, certificate: "own", of: certificates)?.code == .networkReceivedError)
        await transport.shutdown()
        try await server.stop()
    }

    private static func clientCertificate(of authority: CertificateAuthority, in folder: URL, _ name: String) throws -> ClientCertificate {
        let identity = try authority.issue(commonName: "authorization", names: CertificateNames(dns: ["authorization.example"]))
        let (certificate, key) = (folder.appendingPathComponent("\(name).crt"), folder.appendingPathComponent("\(name).key"))
        try identity.certificate.pem().write(to: certificate, atomically: true, encoding: .utf8)
        try identity.key.pem().write(to: key, atomically: true, encoding: .utf8)
        return try ClientCertificate(certificateFile: certificate.path, keyFile: key.path)
    }

    private func tlsFault(_ identity: CertifiedKey, anchors: [[UInt8]]) async throws -> Fault? {
        let server = MisbehavingServer(MisbehavingServer.http(Xacml.permit()))
        let url = try await server.start(identity: identity)
        let transport = OutboundHttp()
        let fault = try await fault(at: url, transport: transport, anchors: anchors)
        await transport.shutdown()
        try await server.stop()
        #expect(server.requestCount == (fault == nil ? 1 : 0))
        return fault
    }
}
