struct SoftwareStatementPayload: Encodable {
    static let type = "software-statement+jwt"
    // Statements made elsewhere carry the general type or none.
    static let acceptedTypes: Set<String?> = [type, "jwt", nil]

    var softwareID: String
    var sub: String?
    var clientName: String?
    var iss: String?
    var jti: String?
    // Seconds since 1970.
    var iat: Int64?

    enum CodingKeys: String, CodingKey {
        case softwareID = "software_id"
        case sub
        case clientName = "client_name"
        case iss, jti, iat
    }
}

extension SoftwareStatementPayload: TokenClaims {
    init(_ claims: TokenObject) throws(TokenRejection) {
        softwareID = try claims.required("software_id")
        sub = try claims.text("sub")
        clientName = try claims.text("client_name")
        iss = try claims.text("iss")
        jti = try claims.text("jti")
        iat = try claims.instant("iat")
    }
}
