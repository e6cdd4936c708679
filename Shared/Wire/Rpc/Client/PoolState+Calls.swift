/// How calls go, and which copies are taken out of service for it.
extension PoolState {
    /// A copy whose mean time, in microseconds, is below is never too slow: what is so quick differs by chance.
    static var quickEnough: UInt64 { 10_000 }
    /// So many times the median of the copies is too slow.
    static var slowFactor: UInt64 { 3 }

    /// A call to the copy is under way; `end` must follow.
    mutating func begin(_ copy: Int) { copies[copy].callsInFlight += 1 }

    /// A call to the copy is over.
    /// - Returns: True when the copy gets no calls for a while now.
    mutating func end(_ copy: Int, _ verdict: CallVerdict, microseconds: UInt32, now: Instant) -> CopyBan? {
        copies[copy].callsInFlight -= 1
        guard verdict != .unknown else { return nil }
        copies[copy].record.note(isFailure: verdict == .bad, microseconds: microseconds)
        if verdict == .bad, copies[copy].record.hasTooManyFailures { return ban(copy, .failures, now) }
        if copies[copy].record.hasEndedRound, isSlow(copy) { return ban(copy, .slowness, now) }
        return nil
    }

    private func isSlow(_ copy: Int) -> Bool {
        guard let mean = copies[copy].record.meanTime, mean >= Self.quickEnough else { return false }
        let means = connected.compactMap { copies[$0].record.meanTime }.sorted()
        // The lower median of an even number counts: a copy is not to be measured by itself.
        return means.count > 1 && mean > Self.slowFactor * means[(means.count - 1) / 2]
    }

    /// Never more than half of the copies are out of service.
    private mutating func ban(_ copy: Int, _ reason: CopyBan.Reason, _ now: Instant) -> CopyBan? {
        guard !copies[copy].record.isBanned, connected.contains(copy) else { return nil }
        let banned = connected.count { copies[$0].record.isBanned }
        guard (banned + 1) * 2 <= connected.count else { return nil }
        let span = copies[copy].record.ban(now: now)
        if let end = copies[copy].record.bannedUntil { nextReturn = nextReturn.map { min($0, end) } ?? end }
        refresh()
        return CopyBan(copy: copy, reason: reason, span: span)
    }

    mutating func endBans(_ now: Instant) {
        nextReturn = nil
        for copy in copies.indices {
            guard let end = copies[copy].record.bannedUntil else { continue }
            if end <= now { copies[copy].record.endBan() } else { nextReturn = nextReturn.map { min($0, end) } ?? end }
        }
        refresh()
    }
}
