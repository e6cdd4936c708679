public import Clocks

/// A browser's sign-in under way is looked for upstream at this time (bridge §7.3, §7.4). A device that polls costs nothing in between.
public struct PendingReads: Hashable, Sendable {
    /// After the browser came back to our own page: at once, and again because a profile may be visible late.
    public static let afterReturn: [Duration] = [.zero, .milliseconds(500), .milliseconds(1500)]
    /// Looks after a return that found nothing.
    private static let mostLater = 3
    private static let laterPause: Duration = .seconds(5)
    private static let pagePause: Duration = .seconds(1)

    /// The browser was sent at this time.
    private let start: Timestamp
    /// Upstream forgets the sign-in at this time.
    private let end: Timestamp
    private let poll: Duration
    private var lastRead: Timestamp?
    private var lastPageRead: Timestamp?
    private var hasReturned = false
    /// Upstream could not be asked when the browser was back.
    private var isUndecided = false
    private var later = 0
    private var hadFinalRead = false

    public init(start: Timestamp, end: Timestamp, poll: Duration) {
        self.start = start
        self.end = end
        self.poll = poll
    }

    public enum Asker: Sendable {
        /// A device that waits.
        case device
        /// The page of the sign-in, which asks once, right after the browser's return.
        case page
    }

    public enum Read: Hashable, Sendable {
        case no
        /// One look by code; for a page, and the first of all, at the times of `afterReturn`.
        case byCode(repeated: Bool)
        /// The sign-in is over: one look by device and provider, for a login in its last seconds.
        case final
    }

    /// States whether that call looks upstream now; a look counts as made.
    public mutating func read(for asker: Asker, _ now: Timestamp) -> Read {
        guard now < end else {
            if hadFinalRead { return .no }
            hadFinalRead = true
            return .final
        }
        let isFirst = lastRead == nil
        switch asker {
        case .page where lastPageRead.map({ now >= $0 + Self.pagePause }) ?? true:
            lastPageRead = now
        case .page: return .no
        case .device where !isDue(now): return .no
        case .device: if hasReturned, !isUndecided { later += 1 }
        }
        lastRead = now
        return .byCode(repeated: isFirst || asker == .page)
    }

    /// The browser came back to our own page, and the looks there found nothing.
    public mutating func returnedWithout(_ now: Timestamp) {
        (hasReturned, isUndecided) = (true, false)
        lastRead = now
    }

    /// The browser came back to our own page, and upstream could not be asked: it is looked for until upstream answers.
    public mutating func returnedUndecided(_ now: Timestamp) {
        (hasReturned, isUndecided) = (true, true)
        lastRead = now
    }

    /// Takes in the result of a look that was made elsewhere.
    public mutating func note(isUndecided: Bool) { if hasReturned { self.isUndecided = isUndecided } }

    /// The sign-in is over: nothing more is looked for.
    public var isOver: Bool { hadFinalRead || hasReturned && !isUndecided && later >= Self.mostLater }

    private func isDue(_ now: Timestamp) -> Bool {
        guard let lastRead else { return true }
        if hasReturned { return (isUndecided || later < Self.mostLater) && (now >= lastRead + Self.laterPause || now < lastRead) }
        let age = now - start
        let pause: Duration = age < .seconds(120) ? poll : age < .seconds(600) ? max(poll, .seconds(10)) : max(poll, .seconds(20))
        return now >= lastRead + pause || now < lastRead
    }
}
