/// How the last calls to one copy of a peer ended, and whether the copy is taken out of service for it.
struct CallRecord: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Calls that are remembered.
    static let window = 20
    /// So many failures among them are too many.
    static let tooManyFailures = 5
    private static let shortestBan: Duration = .seconds(5)
    private static let longestBan: Duration = .seconds(60)

    /// One bit each, the newest the lowest.
    private var failures: UInt32 = 0
    /// In microseconds, as a ring.
    private var times: [UInt32] = []
    private var sum: UInt64 = 0
    private var next = 0
    private var bans = 0
    /// The copy gets calls again at this time; `nil` while it does.
    private(set) var bannedUntil: Instant?
    private var lastBanEnd: Instant?

    var isBanned: Bool { bannedUntil != nil }

    var hasTooManyFailures: Bool { failures.nonzeroBitCount >= Self.tooManyFailures }

    /// Mean time of the last calls in microseconds; `nil` until there were enough.
    var meanTime: UInt64? { times.count == Self.window ? sum / UInt64(Self.window) : nil }

    /// True when the last call that was noted ended a round: as many as are remembered.
    var hasEndedRound: Bool { next == 0 && !times.isEmpty }

    mutating func note(isFailure: Bool, microseconds: UInt32) {
        failures = (failures << 1 | (isFailure ? 1 : 0)) & (1 << Self.window - 1)
        if times.count < Self.window {
            times.append(microseconds)
        } else {
            sum -= UInt64(times[next])
            times[next] = microseconds
        }
        sum += UInt64(microseconds)
        next = (next + 1) % Self.window
    }

    /// Takes the copy out of service for 5 s, then for twice as long each time up to 60 s. This lasts until it has served for 60 s on end.
    /// - Returns: For how long.
    mutating func ban(now: Instant) -> Duration {
        if let lastBanEnd, lastBanEnd.advanced(by: Self.longestBan) < now { bans = 0 }
        let span = min(Self.longestBan, Self.shortestBan * (1 << min(bans, 8)))
        bans += 1
        bannedUntil = now.advanced(by: span)
        return span
    }

    /// Puts the copy into service again; what it did before does not count any more.
    mutating func endBan() {
        lastBanEnd = bannedUntil
        bannedUntil = nil
        (failures, times, sum, next) = (0, [], 0, 0)
    }
}

/// The finding of a call about the copy that it went to.
enum CallVerdict: Sendable {
    case good
    /// `unavailable`, `deadline_exceeded` or `internal`, and the copy may have begun it.
    case bad
    /// Nothing: it was given up, or never reached the copy's work.
    case unknown
}

/// News: a copy gets no calls for a while.
struct CopyBan: Hashable, Sendable {
    /// Its number.
    let copy: Int
    let reason: Reason
    let span: Duration

    enum Reason: String, Sendable {
        case failures
        case slowness
    }
}
