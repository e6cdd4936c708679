/// The claims in the form of the JWT.
struct AccessTokenPayload: Encodable {
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

extension AccessTokenPayload: TokenClaims {
    init(_ claims: TokenObject) throws(TokenRejection) {
        sub = try claims.required("sub")
        iss = try claims.required("iss")
        aud = try claims.required("aud")
        iat = try claims.requiredInstant("iat")
        guard let start = try claims.instant("nbf", .up) else { throw .malformed }
        nbf = start
        exp = try claims.requiredInstant("exp")
        jti = try claims.required("jti")
        scopes = try claims.required("scopes")
    }
}

enum ClaimTime {
    /// The end of the year 9999 in seconds since 1970; keeps arithmetic with claims away from overflow.
    static let latest: Int64 = 253_402_300_799
}
