internal import Foundation
@testable import GatewayEdge
internal import Testing

/// The names under which the gateway is called.
@Suite struct HostSettingsTests {
    private static let tls = HttpsSettings(listen: "127.0.0.1:8443", certificate: "a.crt", key: "a.key")

    private func problem(
        _ hosts: [HostSettings], origin: String = "https://tv.example", signIn: String? = nil, tls: HttpsSettings? = tls, insecure: Bool = false
    ) -> (key: String, text: String)? {
        GatewaySettings(publicOrigin: origin, pages: "p", insecureCookies: insecure, tls: tls, hosts: hosts, signInOrigin: signIn).problem
    }

    @Test("a settings file from before there were names is good, and has none")
    func oldFile() throws {
        let text = #"{"listen":"127.0.0.1:8080","publicOrigin":"http://127.0.0.1:8080","pages":"Pages"}"#
        let settings = try JSONDecoder().decode(GatewaySettings.self, from: Data(text.utf8))
        #expect(settings.hosts.isEmpty && settings.signInOrigin == nil && settings.problem == nil)
        #expect(settings.originOfSignIns == "http://127.0.0.1:8080")
    }

    @Test("an entry needs a name alone; its addresses begin with https and the name then")
    func shortest() throws {
        let text = """
            {"listen":"127.0.0.1:8080","publicOrigin":"https://tv.example","signInOrigin":"https://sp.tv.example","pages":"Pages",
             "hosts":[{"name":"API.tv.example"},{"name":"sp.tv.example","origin":"https://tv.example","certificate":"sp.crt","key":"sp.key"}],
             "tls":{"listen":"127.0.0.1:8443","certificate":"a.crt","key":"a.key"}}
            """
        let settings = try JSONDecoder().decode(GatewaySettings.self, from: Data(text.utf8))
        #expect(settings.problem == nil)
        #expect(settings.hosts.map(\.name) == ["api.tv.example", "sp.tv.example"])
        #expect(settings.hosts.map(\.origin) == ["https://api.tv.example", "https://tv.example"])
        #expect(settings.originOfSignIns == "https://sp.tv.example")
        #expect(settings.namesWithoutCertificate == ["tv.example", "api.tv.example"])
    }

    @Test("what is wrong is named, with what to do")
    func problems() {
        let cases: [(hosts: [HostSettings], key: String, text: String)] = [
            ([HostSettings(name: "api.tv.example:8443")], "hosts.name", "without scheme, port and path"),
            ([HostSettings(name: "https://api.tv.example")], "hosts.name", "without scheme, port and path"),
            ([HostSettings(name: "")], "hosts.name", "host name"),
            ([HostSettings(name: String(repeating: "a", count: 254))], "hosts.name", "host name"),
            ([HostSettings(name: "*.tv.example")], "hosts.name", "host name"),
            ([HostSettings(name: "api.tv.example", origin: "https://api.tv.example/")], "hosts.origin", "without a path"),
            ([HostSettings(name: "api.tv.example", origin: "api.tv.example")], "hosts.origin", "without a path"),
            ([HostSettings(name: "api.tv.example", certificate: "a.crt")], "hosts.certificate", "go together"),
            ([HostSettings(name: "api.tv.example", key: "a.key")], "hosts.certificate", "go together"),
            ([HostSettings(name: "10.0.0.7", certificate: "a.crt", key: "a.key")], "hosts.certificate", "numbers"),
            ([HostSettings(name: "api.tv.example"), HostSettings(name: "API.TV.EXAMPLE")], "hosts.name", "two entries"),
            ([HostSettings(name: "tv.example", origin: "https://other.example")], "hosts.origin", "must be publicOrigin"),
            ((0...100).map { HostSettings(name: "h\($0).example") }, "hosts", "at most 100"),
        ]
        for (hosts, key, text) in cases {
            let found = problem(hosts)
            #expect(found?.key == key && found?.text.contains(text) == true, "\(hosts.map(\.name).prefix(2)): \(String(describing: found))")
        }
        #expect(problem([HostSettings(name: "api.tv.example", certificate: "a.crt", key: "a.key")], tls: nil)?.text.contains("gateway.tls") == true)
        #expect(problem([], signIn: "https://sp.tv.example/saml")?.key == "signInOrigin")
        #expect(problem([HostSettings(name: "tv.example", certificate: "a.crt", key: "a.key")]) == nil, "publicOrigin's own name, with its origin")
    }

    @Test("cookies of plain HTTP are for names of this machine alone")
    func insecureCookies() {
        let home = "http://127.0.0.1:8080"
        func isGood(_ origin: String, signIn: String? = nil) -> Bool {
            problem([HostSettings(name: "localhost", origin: origin)], origin: home, signIn: signIn, insecure: true) == nil
        }
        #expect(isGood("http://localhost:8080"))
        #expect(!isGood("https://localhost:8443") && !isGood("http://tv.example"))
        #expect(!isGood("http://localhost:8080", signIn: "https://tv.example"))
    }
}
