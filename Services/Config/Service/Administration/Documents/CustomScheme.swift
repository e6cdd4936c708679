internal import Cryptography

/// Custom URL schemes of apps (dashboard §2).
enum CustomScheme {
    /// `adbe.` and 22 base64url characters, 128 random bits; never one that was made before.
    static func generate() -> String { "adbe." + Base64.url.encode(SecureRandom.bytes(16)) }
}
