public import Clocks
public import Faults
internal import Cryptography

/// Makes software statements: JWS, ES256.
public struct SoftwareStatementIssuer: Sendable {
    private let keys: SigningKeys
    private let issuer: String
    private let clock: any WallClock

    /// - Parameter issuer: `iss`, a name of this deployment.
    public init(keys: SigningKeys, issuer: String, clock: any WallClock = SystemClock()) {
        self.keys = keys
        self.issuer = issuer
        self.clock = clock
    }

    /// - Throws: `internal` when the key cannot sign.
    public func issue(_ statement: SoftwareStatement) throws(Fault) -> String {
        let payload = SoftwareStatementPayload(
            softwareID: statement.softwareID, sub: statement.applicationID, clientName: statement.applicationName, iss: issuer,
            jti: Base64.url.encode(SecureRandom.bytes(16)), iat: clock.now().seconds)
        do {
            return try CompactJWS.sign(payload, type: SoftwareStatementPayload.type, key: keys.ring.current)
        } catch {
            throw .unexpected(error)
        }
    }
}
