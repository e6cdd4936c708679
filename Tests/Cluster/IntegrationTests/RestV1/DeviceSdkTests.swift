@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing
import TextEncodings

extension RestV1Tests {
    /// The requests and answers of clients of family D (Shared/Documents/Specs/clients.md §3, §7).
    @Suite("Clients on the device SDKs' calls")
    struct DeviceSdkTests {
        /// EPlusTV's NESN handler, May 2025: a client that its source carries and that registers nowhere, its bearer in the form of the code and in
        /// the header of the other calls, a random `session_guid`.
        @Test("clients #46, #47, #69: EPlusTV at NESN, whole, with its imported client")
        func eplusNESN() async throws {
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let client = Client(id: "nesn-\(UUID().uuidString.lowercased())", secret: UUID().uuidString)
            let written = try await Administrator.local().send("POST", "/secrets/\(client.id)", ["secret": client.secret])
            try #require(written.status == 200, "\(written.text)")
            try edit.set(application: "acme-tv", ["clients": [["clientId": client.id, "secret": client.id]]])
            try await Condition.wait("the client is known") {
                try await TestCluster.running().send(.form("/o/client/token", client.fields)).status == 201
            }
            let app = SdkApp(
                cluster: try .running(), requestor: "ACME1", deviceID: SdkApp.fingerprint() + SdkApp.fingerprint(), seal: "",
                bearer: try await client.accessToken(), isDevice: true)
            let information = Device.encoded(
                #"{"manufacturer":"Google","model":"sdk_google_atv_x86","osName":"Android","osVersion":"10","vendor":"google","version":"generic_x86"}"#
            )
            let made = try await app.cluster.send(
                Call(
                    "POST", "/reggie/v1/ACME1/regcode", query: ["deviceId": app.deviceID],
                    headers: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json, text/plain, */*"],
                    body: FormEncoding.encode([("access_token", app.bearer ?? ""), ("device_info", information), ("networkType", "WIFI")])))
            try #require(made.status == 201, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            #expect(try await app.session(code).status == 401)
            try await app.signIn(code)
            let token = try (try await app.session(code)).storedToken("authnToken")
            let decided = try await app.authorize(token, more: [("userMeta", "1")])
            let permit = try decided.storedToken("authzToken")
            #expect(decided.text.contains("<userMeta>"))
            for _ in 1...2 {
                let media = try await app.post(
                    "deviceShortAuthorize",
                    [("authz_token", permit), ("hashed_guid", "false"), ("mso_id", "NorthCable"), ("session_guid", SdkApp.fingerprint())])
                #expect(try app.verdict(media) == .valid, "\(media.status) \(media.text)")
            }
        }

        @Test("clients #48: another device, MVPD, requestor or application: the app is to sign in again; the device's own calls need a bearer")
        func bound() async throws {
            var app = try await SdkApp.device()
            let token = try await app.signedIn()
            let permit = try await app.permit(token)
            #expect(try await app.authorize(token, mvpd: "SouthTel").isPendingLogout)
            let own = app.deviceID
            app.deviceID = SdkApp.fingerprint()
            #expect(try await app.authorize(token).isPendingLogout)
            #expect(try await app.shortAuthorize(permit).isPendingLogout)
            app.deviceID = own
            let elsewhere = SdkApp(cluster: app.cluster, requestor: "ACME2", deviceID: own, seal: "", bearer: app.bearer, isDevice: true)
            #expect(try await elsewhere.authorize(token).isPendingLogout)
            #expect(try await elsewhere.shortAuthorize(permit).isPendingLogout)
            let bravo = try await Client.register("bravo-tv").accessToken()
            #expect(
                try await app.post(
                    "authorizeDevice", [("authentication_token", token), ("resource_id", "x")], changing: ["Authorization": "Bearer \(bravo)"]
                ).status == 403)
            for call in ["authorizeDevice", "deviceShortAuthorize", "preauthorize", "sessionDevice"] {
                #expect(
                    try await app.post(call, [("authentication_token", token), ("resource_id", "x")], changing: ["Authorization": nil]).status == 401)
            }
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(requestor: "ACME1", ["storedTokens": "bound"])
            var web = app
            web.isDevice = false
            web.bearer = nil
            try await Condition.wait("tokens alone count no more") { try await web.authorize(token).isPendingLogout }
            #expect(try await web.shortAuthorize(permit).isPendingLogout)
            #expect(try app.verdict(try await app.shortAuthorize(permit)) == .valid)
            try edit.undo()
            try await Condition.wait("tokens alone count again") { try await !web.authorize(token).isPendingLogout }
        }

        @Test("clients #49: preauthorize with 1, 5, 50, repeated and hostile resources")
        func preauthorize() async throws {
            let app = try await SdkApp.device()
            let token = try await app.signedIn(as: "ben")
            func ask(_ resources: [String]) async throws -> HTTPAnswer {
                try await app.post("preauthorize", [("authentication_token", token)] + resources.map { ("resource_id", $0) })
            }
            let one = try await ask(["ACME1-NEWS"])
            #expect(one.status == 200 && one.isXML)
            #expect(one.text.contains("<resources><resource><id>ACME1-NEWS</id><authorized>true</authorized></resource></resources>"), "\(one.text)")
            let two = try await ask(["ACME1-SPORT", "ACME1-NEWS", "ACME1-SPORT"])
            #expect(
                two.text.contains(
                    "<id>ACME1-SPORT</id><authorized>false</authorized></resource><resource><id>ACME1-NEWS</id><authorized>true</authorized>"),
                "\(two.text)")
            #expect(two.text.components(separatedBy: "<resource>").count == 3)
            #expect(try await ask((1...5).map { "R\($0)" }).status == 200)
            #expect(try await ask((1...50).map { "R\($0)" }).status == 403, "more than the MVPD takes")
            let hostile = try await ask(["a, b & <c>"])
            #expect(hostile.status == 200 && hostile.text.contains("<id>a, b &amp; &lt;c&gt;</id>"), "\(hostile.text)")
            #expect(try await ask(["<rss"]).status == 400)
            #expect(try await ask([]).status == 400)
            #expect(try await ask([""]).status == 400)
            #expect(
                try await app.post("preauthorize", [("authentication_token", token), ("resource_id", "x"), ("mso_id", "SouthTel")]).isPendingLogout)
        }

        @Test("clients #56, #71: one session for every door, and a logout by any ends it")
        func oneSession() async throws {
            let app = try await SdkApp.device()
            let token = try await app.signedIn()
            let device = Device(cluster: app.cluster, requestor: "ACME1", id: app.deviceID, accessToken: app.bearer ?? "")
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.authnToken().object["userId"] as? String == token.content(of: "simpleTokenAuthenticationGuid"))
            let permit = try await app.permit(token)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 200, "one permit, too")
            let second = V2Device(cluster: app.cluster, provider: "ACME1", id: app.deviceID, accessToken: app.bearer ?? "")
            #expect(try await second.profiles().keys.sorted() == ["NorthCable"])
            #expect(try await second.decision("ACME1-NEWS").isAuthorized)
            #expect(try await device.logout() == 204)
            #expect(try await second.profiles().isEmpty)
            #expect(try await app.authorize(token).isPendingLogout)
            #expect(try await app.shortAuthorize(permit).isPendingLogout)
        }
    }
}
