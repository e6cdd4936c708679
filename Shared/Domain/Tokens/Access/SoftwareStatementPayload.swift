struct SoftwareStatementPayload: Codable {
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
