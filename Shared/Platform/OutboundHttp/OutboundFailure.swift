/// Why there is no whole answer, as far as it decides about a second attempt.
public struct OutboundFailure: Error, Sendable {
    public enum Kind: String, Hashable, Sendable {
        /// No connection within its time; nothing was sent.
        case connectTimeout
        /// No connection at all; nothing was sent.
        case notSent
        /// The host's name leads where nobody may be asked; nothing was sent.
        case refusedAddress
        /// The client certificate that the server is to be shown is not at hand; nothing was sent.
        case noCertificate
        /// The connection broke before any of the answer came.
        case resetBeforeAnswer
        /// Sent, but no answer within its time.
        case responseTimeout
        /// The time of the whole step is over.
        case budgetSpent
        /// The answer broke off or is too large, or TLS failed.
        case unusable
        /// The caller no longer waits.
        case cancelled
    }

    public let kind: Kind

    /// The server cannot have acted on the request.
    public var isUnsent: Bool { kind == .connectTimeout || kind == .notSent || kind == .refusedAddress || kind == .noCertificate }

    /// For the log.
    public let cause: String

    public init(_ kind: Kind, cause: String = "") {
        self.kind = kind
        self.cause = cause
    }
}
