@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension BridgeTests {
    private static let television = Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"AppleTV6,2","osName":"tvOS"}"#)

    private func appleTV() async throws -> Device {
        var device = try await Device.make()
        device.information = Self.television
        return device
    }

    private func request(_ device: Device) async throws -> HTTPAnswer {
        try await device.cluster.send(
            Call("GET", "/api/v1/ACME1/profile-requests/CoastCable", query: ["deviceType": "tvOS"], headers: device.headers))
    }

    private func exchange(_ device: Device, _ response: String) async throws -> HTTPAnswer {
        let fields = [
            ("requestor", device.requestor), ("deviceId", device.id), ("mvpd", "CoastCable"), ("deviceType", "tvOS"), ("SAMLResponse", response),
        ]
        return try await device.cluster.send(.form("/api/v1/tokens/authn", fields, headers: device.headers))
    }

    private func listed(_ device: Device) async throws -> [String: Any] {
        let answer = try await device.cluster.send(Call("GET", "/api/v1/config/ACME1.json", headers: ["X-Device-Info": device.information]))
        let record = answer.object["requestor"] as? [String: Any]
        return try #require((record?["mvpds"] as? [[String: Any]])?.first { $0["id"] as? String == "CoastCable" }, "\(answer.text)")
    }

    /// The framework's status in the header of a call.
    private func status(_ entry: StandInUpstream.Entry) throws -> [String: [String: Any]] {
        let text = try #require(entry.headers["ap-partner-framework-status"])
        let octets = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: octets) as? [String: [String: Any]])
    }

    @Test("bridge B88, B89, B90: Apple's platform signs in by upstream where the operator lets us speak for it, and only then")
    func signsInByPlatform() async throws {
        let upstream = try await upstream()
        let device = try await appleTV()
        #expect(try await device.checkAuthn() == 403)
        #expect(try await request(device).status == 400)
        #expect(try await listed(device)["enablePlatformServices"] == nil)
        #expect(try await upstream.count("partnerSession") == 0)

        let olga = try await Administrator.fresh()
        #expect(try await olga.change("/upstreams/vendor") { $0["synthesizePartnerStatus"] = true }.status == 200)
        let mvpd = try await olga.change("/mvpds/CoastCable") { record in
            record["platforms"] = [
                [
                    "platform": "tvos", "boardingStatus": "SUPPORTED", "enablePlatformServices": true, "displayInPlatformPicker": true,
                    "platformMappingId": "coast-cable", "requiredMetadataFields": ["uid", "NameID"],
                ]
            ]
        }
        #expect(mvpd.status == 200, "\(mvpd.text)")
        let integration = try await olga.change("/integrations/ACME1/CoastCable") { $0["platformSso"] = true }
        #expect(integration.status == 200, "\(integration.text)")
        try await olga.push("Apple's platform")
        try await Condition.wait("the gateway has it") { try await listed(device)["enablePlatformServices"] as? Bool == true }
        try await Condition.wait("authentication has it") {
            _ = try await device.checkAuthn()
            return try await request(device).status == 200
        }
        #expect(try await listed(device)["platformMappingId"] as? String == "coast-cable")

        try await upstream.forgetCalls()
        let asked = try await request(device)
        #expect(asked.status == 200, "\(asked.status) \(asked.text)")
        let session = try #require(try await upstream.entries("partnerSession").last)
        let told = try status(session)
        #expect(told["frameworkPermissionInfo"]?["accessStatus"] as? String == "granted")
        #expect(told["frameworkProviderInfo"]?["id"] as? String == "coast-cable")
        #expect(session.headers["ap-device-identifier"] == "fingerprint " + Data(device.id.utf8).base64EncodedString())
        let answer = try await upstream.control("POST", "partner-answers", ["request": asked.text, "person": "ada"])
        let response = try #require(answer.object["SAMLResponse"] as? String)
        let exchanged = try await exchange(device, response)
        #expect(exchanged.status == 204, "\(exchanged.status) \(exchanged.text)")
        #expect(try await device.checkAuthn() == 200)
        #expect(try await exchange(device, response).status == 400)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let decision = try #require(try await upstream.entries("authorize").last)
        #expect(try status(decision)["frameworkProviderInfo"]?["id"] as? String == "coast-cable")
        let metadata = try await device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any]
        #expect(metadata?["tokenSource"] as? String == "Apple", "\(metadata ?? [:])")
        #expect(try await device.logout() == 204)

        try await upstream.fail(
            "partnerSession", ["kind": "merge", "merge": ["actionName": "resume", "actionType": "interactive"], "times": 1])
        #expect(try await request(device).status == 400, "the person signs in by a code")
        var second = device
        second = Device(cluster: device.cluster, requestor: device.requestor, id: UUID().uuidString, accessToken: device.accessToken)
        second.information = Self.television
        #expect(try await second.checkAuthn() == 403)
        #expect(try await request(device).status == 400, "which of the two devices asks, nobody knows")
    }

    @Test("bridge B91, B92: a Roku token signs a new device in, which stays so without it; a logout there ends nobody else's login")
    func signsInByToken() async throws {
        let upstream = try await upstream()
        let token = "roku-\(UUID().uuidString)"
        try await upstream.control("PUT", "identities", ["token": token, "kind": "platform", "id": token])
        let first = try await Device.make("BRAVO")
        try await signIn(first)
        let profile: [String: Any] = [
            "device": first.id, "serviceProvider": "BRAVOUP", "mvpd": "CoastCable", "person": "ada",
            "identities": [["kind": "platform", "id": token]],
        ]
        try await upstream.control("POST", "profiles", [profile])
        let (device, stranger) = (try await Device.make(), try await Device.make())
        func check(_ device: Device, with token: String?) async throws -> Int {
            var call = device.call("/api/v1/checkauthn")
            if let token { call.headers["X-Roku-Reserved-Roku-Connect-Token"] = token }
            return try await device.cluster.send(call).status
        }
        try await upstream.forgetCalls()
        #expect(try await check(stranger, with: nil) == 403)
        #expect(try await upstream.entries().isEmpty)
        #expect(try await check(device, with: token) == 200)
        #expect(try await check(device, with: nil) == 200)
        #expect(try await upstream.count("profiles") == 1)
        for _ in 0..<20 { #expect(try await check(stranger, with: "roku-nobody") == 403) }
        #expect(try await upstream.count("profiles") == 2)
        #expect(try await device.logout() == 204)
        #expect(try await check(device, with: token) == 403)
        #expect(try await first.checkAuthn() == 200)
        let listed = try await upstream.control("GET", "profiles").text
        #expect(listed.contains(first.id))
        try await upstream.goAway()
        let late = try await Device.make()
        #expect(try await check(late, with: token) == 503)
        try await upstream.comeBack()
    }
}
