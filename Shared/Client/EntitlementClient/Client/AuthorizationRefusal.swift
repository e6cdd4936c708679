internal import Foundation

/// What a refusal of the servers means for the app (client-sdk §2.6, Z…).
struct AuthorizationRefusal: Equatable, Sendable {
    let code: AuthorizationDenial.Code
    let status: StatusCode
    /// The provider's text.
    let text: String
    /// The servers know no session.
    var endsSession = false

    /// - Parameter answer: Of another status than 200.
    init(_ answer: HTTPResponse) {
        let failure = answer.decoded(ServerAnswers.Failure.self)
        let text = failure?.details ?? ""
        switch answer.status {
        case 429: self.init(code: .notAuthorized, status: .notAuthorized, text: text)
        case 400: self.init(code: .generic, status: Self.status(failure?.code) ?? .badResource, text: text)
        case 403, 412:
            let isSession = Self.isSessionProblem(failure)
            self.init(
                code: isSession ? .notAuthenticated : .notAuthorized, status: Self.status(failure?.code) ?? .notAuthorized, text: text,
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

    private static func isSessionProblem(_ failure: ServerAnswers.Failure?) -> Bool {
        guard let failure else { return false }
        switch failure.code {
        case "authentication_session_missing", "authentication_session_expired", "authentication_session_invalidated",
            "authentication_session_issuer_mismatch":
            return true
        case .some: return false
        case nil: return failure.message == "User not authenticated" || failure.message == "Authentication token expired"
        }
    }
}
