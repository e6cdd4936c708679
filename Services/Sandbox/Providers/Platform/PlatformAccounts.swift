internal import Synchronization

/// The simulated Apple accounts by name.
final class PlatformAccounts: Sendable {
    /// Most accounts that are kept; the oldest goes first.
    static let limit = 10_000

    private struct State {
        var accounts: [String: PlatformAccount] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// - Returns: A new account for a name that was never set.
    func account(_ name: String) -> PlatformAccount { state.withLock { $0.accounts[name] ?? PlatformAccount() } }

    func set(_ account: PlatformAccount, for name: String) {
        state.withLock { state in
            if state.accounts.updateValue(account, forKey: name) == nil { state.order.append(name) }
            if state.order.count > Self.limit { state.accounts[state.order.removeFirst()] = nil }
        }
    }
}
