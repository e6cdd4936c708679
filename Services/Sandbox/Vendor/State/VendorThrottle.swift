internal import Clocks

/// A continuous token bucket for each address (rest-v2 §1.4).
struct UpstreamThrottle: Sendable {
    struct Terms: Sendable, Codable, Equatable {
        enum Key: String, Sendable, Codable {
            /// The device that the caller names in `X-Forwarded-For`; without one the caller.
            case forwarded
            /// The caller alone: a server of all devices has one budget.
            case peer
        }

        var isOn = false
        var perSecond = 1
        /// Beyond one second's.
        var burst = 10
        var by = Key.forwarded

        func check() throws(SettingsFault) {
            try UpstreamBehaviour.check(perSecond, "throttle.perSecond", 1...100_000)
            try UpstreamBehaviour.check(burst, "throttle.burst", 0...100_000)
        }
    }

    private struct Bucket {
        /// Thousandths of a call.
        var level: Int
        var at: Timestamp
    }

    private struct Key: Hashable {
        let address: String
        let isRegistration: Bool
    }

    private var buckets = BoundedTable<Key, Bucket>(limit: 100_000)

    /// Takes one call from the address's bucket; registration and tokens have buckets of their own (clients §4.16).
    /// - Returns: Whether there was one.
    mutating func take(_ call: UpstreamCall, _ terms: Terms) -> Bool {
        guard terms.isOn else { return true }
        let isRegistration = call.operation == .register || call.operation == .token
        let key = Key(address: terms.by == .peer ? call.peer : call.address, isRegistration: isRegistration)
        let capacity = (terms.burst + terms.perSecond) * 1000
        var bucket = buckets[key] ?? Bucket(level: capacity, at: call.now)
        let passed = max(0, (call.now - bucket.at).wholeMilliseconds)
        bucket.level = min(capacity, bucket.level + Int(min(passed, 86_400_000)) * terms.perSecond)
        bucket.at = call.now
        let isTaken = bucket.level >= 1000
        if isTaken { bucket.level -= 1000 }
        buckets[key] = bucket
        return isTaken
    }
}
