internal import Faults
internal import Synchronization

/// How many calls wait for one MVPD at a time: one that hangs holds up its own people and nobody else's.
final class ProviderGate: Sendable {
    static let standardLimit = 32

    private let limit: Int
    private let waiting = Mutex<[MvpdID: Int]>([:])

    init(limit: Int = ProviderGate.standardLimit) { self.limit = limit }

    /// - Throws: `overloaded` at once when there are as many as may be, else what the work throws.
    func pass<Value>(_ provider: MvpdID, _ work: () async throws(Fault) -> Value) async throws(Fault) -> Value {
        let isIn = waiting.withLock { waiting in
            guard waiting[provider, default: 0] < limit else { return false }
            waiting[provider, default: 0] += 1
            return true
        }
        guard isIn else { throw Fault(.overloaded, "The TV provider answers too slowly.", retryAfter: .seconds(2)) }
        defer { waiting.withLock { $0[provider] = $0[provider].flatMap { $0 > 1 ? $0 - 1 : nil } } }
        return try await work()
    }
}
