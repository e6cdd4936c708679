internal import Octets
internal import Foundation
#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import Cryptography
#endif

/// Names a person for analytics without the provider's own id, which profiles of rest-v2 hold in clear (client-sdk §1.5: any stable hash).
enum ScrambledID {
    /// - Returns: SHA-256 of both ids, in hex.
    static func make(_ provider: String, _ person: String) -> String {
        let text = Data(provider.utf8) + Data([0]) + Data(person.utf8)
        #if canImport(CryptoKit)
        let hash = Array(SHA256.hash(data: text))
        #else
        let hash = SHA256.hash(Array(text))
        #endif
        return hash.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
