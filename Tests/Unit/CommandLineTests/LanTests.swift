@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

@Suite("A cluster that phones of its network open")
struct LanTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL
    private static let lan = "192.168.7.5"

    private static func settings(_ service: ClusterService, _ home: ClusterHome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: home.settings(of: service))) as? [String: Any])
    }

    /// All texts in a JSON value, by the key that they stand under.
    private static func texts(_ value: Any, key: String = "") -> [(key: String, text: String)] {
        switch value {
        case let object as [String: Any]: object.flatMap { texts($0.value, key: $0.key) }
        case let list as [Any]: list.flatMap { texts($0, key: key) }
        case let text as String: [(key, text)]
        default: []
        }
    }

    @Test("browsers find the gateway and the stand-in MVPD over HTTPS in the network, and nothing else is there")
    func addresses() throws {
        try withHome { home in
            let (pki, ports) = (LocalPki(folder: home.pki), PortPlan(base: 30000))
            try SettingsWriter(home: home, ports: ports, checkout: Self.checkout, pki: pki, replacements: [], lan: Self.lan).write()
            let origin = "https://192.168.7.5:30005"
            let gateway = try #require(try Self.settings(.gateway, home)["gateway"] as? [String: Any])
            #expect(gateway["publicOrigin"] as? String == origin && gateway["listen"] as? String == "127.0.0.1:30000")
            #expect(gateway["insecureCookies"] == nil, "the gateway refuses them beside HTTPS")
            let tls = try #require(gateway["tls"] as? [String: Any])
            #expect(tls["listen"] as? String == "192.168.7.5:30005" && tls["certificate"] as? String == pki.path("lan-192.168.7.5.crt"))
            let admin = try #require(gateway["admin"] as? [String: Any])
            #expect(admin["listen"] as? String == "127.0.0.1:30006" && admin["openIDConnect"] == nil)
            #expect(((gateway["throttle"] as? [String: Any])?["exempt"] as? [String])?.contains(Self.lan) == true)

            let authentication = try #require(try Self.settings(.authentication, home)["authentication"] as? [String: Any])
            #expect(authentication["acsURL"] as? String == origin + "/sp/saml/SAMLAssertionConsumer")
            #expect(authentication["activationOrigins"] as? [String] == [origin])
            #expect(authentication["oauthCallbackURL"] as? String == origin + "/adobe-services/oauth2")

            let sandbox = try Self.settings(.sandbox, home)
            #expect((sandbox["listen"] as? [String: Any])?["address"] as? String == "0.0.0.0")
            #expect(sandbox["publicURL"] as? String == "https://192.168.7.5:30020" && sandbox["serviceURL"] as? String == "http://127.0.0.1:30020")
            #expect(sandbox["staff"] == nil)
            let notifications = Self.texts(sandbox).filter { $0.key == "notificationURL" }
            #expect(!notifications.isEmpty && notifications.allSatisfy { $0.text.hasPrefix("http://127.0.0.1:30000/") })

            let catalogue = try JSONSerialization.jsonObject(with: Data(contentsOf: home.catalogue))
            let ssoUrls = Self.texts(catalogue).filter { $0.key == "ssoUrl" || $0.key == "authorizeUrl" }
            #expect(!ssoUrls.isEmpty && ssoUrls.allSatisfy { $0.text.hasPrefix("https://192.168.7.5:30020/") })
            let services = Self.texts(catalogue).filter { ["tokenUrl", "jwksUrl", "profileUrl"].contains($0.key) }
            #expect(!services.isEmpty && services.allSatisfy { $0.text.hasPrefix("http://127.0.0.1:30020/") })
            #expect(!Self.texts(catalogue).contains { $0.key == "passwordReference" }, "services there do not reach what browsers do")
            for service in [ClusterService.config, .authentication, .authorization, .autosignin] {
                #expect((try Self.settings(service, home)["listen"] as? [String: Any])?["address"] as? String == "127.0.0.1")
            }

            try SettingsWriter(home: home, ports: ports, checkout: Self.checkout, pki: pki).write()
            for file in ClusterService.allCases.map(home.settings(of:)) + [home.catalogue] {
                #expect(try !String(contentsOf: file, encoding: .utf8).contains(Self.lan), "the next start closes it again: \(file.path)")
            }
        }
    }

    @Test("cluster.json and the certificate have the address; what runs stays as it was started")
    func file() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            #expect(try pki.ensureLan(Self.lan) == ["lan-192.168.7.5"] && pki.ensureLan(Self.lan).isEmpty)
            let addresses = ClusterAddresses(ports: PortPlan(base: 30000), replacements: [], lan: Self.lan)
            let file = try addresses.emptyFile(home: home, pki: pki)
            #expect(file.gateway == "https://192.168.7.5:30005" && file.gatewayTLS == file.gateway)
            #expect(file.admin == "http://127.0.0.1:30006" && file.authority == pki.path("ca.crt"))
            let closed = try ClusterAddresses(ports: PortPlan(base: 30000)).emptyFile(home: home, pki: pki)
            #expect(closed.lan == nil && closed.authority == nil)

            var starter = ClusterStarter(
                home: home, ports: PortPlan(base: 30000), checkout: Self.checkout, binaries: home.root, console: Console(isQuiet: true),
                exchange: HTTPExchange(client: HTTPExchange.makeClient()))
            #expect(try starter.lan(beside: nil) == nil && starter.lan(beside: file) == Self.lan)
            starter.lan = Self.lan
            #expect(try starter.lan(beside: nil) == Self.lan && starter.lan(beside: file) == Self.lan)
            #expect { try starter.lan(beside: closed) } throws: {
                "\($0)".contains("runs already, for this machine alone: stop it with ./Services/down first")
            }
            try starter.exchange.client.syncShutdown()
        }
    }

    @Test(
        "an address must be this machine's, and one that others reach",
        arguments: ["", "phone.example", "127.0.0.1", "0.0.0.0", "192.0.2.200", "::1"])
    func refused(text: String) {
        #expect { try LanAddress.check(text) } throws: { ($0 as? CommandFailure)?.exit == .usage }
    }

    @Test(
        "the address with which this machine reaches others is one of its own",
        .enabled(if: LanAddress.current() != nil, "this machine is in no network"))
    func current() throws { try LanAddress.check(try #require(LanAddress.current())) }
}
