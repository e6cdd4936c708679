internal import SandboxKit
internal import Clocks

/// The content of the provider's own cookie: who signed in here, and when.
struct ProviderSession: Sendable, Codable, Equatable {
    let person: String
    let signedInAt: Timestamp
    /// The `SessionIndex` of the assertions that this session gives out.
    let index: String
    /// True when the provider identified the home by its address, without a login.
    var isHomeBased = false
}

/// The provider's cookie that remembers a person, one per MVPD.
enum SessionCookie {
    private static let purpose = "session"

    /// The `Set-Cookie` value. Lax: a browser sends it along when the service provider's page leads here.
    static func header(_ session: ProviderSession, _ provider: IdentityProvider) throws -> String {
        let sealed = try provider.seal.close(session, purpose: purpose, until: session.signedInAt + IdentityProvider.sessionLifetime)
        let age = IdentityProvider.sessionLifetime.components.seconds
        return "\(name(provider.id))=\(sealed); Path=/saml/\(provider.id); Max-Age=\(age); HttpOnly; SameSite=Lax"
    }

    /// The `Set-Cookie` value that removes the cookie.
    static func removal(_ provider: IdentityProvider) -> String {
        "\(name(provider.id))=; Path=/saml/\(provider.id); Max-Age=0; HttpOnly; SameSite=Lax"
    }

    /// The value of the provider's cookie in a `Cookie` header.
    static func value(in header: String, of mvpd: String) -> String? {
        for pair in header.split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name(mvpd) { return String(parts[1]) }
        }
        return nil
    }

    static func session(_ value: String, _ provider: IdentityProvider, at now: Timestamp) -> ProviderSession? {
        provider.seal.open(value, as: ProviderSession.self, purpose: purpose, at: now)
    }

    private static func name(_ mvpd: String) -> String { "sandbox-session-\(mvpd)" }
}
