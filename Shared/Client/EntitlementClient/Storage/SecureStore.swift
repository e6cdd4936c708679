internal import Octets
public import Foundation

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

/// Why an entry could not be written or read.
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
