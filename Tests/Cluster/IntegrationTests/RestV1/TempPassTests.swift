@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing

extension RestV1Tests {
    /// Free preview (rest-v1 §6.2).
    @Suite("TempPass")
    struct TempPassTests {
        @Test("rest-v1 #86: freepreview on a TempPass lets the device watch; on a normal MVPD it is 400")
        func preview() async throws {
            let device = try await Device.make()
            #expect(try await device.preview("NorthCable").status == 400)
            #expect(try await device.preview("Preview10", changing: ["domain_name": "foreign.example"]).status == 400)
            let answer = try await device.preview("Preview10")
            #expect(answer.status == 204 && answer.text.isEmpty)
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
            let token = try await device.authnToken()
            #expect(token.object["mvpd"] as? String == "Preview10")
            #expect((token.object["userId"] as? String)?.hasPrefix("temppass_") == true)
            // Only at the requestor that was asked for.
            #expect(try await device.at("ACME2").checkAuthn() == 403)
        }

        @Test("rest-v1 #87: after its time nothing plays, and there is no second preview")
        func runsOut() async throws {
            let device = try await Device.make()
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.add(tempPass: "Preview4s", ["kind": "basic", "ttl": 4], at: "ACME1")
            try await Condition.wait("the TempPass is known") { try await device.preview("Preview4s").status == 204 }
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let end = try #require(try await device.expiry())
            #expect(try await device.authzToken("ACME1-NEWS").object["expires"] as? String == String(end))
            try await Condition.wait("the trial ends") { try await device.authorize("ACME1-NEWS").status == 403 }
            #expect(Int64(Date().timeIntervalSince1970 * 1000) >= end)
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
            #expect(try await device.preview("Preview4s").status == 400)
        }

        @Test("rest-v1 #88, #89: after logout a preview gives the remaining time; after a reset, all of it")
        func remainingTime() async throws {
            let device = try await Device.make()
            try #require(try await device.preview("Preview10").status == 204)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let end = try #require(try await device.expiry())
            #expect(try await device.logout() == 204)
            #expect(try await device.preview("Preview10").status == 204)
            guard !device.cluster.isBridge else {
                // A trial begins with its first play, and upstream tells its end with the next preview; no reset gets there (bridge §10.1).
                let told = try #require(try await device.expiry())
                #expect((end...end + 10_000).contains(told), "\(told - end) ms")
                #expect(try await device.logout() == 204)
                #expect(try await device.preview("Preview10").status == 204)
                #expect(try await device.expiry() == told)
                #expect(try await device.reset("reset", ["mvpd_id": "Preview10", "device_id": device.id]) == 400)
                #expect(try await device.preview("Preview10").status == 204)
                #expect(try await device.expiry() == told)
                return
            }
            #expect(try await device.expiry() == end)
            #expect(try await device.reset("reset", ["mvpd_id": "Preview10", "device_id": device.id]) == 204)
            #expect(try await device.preview("Preview10").status == 204)
            #expect(try #require(try await device.expiry()) > end)
        }

        @Test(
            "clients #96: each of the three versions of a reset ends the trials of all devices; the next play begins one",
            arguments: ["v2", "v2.1", "v3"])
        func resetVersions(_ version: String) async throws {
            let device = try await Device.make()
            let owner = try await Client.register("acme-ops").accessToken()
            try #require(try await device.preview("Preview10").status == 204)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let end = try #require(try await device.expiry())
            let query = ["requestor_id": "ACME1", "mvpd_id": "Preview10", "device_id": "all"]
            let answer = try await device.cluster.send(
                Call("DELETE", "/reset-tempass/\(version)/reset", query: query, headers: ["Authorization": "Bearer \(owner)"]))
            guard !device.cluster.isBridge else {
                // A bridge passes a reset on to upstream's management host, and this one has none (bridge §10.1).
                #expect(answer.status == 400 && !answer.text.isEmpty, "\(answer.text)")
                return
            }
            #expect(answer.status == 204 && answer.text.isEmpty, "\(answer.text)")
            #expect(try await device.preview("Preview10").status == 204)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            #expect(try #require(try await device.expiry()) > end)
        }

        @Test("rest-v1 #90, #91: so many different resources for a user, on whichever device; without generic_data 400")
        func promotional() async throws {
            let (first, second) = (try await Device.make(), try await Device.make())
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            let terms: [String: Any] = ["kind": "promotional", "ttl": 3600, "maxResources": 2, "userInformationKey": "email"]
            try edit.add(tempPass: "Promo2", terms, at: "ACME1")
            let user = ["generic_data": #"("email":"\#(UUID().uuidString)@acme.example")"#]
            try await Condition.wait("the TempPass is known") { try await first.preview("Promo2", changing: user).status == 204 }
            #expect(try await first.preview("Promo2").status == 400)
            #expect(try await first.play("ACME1-NEWS", user) == 200)
            #expect(try await second.preview("Promo2", changing: user).status == 204)
            #expect(try await second.play("ACME1-SPORT", user) == 200)
            #expect(try await first.play("ACME1-KIDS", user) == 403)
            #expect(try await second.play("ACME1-KIDS", user) == 403)
            #expect(try await first.play("ACME1-SPORT", user) == 200)
            let metadata = try await first.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any]
            #expect(metadata?["remaining_resources"] as? Int == 0)
            #expect((metadata?["used_assets"] as? [String])?.sorted() == ["ACME1-NEWS", "ACME1-SPORT"])
            #expect(metadata?["expiration_date"] as? Int64 == (try await first.expiry()))
            #expect(try await first.reset("reset/generic", ["mvpd_id": "Promo2", "key": "all"]) == 204)
            #expect(try await first.play("ACME1-KIDS", user) == 200)
        }

        @Test("rest-v1 §3.7: a browser that names a TempPass is sent straight back, and the code has signed in")
        func byCode() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            #expect(try await device.authenticate(code, mvpd: "PromoVod").status == 400)
            let answer = try await device.authenticate(code, mvpd: "PromoVod", changing: ["generic_data": #"{"email":"\#(code)"}"#])
            #expect(answer.status == 302 && answer.header("location") == device.end)
            #expect(try await device.checkAuthn(code: code) == 200)
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.authenticate(code).status == 400)
        }

        @Test("rest-v1 §3.22, dashboard #34: a reset needs the scope, a channel of the application and its parameters")
        func resetRights() async throws {
            let device = try await Device.make()
            let pass = ["requestor_id": "ACME1", "mvpd_id": "Preview10", "device_id": device.id]
            let path = "/reset-tempass/v3/reset"
            func reset(_ query: [String: String], bearer: String) async throws -> Int {
                try await device.cluster.send(Call("DELETE", path, query: query, headers: ["Authorization": "Bearer \(bearer)"])).status
            }
            let owner = try await Client.register("acme-ops").accessToken()
            // A bridge passes a reset on to upstream's management host, and this one has none (bridge §10.1).
            let done = device.cluster.isBridge ? 400 : 204
            #expect(try await reset(pass, bearer: owner) == done)
            #expect(try await reset(pass, bearer: "broken") == 401)
            #expect(try await reset(pass, bearer: device.accessToken) == 403)
            #expect(try await reset(pass.merging(["requestor_id": "BRAVO"]) { $1 }, bearer: owner) == 403)
            for name in ["requestor_id", "mvpd_id"] {
                #expect(try await reset(pass.filter { $0.key != name }, bearer: owner) == 400)
            }
            #expect(try await reset(pass.merging(["mvpd_id": "NorthCable"]) { $1 }, bearer: owner) == 400)
        }
    }
}

extension Device {
    fileprivate func preview(_ mvpd: String, changing changes: [String: String] = [:]) async throws -> HTTPAnswer {
        let fields = ["requestor_id": requestor, "deviceId": id, "mso_id": mvpd, "domain_name": domain].merging(changes) { $1 }
        return try await cluster.send(.form("/api/v1/authenticate/freepreview", fields.map { ($0.key, $0.value) }, headers: headers))
    }

    fileprivate func play(_ resource: String, _ user: [String: String]) async throws -> Int {
        try await get("/api/v1/authorize", user.merging(["resource": resource]) { $1 }).status
    }

    /// When the session ends, in milliseconds.
    fileprivate func expiry() async throws -> Int64? {
        (try await authnToken().object["expires"] as? String).flatMap { Int64($0) }
    }

    /// By the application that owns the trials.
    fileprivate func reset(_ path: String, _ query: [String: String]) async throws -> Int {
        let bearer = try await Client.register("acme-ops").accessToken()
        let call = Call(
            "DELETE", "/reset-tempass/v3/\(path)", query: query.merging(["requestor_id": requestor]) { $1 },
            headers: ["Authorization": "Bearer \(bearer)"])
        return try await cluster.send(call).status
    }
}
