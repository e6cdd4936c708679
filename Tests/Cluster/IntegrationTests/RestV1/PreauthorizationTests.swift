@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing

extension RestV1Tests {
    @Suite("Preauthorization")
    struct PreauthorizationTests {
        private static let four = "ACME1-NEWS,ACME1-SPORT,ACME1-KIDS,ACME2-MOVIES"

        @Test("rest-v1 #73: items in the order of the request, each once, in both formats; answers are matched by id")
        func order() async throws {
            let (device, sandbox) = (try await signedIn(as: "ben"), try SandboxControl.running())
            let before = try await sandbox.decisions()
            try await sandbox.shapeNextAnswer(#""reversed": true"#)
            let answer = try await device.preauthorize("ACME1-SPORT,ACME1-NEWS,ACME1-KIDS,ACME1-SPORT")
            #expect(answer.status == 200 && answer.header("adobe-response-confidence") == "full")
            #expect(answer.header("adobe-request-id")?.isEmpty == false)
            #expect(try items(answer).map(\.id) == ["ACME1-SPORT", "ACME1-NEWS", "ACME1-KIDS"])
            #expect(try items(answer).map(\.authorized) == [false, true, false])
            #expect(try items(answer).allSatisfy { $0.error == nil }, "enhanced errors are off")
            #expect(try await sandbox.decisions() - before == 1)
            let xml = try await device.cluster.send(device.call("/api/v1/preauthorize.xml", ["resource": "ACME1-NEWS"]))
            #expect(xml.isXML && xml.text.hasSuffix("<resources><resource><id>ACME1-NEWS</id><authorized>true</authorized></resource></resources>"))
        }

        @Test("rest-v1 #73: commas within Media RSS do not split")
        func mediaRss() async throws {
            let device = try await signedIn()
            let rss = #"<rss version="2.0"><channel><title>ACME1-NEWS</title><item><title>News, weather</title></item></channel></rss>"#
            #expect(try items(try await device.preauthorize("ACME1-SPORT,\(rss)")).map(\.id) == ["ACME1-SPORT", rss])
        }

        @Test("rest-v1 #74: six ids at the limit of five are too many; at a limit of ten they are not")
        func limit() async throws {
            let device = try await signedIn(at: "BRAVO", mvpd: "LakeTel")
            let six = Self.four + ",BRAVO,OTHER"
            let refused = try await device.preauthorize(six)
            #expect(refused.status == 403 && refused.object["code"] as? String == "too_many_resources" && refused.object["resources"] == nil)
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(authorizationOf: "LakeTel", ["preflightMaxResources": 10])
            try await Condition.wait("six are allowed") { try await device.preauthorize(six).status == 200 }
        }

        @Test("rest-v1 #75: an empty list is 412, an absent one 400")
        func noResource() async throws {
            let device = try await signedIn(at: "BRAVO")
            for (parameters, status) in [([:], 400), (["resource": ""], 412)] {
                let answer = try await device.get("/api/v1/preauthorize", parameters)
                #expect(answer.status == status && answer.object["code"] as? String == "missing_resource", "\(answer.text)")
            }
        }

        @Test("rest-v1 #76: without a session")
        func noSession() async throws {
            let answer = try await Device.make("BRAVO").preauthorize("ACME1-NEWS")
            #expect(answer.status == 412 && answer.object["code"] as? String == "preauthorization_authentication_session_missing")
        }

        @Test("rest-v1 #77: an id that the MVPD passes over is false, with a retry error where errors are enhanced", arguments: ["ACME1", "BRAVO"])
        func silence(_ requestor: String) async throws {
            let device = try await signedIn(at: requestor)
            try await SandboxControl.running().shapeNextAnswer(#""silentAbout": ["ACME1-SPORT"]"#)
            let answer = try await device.preauthorize("ACME1-NEWS,ACME1-SPORT")
            #expect(answer.status == 200 && answer.header("adobe-response-confidence") == "partial")
            let items = try items(answer)
            #expect(items.map(\.authorized) == [true, false])
            #expect(items[0].error == nil)
            #expect(items[1].error?["action"] as? String == (requestor == "BRAVO" ? "retry" : nil))
        }

        @Test("rest-v1 §3.16: an MVPD that says nothing when one id is unknown authorizes none; one that is away neither")
        func silenceAboutAll() async throws {
            let (device, sandbox) = (try await signedIn(at: "BRAVO"), try SandboxControl.running())
            for shape in [#""silentWhenUnknown": true"#, #""mode": "malformed""#] {
                try await sandbox.shapeNextAnswer(shape)
                let answer = try await device.preauthorize("ACME1-NEWS,UNKNOWN")
                #expect(answer.status == 200 && answer.header("adobe-response-confidence") == "partial", "\(shape)")
                #expect(try items(answer).allSatisfy { !$0.authorized && $0.error?["code"] as? String == "network_received_error" })
            }
        }

        @Test("rest-v1 §3.16: a denied item says why")
        func denial() async throws {
            let answer = try await signedIn(as: "cleo", at: "BRAVO").preauthorize("ACME1-NEWS")
            let error = try #require(try items(answer).first?.error)
            #expect(error["code"] as? String == "preauthorization_denied_by_mvpd" && error["action"] as? String == "none")
            #expect(error["details"] as? String == "Add ACME1-NEWS to your package to watch it")
            #expect(error["status"] as? Int == 403 && error["helpUrl"] is String && error["trace"] is String)
        }

        @Test("rest-v1 #78: a channel line-up decides without asking, whatever the case of letters")
        func lineup() async throws {
            let (device, sandbox) = (try await signedIn(as: "ben", at: "BRAVO", mvpd: "LakeTel"), try SandboxControl.running())
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(authorizationOf: "LakeTel", ["preflightStrategy": "lineup"])
            try await Condition.wait("the line-up decides") {
                try items(try await device.preauthorize("acme1-news")).first?.authorized == true
            }
            let before = try await sandbox.decisions("LakeTel")
            #expect(try items(try await device.preauthorize("Acme1-News,ACME1-SPORT")).map(\.authorized) == [true, false])
            #expect(try await sandbox.decisions("LakeTel") == before)
        }

        @Test("mvpd §4.4: fork and join asks for each id by itself")
        func forkJoin() async throws {
            let (device, sandbox) = (try await signedIn(as: "ben", at: "BRAVO", mvpd: "LakeTel"), try SandboxControl.running())
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let version = try await Administrator.local().currentVersion()
            try edit.set(authorizationOf: "LakeTel", ["preflightStrategy": "forkJoin"])
            guard !device.cluster.isBridge else {
                // Upstream decides how it asks.
                try await CatalogueEdit.wait(after: version)
                let before = try await sandbox.decisions("LakeTel")
                #expect(try items(try await device.preauthorize(Self.four)).map(\.authorized) == [true, false, false, false])
                #expect(try await sandbox.decisions("LakeTel") - before == 1)
                return
            }
            try await Condition.wait("each is asked for by itself") {
                let before = try await sandbox.decisions("LakeTel")
                #expect(try items(try await device.preauthorize(Self.four)).map(\.authorized) == [true, false, false, false])
                return try await sandbox.decisions("LakeTel") - before == 4
            }
        }

        @Test("rest-v1 #79: by code once it has been used; a dead code is 412")
        func byCode() async throws {
            let device = try await Device.make("BRAVO")
            let code = try await device.code()
            #expect(try await preauthorize(device, code: code).status == 412)
            try await device.signIn(code: code)
            let answer = try await preauthorize(device, code: code)
            #expect(answer.status == 200 && answer.header("adobe-response-confidence") == "full")
            #expect(try items(answer).map(\.authorized) == [true, true])
            let dead = try await preauthorize(device, code: "ZZZZZZZ")
            #expect(dead.status == 412 && dead.object["code"] as? String == "preauthorization_authentication_session_missing")
            #expect(try await preauthorize(device.at("ACME1"), code: code).status == 412)
        }

        @Test("rest-v1 #80: a preauthorization is no authorization")
        func noToken() async throws {
            let device = try await signedIn()
            #expect(try items(try await device.preauthorize("ACME1-NEWS")).map(\.authorized) == [true])
            #expect(try await device.authzToken("ACME1-NEWS").status == 404)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
        }

        @Test("issue 3: bombs in resources are refused at once", .tags(.timing), .onReleasePrograms)
        func bombs() async throws {
            let device = try await signedIn(at: "BRAVO")
            let entities = (1...9).map { #"<!ENTITY l\#($0) "\#(String(repeating: "&l\($0 - 1);", count: 10))">"# }.joined()
            let deep = String(repeating: "<a>", count: 500) + String(repeating: "</a>", count: 500)
            for bomb in [
                #"<!DOCTYPE rss [<!ENTITY l0 "ha">\#(entities)]><rss><channel><title>&l9;</title></channel></rss>"#,
                #"<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/hostname">]><rss><channel><title>&x;</title></channel></rss>"#,
                "<rss><channel><title>A</title>\(deep)</channel></rss>",
            ] {
                for path in ["authorize", "preauthorize"] {
                    let start = ContinuousClock.now
                    let answer = try await device.get("/api/v1/\(path)", ["resource": bomb])
                    #expect(answer.status == 400 && answer.object["code"] as? String == "malformed_authz_request", "\(path)")
                    #expect(start.duration(to: .now) < .seconds(1))
                }
            }
        }

        private typealias Item = (id: String?, authorized: Bool, error: [String: Any]?)

        private func items(_ answer: HTTPAnswer) throws -> [Item] {
            try #require(answer.object["resources"] as? [[String: Any]], "\(answer.text)").map { item in
                (item["id"] as? String, item["authorized"] as? Bool == true, item["error"] as? [String: Any])
            }
        }

        private func preauthorize(_ device: Device, code: String) async throws -> HTTPAnswer {
            try await device.cluster.send(
                Call(
                    "GET", "/api/v1/preauthorize/\(code)", query: ["requestor": device.requestor, "resource": "ACME1-NEWS,ACME1-SPORT"],
                    headers: ["Accept": "application/json"]))
        }

        private func signedIn(as name: String = "ada", at requestor: String = "ACME1", mvpd: String = "NorthCable") async throws -> Device {
            let device = try await Device.make(requestor)
            try await device.signIn(as: name, at: mvpd)
            return device
        }
    }
}
