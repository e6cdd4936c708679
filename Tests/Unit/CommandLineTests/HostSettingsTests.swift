import Cryptography
import Foundation
import Testing

@testable import BoxofficeMain
@testable import ClusterCommands
@testable import CommandKit

/// `boxoffice settings --host`.
@Suite("Settings for several hosts")
struct HostSettingsTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
    private let folder: URL
    private let pki: LocalPki
    private let writer: ContainerSettings

    init() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-hosts-\(UUID().uuidString)")
        pki = LocalPki(folder: root.appendingPathComponent("keys"))
        try FileManager.default.createDirectory(at: pki.folder, withIntermediateDirectories: true)
        try pki.ensureQuickly()
        try pki.ensureSharedKeys()
        folder = root.appendingPathComponent("settings")
        var network = ContainerNetwork()
        network.hosts = try HostPlan.all(["a1=west", "b2"], debugAddresses: ["b2=10.0.0.22"])
        (network.gateway, network.admin) = ("https://tv.example", "https://admin.tv.example")
        writer = ContainerSettings(network: network, pki: pki, checkout: Self.checkout, folder: folder)
    }

    private func settings(_ place: String) throws -> [String: Any] {
        let file = folder.appendingPathComponent("\(place)/config.json")
        return try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    }

    private func gateway(_ host: String) throws -> [String: Any] { try #require(try settings("\(host)/gateway")["gateway"] as? [String: Any]) }

    /// The content of each file, by path.
    private func contents() throws -> [String: Data] {
        let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return Dictionary(
            uniqueKeysWithValues: files.compactMap { file in
                FileManager.default.contents(atPath: folder.appendingPathComponent(file).path).map { (file, $0) }
            })
    }

    @Test("nothing is served in plain HTTP but on loopback and to whom metrics are for")
    func servesHTTPS() throws {
        #expect(try writer.write().isEmpty)
        let authority = try Certificate(pemFile: pki.path("ca.crt"))
        for host in ["a1", "b2"] {
            let own = try gateway(host)
            #expect(own["listen"] as? String == "127.0.0.1:8080" && own["allowPlainHTTP"] == nil && own["insecureCookies"] == nil)
            #expect(own["signedPlainHTTP"] as? String == "strict" && own["shares"] == nil)
            let admin = try #require(own["admin"] as? [String: Any])
            #expect(admin["listen"] as? String == "0.0.0.0:8081" && admin["hosts"] as? [String] == ["admin.tv.example", host])
            for (object, names) in [(own["tls"], ["tv.example", host]), (admin, ["admin.tv.example", host])] {
                let file = try #require((object as? [String: Any])?["certificate"] as? String)
                let certificate = try Certificate(pemFile: folder.appendingPathComponent("\(host)/gateway/\(file)").path)
                #expect(certificate.dnsNames == names && certificate.isSigned(by: authority))
            }
            #expect((try settings("\(host)/gateway")["limits"] as? [String: Any])?["stopDelaySeconds"] as? Int == 5)
        }
        for service in ClusterService.allCases where service != .sandbox {
            #expect((try settings("a1/\(service.rawValue)")["debug"] as? [String: Any])?["address"] as? String == "a1")
            #expect((try settings("b2/\(service.rawValue)")["debug"] as? [String: Any])?["address"] as? String == "10.0.0.22")
        }
        let file = try #require(try ClusterFile.read(ClusterHome(root: folder.appendingPathComponent("operator"))))
        #expect(file.admin == "https://admin.tv.example" && file.authority == file.pki.ca && FileManager.default.fileExists(atPath: file.pki.ca))
        #expect(file.services["gateway"]?.copies?.first?.debug == "10.0.0.22:9000")
    }

    @Test("nothing of the demo is there")
    func hasNoDemo() throws {
        try writer.write()
        let text = try contents().filter { $0.key.hasSuffix("config.json") }.values.map { String(decoding: $0, as: UTF8.self) }.joined()
        for word in ["codesPerClient", "codesPerDevice", "shares", "8090", "8091", "openIDConnect"] { #expect(!text.contains(word), "\(word)") }
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("a1/sandbox").path))
        #expect(writer.missingCatalogues == ["a1", "b2"].map { folder.appendingPathComponent("\($0)/config/catalogue.json").path })
        for place in ["authentication", "autosignin"] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("a1/\(place)/secrets").path).isEmpty)
        }
    }

    @Test("containers and clusters of one machine keep the demo's limits, which the documented settings do not have")
    func keepsTheDemosLimits() throws {
        let home = ClusterHome(root: folder)
        try home.prepare()
        try SettingsWriter(home: home, ports: PortPlan(base: nil), checkout: Self.checkout, pki: pki).write()
        let container = ContainerSettings(
            network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: folder.appendingPathComponent("containers"))
        try container.write()
        func object(_ file: URL, _ service: String) throws -> [String: Any] {
            let whole = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
            return try #require(whole?[service] as? [String: Any])
        }
        for file in [home.settings(of: .authentication), folder.appendingPathComponent("containers/authentication/config.json")] {
            let own = try object(file, "authentication")
            #expect(own["codesPerClient"] as? Int == 10_000_000 && own["codesPerDevice"] as? Int == 10_000_000)
        }
        #expect((try object(home.settings(of: .gateway), "gateway")["shares"] as? [String: Int]) == ["perApplication": 0, "perRequestor": 0])
        #expect(try object(Self.checkout.appending(path: "Services/Authentication/config.json"), "authentication")["codesPerClient"] == nil)
        #expect(try object(Self.checkout.appending(path: "Services/Gateway/config.json"), "gateway")["shares"] == nil)
    }

    @Test("a proxy that ends TLS gets plain HTTP when that is said, and administration stays HTTPS")
    func servesTheProxy() throws {
        var writer = writer
        (writer.isPlainBehindProxy, writer.trustedProxy) = (true, "10.0.0.1")
        try writer.write()
        let own = try gateway("a1")
        #expect(own["listen"] as? String == "0.0.0.0:8080" && own["allowPlainHTTP"] as? Bool == true)
        #expect(own["trustedProxies"] as? [String] == ["10.0.0.1"] && own["signedPlainHTTP"] as? String == "strict")
        #expect((own["admin"] as? [String: Any])?["certificate"] as? String == "pki/administration.crt")
    }

    @Test("written again, nothing changes; a folder with other settings stays as it is, and each difference is told")
    func changesNothing() throws {
        try writer.write()
        let first = try contents()
        #expect(try writer.write().isEmpty)
        #expect(try contents() == first)

        // As the release before wrote it.
        var former = try settings("a1/gateway")
        var own = try gateway("a1")
        (own["listen"], own["allowPlainHTTP"], own["signedPlainHTTP"]) = ("0.0.0.0:8080", true, "all")
        own["admin"] = ["listen": "0.0.0.0:8081", "hosts": ["a1", "b2"]] as [String: Any]
        (former["gateway"], former["limits"]) = (own, nil)
        let file = folder.appendingPathComponent("a1/gateway/config.json")
        try JSONSerialization.data(withJSONObject: former).write(to: file)
        let place = folder.appendingPathComponent("a1/gateway/pki")
        for name in ["administration.crt", "administration.key"] { try FileManager.default.removeItem(at: place.appendingPathComponent(name)) }
        let before = try contents()
        let kept = try writer.write()
        #expect(try contents() == before, "not even a certificate that these settings do not name")
        #expect(
            kept == [
                KeptSettings(
                    file: file.path,
                    differences: [
                        #"gateway.admin.certificate is left out, and would be "pki/administration.crt""#,
                        #"gateway.admin.hosts is ["a1","b2"], and would be ["admin.tv.example","a1"]"#,
                        #"gateway.admin.key is left out, and would be "pki/administration.key""#,
                        "gateway.allowPlainHTTP is true, and would be left out",
                        #"gateway.listen is "0.0.0.0:8080", and would be "127.0.0.1:8080""#,
                        #"gateway.signedPlainHTTP is "all", and would be "strict""#,
                        #"limits is left out, and would be {"stopDelaySeconds":5}"#,
                    ])
            ])
    }

    @Test("a certificate of another authority, as a public one, stays")
    func keepsForeignCertificates() throws {
        try writer.write()
        let place = folder.appendingPathComponent("a1/gateway/pki")
        let foreign = try CertifiedKey.selfSigned(commonName: "tv.example", validity: .days(3))
        try Data(foreign.certificate.pem().utf8).write(to: place.appendingPathComponent("https.crt"))
        try Data(foreign.key.pem().utf8).write(to: place.appendingPathComponent("https.key"))
        let before = try contents()
        #expect(try writer.write().isEmpty)
        #expect(try contents() == before)
    }

    @Test(
        "what has no meaning on hosts is refused",
        arguments: [
            [], ["--gateway", "http://tv.example"], ["--gateway", "https://tv.example", "--admin", "http://admin.tv.example"],
            ["--gateway", "https://tv.example", "--gateway-tls", "http://tv.example"],
            ["--gateway", "https://tv.example", "--sandbox", "http://a1:8090"], ["--gateway", "https://tv.example", "--plain-behind-proxy"],
            ["--gateway", "https://tv.example", "--debug-address", "b1=10.0.0.2"], ["--gateway", "https://tv.example", "--debug-address", "a1"],
            ["--gateway", "https://tv.example", "--debug-address", "a1=a1.example"],
            ["--gateway", "https://tv.example", "--debug-address", "a1=10.0.0.2", "--debug-address", "a1=10.0.0.3"],
        ])
    func refuses(options: [String]) {
        #expect(throws: (any Error).self) { try SettingsCommand.parse(["--folder", "f", "--pki", "p", "--host", "a1"] + options) }
    }

    @Test(
        "what only hosts have is refused without them",
        arguments: [["--plain-behind-proxy", "--trusted-proxy", "10.0.0.1"], ["--debug-address", "a1=10.0.0.2"]])
    func refusesWithoutHosts(options: [String]) {
        #expect(throws: (any Error).self) { try SettingsCommand.parse(["--folder", "f", "--pki", "p"] + options) }
    }

    @Test("the commands of the guides are ones that the program takes", arguments: ["Hosts", "OutgrowOneMachine", "Kubernetes", "Production"])
    func guides(page: String) throws {
        let text = try String(contentsOf: Self.checkout.appending(path: "Shared/Documents/Operations/\(page).md"), encoding: .utf8)
        let joined = text.replacingOccurrences(of: #"\\\n"#, with: " ", options: .regularExpression)
        let commands = joined.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            $0.hasPrefix("boxoffice settings ") || $0.hasPrefix("boxoffice pki ")
        }
        #expect(!commands.isEmpty)
        for command in commands {
            let words = command.prefix { $0 != "#" }.split(separator: " ").dropFirst().map(String.init)
            #expect(throws: Never.self, "\(command)") { try BoxofficeCommand.parseAsRoot(words) }
        }
    }
}
