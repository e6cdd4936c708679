internal import Octets
internal import Foundation

/// The meaning of a server's refusal for the app (client-sdk §2.6, Z…).
struct AuthorizationRefusal: Error, Equatable, Sendable {
    let code: AuthorizationDenial.Code
    let status: StatusCode
    /// The provider's text.
    let text: String
    /// The servers know no session.
    var endsSession = false

    /// - Parameter answer: An answer of another status than 200.
    init(_ answer: HTTPResponse) { self.init(answer.decoded(ServerAnswers.Failure.self), status: answer.status) }

    /// - Parameter status: The status of the answer, or of the error within it.
    init(_ failure: ServerAnswers.Failure?, status: Int) {
        let (text, code) = (failure?.details ?? "", failure?.sdkCode)
        if let refusal = Self.ofProof(code, text) {
            self = refusal
            return
        }
        switch status {
        case 429: self.init(code: .notAuthorized, status: .notAuthorized, text: text)
        case 400: self.init(code: .generic, status: Self.status(code) ?? .badResource, text: text)
        case 403, 412:
            let isSession = Self.isSessionProblem(failure)
            self.init(
                code: isSession ? .notAuthenticated : .notAuthorized, status: Self.status(code) ?? .notAuthorized, text: text,
                endsSession: isSession)
        default: self.init(code: .internal, status: .authorizationFailed, text: text)
        }
    }

    init(_ failure: ServerFailure) {
        switch failure {
        case .throttled: self.init(code: .notAuthorized, status: .notAuthorized, text: "")
        default: self.init(code: .internal, status: .authorizationFailed, text: "")
        }
    }

    private init(code: AuthorizationDenial.Code, status: StatusCode, text: String, endsSession: Bool = false) {
        self.code = code
        self.status = status
        self.text = text
        self.endsSession = endsSession
    }

    /// By the code of an enhanced error (rest-v1 §2.8); `nil` for one that tells no more than the status.
    private static func status(_ code: String?) -> StatusCode? {
        switch code {
        case "authorization_denied_by_degradation_rule": .deniedByDegradation
        case "network_received_error", "network_connection_timeout", "maximum_execution_time_exceeded": .authorizationUnavailable
        case "malformed_authz_request", "missing_resource": .badResource
        case "internal_error": .authorizationFailed
        default: nil
        }
    }

    /// The device does not show, as rest-v2 wants it, that the session is still good: the platform's permission or provider, or the trial.
    private static func ofProof(_ code: String?, _ text: String) -> AuthorizationRefusal? {
        switch code {
        case "invalid_header_pfs_permission_access_not_granted": AuthorizationRefusal(code: .notAuthenticated, status: .permissionDenied, text: text)
        case "invalid_header_pfs_permission_access_not_present", "invalid_header_pfs_permission_access_not_determined":
            AuthorizationRefusal(code: .notAuthenticated, status: .permissionUndetermined, text: text)
        case "invalid_header_pfs_provider_id_not_determined", "invalid_header_pfs_provider_id_mismatch",
            "invalid_header_pfs_provider_info_expired":
            AuthorizationRefusal(code: .notAuthenticated, status: .notAuthenticated, text: text, endsSession: true)
        case "temporary_access_duration_limit_exceeded":
            AuthorizationRefusal(code: .notAuthenticated, status: .tempPassExpired, text: text, endsSession: true)
        case "invalid_header_identity_for_temporary_access": AuthorizationRefusal(code: .notAuthorized, status: .notAuthorized, text: text)
        default: nil
        }
    }

    private static func isSessionProblem(_ failure: ServerAnswers.Failure?) -> Bool {
        guard let failure else { return false }
        switch failure.sdkCode {
        case "authentication_session_missing", "authentication_session_expired", "authentication_session_invalidated",
            "authentication_session_issuer_mismatch":
            return true
        case .some: return false
        case nil: return failure.message == "User not authenticated" || failure.message == "Authentication token expired"
        }
    }
}
