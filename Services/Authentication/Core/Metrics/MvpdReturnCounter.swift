package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
internal import Synchronization

/// How many people were sent to each MVPD within the last hour, and how many came back with any answer, at this copy. An MVPD whose login page is broken sends
/// nobody back: no check ever fails, and only this shows it.
package final class MvpdReturnCounter: Sendable {
    /// Counts are of this time before now.
    package static let window: Duration = .seconds(3600)
    /// Who was sent so lately may still be typing.
    package static let patience: Duration = .seconds(300)
    /// Rows of one answer.
    package static let most = 1000
    /// Names that are kept; further ones are counted again when these have nothing left within the window.
    private static let mostKept = 10_000
    /// Counts of one minute are kept together.
    private static let step: Int64 = 60

    private struct Minute {
        let start: Int64
        var sent: UInt32 = 0
        var returned: UInt32 = 0
    }

    private struct Counts {
        /// The oldest first.
        var minutes: [Minute] = []
        var latestReturn: Timestamp?

        mutating func change(_ now: Timestamp, _ edit: (inout Minute) -> Void) {
            forget(now)
            let start = now.seconds / step * step
            // A clock that was set back counts in the newest minute.
            if minutes.last.map({ $0.start < start }) ?? true { minutes.append(Minute(start: start)) }
            edit(&minutes[minutes.count - 1])
        }

        mutating func forget(_ now: Timestamp) {
            let oldest = now.seconds - window.components.seconds
            minutes.removeAll { $0.start + step <= oldest || $0.start > now.seconds + window.components.seconds }
        }
    }

    private let counts = Mutex<[OctetText: Counts]>([:])

    package init() {}

    /// A person is sent to an MVPD.
    /// - Parameter mvpd: Its id in the catalogue.
    package func sent(to mvpd: String, at now: Timestamp) { change(mvpd, now) { $0.sent &+= 1 } }

    /// Somebody came back from it, with whatever answer.
    package func returned(from mvpd: String, at now: Timestamp) {
        change(mvpd, now) { $0.returned &+= 1 }
        counts.withLock { $0[OctetText(mvpd)]?.latestReturn = now }
    }

    /// - Parameter isKnown: False for an MVPD that the catalogue no longer has.
    package func list(now: Timestamp, isKnown: (String) -> Bool = { _ in true }) -> ReturnCounts {
        let all = counts.withLock { counts in
            for key in counts.keys { counts[key]?.forget(now) }
            return counts
        }
        let settled = (now - Self.patience).seconds
        let rows = all.compactMap { mvpd, counts -> MvpdReturns? in
            guard !counts.minutes.isEmpty, isKnown(mvpd.text) else { return nil }
            let sent = counts.minutes.filter { $0.start + Self.step <= settled }.reduce(UInt32(0)) { $0 &+ $1.sent }
            let returned = counts.minutes.reduce(UInt32(0)) { $0 &+ $1.returned }
            return MvpdReturns(
                mvpd: mvpd.text, begun: sent, returned: returned,
                returnedAtMilliseconds: counts.latestReturn.map { UInt64(clamping: $0.milliseconds) } ?? 0)
        }.sorted { (max($1.begun, $1.returned), $0.mvpd) < (max($0.begun, $0.returned), $1.mvpd) }
        return ReturnCounts(
            mvpds: Array(rows.prefix(Self.most)), omitted: UInt32(clamping: max(0, rows.count - Self.most)),
            windowSeconds: UInt32(clamping: Self.window.components.seconds))
    }

    private func change(_ mvpd: String, _ now: Timestamp, _ edit: (inout Minute) -> Void) {
        counts.withLock { counts in
            let key = OctetText(mvpd)
            if counts[key] == nil, counts.count >= Self.mostKept {
                for key in counts.keys { counts[key]?.forget(now) }
                counts = counts.filter { !$0.value.minutes.isEmpty }
                guard counts.count < Self.mostKept else { return }
            }
            counts[key, default: Counts()].change(now, edit)
        }
    }
}

/// Tells operators' tools how many people came back.
package struct ReturnCountCalls: CallRegistration {
    private let counter: MvpdReturnCounter
    private let catalogue: any CatalogueSource
    private let clock: any WallClock

    package init(counter: MvpdReturnCounter, catalogue: any CatalogueSource, clock: any WallClock) {
        (self.counter, self.catalogue, self.clock) = (counter, catalogue, clock)
    }

    /// - Throws: `unavailable` while there is no catalogue.
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.countReturns) { _, _ in
            let catalogue = try catalogue.current()
            return counter.list(now: clock.now()) { catalogue.mvpd($0) != nil }
        }
    }
}
