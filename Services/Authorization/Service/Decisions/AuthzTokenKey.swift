internal import Cryptography

/// Whose permit for what: bound to the session, so that a new sign-in or a logout ends it (rest-v1 §5).
public struct AuthzTokenKey: Hashable, Sendable {
    public let session: String
    public let device: String
    public let requestor: String
    public let resource: String

    public init(session: String, device: String, requestor: String, resource: String) {
        self.session = session
        self.device = device
        self.requestor = requestor
        self.resource = resource
    }

    /// 64 hex digits that stand for the key in a store, so that neither device ids nor long resources lie there.
    var digest: String {
        // Lengths keep different keys from running into the same bytes.
        let parts = [session, device, requestor, resource].map { "\($0.utf8.count):\($0)" }
        return Hex.encode(SHA256.hash(parts.joined()))
    }
}
