internal import Clocks
internal import Faults
internal import Identifiers

enum AppleClientSecretSubject {}
typealias AppleClientSecret = Secret<AppleClientSecretSubject>

/// Makes client secrets: JWT, ES256, for one client id each (apple §2.4).
struct AppleClientSecrets: Sendable {
    /// Far below Apple's limit of 15777000 s.
    static let lifetime: Int64 = 600

    private struct Claims: Encodable {
        let iss: String
        // Seconds since 1970.
        let iat: Int64
        let exp: Int64
        let aud = IdentityTokenExpectation.issuer
        let sub: String
    }

    let keys: AppleKeyFolder
    let clock: any WallClock

    /// - Throws: `apple_request_invalid` when the team's key cannot be used: an operator has to look.
    func secret(for app: AppleApp) throws(Fault) -> AppleClientSecret {
        guard let key = keys.key(app.team.signInKeyReference) else {
            throw Fault(.appleRequestInvalid, "The team's key for Sign in with Apple cannot be used.")
        }
        let now = clock.now().seconds
        let claims = Claims(iss: app.team.teamID, iat: now, exp: now + Self.lifetime, sub: app.client.text)
        do {
            return AppleClientSecret(try ES256Token.sign(claims, keyID: app.team.signInKeyID, type: nil, key: key))
        } catch {
            throw .unexpected(error)
        }
    }
}
