/// The service provider's RSA private key for encrypted assertions.
public struct DecryptionKey: Sendable {
    let key: KeyHandle

    /// - Parameter pem: PEM, not encrypted.
    /// - Throws: `SamlConfigurationError` when it cannot be used or is not RSA of at least 2048 bits.
    public init(pem: String) throws(SamlConfigurationError) {
        key = try KeyHandle.privateKey(pem: pem)
        guard key.isRSA, key.isStrong else { throw SamlConfigurationError("The decryption key is not RSA of at least 2048 bits.") }
    }
}
