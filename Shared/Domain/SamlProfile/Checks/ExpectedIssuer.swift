/// The required issuer of a response and its assertion (mvpd §2.3 step 25).
public enum ExpectedIssuer: Hashable, Sendable {
    /// The MVPD's entity id.
    case direct(entityID: String)
    /// An MVPD behind a proxy: its `id` and, when set, its `providerId`; never the proxy's own entity id.
    case proxied(ids: [String])

    /// True when a message of that issuer may be the MVPD's.
    public func accepts(_ issuer: String) -> Bool {
        switch self {
        case .direct(let entityID): issuer == entityID
        case .proxied(let ids): ids.contains(issuer)
        }
    }

    /// The qualifier of a proxied MVPD's NameID is the MVPD's id as well; of a direct one it is free.
    func acceptsQualifier(_ qualifier: String) -> Bool {
        switch self {
        case .direct: true
        case .proxied(let ids): ids.contains(qualifier)
        }
    }
}
