import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Free trials (rest-v2 §5 L), and their reset (§2.14).
@Suite struct VendorTempPassTests {
    private static func identity(_ value: String) -> [String: String] {
        ["AP-TempPass-Identity": Data(#"{"email":"\#(value)"}"#.utf8).base64EncodedString()]
    }

    @Test("rest-v2 #48, #49, #73: a basic trial") func basic() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let before = try #require(try await vendor.profiles(app, "/TrialUp")["TrialUp"])
            #expect(before["type"] as? String == "temporary" && before["issuer"] as? String == "Adobe")
            vendor.clock.advance(by: .seconds(100))
            let permit = try vendor.decision(try await vendor.decide(app, ["ANY"], mvpd: "TrialUp"))
            #expect(permit["source"] as? String == "temppass" && permit["token"] != nil)
            vendor.clock.advance(by: .seconds(599))
            let profile = try #require(try await vendor.profiles(app, "/TrialUp")["TrialUp"])
            let attributes = try #require(profile["attributes"] as? [String: [String: Any]])
            #expect((attributes["userID"]?["value"] as? String)?.hasPrefix("temppass_") == true && attributes["remaining_resources"] == nil)
            #expect(attributes["expiration_date"]?["value"] as? Int == 1_900_000_700_000 && profile["notAfter"] as? Int == 1_900_000_700_000)
            vendor.clock.advance(by: .seconds(1))
            let over = try await vendor.get("/api/v2/ACME1/profiles/TrialUp", app.on())
            #expect(over.status == 403 && over["code"] == "temporary_access_duration_limit_exceeded" && over["action"] == "authentication")
            let denied = try await vendor.decide(app, ["ANY"], mvpd: "TrialUp")
            let item = vendor.item(try vendor.decision(denied))
            #expect(denied.status == 200 && item == "temporary_access_duration_limit_exceeded")
            #expect(try await vendor.profiles(app).isEmpty)
        }
    }

    @Test("rest-v2 #50 to #52, #74 to #76, #114: a promotional trial") func promotional() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            func decide(_ resource: String, _ headers: [String: String], device: String = VendorParty.device) async throws -> String? {
                let decision = try vendor.decision(
                    try await vendor.decide(app, [resource], mvpd: "PromoUp", device: device, headers: headers))
                return vendor.item(decision)
            }
            let bare = try vendor.decision(try await vendor.decide(app, ["A"], mvpd: "PromoUp"))
            #expect(vendor.item(bare) == "invalid_header_identity_for_temporary_access")
            #expect((bare["error"] as? [String: Any])?["status"] as? Int == 400)
            let top = try await vendor.get("/api/v2/ACME1/profiles/PromoUp", app.on())
            #expect(top.status == 400 && top["code"] == "invalid_header_identity_for_temporary_access")
            let plain = Self.identity("ada@example.com")
            for resource in ["A", "A", "B"] { #expect(try await decide(resource, plain) == nil) }
            #expect(try await decide("C", plain) == "temporary_access_resources_limit_exceeded")
            #expect(try await decide("A", plain) == nil)
            let digest = Self.identity(Hexadecimal.text(Digest.sha256(Array("ada@example.com".utf8))))
            #expect(try await decide("C", digest, device: "second") == "temporary_access_resources_limit_exceeded")
            let used = try await vendor.get("/api/v2/ACME1/profiles/PromoUp", app.on("second", digest))
            #expect(used.status == 403 && used["code"] == "temporary_access_resources_limit_exceeded")
            let ahead = try vendor.decision(try await vendor.decide(app, ["A"], mvpd: "PromoUp", kind: "preauthorize", headers: plain))
            #expect(vendor.item(ahead) == "temporary_access_resources_limit_exceeded")
            #expect(try await vendor.control(.get, "trials").list.count == 1)
        }
    }

    @Test("rest-v2 #50: what a promotional trial tells") func remaining() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let header = Self.identity("u")
            _ = try await vendor.decide(app, ["A"], mvpd: "PromoUp", headers: header)
            let profile = try #require(try await vendor.profiles(app, "/PromoUp", headers: header)["PromoUp"])
            let attributes = try #require(profile["attributes"] as? [String: [String: Any]])
            #expect(attributes["remaining_resources"]?["value"] as? Int == 1 && attributes["used_assets"]?["value"] as? [String] == ["A"])
        }
    }

    @Test("rest-v2 #78: preauthorization begins no trial") func preauthorization() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let resources = (1...7).map { "R\($0)" }
            let reply = try await vendor.decide(app, resources, mvpd: "TrialUp", kind: "preauthorize")
            let decisions = try #require(reply.json["decisions"] as? [[String: Any]])
            #expect(decisions.count == 7 && decisions.allSatisfy { $0["authorized"] as? Bool == true })
            #expect(try await vendor.control(.get, "trials").list.isEmpty)
        }
    }

    @Test("rest-v2 #77, #107: reset") func reset() async throws {
        try await VendorParty.run { vendor in
            let (app, office) = (try await vendor.app(), try await vendor.app("acme-v2-management"))
            func isOver() async throws -> Bool {
                try await vendor.get("/api/v2/ACME1/profiles/TrialUp", app.on()).status == 403
            }
            func begin() async throws {
                _ = try await vendor.decide(app, ["A"], mvpd: "TrialUp")
                vendor.clock.advance(by: .seconds(600))
            }
            try await begin()
            #expect(try await isOver())
            let address = "/reset-tempass/v3/reset?requestor_id=ACME1&mvpd_id=TrialUp"
            #expect(try await vendor.send(.delete, address, app.bearer).status == 401)
            #expect(try await vendor.send(.delete, "\(address)&device_id=other", office.bearer).status == 204)
            #expect(try await isOver())
            #expect(try await vendor.send(.delete, "\(address)&device_id=\(VendorParty.device)", office.bearer).status == 204)
            #expect(try await !isOver())
            try await begin()
            #expect(try await vendor.send(.delete, "\(address)&device_id=all", office.bearer).status == 204)
            #expect(try await !isOver())
            #expect(try await vendor.send(.delete, "/reset-tempass/v3/reset?requestor_id=ACME1&mvpd_id=HillTel", office.bearer).status == 400)
        }
    }

    @Test("rest-v2 §2.14: reset by identity") func resetByIdentity() async throws {
        try await VendorParty.run { vendor in
            let (app, office) = (try await vendor.app(), try await vendor.app("acme-v2-management"))
            let hash = Hexadecimal.text(Digest.sha256(Array("u".utf8)))
            for resource in ["A", "B"] { _ = try await vendor.decide(app, [resource], mvpd: "PromoUp", headers: Self.identity("u")) }
            func item() async throws -> String? {
                vendor.item(try vendor.decision(try await vendor.decide(app, ["C"], mvpd: "PromoUp", headers: Self.identity(hash))))
            }
            #expect(try await item() == "temporary_access_resources_limit_exceeded")
            let address = "/reset-tempass/v3/reset/generic?requestor_id=ACME1&mvpd_id=PromoUp&key=\(hash)"
            #expect(try await vendor.send(.delete, address, office.bearer).status == 204)
            #expect(try await item() == nil)
        }
    }
}
