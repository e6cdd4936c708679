@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension RestV2Tests {
    /// Clients of REST v2 that exist, by their own order and spelling of calls (Shared/Documents/Specs/clients.md §4).
    @Suite("Clients that exist")
    struct ClientTests {
        static let browser =
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"

        /// A program that keeps its headers, as the recorder does.
        struct Program {
            let cluster: TestCluster
            var headers: [String: String]
            var client: Client?

            func send(_ method: String, _ path: String, _ changes: [String: String] = [:], body: String? = nil) async throws -> HTTPAnswer {
                let all = headers.merging(changes) { $1 }
                return try await cluster.exchange.send(method, cluster.gateway + path, headers: all.map { ($0.key, $0.value) }, body: body)
            }

            func form(_ path: String, _ fields: KeyValuePairs<String, String>) async throws -> HTTPAnswer {
                let body = FormEncoding.encode(fields.map { ($0.key, $0.value) })
                return try await send("POST", path, ["Content-Type": "application/x-www-form-urlencoded"], body: body)
            }

            func json(_ path: String, _ object: Any) async throws -> HTTPAnswer {
                let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
                return try await send("POST", path, ["Content-Type": "application/json"], body: body)
            }

            /// - Parameter tokenQuery: True: the three parameters stand in the query, and there is no body.
            mutating func register(_ application: String, tokenQuery: Bool = false) async throws {
                let made = try await json("/o/client/register", ["software_statement": try Client.statement(application)])
                let client = try Self.client(made)
                self.client = client
                guard tokenQuery else { return try await renewToken() }
                try use(try await send("POST", "/o/client/token?\(FormEncoding.encode(client.fields))"))
            }

            /// A token for the client that is there: a new client would have no login.
            mutating func renewToken() async throws {
                headers["Authorization"] = nil
                let body = FormEncoding.encode(try #require(client).fields)
                try use(try await send("POST", "/o/client/token", ["Content-Type": "application/x-www-form-urlencoded"], body: body))
            }

            static func client(_ made: HTTPAnswer) throws -> Client {
                try #require((200...201).contains(made.status), "\(made.text)")
                return Client(
                    id: try #require(made.object["client_id"] as? String), secret: try #require(made.object["client_secret"] as? String))
            }

            private mutating func use(_ token: HTTPAnswer) throws {
                headers["Authorization"] = "Bearer " + (try #require(token.object["access_token"] as? String, "\(token.text)"))
            }
        }

        static func fingerprint(_ id: String) -> String { "fingerprint " + Data(id.utf8).base64EncodedString() }

        /// Finishes a login elsewhere: the program only knows the address to which it was sent.
        static func finish(_ begun: HTTPAnswer, at path: String, _ cluster: TestCluster) async throws {
            var person = Browser(exchange: cluster.exchange)
            let end = try await person.complete(begun, at: cluster.gateway + path, name: "ada")
            try #require(end.status == 302, "\(end.text)")
        }

        /// V1: the recorder at a broadcaster, October 2026.
        ///
        /// | call | sends | reads |
        /// |---|---|---|
        /// | POST register, token | JSON; a form | `client_id`, `client_secret`; `access_token` |
        /// | POST sessions | `mvpd`, `redirectUrl`, `domainName` of a stranger; `ap-device-identifier`, no device information, a stranger's `Referer` | `url` |
        /// | GET url | the bearer | `Location` |
        /// | GET profiles/{mvpd} | once, at once | the profile; none means not authorized |
        /// | POST decisions/preauthorize | twelve resources | an item for each; a missing one means free to all |
        @Test("clients #54, #83: V1, a broadcaster's recorder, whole")
        func broadcaster() async throws {
            let cluster = try TestCluster.running()
            var program = Program(
                cluster: cluster,
                headers: [
                    "User-Agent": Self.browser, "Referer": "https://www.broadcaster.example/",
                    "ap-device-identifier": Self.fingerprint(UUID().uuidString),
                ])
            try await program.register("acme-tv")
            let session = try await program.form(
                "/api/v2/ACME2/sessions",
                ["mvpd": "NorthCable", "redirectUrl": "https://acme-two.example/mvpd-complete", "domainName": "broadcaster.example"])
            try #require(session.status == 200, "\(session.text)")
            let path = try #require(session.object["url"] as? String)
            let begun = try await program.send("GET", path)
            #expect((300..<400).contains(begun.status) && begun.header("location")?.isEmpty == false)
            try await Self.finish(begun, at: path, cluster)
            let profile = try await program.send("GET", "/api/v2/ACME2/profiles/NorthCable")
            #expect((profile.object["profiles"] as? [String: Any])?["NorthCable"] != nil, "\(profile.text)")
            let resources = ["ACME2-MOVIES"] + (1...11).map { "ACME2-\($0)" }
            let answer = try await program.json("/api/v2/ACME2/decisions/preauthorize/NorthCable", ["resources": resources])
            let decisions = try #require(answer.object["decisions"] as? [[String: Any]])
            #expect(decisions.map { $0["resource"] as? String } == resources)
            #expect(decisions.map(\.isAuthorized) == [true] + [Bool](repeating: false, count: 11), "ada may watch what is carried")
            #expect(decisions.dropFirst().allSatisfy { $0.errorCode == "preauthorization_denied_by_mvpd" }, "\(answer.text)")
        }

        /// V3: the recorder at four sister channels, October 2026.
        ///
        /// | call | sends | reads |
        /// |---|---|---|
        /// | POST sessions | `domainName` with a scheme; device information that is Base64 of plain text; a stranger's `Origin` | `code`, `url`; `message` of a refusal |
        /// | GET url | `Accept: text/html,*/*` | `Location`, or the page |
        /// | GET profiles/code/{code} | `Content-Type: application/json` | `userID.value`, a text |
        /// | POST decisions/authorize | one resource, a plain text | `token.serializedToken` |
        @Test("clients #54, #84: V3, a recorder at sister channels, whole")
        func sisters() async throws {
            let cluster = try TestCluster.running()
            var program = Program(
                cluster: cluster,
                headers: [
                    "User-Agent": Self.browser, "Accept": "*/*", "Accept-Language": "en-US,en;q=0.9", "Origin": "https://www.sister.example",
                    "Referer": "https://www.sister.example/", "ap-device-identifier": Self.fingerprint(UUID().uuidString),
                    "x-device-info": Data("platform=Windows;mobile=false;lang=en-US;dpr=1;screen=1760x1262".utf8).base64EncodedString(),
                ])
            try await program.register("acme-tv")
            func session(_ mvpd: String) async throws -> HTTPAnswer {
                try await program.form(
                    "/api/v2/ACME1/sessions", ["mvpd": mvpd, "domainName": "https://sister.example", "redirectUrl": "https://acme.example/live"])
            }
            let refused = try await session("ParkedTV")
            #expect(refused.status == 400 && (refused.object["message"] as? String)?.lowercased().contains("does not exist or is disabled") == true)
            let made = try await session("NorthCable")
            #expect(made.header("access-control-allow-origin") == nil)
            let (code, path) = (try #require(made.object["code"] as? String), try #require(made.object["url"] as? String))
            let begun = try await program.send("GET", path, ["Accept": "text/html,*/*"])
            try await Self.finish(begun, at: path, cluster)
            let profile = try await program.send("GET", "/api/v2/ACME1/profiles/code/\(code)", ["Content-Type": "application/json"])
            let own = (profile.object["profiles"] as? [String: [String: Any]])?["NorthCable"]
            #expect((own?["attributes"] as? [String: [String: Any]])?["userID"]?["value"] is String, "\(profile.text)")
            let answer = try await program.json("/api/v2/ACME1/decisions/authorize/NorthCable", ["resources": ["ACME1-NEWS"]])
            let permit = (answer.object["decisions"] as? [[String: Any]])?.first { $0.isAuthorized }
            #expect(permit?.mediaToken?.isEmpty == false, "\(answer.text)")
        }

        /// V4: the recorder at a news channel by TempPass, October 2026.
        ///
        /// | call | sends | reads |
        /// |---|---|---|
        /// | POST token | three parameters in the query, no body | `access_token` |
        /// | POST sessions | a TempPass, a sister's domain; a flag among the device information | 2xx |
        /// | GET profiles/{mvpd} | `Content-Type: application/json` | 2xx |
        /// | POST decisions/authorize | Media RSS | `serializedToken`, strict Base64 |
        @Test("clients #54, #55: V4, a news channel by TempPass, whole")
        func news() async throws {
            let cluster = try TestCluster.running()
            let information =
                #"{"version":"1.0.0","deviceType":"web","appName":"acme","model":"Desktop","osName":"Windows","osVersion":"10","#
                + #""primaryHardwareType":"Desktop","connectionType":"4g","touch":true}"#
            var program = Program(
                cluster: cluster,
                headers: [
                    "User-Agent": Self.browser, "Accept": "application/json", "Origin": "https://static.news.example",
                    "Referer": "https://static.news.example/vod.html",
                ])
            try await program.register("acme-tv", tokenQuery: true)
            program.headers["AP-Device-Identifier"] = Self.fingerprint(UUID().uuidString)
            program.headers["X-Device-Info"] = Data(information.utf8).base64EncodedString()
            let session = try await program.form(
                "/api/v2/ACME1/sessions", ["redirectUrl": "https://acme.example/live/callback", "domainName": "sister.example", "mvpd": "Preview10"])
            #expect(session.status == 200 && session.step == ["authorize", "direct", "temporary"])
            #expect(try await program.send("GET", "/api/v2/ACME1/profiles/Preview10", ["Content-Type": "application/json"]).status == 200)
            let rss =
                #"<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>ACME1-NEWS</title><item><title>News</title>"#
                + #"<guid>2056</guid><media:rating scheme="urn:v-chip">TV-G</media:rating></item></channel></rss>"#
            let answer = try await program.json("/api/v2/ACME1/decisions/authorize/Preview10", ["resources": [rss]])
            let permit = try #require((answer.object["decisions"] as? [[String: Any]])?.first { $0.isAuthorized }, "\(answer.text)")
            #expect(permit["resource"] as? String == rss, "rest-v2 #79")
            let token = try #require(permit.mediaToken)
            #expect(Data(base64Encoded: token) != nil)
        }

        @Test("clients #92: headers that nobody asks for change nothing, and a stranger's origin refuses nothing")
        func needless() async throws {
            let device = try await V2Device.make()
            let more = [
                "AP-Session-Identifier": "1", "AP-Visitor-Identifier": "40692203", "Content-Type": "application/json",
                "Origin": "https://console.example",
                "AD-Service-Token": "none", "Pragma": "no-cache",
            ]
            let (plain, laden) = (try await device.get("profiles"), try await device.get("profiles", [:], more))
            #expect(plain.status == 200 && laden.status == 200 && plain.text == laden.text)
            #expect(laden.header("access-control-allow-origin") == nil)
            let preflight = try await device.cluster.send(
                Call("OPTIONS", device.path("profiles"), headers: ["Origin": "https://acme.example", "Access-Control-Request-Method": "GET"]))
            #expect(preflight.status == 204, "rest-v2 #105")
            #expect(preflight.header("access-control-allow-headers")?.contains("AP-Device-Identifier") == true)
            let information = FormEncoding.encode(Data(#"{"type":"TV","model":"Test TV","osName":"Linux"}"#.utf8).base64EncodedString())
            #expect(try await device.get("profiles", [:], ["X-Device-Info": information]).status == 200, "rest-v2 #106")
        }
    }
}
