/// A signed token is not accepted for one of these reasons. For the log: callers of the API learn no more than "access denied".
public enum TokenRejection: String, Error, Hashable, Sendable {
    /// No compact JWS, or claims of the wrong form.
    case malformed
    /// Another kind of token (`typ`), or header extensions that must be understood (`crit`).
    case wrongType
    /// The algorithm is not the one of the key that `kid` names.
    case wrongAlgorithm
    case unknownKey
    case invalidSignature
    case wrongIssuer
    case wrongAudience
    /// `azp`: the token was made for another client.
    case wrongParty
    /// The token answers another request.
    case wrongNonce
    case notYetValid
    case expired
}
