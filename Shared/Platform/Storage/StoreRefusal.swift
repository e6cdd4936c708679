internal import Faults
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Why a store takes no writes, while it may still be read.
public struct StoreRefusal: Sendable, Hashable {
    public enum Reason: String, Sendable {
        case full
        case readOnly = "read-only"
        /// The disk, or the way to it.
        case failing = "the disk fails"
    }

    public let reason: Reason
    /// The advice for the log.
    public let advice: String

    package init(reason: Reason, advice: String) { (self.reason, self.advice) = (reason, advice) }
}

/// Room of a file system.
package struct DiskRoom: Sendable, Hashable {
    /// Bytes that this user may still take, and all that there are.
    package let free, size: Int
    package let isReadOnly: Bool

    /// The file system of a file or folder; `nil`: the system does not say.
    package init?(at path: String) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { return nil }
        let block = Int(clamping: facts.f_frsize)
        free = Int(clamping: facts.f_bavail).multipliedReportingOverflow(by: block).partialValue
        size = Int(clamping: facts.f_blocks).multipliedReportingOverflow(by: block).partialValue
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }
}

/// A store's knowledge of writes that were not taken.
struct StoreRefusals: Sendable {
    /// Why the latest was not taken; `nil`: writes are taken.
    private(set) var latest: StoreRefusal?
    /// Writes that were not taken since the store was opened.
    private(set) var count = 0

    /// - Returns: True when it is not known yet why.
    mutating func note() -> Bool {
        count += 1
        return latest == nil
    }

    mutating func begin(_ refusal: StoreRefusal) { latest = refusal }

    /// Writes are taken again, unless one was not since `count` of them.
    mutating func end(after count: Int) -> Bool {
        guard self.count == count else { return false }
        latest = nil
        return true
    }
}

extension Store {
    /// Why the store takes no writes at present, for operators; `nil`: it takes them. Reads go on.
    public var refusal: StoreRefusal? { refusals.withLock { $0.latest } }

    /// Writes that the disk did not take since the store was opened.
    public var refusedWrites: Int { refusals.withLock { $0.count } }

    /// Tries whether writes are taken again; `refusal` is `nil` then.
    public func takesWritesAgain() async -> Bool {
        let count = refusedWrites
        guard await engine.takesWrites() else { return false }
        return refusals.withLock { $0.end(after: count) }
    }

    /// Notes a write that failed because of the disk.
    func noteWrite<Value>(_ result: Result<Value, Fault>) {
        guard case .failure(let fault) = result, let error = fault.cause as? DatabaseError, error.kind == .full || error.kind == .diskFails else {
            return
        }
        metrics.refused.increment()
        guard refusals.withLock({ $0.note() }) else { return }
        let refusal = engine.refusal(error)
        refusals.withLock { $0.begin(refusal) }
    }
}
