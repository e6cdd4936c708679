@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    @Suite("Config and registration codes")
    struct CodeTests {
        @Test("rest-v1 #26: config lists enabled integrations only")
        func enabledIntegrations() async throws {
            let ids = try await mvpds().compactMap { $0["id"] as? String }
            #expect(Set(ids) == ["NorthCable", "LakeTel", "OpenFiber", "Preview10", "PromoVod"])
        }

        @Test("rest-v1 #27, #28: platform properties are told for MVPDs that have them")
        func platformProperties() async throws {
            let information = Device.encoded(#"{"primaryHardwareType":"TV","model":"AppleTV","osName":"tvOS"}"#)
            let mvpds = try await mvpds(["X-Device-Info": information])
            let names: Set = ["enablePlatformServices", "boardingStatus", "displayInPlatformPicker", "platformMappingId", "requiredMetadataFields"]
            func properties(_ id: String) -> [String: Any] { (mvpds.first { $0["id"] as? String == id } ?? [:]).filter { names.contains($0.key) } }
            // A bridge withholds them, as upstream would need the framework's word for each exchange (bridge §11).
            guard try !TestCluster.running().isBridge else {
                #expect(mvpds.count == 5)
                for mvpd in mvpds { #expect(names.isDisjoint(with: mvpd.keys), "\(mvpd)") }
                return
            }
            #expect(Set(properties("NorthCable").keys) == names)
            #expect(properties("OpenFiber").isEmpty)
            #expect(properties("LakeTel")["boardingStatus"] as? String == "PICKER")
            #expect(properties("LakeTel")["displayInPlatformPicker"] as? Bool == true)
        }

        @Test("rest-v1 #29: a code lives 30 minutes when no ttl is sent", arguments: [[], [("ttl", "")]])
        func defaultLifetime(_ fields: [(String, String)]) async throws {
            let answer = try await Device.make().requestCode(fields)
            #expect(answer.status == 201)
            #expect(try lifetime(answer) == 1_800_000)
        }

        @Test("rest-v1 #30: ten hours are the longest life")
        func longestLifetime() async throws {
            let device = try await Device.make()
            #expect(try lifetime(try await device.requestCode([("ttl", "36000")])) == 36_000_000)
            #expect(try await device.requestCode([("ttl", "36001")]).status == 400)
        }

        @Test("rest-v1 #31: an empty ttl is none, one that is no number is refused")
        func strangeLifetimes() async throws {
            let device = try await Device.make()
            #expect(try lifetime(try await device.requestCode([("ttl", "")])) == 1_800_000)
            for ttl in ["abc", "0", "-5", "1.5"] { #expect(try await device.requestCode([("ttl", ttl)]).status == 400, "\(ttl)") }
        }

        @Test("rest-v1 #32: info holds the device id and the type of authorization")
        func information() async throws {
            let device = try await Device.make()
            let answer = try await device.requestCode()
            #expect(answer.decodedInfo("deviceId") == Array(device.id.utf8))
            let info = try #require(answer.object["info"] as? [String: Any])
            #expect(info["authorizationType"] as? String == "OAUTH2")
            #expect((info["sourceApplicationInformation"] as? [String: Any])?["id"] as? String == "acme-tv")
        }

        @Test("rest-v1 #33: two requests give two live codes")
        func twoCodes() async throws {
            let device = try await Device.make()
            let first = try await device.requestCode()
            let second = try await device.requestCode()
            for key in ["code", "id"] { #expect(first.object[key] as? String != second.object[key] as? String) }
            for answer in [first, second] {
                let code = try #require(answer.object["code"] as? String)
                #expect(code.wholeMatch(of: /[2-9A-HJKMNP-Z]{7}/) != nil, "\(code)")
                #expect(try await device.record(code).status == 200)
            }
        }

        @Test("rest-v1 #34: the record is found again, whatever the case of the letters")
        func record() async throws {
            let device = try await Device.make()
            let made = try await device.requestCode().object
            let code = try #require(made["code"] as? String)
            for typed in [code, code.lowercased()] {
                let found = try await device.record(typed)
                #expect(found.status == 200)
                for key in ["id", "code"] { #expect(found.object[key] as? String == made[key] as? String) }
                for key in ["generated", "expires"] { #expect(found.object[key] as? Double == made[key] as? Double) }
            }
        }

        @Test("rest-v1 #35: an expired code and another requestor's are not found")
        func deadCodes() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            #expect(try await device.at("ACME2").record(code).status == 404)
            let brief = try await device.code([("ttl", "1")])
            try await Condition.wait("the code expires") { try await device.record(brief).status == 404 }
        }

        @Test("rest-v1 #36: a deleted code is gone")
        func deletedCode() async throws {
            let device = try await Device.make()
            let call = Call("DELETE", "/reggie/v1/ACME1/regcode/\(try await device.code())", headers: device.headers)
            let deleted = try await device.cluster.send(call)
            #expect(deleted.status == 204 && deleted.body.isEmpty)
            #expect(try await device.cluster.send(call.with { $0.method = "GET" }).status == 404)
            #expect(try await device.cluster.send(call).status == 404)
        }

        @Test("clients §1.14: a code tells its device to its maker alone; used, its record is nothing to others, and its maker deletes it")
        func tellsItsMakerAlone() async throws {
            let owner = try await Device.make()
            let code = try await owner.code()
            // A newly registered client of the same requestor: the statement is public, so an attacker can register one too.
            let stranger = try await Device.make()
            let seen = try await stranger.record(code)
            #expect(seen.status == 200)
            let digest = String(decoding: seen.decodedInfo("deviceId") ?? [], as: UTF8.self)
            #expect(digest.utf8.count == 64 && digest != owner.id)
            #expect(try await stranger.record(code).decodedInfo("deviceId") == Array(digest.utf8), "the same each time")
            #expect(try await owner.record(code).decodedInfo("deviceId") == Array(owner.id.utf8))
            try await owner.signIn(code: code)
            let guessing = Device(cluster: owner.cluster, requestor: "ACME1", id: digest, accessToken: stranger.accessToken)
            #expect(try await guessing.authnToken().status == 404, "the digest opens nothing")
            #expect(try await stranger.record(code).status == 404)
            #expect(try await owner.record(code).status == 200)
            #expect(try await owner.checkAuthn(code: code) == 200, "the page that signed in goes on asking")
            #expect(try await owner.cluster.send(Call("DELETE", "/reggie/v1/ACME1/regcode/\(code)", headers: stranger.headers)).status == 404)
            #expect(try await owner.cluster.send(Call("DELETE", "/reggie/v1/ACME1/regcode/\(code)", headers: owner.headers)).status == 204)
            #expect(try await owner.record(code).status == 404)
        }

        @Test("rest-v1 #37: a device without an id gets one by way of 'dummy'")
        func dummyDevice() async throws {
            let dummy = try await Device.make(id: "dummy")
            let answer = try await dummy.requestCode()
            #expect(answer.status == 201)
            #expect(try await dummy.authenticate(try #require(answer.object["code"] as? String)).status == 400)
            let id = try #require(answer.object["id"] as? String)
            #expect(UUID(uuidString: id) != nil)
            let device = try await Device.make(id: id)
            try await device.signIn()
            #expect(try await device.checkAuthn() == 200)
            #expect(try await dummy.checkAuthn() == 400)
        }

        @Test(
            "rest-v1 #38, #99: the address that X-Forwarded-For ends with is the device's, as the peer is trusted",
            arguments: ["203.0.113.9", "9.9.9.9, 203.0.113.9", "9.9.9.9, 203.0.113.9, 127.0.0.1"])
        func forwardedAddress(_ forwarded: String) async throws {
            let device = try await Device.make()
            let answer = try await device.cluster.send(device.codeCall().with { $0.headers["X-Forwarded-For"] = forwarded })
            let information = try #require(answer.decodedInfo("deviceInfo"))
            let object = try #require(try JSONSerialization.jsonObject(with: Data(information)) as? [String: Any])
            #expect((object["connection"] as? [String: Any])?["ipAddress"] as? String == "203.0.113.9")
        }

        @Test("rest-v1 #100: without a bearer the XML record follows the published schema and tells no device", arguments: [false, true])
        func publicRecord(isFull: Bool) async throws {
            let device = try await Device.make()
            let sent = [
                ("deviceType", "tv"), ("deviceUser", "u-1"), ("appId", "app-1"), ("registrationURL", "https://acme.example/tv"),
            ]
            let code = try await device.code(isFull ? sent : [])
            let answer = try await device.cluster.send(Call("GET", "/reggie/v1/ACME1/regcode/\(code)", headers: ["Accept": "application/xml"]))
            #expect(answer.status == 200 && answer.isXML)
            #expect(answer.text.contains(#"="model.mvc.reggie.pass.adobe.com""#))
            #expect(answer.element("code") == code && answer.element("requestor") == "ACME1")
            #expect(answer.element("mvpd") == "" && answer.element("deviceId") == "")
            if isFull { for (name, value) in sent { #expect(answer.element(name) == value) } }
            let verdict = try Self.validate(answer.text)
            #expect(verdict.status == 0, "\(verdict.output)")
            for (right, wrong) in [
                ("<mvpd></mvpd>", ""), ("<info>", "<info><deviceInfo></deviceInfo>"), ("<code>\(code)", "<code>"), ("<id>", "<id>x"),
            ] {
                #expect(answer.text.contains(right), "\(right)")
                #expect(try Self.validate(answer.text.replacingOccurrences(of: right, with: wrong)).status != 0, "the schema is no schema")
            }
        }

        /// The result of libxml2's validation of a record against the published schema.
        private static func validate(_ record: String) throws -> Program {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (schema, file) = (folder.appendingPathComponent("regcode.xsd"), folder.appendingPathComponent("record.xml"))
            try Data(RecordSchema.text.utf8).write(to: schema)
            try Data(record.utf8).write(to: file)
            return try .run("/usr/bin/xmllint", ["--nonet", "--noout", "--schema", schema.path, file.path])
        }

        private func mvpds(_ headers: [String: String] = [:]) async throws -> [[String: Any]] {
            let all = headers.merging(["Accept": "application/json"]) { $1 }
            let answer = try await TestCluster.running().send(Call("GET", "/api/v1/config/ACME1", headers: all))
            try #require(answer.status == 200, "\(answer.text)")
            let requestor = try #require(answer.object["requestor"] as? [String: Any])
            return try #require(requestor["mvpds"] as? [[String: Any]])
        }

        private func lifetime(_ answer: HTTPAnswer) throws -> Double {
            let expires = try #require(answer.object["expires"] as? Double)
            return expires - (try #require(answer.object["generated"] as? Double))
        }
    }
}
