internal import Octets
internal import COpenSSL

/// The two forms of an ECDSA signature on P-256: DER (X.509) and r followed by s (JOSE).
enum ECDSASignature {
    private static let numberByteCount = 32

    static func raw(fromDER encoded: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let signature = encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let signature else { throw .last("reading an ECDSA signature") }
        defer { ECDSA_SIG_free(signature) }
        return try bytes(of: ECDSA_SIG_get0_r(signature)) + bytes(of: ECDSA_SIG_get0_s(signature))
    }

    /// - Returns: `nil` unless there are 64 bytes.
    static func der(fromRaw bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 2 * numberByteCount, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = BN_bin2bn(Array(bytes.prefix(numberByteCount)), Int32(numberByteCount), nil)
        let s = BN_bin2bn(Array(bytes.suffix(numberByteCount)), Int32(numberByteCount), nil)
        guard ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &encoded)
        guard count > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, #file, #line) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    private static func bytes(of number: OpaquePointer?) throws(CryptographyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: numberByteCount)
        guard BN_bn2binpad(number, &bytes, Int32(numberByteCount)) == Int32(numberByteCount) else { throw .last("reading an ECDSA signature") }
        return bytes
    }
}
