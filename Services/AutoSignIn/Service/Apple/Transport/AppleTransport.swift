/// Carries a request to Apple; tests put their own in its place.
protocol AppleTransport: Sendable {
    /// Sends the request once and returns the whole answer; follows no redirect.
    /// - Throws: `AppleTransportFailure`.
    func send(_ request: AppleRequest) async throws(AppleTransportFailure) -> AppleAnswer
}

struct AppleRequest: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    let method: Method
    let url: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// For everything together.
    var timeout: Duration = .seconds(10)
}

struct AppleAnswer: Sendable {
    let status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    /// The first header of that name; letter case does not count.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// What `Retry-After` asks for in seconds; a date counts as nothing said.
    var retryAfter: Duration? {
        header("retry-after").flatMap { Int64($0) }.flatMap { $0 >= 0 ? .seconds(min($0, 86_400 * 31)) : nil }
    }
}

/// Why there is no answer.
struct AppleTransportFailure: Error, Sendable {
    enum Kind: String, Sendable {
        /// No connection came about: nothing was sent.
        case unreachable
        /// No answer in time.
        case timeout
        /// The answer broke off or is too large.
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
