internal import Octets
public import Foundation
internal import Synchronization

/// Keeps entries in memory only; for tests and previews.
public final class MemoryStore: SecureStore {
    private let entries = Mutex<[StoreEntry: Data]>([:])

    public init() {}

    public func read(_ entry: StoreEntry) -> Data? { entries.withLock { $0[entry] } }
    public func write(_ content: Data, to entry: StoreEntry) { entries.withLock { $0[entry] = content } }
    public func remove(_ entry: StoreEntry) { entries.withLock { $0[entry] = nil } }
}
