@testable import AdministrationCommands
import Foundation
import Testing

extension MvpdTests.SamlPeerTests {
    @Test(
        "mvpd #20: the peer refuses a request whose signature does not fit, so it did check the genuine ones",
        .enabled(if: PeerServer.Kind.areSamlPeersInstalled, "a peer is not installed"),
        arguments: [PeerServer.Kind.pysaml2, .simpleSAMLphp, .lasso])
    func changedRequest(kind: PeerServer.Kind) async throws {
        try await Self.atPeer(kind, PeerVariant(binding: "redirect", signs: "both")) { _, mvpd in
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let request = try await device.authenticate(try await device.code(), mvpd: mvpd).location()
            let changed = request.replacing(/RelayState=[^&]+/, with: "RelayState=other")
            try #require(changed != request)
            let refused = try await browser.visit(changed)
            #expect(refused.header("location") == nil && !refused.text.contains("name=\"password\""), "\(refused.status) \(refused.text)")
            #expect(
                refused.text.localizedCaseInsensitiveContains(kind == .simpleSAMLphp ? "validate signature" : "request is refused"), "\(refused.text)"
            )
            let login = try await browser.walk(request) { $0.value("password") != nil }
            #expect(login != nil, "the genuine one is good")
        }
    }

    @Test(
        "mvpd #51: a peer's answer that is changed on its way gives no session",
        .enabled(if: PeerServer.Kind.areSamlPeersInstalled, "a peer is not installed"),
        arguments: [PeerServer.Kind.pysaml2, .simpleSAMLphp, .lasso])
    func changedAnswer(kind: PeerServer.Kind) async throws {
        try await Self.atPeer(kind, PeerVariant(binding: "redirect", signs: "assertion")) { _, mvpd in
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let page = try await browser.reachPeersAnswer(device, mvpd: mvpd, name: "ada")
            let message = try ForgedAnswer.decoded(page)
            #expect(message.contains(Self.persistent), "the id is persistent")
            try #require(message.contains("house-ada"))
            var forged = page
            forged.form.fill("SAMLResponse", Data(message.replacing("house-ada", with: "house-ben").utf8).base64EncodedString())
            #expect(try await browser.submit(forged).status == 400)
            #expect(try await device.checkAuthn() == 403)
        }
    }

    @Test(
        "mvpd #79: Triple DES by pysaml2 and unauthenticated AES-CBC by SimpleSAMLphp are refused",
        .enabled(if: PeerServer.Kind.pysaml2.isInstalled && PeerServer.Kind.simpleSAMLphp.isInstalled, "a peer is not installed"),
        arguments: [PeerServer.Kind.pysaml2, .simpleSAMLphp])
    func weakEncryption(kind: PeerServer.Kind) async throws {
        let binding = kind == .pysaml2 ? "post" : "redirect"
        let signs = kind == .pysaml2 ? "both" : "assertion"
        try await Self.atPeer(kind, PeerVariant(binding: binding, signs: signs, encrypts: "default")) { _, mvpd in
            let device = try await Device.make()
            var browser = Browser(exchange: device.cluster.exchange)
            let page = try await browser.reachPeersAnswer(device, mvpd: mvpd, name: "ada")
            let answer = try await browser.submit(page)
            #expect(answer.status == 400)
            #expect(try await device.checkAuthn() == 403)
            let trace = try #require(answer.text.firstMatch(of: /[0-9a-f]{32}/)).output
            let report = try await RunningCluster.of(TestCluster.running()).report(trace: String(trace))
            #expect(report.reason == "enc.alg", "\(report.reason ?? "no reason")")
        }
    }
}
