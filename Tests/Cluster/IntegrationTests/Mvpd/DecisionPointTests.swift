@testable import WorkshopCommands
import Foundation
import Testing

/// The back channel of mvpd §4 between the real programs: one MVPD is asked in JSON, the other by signed queries in SOAP.
@Suite("Decision points of MVPDs", .serialized, .cluster)
struct DecisionPointTests {
    private static let soap = "LakeTel"
    private static let json = "NorthCable"

    @Test("mvpd §4.1, §4.2: a signed query in SOAP and its signed answer permit; the media token names the MVPD")
    func permitsBySoap() async throws {
        let device = try await signedIn(at: Self.soap)
        let answer = try await device.authorize("ACME1-NEWS")
        #expect(answer.status == 200 && answer.object["mvpd"] as? String == Self.soap, "\(answer.text)")
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        let entry = try #require(try await SandboxControl.running().entries("pdp").last)
        #expect(entry["form"] == "soap" && entry["signed"] == "true" && entry["person"] == "ada", "\(entry)")
    }

    @Test("mvpd #95: a denial by SOAP carries the MVPD's text; a parental limit has a code of its own")
    func deniesBySoap() async throws {
        let denied = try await signedIn(as: "ben", at: Self.soap).authorize("ACME1-SPORT")
        #expect(denied.status == 403 && denied.object["details"] as? String == "Add ACME1-SPORT to your package to watch it")
        let rated = """
            <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>ACME1-NEWS</title>\
            <item><title>Film</title><media:rating scheme="urn:v-chip">TV-MA</media:rating></item></channel></rss>
            """
        let limited = try await signedIn(as: "dan", at: Self.soap, requestor: "BRAVO").authorize(rated)
        #expect(limited.status == 403 && limited.object["code"] as? String == "authorization_denied_by_parental_controls", "\(limited.text)")
    }

    @Test(
        "mvpd #100: an answer that fails a check is an error of the network, and nothing is permitted",
        arguments: [
            #""signs": "none""#, #""signs": "assertion""#, #""issuer": "https://idp.other.example/""#, #""ageSeconds": 600"#,
            #""audience": "https://sp.other.example""#,
        ])
    func refusesUnbelievableAnswers(shape: String) async throws {
        try await expectRefusal(shape, "network_received_error")
    }

    @Test("mvpd #97, #99: an unknown obligation denies; two results for one resource are an error")
    func readsSoapStrictly() async throws {
        try await expectRefusal(#""obligation": "urn:x:unknown""#, "authorization_denied_by_mvpd")
        try await expectRefusal(#""doubled": true"#, "network_received_error")
        let device = try await signedIn(at: Self.soap, requestor: "BRAVO")
        try await SandboxControl.running().shapeNextAnswer(#""obligation": "urn:x:unknown", "obligationFor": "Deny""#, Self.soap)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
    }

    @Test("mvpd #115: one result without a resource answers the one question")
    func matchesAnUnnamedResult() async throws {
        let device = try await signedIn(at: Self.soap)
        try await SandboxControl.running().shapeNextAnswer(#""unnamed": true"#, Self.soap)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
    }

    @Test("mvpd #105, #106: several resources in one query; one without a result is worth another try")
    func asksAboutSeveral() async throws {
        let (device, sandbox) = (try await signedIn(at: Self.soap, requestor: "BRAVO"), try SandboxControl.running())
        let before = try await sandbox.decisions(Self.soap)
        try await sandbox.shapeNextAnswer(#""silentAbout": ["ACME1-KIDS"]"#, Self.soap)
        let answer = try await device.preauthorize("ACME1-NEWS,ACME1-KIDS,NO-SUCH-CHANNEL")
        let items = try #require(answer.object["resources"] as? [[String: Any]])
        #expect(items.map { $0["authorized"] as? Bool } == [true, false, false])
        let codes = items.map { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == [nil, "network_received_error", "preauthorization_denied_by_mvpd"])
        #expect(try await sandbox.decisions(Self.soap) == before + 1)
    }

    @Test(
        "mvpd #101, rest-v1 #66: a decision point that hangs is a timeout within 5 s, which stores nothing", .tags(.timing), .onReleasePrograms,
        arguments: [json, soap])
    func aHangIsATimeout(mvpd: String) async throws {
        let device = try await signedIn(at: mvpd, requestor: "BRAVO")
        try await SandboxControl.running().shapeNextAnswer(#""mode": "hang""#, mvpd)
        let start = ContinuousClock.now
        let answer = try await device.authorize("ACME1-NEWS")
        #expect(start.duration(to: .now) < .seconds(5))
        #expect(answer.status == 403, "\(answer.status)")
        #expect(answer.object["code"] as? String == "network_connection_timeout", "\(answer.text)")
        #expect(answer.object["action"] as? String == "retry", "\(answer.text)")
        let stored = try await device.authzToken("ACME1-NEWS")
        #expect(stored.status == 404 && stored.object["code"] as? String == "authorization_not_found", "\(stored.text)")
        #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
    }

    @Test("mvpd #102: a reset before the answer is repeated exactly once", arguments: [json, soap])
    func aResetIsRepeatedOnce(mvpd: String) async throws {
        let (device, sandbox) = (try await signedIn(at: mvpd, requestor: "BRAVO"), try SandboxControl.running())
        var before = try await sandbox.decisions(mvpd)
        try await sandbox.shapeNextAnswer(#""mode": "reset""#, mvpd)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await sandbox.decisions(mvpd) == before + 2)
        before += 2
        try await sandbox.shape(#""times": 2, "mode": "reset""#, mvpd)
        let refused = try await device.authorize("ACME1-SPORT")
        #expect(refused.object["code"] as? String == "network_received_error", "\(refused.text)")
        #expect(try await sandbox.decisions(mvpd) == before + 2)
    }

    @Test("mvpd §4.3: a status other than 200 and a broken message are errors of the network", arguments: ["error", "malformed"])
    func brokenAnswersAreErrors(mode: String) async throws {
        for mvpd in [Self.json, Self.soap] {
            let device = try await signedIn(at: mvpd, requestor: "BRAVO")
            try await SandboxControl.running().shapeNextAnswer(#""mode": "\#(mode)""#, mvpd)
            #expect(try await device.authorize("ACME1-NEWS").object["code"] as? String == "network_received_error", "\(mvpd)")
        }
    }

    @Test("mvpd §4.1: the forms without SOAP decide too", arguments: ["xacmlXml", "restMrss"])
    func decidesInOtherForms(form: String) async throws {
        let edit = try CatalogueEdit()
        defer { try? edit.undo() }
        try edit.set(authorizationOf: Self.json, ["protocol": form])
        let (ada, ben) = (try await signedIn(at: Self.json), try await signedIn(as: "ben", at: Self.json))
        let sandbox = try SandboxControl.running()
        let expected = form == "restMrss" ? "rest" : "xml"
        var number = 0
        try await Condition.wait("the new form is in use") {
            number += 1
            _ = try await ben.authorize("UNKNOWN-\(number)")
            return try await sandbox.entries("pdp").last?["form"] == expected
        }
        #expect(try await ada.authorize("ACME1-NEWS").status == 200)
        #expect(try await ben.authorize("ACME1-SPORT").object["details"] as? String == "Add ACME1-SPORT to your package to watch it")
    }

    private func expectRefusal(_ shape: String, _ code: String) async throws {
        let device = try await signedIn(at: Self.soap, requestor: "BRAVO")
        try await SandboxControl.running().shapeNextAnswer(shape, Self.soap)
        let answer = try await device.authorize("ACME1-NEWS")
        #expect(answer.object["code"] as? String == code, "\(answer.status) \(answer.text)")
        #expect(try await device.authzToken("ACME1-NEWS").status == 404)
        #expect(try await device.authorize("ACME1-NEWS").status == 200, "the next answer is as it should be")
    }

    private func signedIn(as name: String = "ada", at mvpd: String, requestor: String = "ACME1") async throws -> Device {
        let device = try await Device.make(requestor)
        try await device.signIn(as: name, at: mvpd)
        return device
    }
}
