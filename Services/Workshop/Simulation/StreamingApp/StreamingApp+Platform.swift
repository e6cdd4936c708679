internal import Foundation
internal import TextEncodings

/// Sign-in by the platform (rest-v1 §3.12, §3.13).
extension StreamingApp {
    /// The verification token for the framework, opaque.
    package func profileRequest(mvpd: String) async throws -> String {
        let path = "/api/v1/\(FormEncoding.encode(requestor))/profile-requests/\(FormEncoding.encode(mvpd))"
        let answer = try await send("GET", "\(path)?deviceType=\(hardware.deviceType)")
        guard answer.status == 200 else { throw failure(answer, "asking for a profile request") }
        return answer.text
    }

    /// - Parameter response: The MVPD's answer, Base64.
    package func exchange(_ response: String, mvpd: String) async throws {
        let form = [
            ("requestor", requestor), ("deviceId", deviceID), ("mvpd", mvpd), ("deviceType", hardware.deviceType), ("SAMLResponse", response),
        ]
        let answer = try await send(
            "POST", "/api/v1/tokens/authn", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode(form))
        guard answer.status == 204 else { throw failure(answer, "exchanging the platform's answer") }
    }
}
