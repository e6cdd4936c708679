internal import Synchronization

/// What an OAuth provider has to remember: used codes, the newest refresh token of each sign-in, and the behaviour that tests set.
final class OAuthMemory: Sendable {
    private struct Content {
        var behaviour = OAuthBehaviour()
        var usedCodes: Set<String> = []
        var generations: [String: Int] = [:]
        var revoked: Set<String> = []
        var isRotated = false
    }

    private let content = Mutex(Content())

    var behaviour: OAuthBehaviour { content.withLock { $0.behaviour } }

    /// Whether the second key signs.
    var isRotated: Bool { content.withLock { $0.isRotated } }

    func behave(_ behaviour: OAuthBehaviour) { content.withLock { $0.behaviour = behaviour } }

    func rotateKeys() { content.withLock { $0.isRotated.toggle() } }

    func reset() { content.withLock { $0 = Content() } }

    /// - Returns: False when the code was used before; the tokens that it gave are revoked then (RFC 6749 §4.1.2).
    func use(_ code: OAuthCode) -> Bool {
        content.withLock { content in
            guard content.usedCodes.insert(code.identifier).inserted else {
                content.revoked.insert(code.identifier)
                return false
            }
            return true
        }
    }

    func isRevoked(_ grant: OAuthGrant) -> Bool { content.withLock { $0.revoked.contains(grant.family) } }

    /// Takes a refresh token.
    /// - Returns: The generation of the one that comes with the answer; nil: the token is not good any more.
    func refresh(_ grant: OAuthGrant) -> Int? {
        content.withLock { content in
            guard content.behaviour.refusesRefreshTokens != true, !content.revoked.contains(grant.family),
                grant.generation >= content.generations[grant.family] ?? 0
            else { return nil }
            guard content.behaviour.rotatesRefreshTokens == true else { return grant.generation }
            content.generations[grant.family] = grant.generation + 1
            return grant.generation + 1
        }
    }
}
