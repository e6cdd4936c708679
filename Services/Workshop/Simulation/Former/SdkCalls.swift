internal import CommandKit
internal import Foundation
internal import TextEncodings

/// The calls of programs on the vendor's SDKs for devices (clients §3), of an app that is registered.
package struct SdkCalls: Sendable {
    package static let session = "/adobe-services/sessionDevice"
    package static let permit = "/adobe-services/authorizeDevice"
    package static let play = "/adobe-services/deviceShortAuthorize"

    package let app: StreamingApp

    /// - Parameter app: With its access token.
    package init(_ app: StreamingApp) { self.app = app }

    /// What is sent for the token of a code's session.
    package func sessionForm(_ code: String) -> String { form([("_method", "GET"), ("reg_code", code)]) }

    package func permitForm(_ token: String, _ resource: String) -> String { form([("authentication_token", token), ("resource_id", resource)]) }

    package func playForm(_ permit: String) -> String {
        form([("authz_token", permit), ("session_guid", "0123456789abcdef"), ("hashed_guid", "false")])
    }

    private func form(_ fields: [(String, String)]) -> String {
        FormEncoding.encode(fields + [("requestor_id", app.requestor), ("device_id", app.deviceID), ("networkType", "WIFI")])
    }

    /// - Returns: `nil` while nobody has signed in.
    func token(_ code: String) async throws -> String? {
        let answer = try await post(Self.session, sessionForm(code))
        return answer.status == 401 ? nil : try stored("authnToken", answer, "the token of the session")
    }

    /// The token of a session that is there.
    package func sessionToken(_ code: String) async throws -> String {
        guard let token = try await token(code) else { throw CommandFailure("nobody has signed in with the code") }
        return token
    }

    package func permit(_ token: String, _ resource: String) async throws -> String {
        try stored("authzToken", try await post(Self.permit, permitForm(token, resource)), "the token of the permit")
    }

    /// The media token in clear.
    func mediaToken(_ permit: String) async throws -> String {
        let answer = try await post(Self.play, playForm(permit))
        guard answer.status == 200, !answer.text.contains("<pendingLogout") else { throw app.failure(answer, "the media token") }
        return answer.text
    }

    /// True when the app is told to forget its token.
    func isOver(_ token: String, _ resource: String) async throws -> Bool {
        try await post(Self.permit, permitForm(token, resource)).text.contains("<pendingLogout")
    }

    private func post(_ path: String, _ form: String) async throws -> HTTPAnswer {
        try await app.send("POST", path, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: form)
    }

    /// Searched as text and unescaped once, as these programs do.
    private func stored(_ name: String, _ answer: HTTPAnswer, _ what: String) throws -> String {
        guard answer.status == 200, let start = answer.text.range(of: "<\(name)>"), let end = answer.text.range(of: "</\(name)>") else {
            if let start = answer.text.range(of: "<details>"), let end = answer.text.range(of: "</details>") {
                throw CommandFailure("\(what) is refused: \(answer.text[start.upperBound..<end.lowerBound])")
            }
            throw app.failure(answer, what)
        }
        let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#13;", "\r"), ("&amp;", "&")]
        return names.reduce(String(answer.text[start.upperBound..<end.lowerBound])) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
