internal import Clocks
internal import SandboxKit

/// The settings of tests for the stand-in vendor as a whole.
struct VendorBehaviour: Sendable, Codable, Equatable {
    /// Life of an authentication session; 30 min in all samples (rest-v2 §2.2).
    var sessionSeconds = 1800
    /// Life of an access token.
    var tokenSeconds = 21_600
    /// The status of registration and token; the reference has had 200 too.
    var dcrStatus = 201
    /// How long after a login its profile cannot be read yet.
    var visibilityMilliseconds = 0
    /// True when a `domainName` outside the service provider's domains counts as missing.
    var strictDomains = false
    /// Refuses the calls of a client that is gone by 401 and an enhanced error, or by 403 `invalid_client`.
    var goneClientStatus = 401
    /// How long each call takes at least.
    var latencyMilliseconds = 0
    /// How encrypted attributes say so: `enc` or `encrypted` (rest-v2 D20).
    var encryptedState = "enc"
    /// True when `userID` comes encrypted.
    var encryptsUserID = false
    /// Comes before the root-relative `url` of sessions; empty: nothing.
    var sessionURLPrefix = ""
    /// The name by which sessions call a missing `domainName`; a sample says `domain` (rest-v2 D9).
    var missingDomainName = "domainName"
    var throttle = VendorThrottle.Terms()

    func check() throws(SettingsFault) {
        try Self.check(sessionSeconds, "sessionSeconds", 1...86_400)
        try Self.check(tokenSeconds, "tokenSeconds", 1...86_400)
        try Self.check(visibilityMilliseconds, "visibilityMilliseconds", 0...600_000)
        try Self.check(latencyMilliseconds, "latencyMilliseconds", 0...60_000)
        guard [200, 201].contains(dcrStatus) else { throw SettingsFault(key: "dcrStatus", problem: "is not 200 or 201") }
        guard [401, 403].contains(goneClientStatus) else { throw SettingsFault(key: "goneClientStatus", problem: "is not 401 or 403") }
        guard sessionURLPrefix.utf8.count <= 1024 else { throw SettingsFault(key: "sessionURLPrefix", problem: "has more than 1024 octets") }
        try throttle.check()
    }

    static func check(_ value: Int, _ key: String, _ range: ClosedRange<Int>) throws(SettingsFault) {
        guard range.contains(value) else {
            throw SettingsFault(key: key, problem: "is not from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}

/// A continuous token bucket for each address (rest-v2 §1.4).
struct VendorThrottle: Sendable {
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
            try VendorBehaviour.check(perSecond, "throttle.perSecond", 1...100_000)
            try VendorBehaviour.check(burst, "throttle.burst", 0...100_000)
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
    /// - Returns: True when there was one.
    mutating func take(_ call: VendorCall, _ terms: Terms) -> Bool {
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

/// A dictionary with a limit: the entry that was set first goes when there are too many.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var entries: [Key: (number: Int, value: Value)] = [:]
    private var order: [(number: Int, key: Key)] = []
    private var first = 0
    private var counter = 0

    init(limit: Int) { self.limit = limit }

    var count: Int { entries.count }

    /// The oldest first.
    var values: [Value] { entries.values.sorted { $0.number < $1.number }.map(\.value) }

    subscript(key: Key) -> Value? {
        get { entries[key]?.value }
        set {
            guard let newValue else {
                entries[key] = nil
                return
            }
            if let entry = entries[key] {
                entries[key] = (entry.number, newValue)
                return
            }
            counter += 1
            entries[key] = (counter, newValue)
            order.append((counter, key))
            trim()
        }
    }

    /// Removes what does not fit.
    mutating func keep(where isKept: (Value) -> Bool) { entries = entries.filter { isKept($0.value.value) } }

    private mutating func trim() {
        while entries.count > limit, first < order.count {
            let (number, key) = order[first]
            first += 1
            if entries[key]?.number == number { entries[key] = nil }
        }
        if order.count > 64, order.count > 4 * entries.count || first > order.count / 2 {
            order = order[first...].filter { entries[$0.key]?.number == $0.number }
            first = 0
        }
    }
}
