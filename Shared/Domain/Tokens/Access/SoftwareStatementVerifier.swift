/// Checks software statements against the deployment's keys, ES256 or RS256; it does not check revocation, which is in the catalogue.
public struct SoftwareStatementVerifier: Sendable {
    private let keySet: JSONWebKeySet

    /// - Parameter keySet: The keys of every issuer of statements that is accepted.
    public init(keySet: JSONWebKeySet) { self.keySet = keySet }

    /// - Throws: `TokenRejection`; at the API each of them is `invalid_software_statement` (rest-v1 §3.1).
    public func verify(_ statement: String) throws(TokenRejection) -> SoftwareStatement {
        let jws = try UnverifiedJWS(statement)
        let claims = try jws.verified(as: SoftwareStatementPayload.self, types: SoftwareStatementPayload.acceptedTypes, keys: keySet)
        guard !claims.softwareID.isEmpty else { throw .malformed }
        return SoftwareStatement(
            softwareID: claims.softwareID, applicationID: claims.sub ?? "", applicationName: claims.clientName ?? "")
    }
}
