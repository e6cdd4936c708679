@testable import BoxofficeCommand
import Foundation
import Testing

extension MvpdCases.PeerCases {
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
