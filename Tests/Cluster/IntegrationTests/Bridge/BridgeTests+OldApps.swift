@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing
import TextEncodings

/// The credentials that old apps bring along, and what of their calls reaches upstream (bridge §1, §4.2, §5.1).
extension BridgeTests {
    @Test("bridge B9: a statement that the vendor signed registers an app that is listed with it, to the octet; upstream never sees it")
    func registersVendorStatements() async throws {
        let upstream = try await upstream()
        try await upstream.control("POST", "statements", ["id": "old-tv"])
        let statement = try await upstream.statement("old-tv")
        let olga = try await Administrator.fresh()
        let listed = ["id": "old-tv", "name": "Old TV", "legacyStatements": [Hex.encode(SHA256.hash(statement))]] as [String: Any]
        let added = try await olga.send("POST", "/applications", try await olga.copy(ofApplication: "acme-tv", listed))
        try #require(added.status == 201, "\(added.text)")
        try await olga.push("An app of the vendor's")
        let cluster = olga.cluster
        func register(_ statement: String) async throws -> HTTPAnswer {
            try await cluster.send(.json("/o/client/register", ["software_statement": statement]))
        }
        try await Condition.wait("the statement is known") { try await register(statement).status == 201 }
        let client = try await Client.register(statement: statement)
        let device = Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: try await client.accessToken())
        try await signIn(device)
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        var octets = Array(statement.utf8)
        octets[octets.count / 2] ^= 1
        let changed = try await register(String(decoding: octets, as: UTF8.self))
        #expect(changed.status == 400 && changed.oauthError == "invalid_software_statement", "\(changed.text)")
        let seen = try await upstream.entries()
        #expect(seen.count { $0.operation == "register" } == 1)
        #expect(seen.allSatisfy { !$0.body.contains(statement) && !$0.body.contains(client.id) }, "the bridge has clients of its own")
    }

    @Test("bridge B10: what upstream issued is worth nothing here: its client gets no bearer, its bearer opens no call")
    func refusesForeignCredentials() async throws {
        let upstream = try await upstream()
        let cluster = try TestCluster.running()
        let registered = try await upstream.send(
            "POST", "/o/client/register", [("Content-Type", "application/json")],
            body: #"{"software_statement": "\#(try await upstream.statement())"}"#)
        let client = Client(
            id: try #require(registered.object["client_id"] as? String), secret: try #require(registered.object["client_secret"] as? String))
        let token = try await upstream.send(
            "POST", "/o/client/token", [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode(client.fields))
        let foreign = try #require(token.object["access_token"] as? String, "\(token.text)")
        let refused = try await cluster.send(.form("/o/client/token", client.fields))
        #expect(refused.status == 400 && refused.oauthError == "invalid_client", "\(refused.text)")
        let device = Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: foreign)
        for answer in [try await device.get("/api/v1/checkauthn"), try await device.authorize("ACME1-NEWS"), try await device.requestCode()] {
            #expect(answer.status == 401 && answer.oauthError == "access_denied", "\(answer.status) \(answer.text)")
        }
    }

    @Test("bridge B12: a client is registered in the name of the television, not of the browser; the app's bearer reaches upstream in no call")
    func registersForTheDevice() async throws {
        let upstream = try await upstream()
        var device = try await Device.make()
        device.forwarded = "81.2.69.171"
        device.information = Device.encoded(#"{"primaryHardwareType":"TV","model":"Alpha 55","osName":"Android","osVersion":"9"}"#)
        let made = try await device.cluster.send(device.codeCall().with { $0.headers["User-Agent"] = "OldTV/3.1" })
        let code = try #require(made.object["code"] as? String, "\(made.text)")
        // The browser: another device, at another address.
        let browser = ["Accept": "text/html", "User-Agent": "Mozilla/5.0 Firefox/140.0", "X-Forwarded-For": "81.2.69.172"]
        let begun = try await device.cluster.send(
            Call("GET", "/api/v1/authenticate", query: device.signInParameters(code, mvpd: "CoastCable"), headers: browser))
        let back = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
        _ = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        #expect(try await device.preauthorize("ACME1-NEWS").status == 200)
        #expect(try await device.get("/api/v1/tokens/usermetadata").status == 200)
        #expect(try await device.logout() == 204)

        let entries = try await upstream.entries()
        #expect(entries.count { $0.operation == "register" } == 1)
        let register = try #require(entries.first { $0.operation == "register" })
        #expect(register.headers["x-forwarded-for"] == "81.2.69.171" && register.headers["user-agent"] == "OldTV/3.1", "\(register.headers)")
        let text = try #require(Data(base64Encoded: register.headers["x-device-info"] ?? ""))
        let told = try #require(try JSONSerialization.jsonObject(with: text) as? [String: String])
        let expected = ["primaryHardwareType": "TV", "model": "Alpha 55", "osName": "Android", "osVersion": "9", "connectionIp": "81.2.69.171"]
        #expect(told.filter { expected[$0.key] != nil } == expected, "\(told)")
        #expect(register.headers["authorization"] == nil)
        #expect(Set(entries.map(\.operation)).isSuperset(of: ["token", "createSession", "profileByCode", "authorize", "preauthorize", "logout"]))
        for entry in entries {
            let all = "\(entry.path) \(entry.query) \(entry.headers) \(entry.body)"
            #expect(!all.contains(device.accessToken), "\(entry.operation)")
        }
    }

    @Test("bridge B24: the visitor goes along on its call alone; nothing else of the app's request reaches upstream, and no control character")
    func forwardsNothingElse() async throws {
        let upstream = try await upstream()
        var device = try await Device.make()
        device.forwarded = "81.2.69.173"
        try await signIn(device)
        try await upstream.forgetCalls()
        var call = device.call("/api/v1/authorize", ["resource": "ACME1-NEWS", "ap_vi": "123", "campaign": "mail-17"])
        call.headers.merge([
            "Cookie": "crumb=cookie-17", "Origin": "https://www.acme.example", "Referer": "https://www.acme.example/page-17",
            "Accept-Language": "tlh-17", "X-Else": "else-17", "User-Agent": "Old\tTV/1.0",
        ]) { $1 }
        let answer = try await device.cluster.send(call)
        #expect(answer.status == 200, "\(answer.text)")
        let asked = try #require(try await upstream.entries().first)
        #expect(asked.operation == "authorize" && asked.headers["ap-visitor-identifier"] == "123")
        #expect(asked.headers["user-agent"] == "OldTV/1.0")
        let documented: Set = [
            "accept", "accept-encoding", "ap-device-identifier", "ap-visitor-identifier", "authorization", "content-length", "content-type", "host",
            "user-agent", "x-device-info", "x-forwarded-for",
        ]
        #expect(Set(asked.headers.keys) == documented)
        #expect(asked.query.isEmpty)
        #expect(try await device.authorize("ACME1-SPORT").status == 200)
        let next = try #require(try await upstream.entries("authorize").last)
        #expect(next.body.contains("ACME1-SPORT") && next.headers["ap-visitor-identifier"] == nil)
        // A line break within a header ends the request here.
        let folded = device.call("/api/v1/authorize", ["resource": "ACME1-MOVIES"]).with { $0.headers["User-Agent"] = "OldTV\r\n X-Else: else-17" }
        let refused = try OpenRequest(port: device.cluster.ports.main(.gateway), text: String(folded.wire.dropLast())).finish()
        #expect(refused.hasPrefix("HTTP/1.1 400 "), "\(refused)")
        let log = try await upstream.control("GET", "log").text
        for word in ["cookie-17", "mail-17", "www.acme.example", "page-17", "tlh-17", "else-17", "ACME1-MOVIES"] {
            #expect(!log.contains(word), "\(word)")
        }
    }

    @Test("bridge B35: an unknown return address calls nobody; a used one leads where it led before, and calls nobody either")
    func returnsOnce() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let exchange = device.cluster.exchange
        let strange = try await exchange.send("GET", "\(device.cluster.gateway)/bridge/return/unknown")
        #expect(strange.status == 400 && strange.header("location") == nil, "\(strange.status)")
        #expect(try await upstream.entries().isEmpty)
        for (action, status) in [("cancel", 403), ("sign-in", 200)] {
            let begun = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
            let back = try await upstream.signIn(at: try #require(begun.header("location")), action: action)
            let address = try #require(back.header("location"))
            for isUsed in [false, true, true] {
                try await upstream.forgetCalls()
                let end = try await exchange.send("GET", address)
                #expect(end.status == 302 && end.header("location") == device.end, "\(action): \(end.status) \(end.text)")
                #expect(try await upstream.entries().isEmpty == isUsed, "\(action)")
            }
            #expect(try await device.checkAuthn() == status)
        }
    }

    @Test("bridge B42: a domain that upstream does not take is invalid_domain and an alarm; one that is unknown here costs no call")
    func refusesDomains() async throws {
        let upstream = try await upstream()
        let (plain, enhanced) = (try await Device.make(), try await Device.make("BRAVO"))
        let before = try await alarms()["bridge.domain_refused"] ?? 0
        try await upstream.behave(["strictDomains": true])
        let hosts = ["127.0.0.1", "localhost"]
        for id in ["ACME1", "BRAVOUP"] {
            let values = ["domains": ["elsewhere.example"], "redirectHosts": hosts + ["bravo.example"]]
            try await upstream.control("PUT", "service-providers/\(id)", values)
        }
        let (one, other) = (
            try await plain.authenticate(try await plain.code(), mvpd: "CoastCable"),
            try await enhanced.authenticate(try await enhanced.code(), mvpd: "CoastCable")
        )
        let created = try await upstream.entries("createSession")
        try await upstream.behave(["strictDomains": false])
        try await upstream.control("PUT", "service-providers/ACME1", ["domains": ["acme.example"], "redirectHosts": hosts])
        try await upstream.control("PUT", "service-providers/BRAVOUP", ["domains": ["bravo.example"], "redirectHosts": hosts])
        #expect(created.count == 2 && created.allSatisfy { $0.status == 200 && $0.outcome == "resume" }, "\(created.map(\.outcome))")
        #expect(one.status == 400 && one.header("location") == nil && one.object["code"] == nil, "\(one.text)")
        #expect(other.status == 400 && other.object["code"] as? String == "invalid_domain", "\(other.text)")
        #expect(try await alarms()["bridge.domain_refused"] == before + 2)
        try await upstream.forgetCalls()
        let unknown = try await enhanced.authenticate(
            try await enhanced.code(), mvpd: "CoastCable", changing: ["domain_name": "foreign.example"])
        #expect(unknown.status == 400 && unknown.object["code"] as? String == "invalid_domain", "\(unknown.text)")
        #expect(try await upstream.entries().isEmpty)
    }
}
