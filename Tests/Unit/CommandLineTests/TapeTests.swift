@testable import AdministrationCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

/// Tapes of the bridge (bridge §15.4).
@Suite("Tapes of an upstream")
struct TapeTests {
    private static let device = "living-room-7"
    private static let secrets = [
        device, Data(device.utf8).base64EncodedString(), "bearer-of-the-slot", "client-4711", "secret-of-4711", "KX7RT2Q", "203.0.113.77",
        "https://watch.example/bridge/return/handle-1", "handle-1", "u-99887766", "household-5", "90210", "guid-of-ada", "signed.statement.text",
        "roku-token-1", "saml-response", "Ada's words", "session-id-1", "8443", "Mozilla/9", "key-of-ada",
    ]

    private static let information = Data(
        #"{"model":"TV 5","connectionIp":"203.0.113.77","connectionPort":"8443","userAgent":"Mozilla/9"}"#.utf8
    ).base64EncodedString()
    private static let media = [
        #"{"alg":"RS256"}"#, #"{"sessionGUID":"guid-of-ada","mvpdId":"Coast","resourceID":"NEWS"}"#, "signature-of-vendor",
    ].map { Data($0.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_") }.joined(separator: ".")

    private static func headers(_ device: String = device, bearer: String = "bearer-of-the-slot") -> [(name: String, value: String)] {
        [
            ("Authorization", "Bearer \(bearer)"), ("AP-Device-Identifier", "fingerprint \(Data(device.utf8).base64EncodedString())"),
            ("X-Forwarded-For", "203.0.113.77"), ("X-Device-Info", information), ("X-Roku-Reserved-Roku-Connect-Token", "roku-token-1"),
            ("X-Later", "Ada's words"), ("Accept", "application/json"),
        ]
    }

    private static func form(_ path: String, _ body: String, _ headers: [(name: String, value: String)]) -> TapeCall {
        TapeCall(method: "POST", uri: path, headers: headers + [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8))
    }

    private static func json(_ path: String, _ body: String, _ headers: [(name: String, value: String)]) -> TapeCall {
        TapeCall(method: "POST", uri: path, headers: headers + [("Content-Type", "application/json")], body: Array(body.utf8))
    }

    private static func get(_ uri: String, _ headers: [(name: String, value: String)]) -> TapeCall {
        TapeCall(method: "GET", uri: uri, headers: headers, body: [])
    }

    private static func answer(_ status: Int, _ body: String) -> TapeAnswer {
        TapeAnswer(
            status: status,
            headers: [("Content-Type", "application/json"), ("Date", "Tue, 03 Mar 2026 10:00:00 GMT"), ("Set-Cookie", "sid=session-id-1")],
            body: Array(body.utf8))
    }

    private static let start: Int64 = 1_772_532_000_000

    /// A journey as the bridge makes it.
    private static func journey() -> [(call: TapeCall, answer: TapeAnswer)] {
        let back = "https%3A%2F%2Fwatch.example%2Fbridge%2Freturn%2Fhandle-1"
        return [
            (
                json("/o/client/register", #"{"software_statement":"signed.statement.text"}"#, headers().filter { $0.name != "Authorization" }),
                answer(
                    201, #"{"client_id":"client-4711","client_secret":"secret-of-4711","client_id_issued_at":1772532000,"scopes":["api:client:v2"]}"#)
            ),
            (
                form("/o/client/token", "grant_type=client_credentials&client_id=client-4711&client_secret=secret-of-4711", []),
                answer(201, #"{"access_token":"bearer-of-the-slot","expires_in":21600,"id":"session-id-1"}"#)
            ),
            (
                form("/api/v2/ACME1/sessions", "mvpd=Coast&domainName=acme.example&redirectUrl=\(back)", headers()),
                answer(
                    201,
                    #"{"actionName":"authenticate","url":"https://sp.vendor.example/api/v2/authenticate/ACME1/KX7RT2Q?x=u-99887766","code":"KX7RT2Q","#
                        + #""sessionId":"session-id-1","mvpd":"Coast","notBefore":"1772532000000","notAfter":"1772533800000"}"#)
            ),
            (
                get("/api/v2/ACME1/profiles/code/KX7RT2Q", headers()),
                answer(
                    200,
                    #"{"profiles":{"Coast":{"notBefore":1772532000000,"notAfter":1775124000000,"issuer":"Coast","type":"regular","attributes":{"#
                        + #""userID":{"value":"u-99887766","state":"plain"},"zip":{"value":["90210",{"deep":"household-5","n":90210}],"state":"enc"}}}}}"#
                )
            ),
            (
                json("/api/v2/ACME1/decisions/authorize/Coast", #"{"resources":["NEWS"]}"#, headers()),
                answer(
                    200,
                    #"{"decisions":[{"resource":"NEWS","authorized":true,"source":"mvpd","notAfter":1772618400000,"token":"#
                        + #"{"notBefore":1772532000000,"notAfter":1772532420000,"serializedToken":"\#(media)"}}]}"#)
            ),
            (
                get("/api/v2/ACME1/logout/Coast?redirectUrl=\(back)", headers()),
                answer(200, #"{"logouts":{"Coast":{"actionName":"logout","url":"https://sp.vendor.example/out?redirect_url=\#(back)"}}}"#)
            ),
            (
                get("/api/v2/ACME1/profiles/Coast", headers()),
                answer(403, #"{"status":403,"code":"authenticated_profile_missing","message":"Ada's words","action":"none","trace":"session-id-1"}"#)
            ),
        ]
    }

    private static func taped(_ exchanges: [(call: TapeCall, answer: TapeAnswer)] = journey()) -> [UInt8] {
        var scrubber = TapeScrubber()
        var text = TapeFile.head(upstream: "vendor") + "\n"
        for (index, (call, answer)) in exchanges.enumerated() {
            let request = scrubber.request(call)
            text += TapedExchange(at: start + Int64(index) * 1000, request: request, answer: scrubber.answer(answer, to: call)).line + "\n"
        }
        return Array(text.utf8)
    }

    // MARK: Pseudonyms

    @Test("bridge B106: a tape has no secret of the calls and answers, wherever they stood, and what tells nobody apart stays")
    func hides() throws {
        let more: [(call: TapeCall, answer: TapeAnswer)] = [
            (Self.form("/api/v2/ACME1/profiles/sso/Apple", "SAMLResponse=saml-response&odd=Ada%27s+words", Self.headers()), Self.answer(200, "{}")),
            (
                Self.get("/api/v2/ACME1/sessions/KX7RT2Q", Self.headers()),
                Self.answer(200, #"{"device":{"model":"TV 5","connection":{"ipAddress":"203.0.113.77","port":8443}}}"#)
            ),
            (Self.get("/api/v2/ACME1/later/KX7RT2Q/handle-1", Self.headers()), Self.answer(429, "<p>Ada's words</p>")),
            (Self.json("/api/v2/ACME1/later", #"{"a":[{"b":"Ada's words"}]}"#, Self.headers()), Self.answer(200, #"{"a":[[{"b":"Ada's words"}]]}"#)),
            (
                TapeCall(
                    method: "DELETE", uri: "/reset-tempass/v3/reset?device_id=\(Self.device)&requestor_id=ACME1&mvpd_id=Coast", headers: [], body: []),
                Self.answer(204, "")
            ),
            (
                TapeCall(method: "DELETE", uri: "/reset-tempass/v3/reset/generic?key=key-of-ada&requestor_id=ACME1", headers: [], body: []),
                Self.answer(204, "")
            ),
        ]
        let text = String(decoding: Self.taped(Self.journey() + more), as: UTF8.self)
        for secret in Self.secrets + [Self.media, "signature-of-vendor"] { #expect(!text.contains(secret), "\(secret) in \(text)") }
        for kept in [
            #""path":"/api/v2/ACME1/decisions/authorize/Coast""#, #""resources":["NEWS"]"#, #""model":"TV 5""#, "authenticated_profile_missing",
            #""notAfter":1775124000000"#, #""state":"enc""#, "acme.example", "{upstream}/api/v2/authenticate/ACME1/TAPEcode1Z",
        ] { #expect(text.contains(kept), "\(kept) not in \(text)") }
        #expect(text.contains(#"["device_id","TAPEdevice1Z"]"#), "the device has one name")
        let token = try #require(text.firstMatch(of: /"serializedToken":"([^"]*)"/)?.1)
        let parts = token.split(separator: ".").map { String($0) }
        let claims = try #require(Base64.url.decode(parts[1]).map { String(decoding: $0, as: UTF8.self) })
        #expect(parts.count == 3 && claims.contains(#""mvpdId":"Coast""#) && claims.contains("TAPEperson"), "\(claims)")
    }

    @Test("the same value has the same pseudonym, another one another")
    func isStable() {
        var pseudonyms = Pseudonyms()
        let first = pseudonyms.name("KX7RT2Q", .code)
        #expect(pseudonyms.name("KX7RT2Q", .code) == first && pseudonyms.name("KX7RT2R", .code) != first)
        #expect(first.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) })
        #expect(pseudonyms.clean("see KX7RT2Q, or KX7RT2QQ") == "see \(first), or KX7RT2QQ")
        for _ in 0..<20 { _ = pseudonyms.name(UUID().uuidString, .code) }
        #expect(Pseudonyms.taken(from: "aTAPEcode1Zb TAPEcode11Z").pseudonyms == ["TAPEcode1Z", "TAPEcode11Z"])
    }

    // MARK: Replay

    private static let origin = "http://127.0.0.1:9"

    private func object(_ answer: TapeAnswer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    /// The journey with a device's own values, and what it is given by the player.
    private func play(_ player: inout TapePlayer, _ device: String, now: Int64) throws -> (code: String, media: String, back: String) {
        let own = Self.headers(device, bearer: "another")
        let handle = "https://watch.example/bridge/return/of-\(device)"
        let client = try object(
            try player.answer(Self.json("/o/client/register", #"{"software_statement":"another"}"#, own), origin: Self.origin, now: now))
        let (id, secret) = (client["client_id"] as? String ?? "", client["client_secret"] as? String ?? "")
        let token = Self.form("/o/client/token", "client_secret=\(secret)&client_id=\(id)&grant_type=client_credentials", [])
        let bearer = try object(try player.answer(token, origin: Self.origin, now: now))["access_token"] as? String ?? ""
        #expect(!bearer.isEmpty)
        let begin = Self.form("/api/v2/ACME1/sessions", "redirectUrl=\(handle)&domainName=acme.example&mvpd=Coast", own)
        let session = try object(try player.answer(begin, origin: Self.origin, now: now))
        let code = try #require(session["code"] as? String)
        let address = try #require(session["url"] as? String)
        #expect(address.hasPrefix("\(Self.origin)/api/v2/authenticate/ACME1/\(code)"))
        #expect(session["notAfter"] as? String == "\(now + 1_800_000 - 2000)")
        let back = try player.answer(Self.get("/api/v2/authenticate/ACME1/\(code)", []), origin: Self.origin, now: now)
        #expect(back.status == 302)
        for _ in 0..<2 {
            let found = try player.answer(Self.get("/api/v2/ACME1/profiles/code/\(code)", own), origin: Self.origin, now: now)
            let profile = (try object(found)["profiles"] as? [String: [String: Any]])?["Coast"]
            #expect(profile?["notAfter"] as? Int64 == 1_775_124_000_000 + now - Self.start - 3000)
        }
        let play = Self.json("/api/v2/ACME1/decisions/authorize/Coast", #"{"resources":["NEWS"]}"#, own)
        let decisions = try object(try player.answer(play, origin: Self.origin, now: now))["decisions"] as? [[String: Any]]
        let media = (decisions?.first?["token"] as? [String: Any])?["serializedToken"] as? String
        let out = try player.answer(Self.get("/api/v2/ACME1/logout/Coast?redirectUrl=\(handle)", own), origin: Self.origin, now: now)
        #expect(String(decoding: out.body, as: UTF8.self).contains("of-\(device)"))
        #expect(out.header("date") != "Tue, 03 Mar 2026 10:00:00 GMT" || now == Self.start + 5000)
        return (code, media ?? "", back.header("location") ?? "")
    }

    @Test("bridge B106: another device with values of its own goes the taped way, later; each device has its own codes and tokens")
    func replays() throws {
        var player = TapePlayer(try TapeFile.exchanges(Self.taped()))
        let now = Self.start + 86_400_000
        let first = try play(&player, "kitchen", now: now)
        let second = try play(&player, "attic", now: now + 5)
        #expect(first.code != second.code && first.media != second.media && !first.media.isEmpty)
        #expect(first.back.hasSuffix("of-kitchen") && second.back.hasSuffix("of-attic"))
    }

    @Test("bridge B106: what is not on the tape is refused, and so are one play too many and another device's code")
    func refuses() throws {
        var player = TapePlayer(try TapeFile.exchanges(Self.taped()))
        let first = try play(&player, "kitchen", now: Self.start)
        let own = Self.headers("kitchen", bearer: "another")
        func reason(_ call: TapeCall) -> String? {
            do {
                _ = try player.answer(call, origin: Self.origin, now: Self.start)
                return nil
            } catch {
                #expect(!error.call.contains("kitchen") && !error.call.contains("ZZZZZZZ"), "\(error.call)")
                return error.reason
            }
        }
        let play = Self.json("/api/v2/ACME1/decisions/authorize/Coast", #"{"resources":["NEWS"]}"#, own)
        #expect(reason(play)?.contains("once more") == true)
        #expect(reason(Self.json("/api/v2/ACME1/decisions/authorize/Coast", #"{"resources":["SPORT"]}"#, own))?.contains("no such call") == true)
        #expect(reason(Self.get("/api/v2/ACME1/profiles/code/ZZZZZZZ", own))?.contains("other devices or codes") == true)
        #expect(reason(Self.get("/api/v2/ACME1/profiles/code/\(first.code)", own)) == nil)
        #expect(reason(Self.get("/api/v2/ACME1/configuration", [])) != nil)
        #expect(reason(Self.get("/mvpd/Coast/sign-in?redirect_url=https://elsewhere.example", [])) != nil)
    }

    @Test("answers come in the order of the tape, the last one again; a device beyond the most is refused")
    func orders() throws {
        let call = Self.get("/api/v2/ACME1/profiles/Coast", Self.headers())
        let exchanges = [(call, Self.answer(200, #"{"profiles":{}}"#)), (call, Self.answer(404, "{}"))]
        var player = TapePlayer(try TapeFile.exchanges(Self.taped(exchanges)))
        func ask(_ device: String) throws -> Int {
            try player.answer(Self.get("/api/v2/ACME1/profiles/Coast", Self.headers(device)), origin: Self.origin, now: Self.start).status
        }
        let statuses = try (0..<4).map { _ in try ask("a") }
        #expect(statuses == [200, 404, 404, 404])
        for number in 1..<TapePlayer.mostDevices { #expect(try ask("device \(number)") == 200) }
        #expect(throws: TapePlayer.Rejection.self) { _ = try ask("one more") }
        #expect(try ask("a") == 404)
    }

    @Test("a list is that of the same kind of device, where the tape has one")
    func tellsKindsApart() throws {
        func call(_ type: String) -> TapeCall {
            let information = Data(#"{"primaryHardwareType":"\#(type)","userAgent":"of \#(UUID())"}"#.utf8).base64EncodedString()
            return Self.get("/api/v2/ACME1/configuration", [("X-Device-Info", information)])
        }
        let exchanges = ["TV", "Phone"].map { (call($0), Self.answer(200, #"{"device":"\#($0)"}"#)) }
        var player = TapePlayer(try TapeFile.exchanges(Self.taped(exchanges)))
        for (asked, told) in [("Phone", "Phone"), ("TV", "TV"), ("Phone", "Phone"), ("Watch", "Phone")] {
            let list = try object(try player.answer(call(asked), origin: Self.origin, now: Self.start))
            #expect(list["device"] as? String == told, "\(asked)")
        }
    }

    // MARK: Files

    @Test(
        "a broken tape is refused with the line and what is wrong with it",
        arguments: [
            ("", 1, "empty"), ("{}", 1, "first line"), (#"{"boxofficeTape":2}"#, 1, "version 2"),
            (#"{"boxofficeTape":1}"# + "\n\nnonsense", 3, "not JSON"), (#"{"boxofficeTape":1}"# + "\n{}", 2, "'at'"),
            (#"{"boxofficeTape":1}"# + "\n" + #"{"at":1,"request":{"method":"GET"}}"#, 2, "'path'"),
            (#"{"boxofficeTape":1}"# + "\n" + #"{"at":1,"request":{"method":"GET","path":"/"},"answer":{"status":99}}"#, 2, "'status'"),
            (
                #"{"boxofficeTape":1}"# + "\n" + #"{"at":1,"request":{"method":"GET","path":"/","query":["a"]},"answer":{"status":200}}"#, 2,
                "'query'"
            ),
            (
                #"{"boxofficeTape":1}"# + "\n"
                    + #"{"at":1,"request":{"method":"GET","path":"/"},"answer":{"status":200,"headers":{"x":"a\r\nb"}}}"#, 2, "header"
            ),
        ])
    func namesLines(text: String, line: Int, problem: String) throws {
        let broken = try #require(throws: TapeFile.Rejection.self) { _ = try TapeFile.exchanges(Array(text.utf8)) }
        #expect(broken.line == line && broken.text.contains(problem), "\(broken)")
    }

    @Test("a tape of more exchanges than a tape has is refused")
    func boundsExchanges() throws {
        let line = #"{"at":1,"request":{"method":"GET","path":"/"},"answer":{"status":200}}"# + "\n"
        let text = TapeFile.head(upstream: "v") + "\n" + String(repeating: line, count: TapeFile.mostExchanges)
        #expect(try TapeFile.exchanges(Array(text.utf8)).count == TapeFile.mostExchanges)
        #expect(throws: TapeFile.Rejection.self) { _ = try TapeFile.exchanges(Array((text + line).utf8)) }
    }

    @Test("a tape is its owner's alone, and is never overwritten")
    func keepsFiles() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tape-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try TapeRecorder(path, upstream: "vendor")
        for (call, answer) in Self.journey() { await recorder.record(call, answer, now: Self.start) }
        #expect(await recorder.count == Self.journey().count)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try TapeFile.read(path).count == Self.journey().count)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let failure = #expect(throws: CommandFailure.self) { _ = try TapeFile.make(path) }
        #expect(failure?.description.contains("is there already") == true && failure?.exit == .usage)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("a recorder that is full says so and writes no more")
    func fills() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tape-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = try TapeRecorder(path, upstream: "vendor")
        let call = Self.get("/api/v2/ACME1/configuration", [])
        let list = Self.answer(200, #"{"a":"\#(String(repeating: "x", count: TapeFile.largestLine))"}"#)
        await recorder.record(call, list, now: Self.start)
        #expect(await recorder.problem?.contains("full") == true)
        await recorder.record(call, Self.answer(200, "{}"), now: Self.start)
        #expect(await recorder.count == 0)
        #expect(try TapeFile.read(path).isEmpty)
    }

    // MARK: Addresses and moments

    @Test("secrets go to https, or to this machine", arguments: ["https://api.vendor.example", "http://127.0.0.1:8092/", "http://localhost:1"])
    func takesOrigins(text: String) throws { #expect(try !TapeForwarding.origin(text).hasSuffix("/")) }

    @Test(
        "other addresses are refused", arguments: ["http://api.vendor.example", "api.vendor.example", "https://a.example/x", "https://u@a.example"])
    func refusesOrigins(text: String) { #expect(throws: CommandFailure.self) { _ = try TapeForwarding.origin(text) } }

    @Test("moments move in seconds and milliseconds, as digits or as a date; never stays never")
    func movesMoments() {
        #expect(TapeTimes.moved("1772532000", by: 5000) == "1772532005")
        #expect(TapeTimes.moved("1772532000000", by: 5000) == "1772532005000")
        #expect(TapeTimes.moved("0", by: 5000) == "0" && TapeTimes.moved("soon", by: 5000) == "soon")
        #expect(TapeTimes.moved(date: "Tue, 03 Mar 2026 10:00:00 GMT", by: 86_400_000) == "Wed, 04 Mar 2026 10:00:00 GMT")
    }

    @Test("a server answers calls, refuses bodies that are too large, and says where a port is taken")
    func serves() async throws {
        let server = try await TapeServer.start(port: 0) { .json(200, .string("\($0.method) \($0.uri) \($0.body.count)")) }
        let client = HTTPExchange.makeClient()
        let exchange = HTTPExchange(client: client)
        let answer = try await exchange.send("POST", "\(server.address)/a?b=c", body: "four")
        #expect(answer.status == 200 && answer.text == #""POST /a?b=c 4""#)
        let large = try await exchange.send("POST", "\(server.address)/a", body: String(repeating: "x", count: 300_000))
        #expect(large.status == 413)
        let port = try #require(Int(server.address.split(separator: ":").last ?? ""))
        await #expect(throws: CommandFailure.self) { _ = try await TapeServer.start(port: port) { _ in .json(200, .null) } }
        await server.stop()
        try await client.shutdown()
    }
}
