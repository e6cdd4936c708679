public import OutboundHttp

/// Why an upstream call brought nothing that can be used (bridge §12).
public enum BridgeFailure: Error, Hashable, Sendable {
    /// No whole answer.
    case unreachable(OutboundFailure.Kind)
    /// An answer that is not what the API documents; the text says what was wrong, for the log.
    case unusable(String)
    /// 5xx.
    case serverError(Int)
    /// 3xx, 404 or 405: the address is not that of an API v2.
    case wrongAddress(Int)
    /// 401, whatever its body says.
    case unauthorized
    /// 429.
    case throttled(retryAfter: Duration)
    /// 400 or 403 with a code.
    case refused(BridgeRefusal)
    /// Any other status without a known code.
    case badRequest(Int)

    /// True when it counts against the upstream's health. A refusal does not: the upstream answered.
    public var isOutage: Bool {
        switch self {
        case .unreachable(.cancelled): false
        case .unreachable, .unusable, .serverError, .wrongAddress: true
        case .unauthorized, .throttled, .refused, .badRequest: false
        }
    }
}

/// An enhanced error, of a whole answer or of one decision.
public struct BridgeRefusal: Error, Hashable, Sendable {
    public let status: Int
    /// At most 128 octets.
    public let code: String
    public let action: String
    /// The MVPD's or the operator's own words; cleaned, at most 512 octets; empty: none.
    public let details: String
    /// Upstream's own, for the log; empty: none.
    public let trace: String

    public init(status: Int, code: String, action: String = "none", details: String = "", trace: String = "") {
        self.status = status
        self.code = code
        self.action = action
        self.details = details
        self.trace = trace
    }
}
