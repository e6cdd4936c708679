public import Foundation
internal import Octets
internal import Synchronization

/// Keeps each entry in a file of one folder, readable by its owner only.
public struct FileStore: SecureStore {
    private let folder: URL

    /// - Parameter folder: Made at the first write. Two programs must not share one.
    public init(folder: URL) { self.folder = folder }

    public func read(_ entry: StoreEntry) throws(StoreFailure) -> Data? {
        do {
            return try Data(contentsOf: file(entry))
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw failure(error, entry)
        }
    }

    public func write(_ content: Data, to entry: StoreEntry) throws(StoreFailure) {
        let files = FileManager.default
        let (target, draft) = (file(entry), file(entry).appendingPathExtension("new"))
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try? files.removeItem(at: draft)
            guard files.createFile(atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteUnknown)
            }
            let handle = try FileHandle(forWritingTo: draft)
            do {
                try handle.write(contentsOf: content)
                try handle.synchronize()
                try handle.close()
            } catch {
                try? handle.close()
                try? files.removeItem(at: draft)
                throw error
            }
            // rename(2) replaces in one step: readers and crashes see the old or the new file.
            guard rename(draft.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw failure(error, entry)
        }
    }

    public func remove(_ entry: StoreEntry) throws(StoreFailure) {
        do {
            try FileManager.default.removeItem(at: file(entry))
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            return
        } catch {
            throw failure(error, entry)
        }
    }

    private func file(_ entry: StoreEntry) -> URL { folder.appendingPathComponent("\(entry.rawValue).entry") }

    private func failure(_ error: any Error, _ entry: StoreEntry) -> StoreFailure {
        let facts = error as NSError
        return StoreFailure(Self.isFull(error) ? .full : .unavailable, entry, "\(facts.domain) \(facts.code)")
    }

    /// True when an error, or the one behind it, says that there is no room.
    static func isFull(_ error: any Error) -> Bool {
        let error = error as NSError
        let causes = [error, (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }]
        return causes.compactMap(\.self).contains { cause in
            cause.domain == NSPOSIXErrorDomain && [Int(ENOSPC), Int(EDQUOT)].contains(cause.code)
                || cause.domain == NSCocoaErrorDomain && cause.code == CocoaError.fileWriteOutOfSpace.rawValue
        }
    }
}

/// Keeps entries in memory only; for tests and previews.
public final class MemoryStore: SecureStore {
    private let entries = Mutex<[StoreEntry: Data]>([:])

    public init() {}

    public func read(_ entry: StoreEntry) -> Data? { entries.withLock { $0[entry] } }
    public func write(_ content: Data, to entry: StoreEntry) { entries.withLock { $0[entry] = content } }
    public func remove(_ entry: StoreEntry) { entries.withLock { $0[entry] = nil } }
}

/// Keeps the library's entries between launches: a keychain, a folder, or memory.
///
/// Calls come one at a time. An entry is a few kilobytes at most.
public protocol SecureStore: Sendable {
    /// - Returns: `nil` when there is no such entry.
    /// - Throws: `StoreFailure` when the entry exists but cannot be read.
    func read(_ entry: StoreEntry) throws(StoreFailure) -> Data?
    /// Replaces the whole entry. After a crash or a failure the entry is either the old or the new one.
    /// - Throws: `StoreFailure` when the entry cannot be written.
    func write(_ content: Data, to entry: StoreEntry) throws(StoreFailure)
    /// Removes an entry; does nothing when there is none.
    /// - Throws: `StoreFailure` when the entry cannot be removed.
    func remove(_ entry: StoreEntry) throws(StoreFailure)
}

/// The entries of a store.
public enum StoreEntry: String, Sendable, Hashable, CaseIterable {
    /// The key that protects the other entries against damage.
    case key
    /// The app's registrations at the servers.
    case registrations
    /// Sessions and permissions.
    case sessions
    /// State that outlives a sign-out: that the server must still be told, that a person signed out by hand.
    case marks
    /// Written and read by the storage check.
    case probe
}

/// An entry could not be written or read for this reason.
public struct StoreFailure: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// No room.
        case full
        /// Not as it was written.
        case corrupt
        /// Locked, not permitted, or broken.
        case unavailable
    }

    public let kind: Kind
    public let entry: StoreEntry
    /// For developers; holds nothing of the content.
    public let reason: String

    /// - Parameters:
    ///   - kind: The fault.
    ///   - entry: The entry that was read or written.
    ///   - reason: For developers; holds nothing of the content.
    public init(_ kind: Kind, _ entry: StoreEntry, _ reason: String) {
        self.kind = kind
        self.entry = entry
        self.reason = reason
    }
}

/// The check of the storage at the start (client-sdk §1.3, `initWithStorageCheck`).
public enum StorageCheck: Sendable, Hashable, CaseIterable {
    /// Nothing; an entry that is damaged counts as absent and stays.
    case none
    /// Writes, reads and looks at all values; if anything is wrong, clears everything.
    case all
    /// Clears everything.
    case clear
}

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
