internal import Octets

/// The result of checking a media token, under the names that programmers' backends know (rest-v1 §7).
public enum MediaTokenVerdict: String, Sendable, CaseIterable {
    case valid = "VALID_TOKEN"
    case invalidFormat = "INVALID_TOKEN_FORMAT"
    /// No trusted key made the signature, or the token is another requestor's.
    case invalidSignature = "INVALID_SIGNATURE"
    /// The token has expired, is not valid yet, or was presented before.
    case expired = "TOKEN_EXPIRED"
    case invalidResource = "INVALID_RESOURCE_ID"
    /// Nothing was checked yet.
    case unknown = "ERROR_UNKNOWN"
}
