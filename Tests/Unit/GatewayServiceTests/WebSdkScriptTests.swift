internal import Cryptography
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Testing

/// The script for pages of programmers (web-sdk §2).
@Suite struct WebSdkScriptTests {
    private static let newest = "/entitlement/v4/AccessEnabler.js"
    private static let source = "\(TestGateway.pages)/entitlement"

    let gateway = TestGateway()

    private static func text() throws -> String {
        let parts = try ["environment", "server", "picker", "models", "enabler", "page"].map {
            try String(contentsOfFile: "\(source)/\($0).js", encoding: .utf8)
        }
        return "(() => {\n\"use strict\";\n" + parts.joined(separator: "\n") + "})();\n"
    }

    private static func address(_ version: String) -> String { "/entitlement/v4/\(version)/AccessEnabler.js" }

    @Test("web-sdk #1: the newest script for five minutes, one of a version for good; both for pages of every origin")
    func served() async throws {
        let text = try Self.text()
        let fixed = Self.address(WebSdkScripts.version(of: text))
        for (uri, lifetime) in [(Self.newest, "public, max-age=300"), (fixed, "public, max-age=31536000, immutable")] {
            for origin in ["https://www.acme.example", "https://evil.example", nil] {
                var fields = HTTPFields()
                fields[.origin] = origin
                let reply = try await gateway.get(uri, fields)
                #expect(reply.status == 200 && reply.text == text, "\(uri)")
                #expect(reply.headers[.contentType] == "text/javascript; charset=utf-8" && reply.headers[.cacheControl] == lifetime)
                #expect(reply.headers[.accessControlAllowOrigin] == "*" && reply.headers[.crossOriginResourcePolicy] == "cross-origin")
                #expect(reply.headers[.accessControlAllowCredentials] == nil && reply.headers[.setCookie] == nil)
            }
            let tag = try #require(try await gateway.get(uri, [:]).headers[.eTag])
            let again = try await gateway.get(uri, [.ifNoneMatch: tag])
            #expect(again.status == 304 && again.text.isEmpty && again.headers[.cacheControl] == lifetime)
            #expect(try await gateway.send(.head, uri, [:]).status == 200)
            #expect(try await gateway.send(.post, uri, [:]).status == 405)
        }
    }

    @Test("web-sdk #1: at most 16 KB compressed; nothing that a strict content policy refuses")
    func small() async throws {
        let octets = try await gateway.exchange { client in
            try await client.execute(uri: Self.newest, method: .get, headers: [.acceptEncoding: "gzip"]) { reply in
                #expect(reply.headers[.contentEncoding] == "gzip")
                return reply.body.readableBytes
            }
        }
        #expect(octets <= 16_000)
        let text = try Self.text()
        for refused in [
            "eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setAttribute(\"style\"", "javascript:",
        ] {
            #expect(!text.contains(refused), "\(refused)")
        }
    }

    @Test("web-sdk #2: a version is the beginning of the script's SHA-256; any other is not found, and is no page's to execute")
    func versions() async throws {
        let text = try Self.text()
        #expect(Hex.encode(SHA256.hash(text)).hasPrefix(WebSdkScripts.version(of: text)) && WebSdkScripts.version(of: text).count == 16)
        for version in ["0123456789abcdef", WebSdkScripts.version(of: text).uppercased() + "x", "4.7.1", "%2e%2e", "earlier"] {
            let reply = try await gateway.get(Self.address(version), [:])
            #expect(reply.status == 404 && reply.headers[.contentType] != "text/javascript; charset=utf-8", "\(version)")
        }
    }

    @Test("web-sdk #2: scripts of earlier releases are served as long as their files are there; a folder of an earlier release has none")
    func earlier() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "web-sdk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: "earlier"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.source) where name.hasSuffix(".js") {
            try FileManager.default.copyItem(atPath: "\(Self.source)/\(name)", toPath: folder.appending(path: name).path)
        }
        try Data("old".utf8).write(to: folder.appending(path: "earlier/2026-11.js"))
        try Data("notes".utf8).write(to: folder.appending(path: "earlier/README.md"))
        let scripts = try #require(try WebSdkScripts(folder: folder.path))
        for text in ["old", try Self.text()] {
            let response = try #require(scripts.response(WebSdkScripts.version(of: text), [:]))
            #expect(response.body.contentLength == text.utf8.count)
        }
        #expect(scripts.response(WebSdkScripts.version(of: "notes"), [:]) == nil && scripts.response(nil, [:]) != nil)
        #expect(try WebSdkScripts(folder: "\(folder.path)/none") == nil)
        try FileManager.default.removeItem(at: folder.appending(path: "picker.js"))
        #expect(throws: PagesError.self) { try WebSdkScripts(folder: folder.path) }
    }

    @Test("web-sdk #1, clients §3: the script's addresses are no unserved calls; others below /entitlement/ are, and are 404")
    func unserved() async throws {
        for path in ["/entitlement/v4/AccessEnablerDebug.js", "/entitlement/js/AccessEnabler.js", "/entitlement/AccessEnabler.js", "/entitlement/v4"]
        {
            let reply = try await gateway.get(path, [:])
            #expect(reply.status == 404 && reply.headers[.contentType] == "application/xml; charset=utf-8", "\(path)")
        }
    }
}
