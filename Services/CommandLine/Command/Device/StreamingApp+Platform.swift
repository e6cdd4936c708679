internal import Foundation

/// Sign-in by the platform (rest-v1 §3.12, §3.13).
extension StreamingApp {
    /// An MVPD as far as the platform is concerned (rest-v1 §3.3).
    struct PlatformMvpd: Sendable {
        let id: String
        /// The platform's own name of it.
        let mapping: String
        /// False: the platform lists it, and it is signed in the ordinary way.
        let isSupported: Bool
        let isInPicker: Bool
        /// What the platform must get from it.
        let fields: [String]
    }

    /// The requestor's MVPDs that the platform knows.
    func platformMvpds() async throws -> [PlatformMvpd] {
        Self.platformMvpds(try await object("GET", "/api/v1/config/\(FormEncoding.encode(requestor)).json"))
    }

    /// - Parameter config: The configuration of a requestor as the API gives it.
    static func platformMvpds(_ config: [String: Any]) -> [PlatformMvpd] {
        let requestor = config["requestor"] as? [String: Any]
        return (requestor?["mvpds"] as? [[String: Any]] ?? []).compactMap { record in
            guard let id = record["id"] as? String, let mapping = record["platformMappingId"] as? String else { return nil }
            return PlatformMvpd(
                id: id, mapping: mapping,
                isSupported: record["enablePlatformServices"] as? Bool == true && record["boardingStatus"] as? String == "SUPPORTED",
                isInPicker: record["displayInPlatformPicker"] as? Bool == true, fields: record["requiredMetadataFields"] as? [String] ?? [])
        }
    }

    /// The verification token for the framework, opaque.
    func profileRequest(mvpd: String) async throws -> String {
        let path = "/api/v1/\(FormEncoding.encode(requestor))/profile-requests/\(FormEncoding.encode(mvpd))"
        let answer = try await send("GET", "\(path)?deviceType=\(hardware.deviceType)")
        guard answer.status == 200 else { throw failure(answer, "asking for a profile request") }
        return answer.text
    }

    /// - Parameter response: The MVPD's answer, Base64.
    func exchange(_ response: String, mvpd: String) async throws {
        let form = [
            ("requestor", requestor), ("deviceId", deviceID), ("mvpd", mvpd), ("deviceType", hardware.deviceType), ("SAMLResponse", response),
        ]
        let answer = try await send(
            "POST", "/api/v1/tokens/authn", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode(form))
        guard answer.status == 204 else { throw failure(answer, "exchanging the platform's answer") }
    }

    /// What the app may know of the person (rest-v1 §3.19).
    func userMetadata() async throws -> [String: Any] {
        try await object("GET", "/api/v1/tokens/usermetadata?\(deviceSet())")["data"] as? [String: Any] ?? [:]
    }
}
