internal import Octets

/// Why a call to the servers has no usable answer.
enum ServerFailure: Error, Sendable, Hashable {
    /// No connection, or it broke off.
    case unreachable(String)
    /// TLS cannot be trusted.
    case insecure(String)
    /// The software statement is invalid or revoked; the server's code.
    case statementRefused(String)
    /// The registration or token call failed in another way.
    case noAccessToken(String)
    /// Too many calls.
    case throttled
    /// HTTP 5xx.
    case unavailable(status: Int)
    /// A response that is not from these servers, for example a captive portal's page.
    case unexpectedAnswer(String)

    init(_ failure: TransportFailure) {
        self =
            switch failure.kind {
            case .unreachable: .unreachable(failure.reason)
            case .insecure: .insecure(failure.reason)
            }
    }

    /// For developers.
    var details: String {
        switch self {
        case .unreachable(let reason), .insecure(let reason), .unexpectedAnswer(let reason), .noAccessToken(let reason): reason
        case .statementRefused(let code): code
        case .throttled: "429"
        case .unavailable(let status): "\(status)"
        }
    }
}
