internal import Cryptography
public import Storage

/// What copies on several hosts compare, so that none starts with other secret keys than the others have.
extension AuthenticationKeys {
    /// Of user ids, and of what is sealed for OAuth providers.
    public var fingerprints: [KeyFingerprint] {
        [KeyFingerprint("userIDKey", userID, older: []), KeyFingerprint("oauthKey", oauthKey, older: olderOAuthKeys)]
    }
}

extension AuthenticationKeys.SecretKeys {
    /// - Parameter setting: That names the file of the current key, within `authentication`.
    public func fingerprint(_ setting: String) -> KeyFingerprint { KeyFingerprint(setting, current, older: older) }
}

extension KeyFingerprint {
    fileprivate init(_ setting: String, _ current: SymmetricKey, older: [SymmetricKey]) {
        let name = "authentication.\(setting)"
        func fingerprint(_ key: SymmetricKey) -> [UInt8] { HMACSHA256.authenticate(Array(Self.text(name).utf8), key: key) }
        self.init(name, current: fingerprint(current), older: older.map(fingerprint))
    }
}
