internal import Catalogue
public import Clocks
public import Contracts
internal import CoreMetrics
internal import Synchronization

/// Counts events in memory, by the minute and by what they have in common, until they are drained. It takes less than a microsecond, and never more memory
/// than its limits say.
public final class UsageCounter: Sendable {
    /// The numbers of sums that are kept apart.
    public struct Limits: Sendable {
        /// The most sums of one minute.
        public var perMinute: Int
        /// The most sums that nobody has drained.
        public var undrained: Int

        public init(perMinute: Int = 4096, undrained: Int = 65_536) {
            self.perMinute = perMinute
            self.undrained = undrained
        }
    }

    private struct Key: Hashable {
        let minute: UInt64
        let dimensions: UsageDimensions
        /// Texts are hashed once, for the shard and the table.
        let digest: Int

        init(minute: UInt64, _ dimensions: UsageDimensions) {
            self.minute = minute
            self.dimensions = dimensions
            digest = dimensions.digest
        }

        static func == (one: Key, other: Key) -> Bool {
            one.digest == other.digest && one.minute == other.minute && one.dimensions == other.dimensions
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(digest)
            hasher.combine(minute)
        }
    }

    private struct Sums {
        var counts: [Key: UsageCounts] = [:]
        /// The minute that was counted last, and its sums.
        var minute: UInt64 = 0
        var ofMinute = 0

        /// The places of the last minute stay, with nothing counted, until the minute is over.
        mutating func drain() -> [UsageSum] {
            let nothing = UsageCounts()
            var drained: [UsageSum] = []
            var isOver = false
            // Over indices of its own: those of the collection would hold a copy of it.
            var index = counts.startIndex
            while index != counts.endIndex {
                let (key, sum) = counts[index]
                if sum != nothing {
                    drained.append(UsageSum(minute: key.minute, dimensions: key.dimensions, counts: sum))
                    counts.values[index] = nothing
                }
                if key.minute != minute { isOver = true }
                counts.formIndex(after: &index)
            }
            if isOver { counts = counts.filter { $0.key.minute == minute } }
            return drained
        }
    }

    private final class Shard: Sendable {
        let sums = Mutex(Sums())
    }

    private static let shardCount = 16

    private let shards: [Shard]
    private let limits: Limits
    private let clock: any WallClock
    private let overflowed = Counter(label: "boxoffice_usage_events_without_room_total")
    private let lost = Counter(label: "boxoffice_usage_events_lost_total")

    public init(limits: Limits = Limits(), clock: any WallClock = SystemClock()) {
        self.limits = Limits(perMinute: max(1, limits.perMinute / Self.shardCount), undrained: max(1, limits.undrained / Self.shardCount))
        self.clock = clock
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    public func count(_ event: UsageEvent, _ dimensions: UsageDimensions) {
        let key = Key(minute: UInt64(clamping: clock.now().seconds / 60), dimensions)
        if add(event, key, share: 1) { return }
        overflowed.increment()
        // Requestors and MVPDs are the catalogue's: their number is bounded, so that a little more room is enough.
        if !add(event, Key(minute: key.minute, dimensions.other), share: 2) { lost.increment() }
    }

    /// - Parameter share: The share of the limits, as a factor.
    /// - Returns: False when there is no room.
    private func add(_ event: UsageEvent, _ key: Key, share: Int) -> Bool {
        shards[key.digest & (Self.shardCount - 1)].sums.withLock { sums in
            if sums.minute != key.minute { (sums.minute, sums.ofMinute) = (key.minute, 0) }
            if let index = sums.counts.index(forKey: key) {
                sums.counts.values[index].add(event)
                return true
            }
            guard sums.ofMinute < limits.perMinute * share, sums.counts.count < limits.undrained * share else { return false }
            sums.ofMinute += 1
            sums.counts[key, default: UsageCounts()].add(event)
            return true
        }
    }

    /// Takes everything that was counted since the last time.
    public func drain() -> [UsageSum] {
        shards.flatMap { shard in shard.sums.withLock { $0.drain() } }
    }
}

extension UsageDimensions {
    /// The digest takes the members that differ most. Texts with the same ones may still differ, and then share a place.
    fileprivate var digest: Int {
        var hasher = Hasher()
        hasher.combine(requestorID)
        hasher.combine(mvpdID)
        hasher.combine(resourceID)
        hasher.combine(osVersion)
        hasher.combine(browserVersion)
        hasher.combine(clientType)
        hasher.combine(customerApplication)
        hasher.combine(device)
        hasher.combine(reason)
        hasher.combine(platform)
        hasher.combine(api)
        return hasher.finalize()
    }
}

/// One event that is counted.
public enum UsageEvent: Hashable, Sendable {
    /// A person is sent to an MVPD.
    case authnAttempt
    /// A person comes back from it, whatever the answer.
    case authnPending
    case authnSuccessful
    case authnFailed
    /// An earlier sign-in was enough.
    case sso
    /// An MVPD decided.
    /// - Parameter milliseconds: That it took.
    case authzSuccessful(milliseconds: UInt64)
    /// An MVPD denied, or gave no answer that can be used.
    case authzFailed(milliseconds: UInt64)
    /// The MVPD was not asked again, so soon after it had denied.
    case authzRejected
    case mediaToken
    /// An app got a decision, whoever made it.
    case decision(isPermit: Bool)
}

extension UsageCounts {
    mutating func add(_ event: UsageEvent) {
        switch event {
        case .authnAttempt: authnAttempts += 1
        case .authnPending: authnPending += 1
        case .authnSuccessful: authnSuccessful += 1
        case .authnFailed: authnFailed += 1
        case .sso: sso += 1
        case .authzSuccessful(let milliseconds):
            authzAttempts += 1
            authzSuccessful += 1
            authzLatencyMilliseconds &+= milliseconds
        case .authzFailed(let milliseconds):
            authzAttempts += 1
            authzFailed += 1
            authzLatencyMilliseconds &+= milliseconds
        case .authzRejected: authzRejected += 1
        case .mediaToken: mediaTokens += 1
        case .decision(let isPermit):
            decisionAttempts += 1
            if isPermit { decisionSuccessful += 1 } else { decisionFailed += 1 }
        }
    }
}

extension UsageDimensions {
    /// Longest text, in octets.
    public static let longestText = 128

    /// The device's own description; its address, its user and its id are none of it.
    public init(requestor: String, mvpd: String, device: DeviceInformation) {
        self.init(
            requestorID: requestor, mvpdID: mvpd, device: Self.short(device.type), osFamily: Self.short(device.osFamily),
            osType: Self.short(device.osName), osVersion: Self.short(device.osVersion), browserFamily: Self.short(device.browserName),
            browserVersion: Self.short(device.browserVersion), platform: device.platform, applicationID: Self.short(device.registeredApplication),
            customerApplication: Self.short(device.applicationID), api: device.calledApi == .v2 ? .restV2 : .restV1)
    }

    /// A text that is longer than what is kept tells nothing.
    public static func short(_ text: String) -> String { text.utf8.count <= longestText ? text : "other" }

    /// The dimensions that are left where there is no room to tell more apart.
    var other: UsageDimensions { UsageDimensions(requestorID: requestorID, mvpdID: mvpdID, api: api, isOther: true) }
}
