@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
@testable import WorkshopCommands
import Foundation
import Testing
import TextEncodings

extension RestV1Tests {
    @Suite("Sign-in by the platform")
    struct PlatformSignInTests {
        @Test("rest-v1 #52: a profile request for iOS and tvOS, spelled so, is opaque bytes")
        func profileRequest() async throws {
            var app = try await CookbookApp.make()
            for deviceType in ["iOS", "tvOS"] {
                app.deviceType = deviceType
                let answer = try await app.profileRequest("NorthCable")
                #expect(answer.status == 200 && answer.header("content-type") == "application/octet-stream")
                let request = String(decoding: try #require(Data(base64Encoded: answer.text)), as: UTF8.self)
                #expect(request.contains("AuthnRequest") && request.contains("SignatureValue") && request.contains("/on-behalf-of/ACME1"))
            }
            for deviceType in ["ios", "Roku", ""] {
                app.deviceType = deviceType
                #expect(try await app.profileRequest("NorthCable").status == 400)
            }
        }

        @Test(
            "rest-v1 #53: no profile request for an MVPD that the platform does not sign in",
            arguments: ["LakeTel", "OpenFiber", "ParkedTV", "Nobody"])
        func unsupported(_ mvpd: String) async throws {
            #expect(try await CookbookApp.make().profileRequest(mvpd).status == 400)
        }

        @Test("rest-v1 #54, mvpd #84: an exchange signs in, and the metadata say where it came from")
        func exchange() async throws {
            let app = try await CookbookApp.make()
            let answer = try await app.exchange(StandInPlatform.encoded(try await app.response()))
            #expect(answer.status == 204 && answer.body.isEmpty)
            #expect(try await app.device.checkAuthn() == 200)
            #expect(try await app.device.authnToken().object["mvpd"] as? String == "NorthCable")
            #expect(try await app.tokenSource() == "Apple")
        }

        @Test("mvpd §2.8: an MVPD that wants to be queried for attributes signs in as any other, without an authn statement")
        func attributeQuery() async throws {
            let app = try await CookbookApp.make()
            guard app.isServed else {
                // A bridge makes no request of its own, of neither kind (bridge §11).
                #expect(try await app.profileRequest("NorthCable").status == 400)
                #expect(try await app.exchange(StandInPlatform.encoded("<x/>")).status == 400)
                return
            }
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(samlOf: "NorthCable", ["profileExchange": ["requestKind": "attributeQuery"]])
            try await Condition.wait("the token is a query") { try await token(app).contains("AttributeQuery") }
            let query = try await token(app)
            #expect(query.contains(#"Name="userID""#) && query.contains("/on-behalf-of/ACME1") && !query.contains("NameID"))
            let response = try await app.response()
            #expect(!response.contains("AuthnStatement"))
            #expect(try await app.exchange(StandInPlatform.encoded(response)).status == 204)
            #expect(try await app.tokenSource() == "Apple")
            let late = try await CookbookApp.make()
            let answer = StandInPlatform.encoded(try await late.response())
            try edit.undo()
            try await Condition.wait("the token is a request to sign in") { try await token(app).contains("AuthnRequest") }
            #expect(try await late.exchange(answer).status == 400)
        }

        private func token(_ app: CookbookApp) async throws -> String {
            let answer = try await app.profileRequest("NorthCable")
            return String(decoding: try #require(Data(base64Encoded: answer.text)), as: UTF8.self)
        }

        @Test("rest-v1 #55, mvpd #86: what is not read as it was signed is refused, and never repaired")
        func unreadable() async throws {
            let app = try await CookbookApp.make()
            let response = try await app.response()
            let good = StandInPlatform.encoded(response)
            let pretty = Data(response.replacing("><", with: ">\n<").utf8).base64EncodedString()
            let spaced = Data(response.replacing("><", with: "> <").utf8).base64EncodedString()
            let twice = FormEncoding.encode(good)
            try #require(twice != good)
            for text in [twice, "%", "PHg+", Data("<x/>".utf8).base64EncodedString(), pretty, spaced] {
                let answer = try await app.exchange(text)
                #expect(answer.status == 400 && answer.object["message"] != nil)
            }
            #expect(try await app.device.checkAuthn() == 403)
            // Base64 in lines is what SAML Bindings §3.5.4 allows: the octets are the signed ones.
            let wrapped = Data(response.utf8).base64EncodedString(options: [
                .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
            ])
            #expect(try await app.exchange(wrapped + "\n").status == 204)
        }

        @Test("rest-v1 #56, mvpd #88: a replay is refused, and the first session stays")
        func replay() async throws {
            let app = try await CookbookApp.make()
            let response = StandInPlatform.encoded(try await app.response())
            #expect(try await app.exchange(response).status == 204)
            let token = try await app.device.authnToken().text
            #expect(try await app.exchange(response).status == 400)
            try #require(try await app.profileRequest("NorthCable").status == 200)
            #expect(try await app.exchange(response).status == 400)
            #expect(try await app.device.authnToken().text == token)
        }

        @Test("rest-v1 #57: a login at the MVPD after an exchange does not come from Apple")
        func ordinaryLogin() async throws {
            let app = try await CookbookApp.make()
            try await app.signIn()
            try await app.device.signIn()
            #expect(try await app.tokenSource() == nil)
        }

        @Test("rest-v1 #104, mvpd #87: only the client that made the profile request may exchange")
        func foreignClient() async throws {
            let app = try await CookbookApp.make()
            let response = StandInPlatform.encoded(try await app.response())
            let stranger = try await CookbookApp.make()
            #expect(try await stranger.exchange(response).status == 400)
            #expect(try await stranger.device.checkAuthn() == 403)
            #expect(try await app.exchange(response).status == 204)
        }

        @Test("rest-v1 §3.12: parameters that are missing or wrong, and device information that may be absent")
        func parameters() async throws {
            let app = try await CookbookApp.make()
            let response = StandInPlatform.encoded(app.isServed ? try await app.response() : "<x/>")
            let call = app.exchangeCall(response)
            for field in ["requestor", "deviceId", "mvpd", "deviceType", "SAMLResponse"] {
                let kept = (call.body ?? "").split(separator: "&").filter { !$0.hasPrefix(field + "=") }
                #expect(try await app.device.cluster.send(call.with { $0.body = kept.joined(separator: "&") }).status == 400, "\(field)")
            }
            let other = call.with { $0.body = $0.body?.replacing("deviceType=tvOS", with: "deviceType=iOS") }
            #expect(try await app.device.cluster.send(other).status == 400)
            #expect(try await app.device.cluster.send(call.with { $0.headers["Authorization"] = nil }).status == 401)
            // Through a bridge there is nothing to exchange (bridge §11).
            #expect(try await app.device.cluster.send(call.with { $0.headers["X-Device-Info"] = nil }).status == (app.isServed ? 204 : 400))
        }

        @Test("boxoffice device plays the whole sign-in by the platform", arguments: ["ada", "ben"])
        func deviceCommand(_ person: String) async throws {
            guard try TestCluster.running().isBridge else { return try await Self.session(.platform(person: person)).play() }
            await #expect {
                try await Self.session(.platform(person: person)).play()
            } throws: {
                "\($0)".contains("the platform did not sign in")
            }
        }

        @Test("boxoffice device says plainly that the MVPD refuses a login")
        func refusedLogin() async throws {
            let session = try Self.session(.simulated(name: "eve", mvpd: "NorthCable"))
            await #expect {
                try await session.play()
            } throws: {
                "\($0)".hasPrefix("the MVPD refuses the login of eve")
            }
        }

        private static func session(_ viewer: DeviceSession.Viewer) throws -> DeviceSession {
            let cluster = try TestCluster.running()
            let setup = DeviceSetup(
                exchange: cluster.exchange, gateway: cluster.gateway, requestor: "ACME1", statement: try Client.statement("acme-tv"),
                apple: cluster.standIns.apple)
            return DeviceSession(console: Console(isQuiet: true), setup: setup, resource: "ACME1-NEWS", viewer: viewer)
        }

        @Test("rest-v1 #58: a subject token that does not hold changes nothing")
        func badSubjectToken() async throws {
            let device = try await Device.make()
            for token in ["x", "a.b.c", try await identityToken(["person": "ada", "audience": "else"])] {
                let call = device.call("/api/v1/checkauthn").with { $0.headers["Adobe-Subject-Token"] = token }
                let (with, without) = (try await device.cluster.send(call), try await device.get("/api/v1/checkauthn"))
                #expect(with.status == without.status && with.text == without.text)
            }
            try await device.signIn()
            let call = device.call("/api/v1/checkauthn").with { $0.headers["Adobe-Subject-Token"] = "x" }
            #expect(try await device.cluster.send(call).status == 200)
        }

        @Test("rest-v1 #59: the same person's login at a sibling requestor counts, unless the app opted out", arguments: Carrier.allCases)
        func sharedLogin(_ carrier: Carrier) async throws {
            let token = try await personalToken()
            let first = try await Device.make("ACME1")
            try await first.signIn(code: try await code(of: first, token))
            let second = try await Device.make("ACME2")
            #expect(try await second.checkAuthn() == 403)
            #expect(try await status(second, token, carrier) == 200)
            #expect(try await status(second, token, carrier, appID: "app") == 403)
            #expect(try await status(second, try await personalToken(), carrier) == 403)
            let watch = second.call("/api/v1/authorize", ["resource": "ACME2-MOVIES"])
            #expect(try await second.cluster.send(watch.with { $0.headers["Adobe-Subject-Token"] = token }).status == 200)
        }

        /// How a device sends the platform's token.
        enum Carrier: CaseIterable {
            case header, parameter, roku
        }

        @Test("rest-v1 #109: every hop ends with the first login")
        func hops() async throws {
            let token = try await personalToken()
            let first = try await Device.make("ACME1")
            try await first.signIn(code: try await code(of: first, token))
            let end = try await expiry(first, token)
            let (second, third) = (try await Device.make("ACME2"), try await Device.make("ACME1"))
            #expect(try await expiry(second, token) <= end)
            #expect(try await expiry(third, token) <= end)
            #expect(try await first.logout() == 204)
            #expect(try await status(second, token, .header) == 403)
            #expect(try await status(third, token, .header) == 403)
        }

        @Test("rest-v1 #110: after a logout only a new login counts")
        func logout() async throws {
            let token = try await personalToken()
            let (first, second) = (try await Device.make("ACME1"), try await Device.make("ACME2"))
            try await first.signIn(code: try await code(of: first, token))
            #expect(try await status(second, token, .header) == 200)
            #expect(try await second.logout() == 204)
            #expect(try await status(second, token, .header) == 403)
            #expect(try await status(first, token, .header) == 200)
            try await first.signIn(code: try await code(of: first, token))
            #expect(try await status(second, token, .header) == 200)
        }

        private func identityToken(_ order: [String: any Sendable]) async throws -> String {
            let cluster = try TestCluster.running()
            let address = cluster.standIns.apple
            return try await StandInPlatform(exchange: cluster.exchange, address: address, account: "").identityToken(order)
        }

        /// The token of a person that no other test uses.
        private func personalToken() async throws -> String { try await identityToken(["person": UUID().uuidString]) }

        private func code(of device: Device, _ token: String) async throws -> String {
            let call = device.codeCall().with { $0.headers["Adobe-Subject-Token"] = token }
            return try #require(try await device.cluster.send(call).object["code"] as? String)
        }

        private func status(_ device: Device, _ token: String, _ carrier: Carrier, appID: String? = nil) async throws -> Int {
            let call = device.call("/api/v1/checkauthn").with { call in
                switch carrier {
                case .header: call.headers["Adobe-Subject-Token"] = token
                case .parameter: call.query["ast"] = token
                case .roku: call.headers["X-Roku-Reserved-Roku-Connect-Token"] = token
                }
                call.query["appId"] = appID
            }
            return try await device.cluster.send(call).status
        }

        private func expiry(_ device: Device, _ token: String) async throws -> Int64 {
            let call = device.call("/api/v1/tokens/authn").with { $0.headers["Adobe-Subject-Token"] = token }
            let answer = try await device.cluster.send(call)
            return try #require((answer.object["expires"] as? String).flatMap { Int64($0) }, "\(answer.text)")
        }
    }
}
