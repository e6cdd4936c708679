internal import COpenSSL
internal import Octets

/// Runs an encoder of libcrypto on a growing buffer.
func writeBytes(_ operation: String, _ write: (OpaquePointer?) -> Int32) throws(CryptographyError) -> [UInt8] {
    let buffer = BIO_new(BIO_s_mem())
    defer { BIO_free(buffer) }
    guard write(buffer) == 1 else { throw .last(operation) }
    var count = 0
    let bytes = boxoffice_bio_bytes(buffer, &count)
    return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// Runs a parser of libcrypto on bytes.
func withReadBuffer<Result>(_ bytes: [UInt8], _ parse: (OpaquePointer?) -> Result) -> Result {
    bytes.withUnsafeBytes { content in
        let buffer = BIO_new_mem_buf(content.baseAddress, Int32(content.count))
        defer { BIO_free(buffer) }
        return parse(buffer)
    }
}

/// A cryptographic operation failed for one of these reasons. The text names the cause and never a secret.
public enum CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A key, certificate or secret file cannot be read.
    case unreadableFile(path: String, reason: String)
    /// The text holds no PEM block of the expected kind.
    case notPEM(expected: String)
    /// The private key is encrypted, and nobody is there to give the passphrase.
    case encryptedKey
    /// A certificate file that has no certificate of the key.
    case keyOfAnother
    /// A key of another kind than the operation needs.
    case wrongKeyType(expected: String, found: String)
    /// An RSA key below 2048 bits.
    case weakKey(bits: Int)
    /// Bytes or text do not have the required form.
    case malformed(String)
    /// Sealed bytes were altered, cut, or sealed with another key.
    case cannotOpen
    /// libcrypto refused; the reason is its own text.
    case failed(operation: String, reason: String)

    public var description: String {
        switch self {
        case .unreadableFile(let path, let reason): "cannot read \(path): \(reason)"
        case .notPEM(let expected): "holds no \(expected) in PEM form"
        case .encryptedKey:
            "is encrypted with a passphrase, which no service can be asked for; write it without one (openssl pkey -in FILE -out NEWFILE)"
        case .keyOfAnother: "belongs to none of the certificates"
        case .wrongKeyType(let expected, let found): "needs a key of type \(expected), found \(found)"
        case .weakKey(let bits): "RSA key has \(bits) bits, at least 2048 are needed"
        case .malformed(let what): "malformed \(what)"
        case .cannotOpen: "sealed bytes were altered or sealed with another key"
        case .failed(let operation, let reason): "\(operation) failed: \(reason)"
        }
    }

    /// The oldest entry of this thread's libcrypto error queue as an error; empties the queue.
    static func last(_ operation: String) -> CryptographyError {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return .failed(operation: operation, reason: "unknown") }
        return .failed(operation: operation, reason: String(cString: reason))
    }
}
