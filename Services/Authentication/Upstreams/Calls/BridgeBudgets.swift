internal import BridgeClient
internal import Clocks
internal import Contracts
internal import OutboundHttp
internal import Storage
internal import Synchronization

/// What upstream still takes from each client address, as far as this copy knows (bridge §5.4).
final class BridgeBudgets: Sendable {
    private struct Key: Hashable {
        let upstream: OctetText
        let address: OctetText
    }

    private let budgets = Mutex(BoundedCache<Key, DeviceBudget>(capacity: 65_536))

    /// Takes one call.
    /// - Returns: `nil` when it may go out, else how long to wait for it.
    func take(_ device: BridgeDevice?, _ upstream: BridgeUpstream, now: Timestamp) -> Duration? {
        guard let key = Self.key(device, upstream) else { return nil }
        return budgets.withLock { budgets in
            var budget = budgets[key] ?? Self.fresh(upstream, now)
            defer { budgets[key] = budget }
            return budget.take(now)
        }
    }

    /// Upstream answered 429.
    func throttled(_ pause: Duration, _ device: BridgeDevice?, _ upstream: BridgeUpstream, now: Timestamp) {
        guard let key = Self.key(device, upstream) else { return }
        budgets.withLock { budgets in
            var budget = budgets[key] ?? Self.fresh(upstream, now)
            budget.throttled(pause, now)
            budgets[key] = budget
        }
    }

    private static func fresh(_ upstream: BridgeUpstream, _ now: Timestamp) -> DeviceBudget {
        DeviceBudget(perSecond: upstream.devicePerSecond, burst: upstream.deviceBurst, now)
    }

    /// A device whose address upstream is not told has no budget of its own there.
    private static func key(_ device: BridgeDevice?, _ upstream: BridgeUpstream) -> Key? {
        guard let device, PublicAddress.contains(device.address) else { return nil }
        return Key(upstream: OctetText(upstream.id), address: OctetText(device.address))
    }
}
