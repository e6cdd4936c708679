@testable import ClusterCommands
import Clocks
import Cryptography
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OutboundHttp
import Synchronization
import Testing

@Suite("What the doctor says of MVPDs and upstreams")
struct DoctorPeerTests {
    private let now = SystemClock().now()

    private func list(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    private static func server(_ origin: String, _ caller: PeerServer.Caller = .services, asksForCertificate: Bool = false) -> PeerServer {
        PeerServer(origin: origin, trustAnchors: [], caller: caller, asksForCertificate: asksForCertificate)
    }

    private func findings(_ server: PeerServer, _ sight: PeerSight) -> [Finding] {
        Doctor.findings([(server, ["MVPD One"])], [server: sight], now: now)
    }

    @Test("each server is looked at once, whoever names it; what browsers open as well as services is the services'")
    func gathersServers() throws {
        let mvpds = try list(
            """
            [{"id": "One", "saml": {"ssoUrl": "https://idp.one.example/sso"}, "authorization": {"url": "https://pdp.one.example:8443/authz", "clientCertificate": "one"}},
             {"id": "Two", "oauth": {"authorizeUrl": "https://login.two.example/a", "tokenUrl": "https://LOGIN.two.example/t", "jwksUrl": "https://keys.two.example/k"}},
             {"id": "Three", "oauth": {"authorizeUrl": "https://login.two.example/b", "tokenUrl": "https://login.two.example/t"}},
             {"id": "Bridged", "upstreamOnly": true}, {"id": "Trial", "tempPass": {}}]
            """)
        let upstreams = try list(
            #"[{"id": "vendor", "baseUrl": "https://api.vendor.example", "userAgentBaseUrl": "https://sp.vendor.example", "management": {"baseUrl": "https://mgmt.vendor.example"}}]"#
        )
        let found = PeerServer.all(mvpds: mvpds, upstreams: upstreams)
        #expect(
            found.map { "\($0.server.origin) \($0.server.caller) \($0.owners.joined(separator: ", "))" } == [
                "https://api.vendor.example services upstream vendor", "https://idp.one.example browsers MVPD One",
                "https://keys.two.example services MVPD Two", "https://login.two.example services MVPD Two, MVPD Three",
                "https://mgmt.vendor.example services upstream vendor", "https://pdp.one.example:8443 services MVPD One",
                "https://sp.vendor.example browsers upstream vendor",
            ])
        #expect(found.filter { $0.server.asksForCertificate }.map(\.server.origin) == ["https://pdp.one.example:8443"])
        #expect(PeerServer.all(mvpds: [], upstreams: []).isEmpty)
    }

    @Test("a server that cannot be reached is wrong, and says so; one that only browsers open is a note; each says what to do")
    func tellsOfFailures() throws {
        let refused = PeerSight(failure: OutboundFailure(.notSent, cause: "no connection to x:1: Connection refused (errno 111)"))
        let found = findings(Self.server("https://x"), refused)
        #expect(found.count == 1 && found[0].verdict == .wrong && found[0].area == .peers)
        #expect(found.first?.what == "https://x, of MVPD One, cannot be reached: no connection to x:1: Connection refused (errno 111)")
        #expect(found.first?.advice?.isEmpty == false)
        #expect(findings(Self.server("https://x", .browsers), refused).map(\.verdict) == [.note])
        let hangs = findings(Self.server("https://x"), PeerSight(failure: OutboundFailure(.responseTimeout)))
        #expect(hangs.first?.what == "https://x, of MVPD One, takes connections and does not answer")
        let untrusted = PeerSight(
            failure: OutboundFailure(.unusable, cause: "CERTIFICATE_VERIFY_FAILED: self signed"), certificateEnd: now + .seconds(86_400))
        #expect(findings(Self.server("https://x"), untrusted).first?.what.hasSuffix("shows a certificate that does not verify") == true)
        let ended = PeerSight(failure: OutboundFailure(.unusable, cause: "CERTIFICATE_VERIFY_FAILED: expired"), certificateEnd: now - .seconds(60))
        #expect(findings(Self.server("https://x"), ended).first?.what.contains("a certificate that ended at") == true)
        let asked = PeerSight(failure: OutboundFailure(.unusable, cause: "tlsv13 alert certificate required"))
        #expect(findings(Self.server("https://x", asksForCertificate: true), asked).isEmpty, "it is there, and wants what the service shows")
        #expect(findings(Self.server("https://x", asksForCertificate: true), refused).map(\.verdict) == [.wrong])
        #expect(findings(Self.server("https://x"), PeerSight(status: 503)).map(\.verdict) == [.note])
        #expect(findings(Self.server("https://x"), PeerSight(status: 404, clockOffset: .seconds(5))).isEmpty)
        let soon = findings(Self.server("https://x"), PeerSight(status: 200, certificateEnd: now + .seconds(6 * 86_400 + 60)))
        #expect(soon.map(\.verdict) == [.note] && soon.first?.what.contains("ends in 6 days") == true)
    }

    @Test("a clock that is off is its server's; where all differ one way it is this host's")
    func tellsOfClocks() {
        func offsets(_ seconds: [Int]) -> [Finding] {
            let servers = seconds.indices.map { Self.server("https://s\($0)") }
            let sights = Dictionary(uniqueKeysWithValues: zip(servers, seconds.map { PeerSight(status: 200, clockOffset: .seconds($0)) }))
            return Doctor.findings(servers.map { ($0, ["MVPD One"]) }, sights, now: now)
        }
        #expect(offsets([300, 2, -3]).map(\.what) == ["the clock of https://s0, of MVPD One, is 300 s ahead of ours"])
        let own = offsets([300, 290, 310])
        #expect(own.map(\.area) == [.clock] && own.first?.what.contains("300 s ahead of ours") == true && own.first?.verdict == .wrong)
        #expect(offsets([300, 290]).count == 2 && offsets([300, 290, -300]).count == 3)
    }

    private final class Looks: Sendable { let count = Atomic<Int>(0) }

    @Test("servers that hang cost a bounded time, and those whose turn did not come are told")
    func isBounded() async throws {
        let servers = (0..<200).map { Self.server("https://s\($0)") }
        let looks = Looks()
        let begin = ContinuousClock.now
        let sights = await Doctor.look(at: servers, within: .milliseconds(300)) { _ in
            looks.count.wrappingAdd(1, ordering: .relaxed)
            try? await Task.sleep(for: .milliseconds(100))
            return PeerSight(failure: OutboundFailure(.connectTimeout))
        }
        #expect(begin.duration(to: .now) < .seconds(20))
        #expect(sights.count < 200 && sights.count == looks.count.load(ordering: .relaxed))
        let found = Doctor.findings(servers.map { ($0, ["MVPD One"]) }, sights, now: now)
        #expect(found.count == sights.count + 1 && found.last?.what.contains("no time to look at \(200 - sights.count) servers") == true)
    }

    @Test("upstreams: calls that rest, a clock, and the alarms of the last hour")
    func tellsConditions() throws {
        let at = now.milliseconds
        let found = Doctor.conditions(
            try list(
                """
                [{"id": "vendor", "state": {"openBreakers": ["session", "list"], "clockOffsetMs": -45000, "alarms": [
                  {"event": "bridge.statement_refused", "at": \(at - 600_000), "count": 2, "details": "acme-v2, unapproved_software_statement"},
                  {"event": "bridge.foreign_address", "at": \(at - 60_000), "count": 1}, {"event": "bridge.client_lost", "at": \(at - 7_200_000), "count": 1}]}},
                 {"id": "well", "state": {"openBreakers": [], "clockOffsetMs": 1000, "alarms": []}}, {"id": "draft"}]
                """), now: now)
        #expect(
            found.map { "\($0.verdict.rawValue) \($0.what)" } == [
                "wrong calls to the upstream vendor fail, so that those of session, list rest",
                "wrong the clock of the upstream vendor is 45 s behind ours",
                "wrong upstream vendor: bridge.statement_refused 10 min ago: acme-v2, unapproved_software_statement",
                "note upstream vendor: bridge.foreign_address 1 min ago",
            ])
        #expect(found.allSatisfy { $0.advice?.isEmpty == false })
    }

    @Test("credentials that entries name and nobody has, and signatures whose certificates have all ended")
    func tellsCredentials() throws {
        let mvpds = try list(
            """
            [{"id": "One", "oauth": {"clientSecretReference": "one"}, "testSignIn": {"passwordReference": "gone"}},
             {"id": "Two", "authorization": {"clientCertificate": "two"}}, {"id": "Three", "authorization": {"clientCertificate": "three"}}]
            """)
        let upstreams = try list(
            #"[{"id": "vendor", "clientCertificate": "up", "clients": [{"id": "tv", "statementReference": "acme-v2"}, {"id": "web", "statementReference": "there"}]}]"#
        )
        let found = Doctor.credentials(mvpds: mvpds, upstreams: upstreams, secrets: ["one", "there"], shown: .init(mvpds: ["three"], upstreams: []))
        #expect(
            found.map(\.what) == [
                "MVPD One: there is no secret 'gone', which testSignIn.passwordReference names",
                "MVPD Two: authorization has no client certificate 'two', which authorization.clientCertificate names",
                "upstream vendor: there is no secret 'acme-v2', which statementReference of the client 'tv' names",
                "upstream vendor: authentication has no client certificate 'up', which clientCertificate names",
            ])
        #expect(found.allSatisfy { $0.verdict == .wrong })
        #expect(
            Doctor.credentials(mvpds: mvpds, upstreams: upstreams, secrets: nil, shown: .init(mvpds: nil, upstreams: nil)).isEmpty, "nobody can tell")
        let old = try CertifiedKey.selfSigned(commonName: "old", validity: .days(2, from: now - .seconds(9 * 86_400))).certificate.pem()
        let new = try CertifiedKey.selfSigned(commonName: "new").certificate.pem()
        let signed =
            [
                ["id": "Old", "saml": ["signingCertificates": [old]]], ["id": "Both", "saml": ["signingCertificates": [old, new]]],
            ] as [[String: Any]]
        let ended = Doctor.signingCertificates(signed, now: now)
        #expect(ended.count == 1 && ended[0].verdict == .note && ended[0].what.hasPrefix("MVPD Old:"))
    }

    // MARK: Real servers

    /// Answers each connection's first octets, or none.
    private final class PeerDouble: Sendable {
        private final class Seen: Sendable { let requests = Mutex<[String]>([]) }

        private let channel: any Channel
        private let seen: Seen

        var requests: [String] { seen.requests.withLock { $0 } }

        /// - Parameter answer: `nil`: it never answers.
        init(_ answer: String?, identity: CertifiedKey? = nil) async throws {
            let tls = try identity.map { identity in
                try NIOSSLContext(
                    configuration: .makeServerConfiguration(
                        certificateChain: [.certificate(try NIOSSLCertificate(bytes: identity.certificate.der, format: .der))],
                        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.pem().utf8), format: .pem))))
            }
            let seen = Seen()
            self.seen = seen
            channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(answer) { text in seen.requests.withLock { $0.append(text) } })
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        }

        var port: Int { channel.localAddress?.port ?? 0 }

        func stop() async throws { try await channel.close().get() }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let answer: String?
            private let note: (String) -> Void

            init(_ answer: String?, _ note: @escaping (String) -> Void) { (self.answer, self.note) = (answer, note) }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                note(String(buffer: unwrapInboundIn(data)))
                guard let answer else { return }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            }
        }
    }

    private static func http(_ date: String) -> String { "HTTP/1.1 404 Not Found\r\nDate: \(date)\r\nContent-Length: 0\r\n\r\n" }

    private func look(_ origin: String, trusting anchors: [[UInt8]] = []) async -> PeerSight {
        let probe = PeerProbe(OutboundOptions())
        let sight = await probe.look(PeerServer(origin: origin, trustAnchors: anchors, caller: .services, asksForCertificate: false))
        await probe.shutdown()
        return sight
    }

    @Test("a server gets one GET of its root, and tells its time; nobody there, or nobody who answers, is told within seconds")
    func looksAtServers() async throws {
        let server = try await PeerDouble(Self.http("Sun, 06 Nov 1994 08:49:37 GMT"))
        let sight = await look("http://127.0.0.1:\(server.port)")
        #expect(sight.failure == nil && sight.status == 404 && (sight.clockOffset ?? .zero) < .seconds(-900_000_000))
        let requests = server.requests
        #expect(requests.count == 1 && requests[0].hasPrefix("GET / HTTP/1.1\r\n") && !requests[0].contains("uthorization"))
        try await server.stop()
        #expect(await look("http://127.0.0.1:\(server.port)").failure?.kind == .notSent)
        let silent = try await PeerDouble(nil)
        let begin = ContinuousClock.now
        let hanging = await look("http://127.0.0.1:\(silent.port)")
        #expect([.responseTimeout, .budgetSpent].contains(hanging.failure?.kind) && begin.duration(to: .now) < .seconds(15))
        try await silent.stop()
    }

    @Test("the end of a certificate is seen, whether it is trusted or not")
    func looksAtCertificates() async throws {
        let names = CertificateNames(addresses: ["127.0.0.1"])
        let authority = CertificateAuthority(identity: try CertifiedKey.selfSigned(commonName: "authority", usage: .authority))
        let anchors = [authority.identity.certificate.der]
        let identity = try authority.issue(commonName: "peer", names: names, validity: .days(7))
        let server = try await PeerDouble(Self.http("Sun, 06 Nov 1994 08:49:37 GMT"), identity: identity)
        let origin = "https://127.0.0.1:\(server.port)"
        let trusted = await look(origin, trusting: anchors)
        #expect(trusted.status == 404 && trusted.certificateEnd == identity.certificate.notAfter)
        let untrusted = await look(origin)
        #expect(untrusted.failure?.cause.contains("CERTIFICATE_VERIFY_FAILED") == true && untrusted.certificateEnd == identity.certificate.notAfter)
        try await server.stop()
        let past = try authority.issue(commonName: "peer", names: names, validity: .days(2, from: now - .seconds(9 * 86_400)))
        let old = try await PeerDouble(Self.http(""), identity: past)
        let sight = await look("https://127.0.0.1:\(old.port)", trusting: anchors)
        #expect(sight.failure != nil && sight.certificateEnd == past.certificate.notAfter)
        try await old.stop()
    }
}
