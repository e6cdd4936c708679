/// Carries a request to an MVPD's OAuth endpoints; tests put their own in its place.
protocol ProviderTransport: Sendable {
    /// Sends the request once and returns the whole answer.
    /// - Throws: `ProviderTransportFailure`.
    func send(_ request: ProviderRequest) async throws(ProviderTransportFailure) -> ProviderAnswer
}

struct ProviderRequest: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// Whose connections it uses: those of one MVPD are never another's.
    let provider: MvpdID
    var method = Method.get
    let url: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    /// DER; empty: the system's.
    let trustAnchors: [[UInt8]]
    let connectTimeout: Duration
    let responseTimeout: Duration
    /// Of the budget of the whole step; the other two may be shorter.
    let timeLeft: Duration
}

struct ProviderAnswer: Sendable {
    let status: Int
    let body: [UInt8]
}

/// Why there is no answer.
struct ProviderTransportFailure: Error, Sendable {
    enum Kind: String, Sendable {
        /// No connection, or no answer, in its time.
        case timeout
        /// No connection at all.
        case unreachable
        /// The answer broke off or is too large, or TLS failed.
        case unusable
        /// The caller no longer waits.
        case cancelled
    }

    let kind: Kind
    /// For the log.
    let cause: String

    init(_ kind: Kind, cause: String = "") {
        self.kind = kind
        self.cause = cause
    }
}
