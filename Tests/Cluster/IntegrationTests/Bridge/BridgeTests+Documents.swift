@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// What v1's documents say of a person, a play and a login that are upstream's (bridge §8.2, §9.4, §9.5).
extension BridgeTests {
    @Test("bridge B57: attributes come as upstream has them, encrypted ones octet for octet, lists and objects too, in JSON and in XML")
    func tellsAttributes() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let stored = try await upstream.removeProfiles([("device", device.id)])
        let profiles = try #require(try JSONSerialization.jsonObject(with: Data(stored.utf8)) as? [[String: Any]])
        var attributes = try #require(profiles.first?["attributes"] as? [String: Any])
        // Nobody but the programmer reads it: an encrypted value is any text.
        let zip = "k+9/z==\u{e9}\n<&>\""
        attributes["zip"] = ["value": zip, "state": "enc"]
        attributes["channelID"] = ["value": ["ACME1-NEWS", "A & B"], "state": "plain"]
        attributes["maxRating"] = ["value": ["MPAA": "PG-13", "VCHIP": "TV-14", "/></maxRating><userID>mallory": "x"], "state": "plain"]
        attributes["isHead"] = ["value": true, "state": "plain"]
        let changed = profiles.map { $0.merging(["attributes": attributes]) { $1 } }
        try await upstream.putBack(String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self))
        #expect(try await device.authorize("ACME1-NEWS").status == 200, "a decision has them read again")

        let answer = try await device.metadata()
        let data = try #require(answer.data, "\(answer.text)")
        #expect(answer.object["encrypted"] as? [String] == ["zip"])
        #expect((data["zip"] as? String).map { Array($0.utf8) } == Array(zip.utf8), "\(answer.text)")
        #expect(data["channelID"] as? [String] == ["ACME1-NEWS", "A & B"])
        #expect(
            data["maxRating"] as? [String: String] == ["MPAA": "PG-13", "VCHIP": "TV-14", "/></maxRating><userID>mallory": "x"], "\(answer.text)")
        #expect(data["isHead"] as? Bool == true && data["userID"] as? String == (attributes["userID"] as? [String: Any])?["value"] as? String)

        let xml = try await device.get("/api/v1/tokens/usermetadata.xml").text
        #expect(xml.contains("<encrypted><key>zip</key></encrypted>"), "\(xml)")
        #expect(xml.contains("<channelID><value>ACME1-NEWS</value><value>A &amp; B</value></channelID>"), "\(xml)")
        // A name that is none in XML is left out there.
        #expect(xml.contains("<maxRating><MPAA>PG-13</MPAA><VCHIP>TV-14</VCHIP></maxRating>") && !xml.contains("mallory"), "\(xml)")
        #expect(xml.contains("<isHead>true</isHead>"), "\(xml)")
        let parsed = try #require(xml.firstMatch(of: /<zip>([^<]*)<\/zip>/)).1
        let read = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#10;", "\n"), ("&#xA;", "\n"), ("&amp;", "&")]
            .reduce(String(parsed)) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        #expect(Array(read.utf8) == Array(zip.utf8), "\(xml)")
    }

    @Test("bridge B61: upstream hears its own ids of channel and provider; every v1 document has ours, and the media token upstream's")
    func mapsIDs() async throws {
        let upstream = try await upstream()
        try await upstream.control("PUT", "mvpds/HillTelephone", ["displayName": "Hill Telephone", "hasLogout": false])
        try await upstream.setIntegration("BRAVOUP", "HillTelephone", ["isEnabled": true])
        try await upstream.setIntegration("BRAVOUP", "HillTel", ["isEnabled": false])
        var device = try await Device.make("BRAVO")
        // Upstream's list is one for each platform: this one was not asked for before.
        device.information = Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"3800X","osName":"Roku OS"}"#)
        try await changing("/requestors/BRAVO") { record in
            record["upstream"] = (record["upstream"] as? [String: Any] ?? [:]).merging(["mvpdIds": ["HillTel": "HillTelephone"]]) { $1 }
        } until: {
            _ = try await device.authenticate(try await device.code(), mvpd: "HillTel")
            return try await upstream.entries("createSession").last?.body.contains("mvpd=HillTelephone&") == true
        } _: {
            try await upstream.forgetCalls()
            let list = try await device.cluster.send(Call("GET", "/api/v1/config/BRAVO.json", headers: ["X-Device-Info": device.information]))
            #expect(list.text.contains(#""id":"HillTel""#) && !list.text.contains("HillTelephone\""), "\(list.text)")
            let code = try await device.code()
            let begun = try await device.authenticate(code, mvpd: "HillTel")
            _ = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
            #expect(try await device.checkAuthn(code: code) == 200)
            let (token, permit) = (try await device.authnToken(), try await device.authorize("ACME1-NEWS"))
            #expect(token.object["requestor"] as? String == "BRAVO" && token.object["mvpd"] as? String == "HillTel", "\(token.text)")
            #expect(permit.status == 200 && permit.object["mvpd"] as? String == "HillTel", "\(permit.text)")
            let media = try await device.mediaToken("ACME1-NEWS")
            #expect(media.object["requestor"] as? String == "BRAVO" && media.object["mvpdId"] as? String == "HillTel", "\(media.text)")
            let kept = try await device.authzToken("ACME1-NEWS")
            #expect(kept.object["requestor"] as? String == "BRAVO" && kept.object["mvpd"] as? String == "HillTel", "\(kept.text)")
            // Attributes of the person are upstream's own words, with its ids where it names any.
            for document in [token, permit, kept] {
                #expect(!document.text.contains("BRAVOUP") && !document.text.contains("HillTelephone"), "\(document.text)")
            }
            let serialized = try #require(Data(base64Encoded: media.object["serializedToken"] as? String ?? ""))
            let text = String(decoding: serialized, as: UTF8.self)
            #expect(text.contains("<requestorID>BRAVOUP</requestorID>") && text.contains("<mvpdId>HillTelephone</mvpdId>"), "\(text)")
            #expect(try await device.logout() == 204)
            let asked = try await upstream.entries().filter { $0.path.hasPrefix("/api/v2/") && $0.operation != "authenticate" }
            #expect(asked.allSatisfy { $0.path.hasPrefix("/api/v2/BRAVOUP/") }, "\(asked.map(\.path))")
            #expect(asked.contains { $0.path == "/api/v2/BRAVOUP/decisions/authorize/HillTelephone" })
            #expect(asked.contains { $0.path == "/api/v2/BRAVOUP/logout/HillTelephone" })
            #expect(asked.allSatisfy { !$0.path.hasSuffix("/HillTel") })
        }
        try await upstream.setIntegration("BRAVOUP", "HillTel", ["isEnabled": true])
    }

    @Test("bridge B76: of three batches one fails: its items are to be asked again, the others are answered; where all fail it is 503")
    func answersPartially() async throws {
        let upstream = try await upstream()
        let device = try await Device.make("BRAVO")
        func names(_ kind: String) -> [String] { (1...12).map { "\(kind)-\($0)." } }
        func ask(_ kind: String) async throws -> HTTPAnswer { try await device.preauthorize(names(kind).joined(separator: ",")) }
        try await signInByLooking(device)
        // The MVPD permits whatever it is asked about.
        try await upstream.setDecisions([["serviceProvider": "BRAVOUP", "mvpd": "HillTel", "times": 0]])
        try await changing("/integrations/BRAVO/HillTel") { record in
            record["preflightMaxResources"] = 50
        } until: {
            try await ask("KNOWN").status == 200
        } _: {
            try await upstream.forgetCalls()
            try await upstream.fail("preauthorize", ["kind": "answer", "status": 500, "body": "{}", "after": 1, "times": 1])
            let answer = try await ask("ONE")
            let asked = try await upstream.entries("preauthorize")
            try #require(asked.count == 3 && asked.map(\.status).sorted() == [200, 200, 500], "\(asked.map(\.status))")
            #expect(answer.status == 200 && answer.header("adobe-response-confidence") == "partial", "\(answer.status) \(answer.text)")
            let items = try #require(answer.object["resources"] as? [[String: Any]])
            #expect(items.compactMap { $0["id"] as? String } == names("ONE"))
            let failed = try #require(asked.first { $0.status == 500 })
            for item in items {
                let (id, error) = (item["id"] as? String ?? "", item["error"] as? [String: Any])
                let isAnswered = !failed.body.contains("\"\(id)\"")
                #expect(item["authorized"] as? Bool == isAnswered, "\(item)")
                #expect(error?["code"] as? String == (isAnswered ? nil : "network_received_error"), "\(item)")
                #expect(error?["action"] as? String == (isAnswered ? nil : "retry"), "\(item)")
            }
            try await upstream.fail("preauthorize", ["kind": "answer", "status": 500, "body": "{}", "times": 0])
            let none = try await ask("ALL")
            try await upstream.comeBack()
            #expect(none.status == 503 && none.header("retry-after") != nil && none.object["resources"] == nil, "\(none.status) \(none.text)")
            #expect(none.object["code"] as? String == "internal_error" && none.object["status"] as? Int == 500, "\(none.text)")
        }
        try await upstream.setDecisions([])
    }

    @Test("bridge B114: the login's address by code is 404 before it and after a logout, 200 while it lasts, 410 when upstream's end is past")
    func tellsOfCodes() async throws {
        let upstream = try await upstream()
        func ask(_ device: Device, _ code: String) async throws -> HTTPAnswer { try await device.get("/api/v1/authenticate/\(code)") }
        let (device, brief) = (try await Device.make(), try await Device.make())
        let code = try await device.code()
        #expect(try await ask(device, code).status == 404)
        try await upstream.setIntegration("ACME1", "HillTel", ["authnSeconds": 2])
        let short = try await signIn(brief, at: "HillTel")
        try await upstream.setIntegration("ACME1", "HillTel", ["authnSeconds": 86_400])
        try await signIn(device, code: code)
        let token = try await ask(device, code)
        #expect(token.status == 200 && token.object["mvpd"] as? String == "CoastCable" && token.object["requestor"] as? String == "ACME1")
        #expect(token.text == (try await device.authnToken().text))
        try await Condition.wait("the profile is over", within: .seconds(5)) { try await brief.checkAuthn() == 403 }
        #expect(try await ask(brief, short).status == 410)
        #expect(try await device.logout() == 204)
        #expect(try await ask(device, code).status == 404)
        #expect(try await ask(device, "ZZZZZZZ").status == 404)
    }
}
