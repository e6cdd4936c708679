internal import Octets
internal import Foundation

/// Protects an entry against damage: a version, and HMAC-SHA-256 over version, the entry's name and the content.
///
/// The key is in the same store. The seal detects damaged and mixed-up entries; it does not stop an attacker who can write to the store.
struct Seal {
    static let keyLength = 32
    private static let version: [UInt8] = Array("BXE1".utf8)
    private static let codeLength = 32
    private let key: Data

    /// - Parameter key: 32 bytes; otherwise `nil`.
    init?(key: Data) {
        guard key.count == Self.keyLength else { return nil }
        self.key = key
    }

    static func newKey() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    func sealed(_ content: Data, as entry: StoreEntry) -> Data {
        Data(Self.version) + code(content, entry) + content
    }

    func opened(_ text: Data, as entry: StoreEntry) throws(StoreFailure) -> Data {
        let header = Self.version.count + Self.codeLength
        guard text.count >= header, Array(text.prefix(Self.version.count)) == Self.version else {
            throw StoreFailure(.corrupt, entry, "the entry is of no version that is known")
        }
        let content = Data(text.dropFirst(header))
        guard Self.isEqual(Data(text.dropFirst(Self.version.count).prefix(Self.codeLength)), code(content, entry)) else {
            throw StoreFailure(.corrupt, entry, "the entry is not as it was written")
        }
        return content
    }

    private func code(_ content: Data, _ entry: StoreEntry) -> Data {
        let message = Data(Self.version) + Data(entry.rawValue.utf8) + Data([0]) + content
        return Hashes.hmacSHA256(message, key: key)
    }

    /// The duration does not depend on where the two differ.
    private static func isEqual(_ left: Data, _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
