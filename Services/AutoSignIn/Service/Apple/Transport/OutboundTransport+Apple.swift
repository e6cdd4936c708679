internal import OutboundHttp

extension OutboundTransport {
    /// Calls one of Apple's servers.
    /// - Throws: `OutboundFailure`.
    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundAnswer {
        try await send(request, by: .apple, timeLeft: .seconds(10))
    }
}

extension OutboundRoute {
    fileprivate static let apple = OutboundRoute(peer: "Apple", connectTimeout: .seconds(5), responseTimeout: .seconds(10), connections: 8)
}

extension OutboundAnswer {
    /// The seconds that `Retry-After` asks for; a date counts as nothing said.
    var retryAfter: Duration? {
        header("retry-after").flatMap { Int64($0) }.flatMap { $0 >= 0 ? .seconds(min($0, 86_400 * 31)) : nil }
    }
}
