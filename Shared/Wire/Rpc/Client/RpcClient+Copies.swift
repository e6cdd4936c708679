public import ContractRuntime
public import Contracts
public import Faults

/// One copy of a peer: what its caller knows of it without asking, and calls to it alone.
public struct PeerCopy: Sendable {
    /// `host:port`.
    public let address: String
    /// False: there is no connection, or the copy says that it cannot work.
    public let isServing: Bool
    /// Why it cannot work, in its own words, for an operator; empty: it can, or there is no connection.
    public let reason: String
    /// Its certificates that end soon, as it tells them.
    public let certificates: [CertificateEnd]
    private let connection: ClientConnection?
    private let client: RpcClient

    fileprivate init(_ address: RpcAddress, _ connection: ClientConnection?, of client: RpcClient) {
        let health = connection?.lastHealth
        let rests = health?.status == .notServing
        self.address = "\(address)"
        isServing = connection != nil && !rests
        reason = rests ? health?.reason ?? "" : ""
        certificates = health?.certificates ?? []
        (self.connection, self.client) = (connection, client)
    }

    /// Calls this copy once, whatever state it is in: for what each copy knows for itself. The call does not count as load, and is not made again.
    /// - Parameter context: Without a deadline the client's default holds.
    /// - Throws: The copy's own fault; `unavailable` where there is no connection, `deadline_exceeded`, `cancelled`.
    public func call<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ request: Request, context: CallContext
    ) async throws(Fault) -> Response {
        guard let connection else { throw Fault(.unavailable, "The copy at \(address) cannot be reached.") }
        let payload: [UInt8] = try request.serialized()
        let context = client.prepared(context, method.idempotency, .now)
        switch await client.send(method.identity, payload, context, over: connection) {
        case .failed(let fault, _): throw fault
        case .answered(let answer): return try Response(serialized: answer)
        }
    }
}

extension RpcClient {
    /// The copies of the peer that this client keeps connections to, or tries to: all, unless there are too many callers for that.
    public var copies: [PeerCopy] { pool.everyCopy.map { PeerCopy($0.address, $0.connection, of: self) } }
}
