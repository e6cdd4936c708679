@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Clocks
import Cryptography
import Foundation
import Testing
import TextEncodings

extension RestV2Tests.ClientTests {
    /// V2: the recorder at a film channel, October 2026.
    ///
    /// | call | sends | reads |
    /// |---|---|---|
    /// | POST register, token | JSON; a form | `client_id`, `client_secret`; `access_token` |
    /// | POST sessions | `mvpd`, `redirectUrl`, `domainName` that begins with `www.`; `ap-device-identifier`, no device information | `reasonType`, `url` |
    /// | GET url | the bearer | `Location`; another HTTP session goes on from there |
    /// | GET profiles/{mvpd} | again and again; after a 401 with a new token of the client | the profile |
    /// | POST decisions/authorize/{mvpd} | the channel's name | `authorized`, `serializedToken`, which the channel's token service takes |
    @Test("clients #54, #74: V2, a film channel's recorder, whole, at an OAuth provider")
    func films() async throws {
        let cluster = try TestCluster.running()
        var program = Program(
            cluster: cluster,
            headers: [
                "User-Agent": Self.browser, "Origin": "https://www.films.example", "Referer": "https://www.films.example/watch/east",
                "ap-device-identifier": Self.fingerprint(UUID().uuidString),
            ])
        try await program.register("acme-tv")
        func session() async throws -> HTTPAnswer {
            try await program.form(
                "/api/v2/ACME1/sessions",
                ["mvpd": "OpenFiber", "redirectUrl": "https://www.acme.example/watch/east", "domainName": "www.films.example"])
        }
        let made = try await session()
        #expect(made.step == ["authenticate", "interactive", "none"], "\(made.text)")
        let begun = try await program.send("GET", try #require(made.object["url"] as? String))
        let provider = try #require(begun.header("location"), "\(begun.status) \(begun.text)")
        #expect(begun.status == 302 && begun.header("set-cookie") == nil)

        func profile() async throws -> HTTPAnswer { try await program.send("GET", "/api/v2/ACME1/profiles/OpenFiber") }
        #expect(try await profile().object["profiles"] as? [String: String] == [:])
        let device = Device(cluster: cluster, requestor: "ACME1", id: "", accessToken: "")
        var person = OAuthBrowser(device)
        let end = try await person.load("GET", try await person.logIn(at: provider, as: "ada"))
        #expect(end.status == 302 && end.header("location") == "https://www.acme.example/watch/east", "\(end.text)")
        program.headers["Authorization"] = "Bearer of yesterday"
        #expect(try await profile().status == 401)
        try await program.renewToken()
        let own = (try await profile().object["profiles"] as? [String: [String: Any]])?["OpenFiber"]
        #expect(own?["notAfter"] is Int && own?["type"] as? String == "regular")
        #expect(try await session().step == ["authorize", "direct", "authenticated"])

        let answer = try await program.json("/api/v2/ACME1/decisions/authorize/OpenFiber", ["resources": ["ACME1-NEWS"]])
        let permit = try #require((answer.object["decisions"] as? [[String: Any]])?.first, "\(answer.text)")
        #expect(permit.isAuthorized && permit.mediaToken.flatMap { Data(base64Encoded: $0) } != nil)
    }

    /// V5: the recorder at a sports network, October 2026.
    ///
    /// | call | sends | reads |
    /// |---|---|---|
    /// | POST register | one statement after the other, until one is taken | a 4xx: the next; `client_id`, `client_secret` |
    /// | POST token | a form; later again for the same client, which has the login | `access_token` |
    /// | GET configuration | the bearer, `ap-device-identifier` | `requestor.mvpds[]`: `id`, `displayName` |
    /// | POST sessions | `mvpd`, `redirectUrl`, `domainName` | `actionName`, `url`, `code` |
    /// | GET url | a person's phone, which has no bearer | – |
    /// | GET profiles/{mvpd} | every 3 to 15 s, up to half an hour; after a 401 with a new token | the profile, `notAfter` |
    /// | POST decisions/authorize/{mvpd} | the network's playback service, from its own address, with the app's token and device: RSS in single quotes, an empty rating | the decision |
    @Test("clients #54: V5, a sports network's recorder and its playback service, whole")
    func sports() async throws {
        let cluster = try TestCluster.running()
        let identifier = Self.fingerprint(UUID().uuidString.lowercased().replacing("-", with: ""))
        var program = Program(
            cluster: cluster,
            headers: [
                "User-Agent": Self.browser, "Accept": "*/*", "Origin": "https://www.sports.example", "Referer": "https://www.sports.example/",
                "ap-device-identifier": identifier,
            ])
        for stranger in ["eyJhbGciOiJSUzI1NiJ9.e30.AAAA", "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhdXRoLnNwb3J0cy5leGFtcGxlIn0.AAAA"] {
            let refused = try await program.json("/o/client/register", ["software_statement": stranger])
            #expect((400..<500).contains(refused.status), "\(refused.text)")
        }
        try await program.register("acme-tv")
        let configuration = try await program.send("GET", "/api/v2/ACME1/configuration")
        let mvpds = (configuration.object["requestor"] as? [String: Any])?["mvpds"] as? [[String: Any]]
        #expect(mvpds?.contains { $0["id"] as? String == "NorthCable" && $0["displayName"] as? String == "North Cable" } == true)
        let session = try await program.form(
            "/api/v2/ACME1/sessions", ["mvpd": "NorthCable", "redirectUrl": "https://www.acme.example/watch/", "domainName": "sports.example"])
        #expect(session.object["actionName"] as? String == "authenticate" && session.object["code"] is String, "\(session.text)")
        let path = try #require(session.object["url"] as? String)

        func profile() async throws -> HTTPAnswer { try await program.send("GET", "/api/v2/ACME1/profiles/NorthCable") }
        #expect(try await profile().object["profiles"] as? [String: String] == [:])
        var phone = Browser(exchange: cluster.exchange)
        let end = try await phone.complete(try await phone.visit(cluster.gateway + path), at: cluster.gateway + path, name: "ada")
        #expect(end.status == 302 && end.header("location") == "https://www.acme.example/watch/", "\(end.text)")
        program.headers["Authorization"] = "Bearer of this morning"
        #expect(try await profile().status == 401)
        try await program.renewToken()
        let own = (try await profile().object["profiles"] as? [String: [String: Any]])?["NorthCable"]
        #expect(own?["notAfter"] is Int)

        let resource =
            "<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel><title>ACME1-NEWS</title><item><title>Home &amp; Away</title>"
            + "<guid>7d1f</guid><media:rating scheme='urn:v-chip'></media:rating></item></channel></rss>"
        let service = Program(
            cluster: cluster,
            headers: [
                "User-Agent": "playback/7", "X-Forwarded-For": "203.0.113.77", "AP-Device-Identifier": identifier,
                "Authorization": try #require(program.headers["Authorization"]),
            ])
        let answer = try await service.json("/api/v2/ACME1/decisions/authorize/NorthCable", ["resources": [resource]])
        let permit = try #require((answer.object["decisions"] as? [[String: Any]])?.first, "\(answer.text)")
        #expect(permit.isAuthorized && permit["resource"] as? String == resource)
    }

    /// V6: a support console (UnderPAR 1.28), April 2026, a browser's extension.
    ///
    /// | call | sends | reads |
    /// |---|---|---|
    /// | POST register | JSON with `grant_types` and `token_endpoint_auth_method` | `client_id`, `client_secret` |
    /// | POST token | a form with `scope`, then in the query | `access_token`; the scopes of the answer or of the JWT |
    /// | GET configuration | `Accept` alone | `requestor.mvpds[]`: `id`, `displayName`, `isProxy`, `isTempPass` |
    /// | POST sessions | `domainName` `adobe.com`, `redirectUrl` of its documentation, which is no channel's | `url`, `code`; `message`, `code` of a refusal |
    /// | GET profiles/code/{code}, profiles, profiles/{mvpd} | device headers; of the device information flags, and a User-Agent as `osVersion` | the profiles |
    /// | POST decisions/{kind}/{mvpd} | every header that there is, and `AP-Session-Identifier` | `decisions[]`, top-level errors |
    /// | GET logout/{mvpd} | `redirectUrl` | `logouts` |
    @Test("clients #54, #86, #87, #88, #90: V6, a support console, whole: with every header that there is, it is answered as without")
    func console() async throws {
        let cluster = try TestCluster.running()
        let end = "https://docs.console.example/pass/interactive/"
        let statement = try await Self.consoleStatement(hosts: ["docs.console.example"])
        var console = Program(cluster: cluster, headers: Self.consoleHeaders)
        try await console.registerAsConsole(statement)
        let session: KeyValuePairs = ["mvpd": "NorthCable", "domainName": "adobe.com", "redirectUrl": end]
        let made = try await console.form("/api/v2/ACME1/sessions", session)
        #expect(made.step == ["authenticate", "interactive", "none"], "\(made.text)")
        let (code, path) = (try #require(made.object["code"] as? String), try #require(made.object["url"] as? String))
        var tab = Browser(exchange: cluster.exchange)
        let landed = try await tab.complete(try await tab.visit(cluster.gateway + path), at: cluster.gateway + path, name: "ada")
        #expect(landed.status == 302 && landed.header("location") == end, "\(landed.text)")

        let (resources, again) = (#"{"resources":["ACME1-NEWS"]}"#, FormEncoding.encode(session.map { ($0.key, $0.value) }))
        let calls: [(method: String, rest: String, body: String?)] = [
            ("GET", "configuration", nil), ("GET", "profiles/code/\(code)", nil), ("GET", "profiles", nil), ("GET", "profiles/NorthCable", nil),
            ("POST", "decisions/preauthorize/NorthCable", resources), ("POST", "decisions/authorize/NorthCable", resources),
            ("POST", "sessions", again), ("POST", "sessions/\(code)", ""),
            ("GET", "logout/LakeTel?redirectUrl=\(FormEncoding.encode(end))", nil), ("GET", "profiles/Nobody", nil),
        ]
        for call in calls {
            let type = call.body == resources ? "application/json" : "application/x-www-form-urlencoded"
            let usual = call.body == nil ? [:] : ["Content-Type": type]
            let path = "/api/v2/ACME1/\(call.rest)"
            let plain = try await console.send(call.method, path, usual, body: call.body)
            let laden = try await console.send(call.method, path, usual.merging(Self.everyHeader) { first, _ in first }, body: call.body)
            #expect(plain.status < 500 && plain.status == laden.status, "\(call.rest): \(plain.text) \(laden.text)")
            #expect(plain.lasting == laden.lasting, "\(call.rest)")
        }
        let configuration = try await console.send("GET", "/api/v2/ACME1/configuration").object["requestor"] as? [String: Any]
        let mvpds = try #require(configuration?["mvpds"] as? [[String: Any]])
        #expect(!mvpds.isEmpty && mvpds.allSatisfy { $0["isProxy"] is Bool && $0["isTempPass"] is Bool })
        let foreign = try await console.form(
            "/api/v2/ACME1/sessions", ["mvpd": "LakeTel", "domainName": "adobe.com", "redirectUrl": "https://console.example/"])
        #expect(foreign.status == 400 && foreign.v2Error == "invalid_parameter_redirect_url", "\(foreign.text)")
        // The host is this application's alone.
        var app = Program(cluster: cluster, headers: Self.consoleHeaders)
        try await app.register("acme-tv")
        #expect(try await app.form("/api/v2/ACME1/sessions", session).v2Error == "invalid_parameter_redirect_url")
        let logout = try await console.send("GET", "/api/v2/ACME1/logout/NorthCable?redirectUrl=\(FormEncoding.encode(end))")
        let left = (logout.object["logouts"] as? [String: [String: String]])?["NorthCable"]
        #expect(left?["actionName"] == "logout" && left?["url"]?.hasPrefix("http") == true, "\(logout.text)")
    }

    private static let consoleDevice =
        #"{"primaryHardwareType":"Desktop","model":"Win32","version":"1.0","osName":"Windows","osVersion":"\#(browser)","browserName":"Chrome","#
        + #""browserVendor":"Google","userAgent":"\#(browser)","connectionType":"4g","connectionSecure":true,"applicationId":"Console"}"#

    private static let consoleHeaders = [
        "Accept": "application/json", "User-Agent": browser, "AP-Device-Identifier": fingerprint(UUID().uuidString),
        "X-Device-Info": Data(consoleDevice.utf8).base64EncodedString(),
    ]

    /// The header fields that the console takes over from recordings of other clients: nothing in them holds here.
    private static let everyHeader = [
        "Content-Type": "application/json", "Origin": "chrome-extension://console", "AP-Session-Identifier": UUID().uuidString,
        "Adobe-Subject-Token": "eyJhbGciOiJub25lIn0.e30.", "X-Roku-Reserved-Roku-Connect-Token": "eyJhbGciOiJub25lIn0.e30.",
        "AD-Service-Token": "eyJhbGciOiJub25lIn0.e30.", "AP-Temppass-Identity": Data(#"{"email":"0123"}"#.utf8).base64EncodedString(),
        "AP-Visitor-Identifier": "40692203312345678901234567890123456789",
        "AP-Partner-Framework-Status": Data(#"{"frameworkPermissionInfo":{"accessStatus":"denied"},"frameworkProviderInfo":{}}"#.utf8)
            .base64EncodedString(),
    ]

    /// An application for the console, by a statement that another house signed.
    private static func consoleStatement(hosts: [String]) async throws -> String {
        let local = try await Administrator.fresh()
        let id = "console-\(UUID().uuidString.prefix(8).lowercased())"
        let statement = "foreign.\(id).statement"
        let entity = try await local.copy(
            ofApplication: "acme-tv",
            ["id": id, "name": id, "legacyStatements": [Hex.encode(SHA256.hash(statement))], "redirectHosts": hosts])
        try #require(try await local.send("POST", "/applications", entity).status == 201)
        try await local.push("a support console")
        try await Condition.wait("the console's statement is known") {
            try await local.cluster.send(.json("/o/client/register", ["software_statement": statement])).status == 201
        }
        return statement
    }

    /// V7: scripts for usage reports, February 2026.
    ///
    /// | call | sends | reads |
    /// |---|---|---|
    /// | POST register | JSON | `client_id`, `client_secret` |
    /// | POST token | the three parameters in the query, `Content-Type: application/json`, no body; anew after a 401 | `access_token` |
    /// | GET {path}.json | `limit=1`; then the address of each link in the same way | the names in `report[0]`; `_links.drill-down`, a list or one object, of `href`, to which `.json` is added |
    /// | GET media-company/year | a bare `requestor-id` | `requestor-id`, `media-company` of each row |
    /// | GET {path} | `start` a year or a month, `end` a moment, both encoded, `format=json`, `requestor-id` more than once | `report[]`: texts or numbers by name |
    @Test("clients #54, #94: V7, scripts for usage reports, whole")
    func reports() async throws {
        let cluster = try TestCluster.running()
        var script = Program(cluster: cluster, headers: ["Accept": "*/*", "User-Agent": "curl/8"])
        try await script.register("acme-ops", tokenQuery: true)
        func report(_ address: String) async throws -> HTTPAnswer {
            let headers = ["Authorization": script.headers["Authorization"] ?? "", "Accept": "*/*"]
            return try await cluster.exchange.send("GET", cluster.administration + address, headers: headers.map { ($0.key, $0.value) }, body: nil)
        }
        var (waiting, seen): ([(String, Int)], [String]) = ([("/esm/v3/media-company/year", 0)], [])
        while let (path, level) = waiting.popLast() {
            let answer = try await report("\(path).json?limit=1")
            try #require(answer.status == 200, "\(path): \(answer.text)")
            seen.append(path)
            if let row = (answer.object["report"] as? [[String: Any]])?.first {
                #expect(path.split(separator: "/").dropFirst(2).allSatisfy { row[String($0)] != nil }, "\(path): \(row)")
            }
            let links = (answer.object["_links"] as? [String: Any])?["drill-down"]
            let next = links as? [[String: String]] ?? [(links as? [String: String]) ?? [:]]
            if level < 4 { waiting += next.compactMap { $0["href"] }.map { ($0, level + 1) } }
        }
        let tree = try #require(seen.first { $0.hasSuffix("/day/requestor-id") }, "\(seen)")

        let device = try await V2Device.make()
        try await device.signIn()
        func isSignIn(_ row: [String: Any]) -> Bool {
            row["requestor-id"] as? String == "ACME1" && Int(row["authn-successful"] as? String ?? "") ?? 0 > 0
        }
        try await Condition.wait("the report has the sign-in") {
            let answer = try await report("/esm/v3/media-company/year?requestor-id")
            let rows = answer.object["report"] as? [[String: Any]] ?? []
            return rows.contains { isSignIn($0) && $0["media-company"] as? String == "acme" }
        }
        script.headers["Authorization"] = "Bearer of yesterday"
        #expect(try await report("/esm/v3/media-company/year").status == 401)
        try await script.renewToken()
        let soon = Date(timeIntervalSince1970: TimeInterval(cluster.now.milliseconds / 1000 + 3600))
        let moment = FormEncoding.encode(ISO8601DateFormatter().string(from: soon))
        let start = Calendar(identifier: .gregorian).component(.year, from: soon) - 1
        let answer = try await report("\(tree)?start=\(start)&end=\(moment)&format=json&requestor-id=ACME1&requestor-id=ACME2")
        let rows = try #require(answer.object["report"] as? [[String: Any]], "\(answer.status) \(answer.text)")
        #expect(rows.contains { isSignIn($0) })
        #expect(rows.allSatisfy { ["ACME1", "ACME2"].contains($0["requestor-id"] as? String) })
    }
}

extension RestV2Tests.ClientTests.Program {
    /// Registers with what the console sends beside, and asks for more than it may have.
    mutating func registerAsConsole(_ statement: String) async throws {
        let body: [String: Any] = [
            "software_statement": statement, "grant_types": ["client_credentials"], "token_endpoint_auth_method": "client_secret_post",
        ]
        let registered = try Self.client(try await json("/o/client/register", body))
        client = registered
        let fields = registered.fields + [("scope", "api:client:v2 decisions:owner")]
        let headers = ["Content-Type": "application/x-www-form-urlencoded"]
        for answer in [
            try await send("POST", "/o/client/token", headers, body: FormEncoding.encode(fields)),
            try await send("POST", "/o/client/token?" + FormEncoding.encode(fields)),
        ] {
            let scopes = (answer.object["scope"] as? String)?.split(separator: " ")
            #expect(scopes.map(Set.init) == ["api:client:v1", "api:client:v2"], "\(answer.text)")
            let token = try #require(answer.object["access_token"] as? String, "\(answer.text)")
            let claims = try JSONSerialization.jsonObject(with: Data(try #require(Base64.url.decode(String(token.split(separator: ".")[1])))))
            #expect(
                (claims as? [String: Any])?["exp"] is Int && (claims as? [String: Any])?["scopes"] as? String == answer.object["scope"] as? String)
            self.headers["Authorization"] = "Bearer \(token)"
        }
    }
}

extension HTTPAnswer {
    /// The object without what is new with every answer, as text.
    fileprivate var lasting: String {
        func settled(_ value: Any) -> Any {
            if let list = value as? [Any] { return list.map(settled) }
            guard let object = value as? [String: Any] else { return value }
            let changing = ["trace", "token", "notBefore", "notAfter", "sessionId", "code", "url", "time"]
            let isSealed = object["state"] as? String == "enc"
            return object.filter { name, _ in
                name == "value" ? !isSealed : !changing.contains(name) || name == "code" && object["trace"] != nil
            }.mapValues(settled)
        }
        let data = try? JSONSerialization.data(withJSONObject: settled(object), options: [.sortedKeys])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}
