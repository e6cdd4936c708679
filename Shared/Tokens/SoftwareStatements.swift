public import Clocks
public import Faults
internal import Cryptography
internal import FoundationEssentials

/// What a software statement says of an application (RFC 7591 §2.3). It never expires but can be revoked by its id.
public struct SoftwareStatement: Hashable, Sendable {
    /// `software_id`: names the statement for revocation.
    public let softwareID: String
    /// The registered application, `sub`.
    public let applicationID: String
    /// `client_name`.
    public let applicationName: String

    public init(softwareID: String, applicationID: String, applicationName: String) {
        self.softwareID = softwareID
        self.applicationID = applicationID
        self.applicationName = applicationName
    }
}

struct SoftwareStatementPayload: Codable {
    static let type = "software-statement+jwt"
    // Statements made elsewhere carry the general type or none.
    static let acceptedTypes: Set<String?> = [type, "jwt", nil]

    var software_id: String
    var sub: String?
    var client_name: String?
    var iss: String?
    var jti: String?
    // Seconds since 1970.
    var iat: Int64?
}

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
            software_id: statement.softwareID, sub: statement.applicationID, client_name: statement.applicationName, iss: issuer,
            jti: Base64.url.encode(SecureRandom.bytes(16)), iat: clock.now().seconds)
        do {
            return try CompactJWS.sign(payload, type: SoftwareStatementPayload.type, key: keys.ring.current)
        } catch {
            throw .unexpected(error)
        }
    }
}

/// Checks software statements against the deployment's keys, ES256 or RS256; whether one is revoked the catalogue knows.
public struct SoftwareStatementVerifier: Sendable {
    private let keySet: JSONWebKeySet

    public init(keySet: JSONWebKeySet) { self.keySet = keySet }

    /// - Throws: `TokenRejection`; at the API each of them is `invalid_software_statement` (rest-v1 §3.1).
    public func verify(_ statement: String) throws(TokenRejection) -> SoftwareStatement {
        let jws = try UnverifiedJWS(statement)
        let claims = try jws.verified(as: SoftwareStatementPayload.self, types: SoftwareStatementPayload.acceptedTypes, keys: keySet)
        guard !claims.software_id.isEmpty else { throw .malformed }
        return SoftwareStatement(
            softwareID: claims.software_id, applicationID: claims.sub ?? "", applicationName: claims.client_name ?? "")
    }
}
