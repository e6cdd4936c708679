/// The effects of time.
extension ConnectionStateMachine {
    /// `advance(to:)` has something to do at this time at the latest; it may turn out to be nothing. `nil`: not before something comes in.
    public var nextTimer: Instant? { nextEvent.map { origin.advanced(by: $0) } }

    private var nextEvent: Duration? {
        switch phase {
        case .new, .closed: return nil
        case .greeting: return helloDeadline
        case .open:
            var next = Duration.earliest(earliestDeadline, liveness.next(isBusy: isBusy))
            if let ownGoAway { next = Duration.earliest(next, closing(ownGoAway)) }
            if let peerGoAway { next = Duration.earliest(next, peerGoAway.until) }
            return next
        }
    }

    /// Brings the connection up to a moment: deadlines, pings, a dead peer, idleness, the end of a drain.
    public mutating func advance(to now: Instant) -> [ConnectionAction] {
        let now = elapsed(now)
        switch phase {
        case .new, .closed: return []
        case .greeting:
            if peerGoAway != nil { return finish(.drained) }
            guard let helloDeadline, helloDeadline <= now else { return [] }
            return refuseGreeting()
        case .open: return advanceOpen(to: now)
        }
    }

    private var isBusy: Bool { callsInFlight > 0 || ownGoAway != nil || peerGoAway != nil }

    private mutating func advanceOpen(to now: Duration) -> [ConnectionAction] {
        var actions = expire(now)
        if callsInFlight > 0 || !actions.isEmpty || highestCallID != lastSeenCallID {
            lastSeenCallID = highestCallID
            liveness.busy(now)
        }
        if ownGoAway != nil || peerGoAway != nil {
            actions += advanceDeparture(to: now)
            guard phase == .open else { return actions }
        }
        switch liveness.advance(to: now, isBusy: isBusy) {
        case .ping(let nonce): actions.append(.send(Frame(kind: .ping(Ping(nonce: nonce)))))
        case .deadPeer: actions += finish(.deadPeer)
        case .idle: actions += drain(.idle, now: origin.advanced(by: now))
        case nil: break
        }
        return actions
    }

    private mutating func refuseGreeting() -> [ConnectionAction] {
        let message = "No hello in time."
        let goAway = GoAway(lastCallID: 0, code: GoAwayCode.protocolError.rawValue, message: message)
        return [.send(Frame(kind: .goAway(goAway)))] + finish(.helloTimeout)
    }

    private mutating func expire(_ now: Duration) -> [ConnectionAction] {
        guard let earliest = earliestDeadline, earliest <= now else { return [] }
        let actions = role == .caller ? expireOutgoing(now) : expireIncoming(now)
        var next: Duration?
        outgoing.forEach { next = Duration.earliest(next, $1.deadline) }
        incoming.forEach { next = Duration.earliest(next, $1.deadline) }
        earliestDeadline = next
        return actions
    }

    func dueCalls<Call>(_ calls: CallTable<Call>, _ now: Duration, deadline: (Call) -> Duration?) -> [UInt64] {
        var due: [UInt64] = []
        calls.forEach { id, call in
            if let moment = deadline(call), moment <= now { due.append(id) }
        }
        return due.sorted()
    }

    /// A caller closes as soon as nothing is in flight. A callee waits a while for it to do so. Unread bytes of the caller would make the kernel
    /// throw away the callee's last bytes.
    private mutating func advanceDeparture(to now: Duration) -> [ConnectionAction] {
        guard callsInFlight == 0 else {
            let isLate = [ownGoAway?.until, peerGoAway?.until].contains { $0.map { $0 <= now } == true }
            return isLate ? finish(.drainTimeout) : []
        }
        if role == .caller || peerGoAway != nil { return finish(.drained) }
        if ownGoAway?.doneSince == nil { ownGoAway?.doneSince = now }
        guard let ownGoAway, closing(ownGoAway) <= now else { return [] }
        return finish(.drained)
    }

    private func closing(_ departure: Departure) -> Duration {
        guard role == .callee, let done = departure.doneSince else { return departure.until }
        return min(departure.until, done + settings.lingerTimeout)
    }
}
