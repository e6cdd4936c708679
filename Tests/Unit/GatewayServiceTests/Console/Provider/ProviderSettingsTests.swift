internal import Foundation
@testable import GatewayEdge
internal import Testing

@Suite("Settings of the console's sign-in and of its selector of clusters") struct ProviderSettingsTests {
    private static let good = """
        {"issuer":"https://staff.example","clientID":"console","clientSecretFile":"s","origin":"https://admin.example:8081","roles":{"a":"operator"}}
        """

    private func problem(_ change: (inout OpenIDSettings) -> Void) throws -> String? {
        var settings = try JSONDecoder().decode(OpenIDSettings.self, from: Data(Self.good.utf8))
        change(&settings)
        return AdministrationSettings(openIDConnect: settings).problem(allowsPlainHTTP: false).map { "\($0.key) \($0.text)" }
    }

    @Test("what is left out has defaults, and what is wrong is named")
    func names() throws {
        #expect(try problem { _ in } == nil)
        #expect(try problem { $0.issuer = "http://127.0.0.1:8090/staff" } == nil)
        for issuer in [
            "http://staff.example", "http://127.evil.example", "https://staff.example/?a", "https://u@staff.example", "staff", "https://s/#f",
        ] {
            #expect(try problem { $0.issuer = issuer }?.hasPrefix("openIDConnect.issuer must be https") == true, "\(issuer)")
        }
        #expect(try problem { $0.clientID = "" }?.hasPrefix("openIDConnect.clientID") == true)
        for origin in ["https://admin.example/", "http://admin.example", "admin.example", "https://Admin.example"] {
            #expect(try problem { $0.origin = origin }?.hasPrefix("openIDConnect.origin") == true, "\(origin)")
        }
        #expect(try problem { $0.scopes = ["email"] }?.contains("one of them openid") == true)
        #expect(try problem { $0.roles = [:] }?.contains("nobody could sign in") == true)
        #expect(try problem { $0.roles = ["e": .editor] }?.contains("the role of 'e' is bound to some") == true)
        #expect(try problem { $0.programmers = ["e": []] }?.contains("must map 'e'") == true)
        #expect(try problem { $0.programmers = ["e": ["*"]] }?.contains("must map 'e'") == true)
        func words(_ count: Int) -> [String] { ["openid"] + (1..<count).map { "w\($0)" } }
        func values(_ count: Int) -> [String: [String]] { Dictionary(uniqueKeysWithValues: (0..<count).map { ("v\($0)", ["p"]) }) }
        let longest = "https://staff.example/".padding(toLength: 2048, withPad: "x", startingAt: 0)
        #expect(
            try problem {
                ($0.issuer, $0.clientID, $0.scopes) = (longest, String(repeating: "c", count: 255), words(20))
                $0.programmers = values(1000)
                $0.programmers["v0"] = (0..<100).map { "p\($0)" }
                $0.programmers["v1"] = [String(repeating: "p", count: 128)]
            } == nil)
        #expect(try problem { $0.issuer = longest + "x" }?.hasPrefix("openIDConnect.issuer") == true)
        #expect(try problem { $0.clientID = String(repeating: "c", count: 256) }?.hasPrefix("openIDConnect.clientID") == true)
        #expect(try problem { $0.scopes = words(21) }?.hasPrefix("openIDConnect.scopes") == true)
        #expect(try problem { $0.programmers = values(1001) }?.hasPrefix("openIDConnect.programmers") == true)
        #expect(try problem { $0.programmers = ["e": (0...100).map { "p\($0)" }] }?.contains("must map 'e'") == true)
        #expect(try problem { $0.programmers = ["e": [String(repeating: "p", count: 129)]] }?.contains("must map 'e'") == true)
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(OpenIDSettings.self, from: Data(Self.good.replacingOccurrences(of: "operator", with: "root").utf8))
        }
    }

    @Test("the head leads to the consoles of other clusters, without scripts")
    func listsClusters() async throws {
        let clusters = [OtherCluster(name: "release <staging>", console: "https://admin.staging.example/console")]
        let admin = AdministrationSettings(clusterName: "prequal", clusters: clusters)
        #expect(admin.problem(allowsPlainHTTP: false) == nil)
        let page = try await ConsoleFixture(admin: admin).get("")
        #expect(page.text.contains("<details class=\"clusters\">") && page.text.contains("<bdi>prequal</bdi>"))
        #expect(page.text.contains(#"href="https://admin.staging.example/console""#) && page.text.contains("release &lt;staging&gt;"))
        #expect(try await !ConsoleFixture().get("").text.contains("clusters"))
        let plain = AdministrationSettings(clusters: [OtherCluster(name: "x", console: "javascript:alert(1)")])
        #expect(plain.problem(allowsPlainHTTP: false)?.key == "clusters")
    }
}
