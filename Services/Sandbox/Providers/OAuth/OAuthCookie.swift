internal import Clocks

/// The cookie by which an OAuth provider remembers a person.
enum OAuthCookie {
    private static let purpose = "oauth-session"

    static func header(_ session: ProviderSession, _ provider: OAuthProvider) throws -> String {
        let lifetime = IdentityProvider.sessionLifetime
        let sealed = try provider.identity.seal.close(session, purpose: purpose, until: session.signedInAt + lifetime)
        return "\(name(provider))=\(sealed); Path=/oauth/\(provider.id); Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Lax"
    }

    /// Makes the browser forget it.
    static func removal(_ provider: OAuthProvider) -> String { "\(name(provider))=; Path=/oauth/\(provider.id); Max-Age=0; HttpOnly; SameSite=Lax" }

    /// The person that a `Cookie` header names.
    static func person(in header: String?, _ provider: OAuthProvider, at now: Timestamp) -> Person? {
        for pair in (header ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name(provider),
                let session = provider.identity.seal.open(String(parts[1]), as: ProviderSession.self, purpose: purpose, at: now)
            else { continue }
            return provider.identity.subscribers.person(named: session.person)
        }
        return nil
    }

    private static func name(_ provider: OAuthProvider) -> String { "sandbox-oauth-\(provider.id)" }
}
