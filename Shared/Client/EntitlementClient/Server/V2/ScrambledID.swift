internal import Octets
internal import Foundation

/// Names a person for analytics without the provider's own id, which profiles of rest-v2 hold in clear (client-sdk §1.5: any stable hash).
enum ScrambledID {
    /// - Returns: SHA-256 of both ids, in hex.
    static func make(_ provider: String, _ person: String) -> String {
        let text = Data(provider.utf8) + Data([0]) + Data(person.utf8)
        return Hashes.sha256(text).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
