@testable import ClusterCommands
import Clocks
import Foundation
import Testing

extension RestV2Tests {
    @Suite("Single sign-on by the platform")
    struct PartnerTests {
        /// An Apple TV whose account the framework knows at NorthCable.
        private static func device() async throws -> (device: V2Device, platform: StandInPlatform) {
            var device = try await V2Device.make()
            device.information = Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"AppleTV11,1","osName":"tvOS"}"#)
            let addresses = ClusterAddresses(ports: device.cluster.ports)
            let platform = StandInPlatform(exchange: device.cluster.exchange, address: addresses.apple, account: UUID().uuidString)
            try await platform.set(["access": "granted", "provider": "north-cable"])
            return (device, platform)
        }

        static func status(
            _ access: String = "granted", provider: String? = "north-cable", until end: Duration = .seconds(3600)
        ) -> [String: String] {
            let id = provider.map { #""id":"\#($0)","# } ?? ""
            let expiry = ((TestCluster.current?.now ?? SystemClock().now()) + end).milliseconds
            let text = #"{"frameworkPermissionInfo":{"accessStatus":"\#(access)"},"frameworkProviderInfo":{\#(id)"expirationDate":"\#(expiry)"}}"#
            return ["AP-Partner-Framework-Status": Data(text.utf8).base64EncodedString()]
        }

        static func form(_ device: V2Device) -> [String: String] { device.parameters.filter { $0.key != "mvpd" } }

        /// The framework's answer to a partner session.
        private static func response(_ device: V2Device, _ platform: StandInPlatform) async throws -> String {
            let session = try await device.post("sessions/sso/Apple", form(device), status())
            try #require(session.step == ["partner_profile", "direct", "none"], "\(session.text)")
            #expect(session.object["url"] as? String == "/api/v2/ACME1/profiles/sso/Apple" && session.object["code"] == nil)
            let request = try #require(session.object["authenticationRequest"] as? [String: Any])
            #expect(request["type"] as? String == "saml")
            let answer = try await platform.metadata(
                interruptionAllowed: false, attributes: try #require(request["attributesNames"] as? [String]), token: request["request"] as? String)
            return StandInPlatform.encoded(try #require(answer.response, "\(answer)"))
        }

        private static func signIn(_ device: V2Device, _ platform: StandInPlatform) async throws {
            let answer = try await device.post("profiles/sso/apple", ["SAMLResponse": try await response(device, platform)], status())
            try #require(answer.status == 201, "\(answer.text)")
            let profile = try #require((answer.object["profiles"] as? [String: [String: Any]])?["NorthCable"])
            #expect(profile["type"] as? String == "appleSSO" && profile["issuer"] as? String == "Apple")
            #expect((profile["attributes"] as? [String: [String: Any]])?["tokenSource"]?["value"] as? String == "Apple")
        }

        @Test("rest-v2 #88, #94, #99, #84, #115: the platform signs in; its profile shows with its status alone; its settings end it")
        func signIn() async throws {
            let (device, platform) = try await Self.device()
            try await Self.signIn(device, platform)
            #expect(try await device.profiles().isEmpty)
            #expect(try await device.profiles("profiles", Self.status()).keys.sorted() == ["NorthCable"])
            #expect(try await device.profiles("profiles", Self.status("denied")).isEmpty)
            #expect(try await device.profiles("profiles", Self.status(provider: "lake-tel")).isEmpty)
            #expect(try await device.decision("ACME1-NEWS").errorCode == "authenticated_profile_missing")
            #expect(try await device.decision("ACME1-NEWS", Self.status()).isAuthorized)
            for (status, code) in [
                (Self.status("denied"), "permission_access_not_granted"), (Self.status(provider: "lake-tel"), "provider_id_mismatch"),
                (Self.status(until: .seconds(-60)), "provider_info_expired"),
            ] {
                let answer = try await device.decide("authorize", ["ACME1-NEWS"], status)
                #expect(answer.status == 400 && answer.v2Error == "invalid_header_pfs_\(code)", "\(answer.text)")
            }
            let next = try await device.post("sessions/sso/Apple", Self.form(device), Self.status())
            #expect(next.step == ["authorize", "direct", "authenticated"])
            let logout = try await device.get("logout/NorthCable", ["redirectUrl": device.end])
            let left = try #require((logout.object["logouts"] as? [String: [String: Any]])?["NorthCable"])
            #expect(left["actionName"] as? String == "partner_logout" && left["actionType"] as? String == "partner_interactive" && left["url"] == nil)
            #expect(try await device.profiles("profiles", Self.status()).isEmpty)
        }

        @Test("rest-v2 #89, #91, #92, #117: what keeps the platform from being asked is the reason of an ordinary session")
        func fallbacks() async throws {
            let (device, _) = try await Self.device()
            let form = Self.form(device)
            for status in [Self.status("denied"), Self.status("notDetermined"), Self.status(provider: nil), [:]] {
                let answer = try await device.post("sessions/sso/Apple", form, status)
                #expect(answer.step == ["resume", "direct", "pfs_fallback"] && answer.object["missingParameters"] as? [String] == ["mvpd"])
                #expect(answer.object["code"] is String)
            }
            let over = try await device.post("sessions/sso/Apple", form, Self.status(until: .seconds(-60)))
            #expect(over.step == ["authenticate", "interactive", "pfs_fallback"] && over.object["mvpd"] as? String == "NorthCable")
            for address in ["", "not a url"] {
                let answer = try await device.post("sessions/sso/Apple", form.merging(["redirectUrl": address]) { $1 }, Self.status())
                #expect(answer.step == ["resume", "direct", "missing_parameters_fallback"])
                #expect(answer.object["missingParameters"] as? [String] == ["redirectUrl"])
            }
            let foreign = try await device.post("sessions/sso/Foo", form, Self.status())
            #expect(foreign.status == 400 && foreign.v2Error == "invalid_parameter_partner")
            // The platform lists the MVPD in its picker, and does not sign people in there.
            let picked = try await device.post("sessions/sso/Apple", form, Self.status(provider: "lake-tel"))
            #expect(picked.step == ["authenticate", "interactive", "configuration_fallback"], "rest-v2 #90: \(picked.text)")
        }

        @Test("rest-v2 #93, #95-#98: a partner profile needs the status and the platform's answer; a bypassed MVPD neither")
        func refused() async throws {
            let (device, platform) = try await Self.device()
            func refusal(_ fields: [String: String], _ status: [String: String]) async throws -> String? {
                let answer = try await device.post("profiles/sso/Apple", fields, status)
                return answer.status == 400 ? answer.v2Error : answer.text
            }
            let response = ["SAMLResponse": try await Self.response(device, platform)]
            #expect(try await refusal(response, [:]) == "invalid_header_pfs_permission_access_not_present")
            #expect(try await refusal(response, Self.status("notDetermined")) == "invalid_header_pfs_permission_access_not_determined")
            #expect(try await refusal(response, Self.status("restricted")) == "invalid_header_pfs_permission_access_not_granted")
            #expect(try await refusal(response, Self.status(provider: "nobody")) == "invalid_header_pfs_provider_id_not_determined")
            #expect(try await refusal(response, Self.status(until: .seconds(-60))) == "invalid_header_pfs_provider_info_expired")
            #expect(try await refusal([:], Self.status()) == "invalid_parameter_saml_response")
            #expect(try await refusal(["SAMLResponse": "PHgvPg=="], Self.status()) == "invalid_parameter_saml_response")
            try await DegradationControl.running().during("AuthNAll", at: "ACME1") {
                try await Condition.wait("the rule is known") {
                    try await device.post("sessions/sso/Apple", Self.form(device), Self.status()).step == ["authorize", "direct", "degraded"]
                }
                let answer = try await device.post("profiles/sso/Apple", response, Self.status())
                #expect(answer.status == 200)
                #expect((answer.object["profiles"] as? [String: [String: Any]])?["NorthCable"]?["type"] as? String == "degraded")
            }
        }

        @Test("rest-v2 #16, #26, #101, #118: a platform's identity carries a login to another app, and one that does not hold carries nothing")
        func identity() async throws {
            let (first, platform) = try await Self.device()
            let token = try await platform.identityToken(["person": UUID().uuidString])
            var carrier = first
            carrier.others = ["Adobe-Subject-Token": token]
            try await carrier.signIn()
            #expect(try await carrier.profiles()["NorthCable"]?["type"] as? String == "regular")
            for header in ["Adobe-Subject-Token", "X-Roku-Reserved-Roku-Connect-Token"] {
                // rest-v2 §5 I: another app on the same device, or on another one.
                var second = try await V2Device.make(id: header == "Adobe-Subject-Token" ? first.id : UUID().uuidString)
                #expect(try await second.profiles().isEmpty)
                second.others = [header: token]
                let shared = try #require(try await second.profiles()["NorthCable"])
                #expect(shared["type"] as? String == "platformSSO" && shared["issuer"] as? String == "NorthCable")
                #expect(try await second.session().step == ["authorize", "direct", "authenticatedSSO"])
                #expect(try await second.decision("ACME1-NEWS").isAuthorized)
                second.others = [header: "x"]
                #expect(try await second.profiles().isEmpty)
            }
            var last = try await V2Device.make()
            last.others = ["Adobe-Subject-Token": token]
            let logout = try await last.get("logout/NorthCable", ["redirectUrl": last.end])
            #expect(((logout.object["logouts"] as? [String: [String: Any]])?["NorthCable"])?["actionName"] as? String == "logout")
            #expect(try await carrier.profiles().isEmpty, "their user has logged out, wherever they had signed in")
        }
    }
}
