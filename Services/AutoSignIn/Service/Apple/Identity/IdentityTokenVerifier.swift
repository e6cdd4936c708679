package import Clocks

/// Verifies identity tokens with a set of keys that is at hand (apple §2.2, V1 to V9).
package struct IdentityTokenVerifier: Sendable {
    private let keys: AppleKeySet

    package init(keys: AppleKeySet) { self.keys = keys }

    /// - Throws: The first reason found, in the order of the specification.
    package func verify(
        _ text: String, expecting expected: IdentityTokenExpectation, now: Timestamp
    ) throws(IdentityTokenRejection) -> VerifiedIdentityToken {
        let token = try UnverifiedIdentityToken(text)
        return try VerifiedIdentityToken(token, key: token.keyName.flatMap(keys.key), expecting: expected, now: now.seconds)
    }
}
