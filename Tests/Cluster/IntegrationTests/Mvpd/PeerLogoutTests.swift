@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension MvpdTests.SamlPeerTests {
    private static let variant = PeerVariant(binding: "redirect", signs: "both")

    @Test(
        "mvpd #81: a logout that the app asks for ends the session at SimpleSAMLphp too, which asks for the password again",
        .enabled(if: PeerServer.Kind.simpleSAMLphp.isInstalled, "simplesamlphp or php-cli is not installed"))
    func logsOutAtSimpleSAMLphp() async throws {
        try await Self.atPeer(.simpleSAMLphp, Self.variant) { peer, mvpd in
            var (device, browser) = try await Self.signedIn(at: mvpd)
            let visit = try await device.get("/api/v1/logout", ["redirect_url": device.end]).location()
            #expect(try await device.checkAuthn() == 403)
            var visited: [String] = []
            var url = visit
            for _ in 0..<8 where url != device.end {
                url = try await browser.visit(url).location()
                visited.append(url)
            }
            #expect(url == device.end && visited.contains { $0.hasPrefix(peer.address) }, "\(visited)")
            let login = try await browser.walk(try await Self.start(device, mvpd)) { $0.value("password") != nil || $0.value("SAMLResponse") != nil }
            #expect(login?.value("password") != nil)
        }
    }

    @Test(
        "mvpd #83: a logout that starts at SimpleSAMLphp ends our session, and our answer satisfies it",
        .enabled(if: PeerServer.Kind.simpleSAMLphp.isInstalled, "simplesamlphp or php-cli is not installed"))
    func logsOutFromSimpleSAMLphp() async throws {
        try await Self.atPeer(.simpleSAMLphp, Self.variant) { peer, mvpd in
            var (device, browser) = try await Self.signedIn(at: mvpd)
            let end = "\(peer.address)/simplesaml/logout.php"
            var url = "\(peer.address)/simplesaml/saml2/idp/SingleLogoutService.php?\(FormEncoding.encode([("ReturnTo", end)]))"
            var visited: [String] = []
            for _ in 0..<8 where url != end {
                url = try await browser.visit(url).location()
                visited.append(url)
            }
            #expect(visited.contains { $0.hasPrefix(device.cluster.gateway) } && url == end, "\(visited)")
            #expect(try await device.checkAuthn() == 403)
        }
    }

    private static let pysaml2Variants = [PeerVariant(binding: "redirect", signs: "both"), PeerVariant(binding: "post", signs: "both")]

    @Test(
        "mvpd #81: a logout that the app asks for is genuine to pysaml2, names its session, and ends where the app said",
        .enabled(if: PeerServer.Kind.pysaml2.isInstalled, "python3-pysaml2 is not installed"), arguments: pysaml2Variants)
    func logsOutAtPysaml2(variant: PeerVariant) async throws {
        try await Self.atPeer(.pysaml2, variant) { peer, mvpd in
            var (device, browser) = try await Self.signedIn(at: mvpd)
            let visit = try await device.get("/api/v1/logout", ["redirect_url": device.end]).location()
            #expect(try await device.checkAuthn() == 403)
            #expect(try await browser.walk(visit, until: device.end) { _ in false } == nil)
            let again = try await browser.visit("\(peer.address)/leave?name=ada")
            #expect(again.status == 404, "the session is gone there too")
        }
    }

    @Test(
        "mvpd #83: a logout that starts at pysaml2 ends our session, and our answer satisfies it",
        .enabled(if: PeerServer.Kind.pysaml2.isInstalled, "python3-pysaml2 is not installed"), arguments: pysaml2Variants)
    func logsOutFromPysaml2(variant: PeerVariant) async throws {
        try await Self.atPeer(.pysaml2, variant) { peer, mvpd in
            var (device, browser) = try await Self.signedIn(at: mvpd)
            let start = "\(peer.address)/leave?name=ada"
            if variant.binding == "post" {
                let request = try browser.form(try await browser.visit(start), at: start)
                #expect(request.form.action.hasPrefix(device.cluster.gateway) && request.value("SAMLRequest") != nil)
                let response = try browser.form(try await browser.submit(request), at: request.form.action)
                #expect(response.form.action == "\(peer.address)/slo")
                let end = try await browser.submit(response)
                #expect(end.status == 200 && end.text.contains("signed out"), "\(end.text)")
            } else {
                let request = try await browser.visit(start).location()
                #expect(request.hasPrefix(device.cluster.gateway))
                let response = try await browser.visit(request).location()
                #expect(response.hasPrefix("\(peer.address)/slo?SAMLResponse="))
                let end = try await browser.visit(response)
                #expect(end.status == 200 && end.text.contains("signed out"), "\(end.text)")
            }
            #expect(try await device.checkAuthn() == 403)
        }
    }

    private static func start(_ device: Device, _ mvpd: String) async throws -> String {
        let query = FormEncoding.encode(device.signInParameters(try await device.code(), mvpd: mvpd).map { ($0.key, $0.value) })
        return "\(device.cluster.gateway)/api/v1/authenticate?\(query)"
    }

    private static func signedIn(at mvpd: String) async throws -> (Device, Browser) {
        let device = try await Device.make()
        var browser = Browser(exchange: device.cluster.exchange)
        let answer = try await browser.submit(try await browser.reachPeersAnswer(device, mvpd: mvpd, name: "ada"))
        try #require(answer.status == 302 && answer.header("location") == device.end, "\(answer.status) \(answer.text)")
        #expect(try await device.checkAuthn() == 200)
        return (device, browser)
    }
}
