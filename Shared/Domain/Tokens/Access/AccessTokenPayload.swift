/// The claims in the form of the JWT.
struct AccessTokenPayload: Codable {
    /// RFC 9068 §2.1.
    static let type = "at+jwt"

    var sub: String
    var iss: String
    var aud: String
    // Seconds since 1970.
    var iat: Int64
    var nbf: Int64
    var exp: Int64
    var jti: String
    // Separated by blanks.
    var scopes: String
}

enum ClaimTime {
    /// The end of the year 9999 in seconds since 1970; keeps arithmetic with claims away from overflow.
    static let latest: Int64 = 253_402_300_799
}
