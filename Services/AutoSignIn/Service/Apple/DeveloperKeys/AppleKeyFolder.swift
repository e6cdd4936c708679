internal import Cryptography
internal import Foundation
internal import Synchronization

/// The private keys of developer teams: files of a folder, named by the catalogue's key references.
///
/// A file is read again when it has changed, so a new key needs no restart.
final class AppleKeyFolder: Sendable {
    private struct Held {
        let key: P256PrivateKey
        let changedAt: Date
        let size: Int
    }

    private let path: String
    private let held = Mutex<[String: Held]>([:])

    /// - Parameter path: Absolute.
    init(path: String) { self.path = path }

    /// - Returns: `nil` when the reference is no plain file name, or there is no usable key in the file.
    func key(_ reference: String) -> P256PrivateKey? {
        guard Self.isName(reference) else { return nil }
        let file = "\(path)/\(reference)"
        guard let facts = try? FileManager.default.attributesOfItem(atPath: file), let changedAt = facts[.modificationDate] as? Date,
            let size = facts[.size] as? Int
        else { return nil }
        if let known = held.withLock({ $0[reference] }), known.changedAt == changedAt, known.size == size { return known.key }
        guard let key = try? P256PrivateKey(pemFile: file) else { return nil }
        held.withLock { $0[reference] = Held(key: key, changedAt: changedAt, size: size) }
        return key
    }

    /// Nothing that could lead out of the folder.
    private static func isName(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), !text.hasPrefix(".") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "._-".utf8.contains(byte)
            }
        }
    }
}
