/// The result of one try.
enum DeliveryOutcome: Hashable, Sendable {
    case accepted
    /// The other side has no such value (404).
    case unknown
    /// Our credentials were refused (401).
    case credentialsRefused
    /// It will never be accepted as it is (other 4xx).
    case refused(status: Int)
    /// Nothing was done, and it may be accepted later.
    case busy(status: Int, retryAfter: Duration?)
    /// Nobody knows whether it was done: the answer did not come or broke off, or came from somebody in between.
    case unclear(status: Int, retryAfter: Duration?)
    /// Nothing was sent.
    case unreachable
    /// It is not wanted any more; nothing was sent.
    case obsolete

    /// Status of the answer; 0: none.
    var status: Int {
        switch self {
        case .accepted: 200
        case .unknown: 404
        case .credentialsRefused: 401
        case .refused(let status), .busy(let status, _), .unclear(let status, _): status
        case .unreachable, .obsolete: 0
        }
    }

    /// The meaning of an answer of Apple's StoreKit (apple §1.3).
    static func storeKit(status: Int, retryAfter: Duration?) -> DeliveryOutcome {
        switch status {
        case 204: .accepted
        case 401: .credentialsRefused
        case 404: .unknown
        case 429, 500, 503: .busy(status: status, retryAfter: retryAfter)
        case 400..<500: .refused(status: status)
        default: .unclear(status: status, retryAfter: retryAfter)
        }
    }
}
