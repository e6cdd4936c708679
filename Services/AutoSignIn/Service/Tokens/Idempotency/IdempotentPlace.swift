internal import ContractRuntime
internal import Cryptography
internal import Faults
internal import Identifiers

/// Where an idempotency key counts: for one operation of one caller (apple §4).
struct IdempotentPlace: Hashable, Sendable {
    /// Of operation, caller and key together.
    let digest: Digest
    /// Of what was asked; another one with the same key is refused.
    let request: Digest

    static let longestKey = 128

    /// - Parameters:
    ///   - key: Empty: the call may not be repeated.
    ///   - caller: The client, and the device where there is one; for browsers the session.
    ///   - request: Without what may change when it is sent again, such as the bearer.
    /// - Returns: `nil` for an empty key.
    /// - Throws: `invalid_request` when the key is too long.
    init?(_ operation: StaticString, key: String, caller: [String], request: some Message) throws(Fault) {
        guard !key.isEmpty else { return nil }
        guard key.unicodeScalars.count <= Self.longestKey else { throw Fault(.invalidRequest, "'Idempotency-Key' is longer than 128 characters.") }
        let parts = ["\(operation)", key] + caller
        digest = Digest(bytes: SHA256.hash(parts.map { "\($0.utf8.count):\($0)" }.joined()))
        self.request = Digest(bytes: SHA256.hash(try request.serialized()))
    }
}

extension CheckedCaller {
    /// Who it is as far as idempotency keys go.
    var names: [String] {
        switch self {
        case .device(let caller): caller.names
        case .backend(let caller): [caller.client.text]
        case .web(let caller): ["web", Hex.encode(caller.session.bytes)]
        }
    }
}

extension DeviceCaller {
    var names: [String] { [client.text, device.text] }
}
