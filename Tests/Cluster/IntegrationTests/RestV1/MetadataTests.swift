@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Clocks
import Cryptography
import Foundation
import Testing

extension RestV1Tests {
    @Suite("User metadata")
    struct MetadataTests {
        @Test("rest-v1 #16: Accept */* is XML")
        func xml() async throws {
            let device = try await Device.make()
            try await device.signIn()
            let answer = try await device.cluster.send(device.call("/api/v1/tokens/usermetadata").with { $0.headers["Accept"] = "*/*" })
            #expect(answer.status == 200)
            #expect(answer.header("content-type")?.hasPrefix("application/xml") == true)
            #expect(answer.text.contains("<usermetadata><updated>"))
            #expect(answer.text.contains("<encrypted><key>zip</key></encrypted>"))
            #expect(answer.text.contains("<channelID><value>ACME1-NEWS</value>"))
            #expect(answer.text.contains("<maxRating><MPAA>"))
        }

        @Test("rest-v1 #81: updated in seconds; zip is encrypted, and its text is a JSON array")
        func encrypted() async throws {
            let device = try await Device.make()
            let before = Int64(Date().timeIntervalSince1970)
            try await device.signIn()
            let metadata = try await device.metadata()
            let updated = try #require(metadata.object["updated"] as? Int64)
            #expect((before...Int64(Date().timeIntervalSince1970)).contains(updated))
            #expect(metadata.object["encrypted"] as? [String] == ["zip"])
            let data = try #require(metadata.data)
            #expect(Set(data.keys) == ["userID", "householdID", "zip", "channelID", "maxRating"])
            #expect((data["channelID"] as? [String])?.contains("ACME1-NEWS") == true)
            #expect((data["maxRating"] as? [String: String])?["VCHIP"] == "TV-MA")
            let zip = try JSONSerialization.jsonObject(with: Data(try device.opened(data["zip"]).utf8))
            #expect((zip as? [String])?.isEmpty == false)
        }

        @Test("rest-v1 #111: an encrypted userID is the bare text")
        func bareText() async throws {
            let device = try await Device.make("ACME2")
            try await device.signIn()
            let clear = try #require(try await device.metadata().data?["userID"] as? String)
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(integrationOf: "ACME2", with: "NorthCable", ["metadataKeys": [["key": "userID", "encrypted": true]]])
            try await Condition.wait("the key is encrypted") { try await device.metadata().object["encrypted"] as? [String] == ["userID"] }
            let data = try #require(try await device.metadata().data)
            #expect(Set(data.keys) == ["userID"])
            #expect(try device.opened(data["userID"]) == clear)
            try edit.undo()
            try await Condition.wait("the other keys are back") { try await device.metadata().data?["householdID"] != nil }
        }

        @Test("rest-v1 #82, mvpd #120: without a valid certificate zip is absent, and the other keys are there")
        func noCertificate() async throws {
            let device = try await Device.make()
            try await device.signIn()
            let now = SystemClock().now()
            let ended = try CertifiedKey.selfSigned(
                commonName: "acme", key: .rsa(.generate()),
                validity: CertificateValidity(notBefore: now - .seconds(1000), notAfter: now - .seconds(10)))
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let version = try await Administrator.local().currentVersion()
            try edit.set(programmer: "acme", ["certificates": [["certificate": try ended.certificate.pem(), "encryptsUserMetadata": true]]])
            guard !device.cluster.isBridge else {
                // The certificate that counts is the one that upstream has (NP11).
                try await CatalogueEdit.wait(after: version)
                let metadata = try await device.metadata()
                #expect(metadata.object["encrypted"] as? [String] == ["zip"], "\(metadata.text)")
                #expect(try device.opened(metadata.data?["zip"]).hasPrefix("["))
                return
            }
            try await Condition.wait("zip is left out") { try await device.metadata().data?["zip"] == nil }
            let metadata = try await device.metadata()
            #expect(metadata.status == 200)
            #expect(metadata.data.map { Set($0.keys) } == ["userID", "householdID", "channelID", "maxRating"])
            #expect(metadata.object["encrypted"] as? [String] == [])
            try edit.undo()
            try await Condition.wait("zip is back") { try await device.metadata().data?["zip"] != nil }
        }

        @Test("rest-v1 #83: a rating that the MVPD changes on authorize is told from then on, and updated is larger")
        func changedRating() async throws {
            let device = try await Device.make()
            try await device.signIn()
            let before = try #require(try await device.metadata().object["updated"] as? Int64)
            try await SandboxControl.running().lowerNextRating(to: "TV-PG")
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let metadata = try await device.metadata()
            #expect((metadata.data?["maxRating"] as? [String: String])?["VCHIP"] == "TV-PG")
            #expect(try #require(metadata.object["updated"] as? Int64) > before)
        }

        @Test("rest-v1 #84: no enabled key is 404; an expired session and none are 412")
        func refusals() async throws {
            let device = try await Device.make()
            #expect(try await device.metadata().status == 412)
            try await device.signInBriefly()
            try await Condition.wait("the session expires") { try await device.metadata().status == 412 }
            let other = try await Device.make("BRAVO")
            try await other.signIn()
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let (version, told) = (try await Administrator.local().currentVersion(), try await other.metadata().data ?? [:])
            try edit.set(integrationOf: "BRAVO", with: "NorthCable", ["metadataKeys": [String]()])
            guard !other.cluster.isBridge else {
                // No key narrows nothing of what upstream tells (bridge §3.3).
                try await CatalogueEdit.wait(after: version)
                let metadata = try await other.metadata()
                #expect(metadata.status == 200 && !told.isEmpty, "\(metadata.text)")
                #expect(Set(told.keys).isSubset(of: metadata.data.map { Set($0.keys) } ?? []), "\(metadata.text)")
                return
            }
            try await Condition.wait("nothing is told") { try await other.metadata().status == 404 }
            let nothing = try await other.metadata()
            #expect(nothing.status == 404 && nothing.object["code"] == nil, "\(nothing.text)")
            try edit.undo()
            try await Condition.wait("the keys are back") { try await other.metadata().status == 200 }
        }

        @Test("rest-v1 #107: without a requestor an application with one is answered, one with two is refused")
        func withoutRequestor() async throws {
            let bravo = try await Device.make("BRAVO")
            try await bravo.signIn()
            let acme = try await Device.make()
            try await acme.signIn()
            for (device, status) in [(bravo, 200), (acme, 400)] {
                let call = device.call("/api/v1/tokens/usermetadata").with { $0.query["requestor"] = nil }
                #expect(try await device.cluster.send(call).status == status)
            }
        }

        @Test("rest-v1 §5: a platform's TTL comes before its category's, that before the integration's")
        func lifetimeByPlatform() async throws {
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let version = try await Administrator.local().currentVersion()
            let values: [[String: Any]] = [["scope": "tv", "authnTtl": 7200], ["scope": "roku", "authnTtl": 3600, "displayName": "North on Roku"]]
            try edit.set(integrationOf: "ACME2", with: "NorthCable", ["authnTtl": 86_400, "platformOverrides": values])
            let (roku, apple) = (#"{"model":"3800X","osName":"Roku OS"}"#, #"{"model":"AppleTV6,2","osName":"tvOS"}"#)
            let device = try await Device.make("ACME2")
            try await Condition.wait("the gateway knows the values") { try await device.names(roku).contains("North on Roku") }
            #expect(try await !device.names(apple).contains("North on Roku"))
            guard !device.cluster.isBridge else {
                // Lives are upstream's (NP9).
                try await CatalogueEdit.wait(after: version)
                for information in [roku, apple] { #expect(try await Device.lifetime(information) == 2_592_000) }
                return
            }
            try await Condition.wait("authentication knows the values") { try await Device.lifetime(roku) == 3600 }
            #expect(try await Device.lifetime(apple) == 7200)
            #expect(try await Device.lifetime(#"{"model":"PC","osName":"Windows"}"#) == 86_400)
            try edit.undo()
            try await Condition.wait("the values are gone") { try await Device.lifetime(roku) == 2_592_000 }
        }
    }
}

extension Device {
    func metadata() async throws -> HTTPAnswer { try await get("/api/v1/tokens/usermetadata") }

    /// An encrypted value as the programmer decrypts it.
    func opened(_ value: Any?) throws -> String {
        let name = requestor == "BRAVO" ? "bravo" : "acme"
        let key = try RSAPrivateKey(pemFile: cluster.home.pki.appendingPathComponent("programmer-\(name).key").path)
        let block = try #require((value as? String).flatMap { Base64.standard.decode($0) })
        return String(decoding: try key.decrypt(block, padding: .oaepSHA256), as: UTF8.self)
    }

    /// How long a new session of such a device at ACME2 lives, in seconds, to the minute.
    fileprivate static func lifetime(_ information: String) async throws -> Int {
        let device = try await Device.make("ACME2")
        let call = device.codeCall().with { $0.headers["X-Device-Info"] = encoded(information) }
        let code = try #require(try await device.cluster.send(call).object["code"] as? String)
        try await device.signIn(code: code)
        let expires = try #require((try await device.authnToken().object["expires"] as? String).flatMap { Double($0) })
        return Int(((expires / 1000 - Date().timeIntervalSince1970) / 60).rounded(.up)) * 60
    }

    /// The names of the MVPDs as a device of that kind sees them.
    fileprivate func names(_ information: String) async throws -> [String] {
        let headers = ["X-Device-Info": Self.encoded(information), "Accept": "application/json"]
        let answer = try await cluster.send(Call("GET", "/api/v1/config/\(requestor)", headers: headers))
        let mvpds = (answer.object["requestor"] as? [String: Any])?["mvpds"] as? [[String: Any]]
        return mvpds?.compactMap { $0["displayName"] as? String } ?? []
    }
}

extension HTTPAnswer {
    var data: [String: Any]? { object["data"] as? [String: Any] }
}

extension SandboxControl {
    /// The next permit of the decision point lowers what the person may see.
    fileprivate func lowerNextRating(to rating: String, _ mvpd: String = "NorthCable") async throws {
        let answer = try await cluster.exchange.send(
            "POST", cluster.standIns.sandbox + "/control/pdp/\(mvpd)", headers: [("Content-Type", "application/json")],
            body: #"{"mode": "none", "maxVCHIP": "\#(rating)", "times": 1}"#)
        try #require(answer.status == 204, "\(answer.text)")
    }
}
