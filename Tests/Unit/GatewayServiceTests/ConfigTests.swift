internal import Contracts
internal import Foundation
internal import Testing

@Suite struct ConfigTests {
    let gateway = TestGateway()

    private func mvpds(_ uri: String = "/api/v1/config/ACME1", info: String? = TestGateway.deviceInformation) async throws -> [[String: Any]] {
        let reply = try await gateway.get(uri, TestGateway.device.with(.deviceInfo, info))
        let requestor = try #require(reply.json["requestor"] as? [String: Any])
        return try #require(requestor["mvpds"] as? [[String: Any]])
    }

    @Test("rest-v1 #26: only enabled integrations are listed")
    func onlyEnabled() async throws {
        #expect(try await mvpds().map { $0["id"] as? String } == ["NorthCable", "LakeTel", "OpenFiber"])
    }

    @Test("rest-v1 #27: an MVPD with platform SSO has five properties on its platform, another has none")
    func platformProperties() async throws {
        let properties: Set = ["enablePlatformServices", "boardingStatus", "displayInPlatformPicker", "platformMappingId", "requiredMetadataFields"]
        let listed = try await mvpds()
        #expect(properties.isSubset(of: listed[0].keys))
        #expect(properties.isDisjoint(with: listed[2].keys))
        let roku = Data(#"{"model":"x","osName":"Roku"}"#.utf8).base64EncodedString()
        #expect(properties.isDisjoint(with: try await mvpds(info: roku)[0].keys))
        #expect(properties.isSubset(of: try await mvpds(info: nil)[0].keys))
    }

    @Test("rest-v1 #28: a PICKER MVPD says so")
    func picker() async throws {
        let lake = try await mvpds()[1]
        #expect(lake["boardingStatus"] as? String == "PICKER")
        #expect(lake["displayInPlatformPicker"] as? Bool == true)
    }

    @Test("rest-v1 §3.3: an MVPD has its values of the caller's platform, and the optional ones that it needs")
    func valuesOfThePlatform() async throws {
        gateway.catalogue.change { configuration in
            configuration.mvpds[0].iframeRequired = true
            configuration.mvpds[0].requiresSafariViewController = true
            configuration.integrations[0].platformOverrides = [
                PlatformOverride(
                    scope: .tv, platformSso: .off, enforcePlatformPermissions: .on, authPerAggregator: .on, passiveAuthn: .on,
                    displayName: "North on TV", iframeWidth: 300, iframeHeight: 200)
            ]
        }
        let phone = Data(#"{"model":"x","osName":"iOS"}"#.utf8).base64EncodedString()
        let north = try await mvpds(info: phone)[0]
        #expect(north["displayName"] as? String == "North & Cable" && north["iFrameWidth"] == nil && north["authPerAggregator"] as? Bool == false)
        #expect(north["iFrameRequired"] as? Bool == true && north["requiresSafariViewController"] as? Bool == true)
        let onTV = try await mvpds()[0]
        #expect(onTV["displayName"] as? String == "North on TV")
        #expect(onTV["iFrameWidth"] as? Int == 300 && onTV["iFrameHeight"] as? Int == 200)
        for name in ["authPerAggregator", "passiveAuthnEnabled", "enforcePlatformPermissions"] { #expect(onTV[name] as? Bool == true) }
        #expect(onTV["enablePlatformServices"] as? Bool == false && onTV["boardingStatus"] as? String == "SUPPORTED")
    }

    @Test("rest-v1 §3.3: without device information the settings are of a platform with single sign-on; of a device of none there are none")
    func anyPlatform() async throws {
        gateway.catalogue.change { configuration in
            configuration.mvpds[0].platforms.insert(PlatformSettings(platform: .roku, platformMappingID: "on-roku"), at: 0)
        }
        #expect(try await mvpds(info: nil)[0]["platformMappingId"] as? String == "north-cable")
        let unknown = Data(#"{"model":"x","osName":"BeOS"}"#.utf8).base64EncodedString()
        #expect(try await mvpds(info: unknown)[0]["platformMappingId"] == nil)
        #expect(try await mvpds(info: "broken")[0]["platformMappingId"] as? String == "north-cable")
    }

    @Test func xmlMirrorsTheJson() async throws {
        let reply = try await gateway.get("/api/v1/config/ACME1.xml", [:])
        #expect(reply.text.contains("<config><requestor><id>ACME1</id><name>Acme One</name><domains><domain><name>acme.example</name>"))
        #expect(reply.text.contains("<displayName>North &amp; Cable</displayName>"))
        #expect(reply.text.contains("<requiredMetadataFields><field>userID</field><field>householdID</field></requiredMetadataFields>"))
    }

    @Test func postIsAnsweredAlikeAndARequestorWithoutMvpdsHasAnEmptyList() async throws {
        let reply = try await gateway.send(.post, "/api/v1/config/ACME2")
        #expect(reply.status == 200)
        #expect(reply.text.contains(#""mvpds":[]"#))
    }
}
