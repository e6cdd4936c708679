import Foundation
import OutboundHttp
import Testing

@testable import ServiceKit

@Suite("Settings of calls to others")
struct OutboundSettingsTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// - Parameter outbound: The object in the settings file; `nil`: none.
    private func resolved(_ outbound: String?) throws -> OutboundOptions {
        let object = outbound.map { ", \"outbound\": \($0)" } ?? ""
        try folder.write("{\"debug\": {\"address\": \"127.0.0.1\", \"port\": 0}\(object)}", to: "config.json")
        let file = folder.path + "/config.json"
        let common = try SettingsReader.read(NoSettings.self, section: "alpha", file: file).common
        return try common.outbound.resolved(SettingsFiles(settingsFile: file))
    }

    @Test("a settings file from before takes no proxy, and says Boxoffice and its version (RFC 9110 §10.1.5)")
    func off() throws {
        for outbound in [nil, "{}"] {
            let options = try resolved(outbound)
            #expect(options.userAgent == "Boxoffice/\(SoftwareVersion.current)" && options.proxies.isEmpty)
        }
    }

    @Test("all of it, with credentials from their file")
    func all() throws {
        try folder.write("ada:love:lace\n", to: "proxy.credentials")
        let options = try resolved(
            """
            {"userAgent": "ACME TV sign-in", "proxy": "http://proxy.example:3128", "proxyCredentials": "proxy.credentials", "proxyResolves": true,
             "noProxy": [".corp.example", "10.0.0.0/8"], "proxies": [{"targets": ["appleid.apple.com"], "proxy": "http://[::1]:8080"}]}
            """)
        #expect(options.userAgent == "ACME TV sign-in")
        let standard = EgressProxy(host: "proxy.example", port: 3128, credentials: .init(user: "ada", password: "love:lace"), resolvesNames: true)
        #expect(options.proxies.standard == standard && !"\(options)".contains("love"))
        #expect(options.proxies.rules.first?.proxy == EgressProxy(host: "::1", port: 8080) && options.proxies.direct.count == 2)
    }

    @Test(
        "what cannot be meant ends the start, with the key and what to do, and without a password",
        arguments: [
            (#"{"userAgent": ""}"#, "outbound.userAgent must be"), (#"{"userAgent": "a\r\nX: 1"}"#, "outbound.userAgent must be"),
            (#"{"proxy": "proxy.example:3128"}"#, "outbound.proxy must be"),
            (#"{"proxy": "https://proxy.example:3128"}"#, "outbound.proxy must begin with http://"),
            (#"{"proxy": "http://proxy.example"}"#, "must name the proxy's port"),
            (#"{"proxy": "http://ada:hunter2@proxy.example:1"}"#, "proxyCredentials"),
            (#"{"proxy": "http://proxy.example:1/path"}"#, "without a path"), (#"{"noProxy": ["a.example"]}"#, "has no meaning without a proxy"),
            (#"{"proxyResolves": true}"#, "outbound.proxyResolves has no meaning"),
            (#"{"proxyCredentials": "x"}"#, "outbound.proxyCredentials has no meaning"),
            (#"{"proxy": "http://p:1", "noProxy": ["*"]}"#, "outbound.noProxy"),
            (#"{"proxies": [{"targets": [], "proxy": "http://p:1"}]}"#, "outbound.proxies[0].targets"),
            (#"{"proxies": [{"targets": ["a.example"]}]}"#, "outbound.proxies[0].proxy"), (#"{"proxi": "x"}"#, "proxi"),
            (#"{"proxy": "http://p:1", "proxyCredentials": "absent"}"#, "outbound.proxyCredentials names the file"),
            (#"{"proxy": "http://p:1", "proxyCredentials": "user"}"#, "user:password"),
        ])
    func refuses(outbound: String, reason: String) throws {
        try folder.write("ada\n", to: "user")
        let failure = try #require(throws: StartFailure.self) { try resolved(outbound) }
        let text = failure.lines.joined()
        #expect(text.contains(reason) && !text.contains("hunter2"), "\(text)")
    }
}
