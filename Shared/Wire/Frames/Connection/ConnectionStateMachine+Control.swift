/// Hello, ping, go-away and the end.
extension ConnectionStateMachine {
    /// The connection (with its TLS) is up.
    public mutating func start(now: Instant) -> [ConnectionAction] {
        guard phase == .new else { return [] }
        phase = .greeting
        liveness.heard(elapsed(now))
        liveness.busy(elapsed(now))
        helloDeadline = elapsed(now) + settings.helloTimeout
        return [.send(Frame(kind: .hello(settings.hello(takesCalls: role == .callee))))]
    }

    /// Bytes came from the peer. Once per read, before its frames.
    public mutating func heard(now: Instant) { liveness.heard(elapsed(now)) }

    public mutating func receiveHello(_ hello: Hello, now: Instant) -> [ConnectionAction] {
        guard phase != .closed else { return [] }
        guard phase == .greeting else { return refuse(.protocolError, "A second hello.") }
        guard hello.protocolVersion == Self.protocolVersion else {
            return refuse(.unsupportedVersion, "Protocol version \(hello.protocolVersion); this side speaks \(Self.protocolVersion).")
        }
        guard hello.maxFrameBytes >= Self.smallestMaxFrameBytes else {
            return refuse(.protocolError, "A peer must accept frames of \(Self.smallestMaxFrameBytes) bytes.")
        }
        phase = .open
        peer = hello
        helloDeadline = nil
        liveness.busy(elapsed(now))
        return [.opened(hello)]
    }

    public mutating func receivePing(nonce: UInt64) -> [ConnectionAction] {
        expectOpen("A ping") ?? [.send(Frame(kind: .pong(Pong(nonce: nonce))))]
    }

    public mutating func receivePong(nonce: UInt64) -> [ConnectionAction] {
        if let refusal = expectOpen("A pong") { return refusal }
        guard nonce > 0, nonce <= liveness.lastNonce else { return refuse(.protocolError, "A pong without a ping.") }
        return []
    }

    /// The peer leaves. A caller gets back the calls that were not begun; both finish what is in flight.
    public mutating func receiveGoAway(_ goAway: GoAway, now: Instant) -> [ConnectionAction] {
        guard phase == .greeting || phase == .open else { return [] }
        let last = min(goAway.lastCallID, peerGoAway?.lastCallID ?? .max)
        let isFirst = peerGoAway == nil
        peerGoAway = Departure(lastCallID: last, until: peerGoAway?.until ?? elapsed(now) + settings.drainTimeout)
        var actions: [ConnectionAction] = isFirst ? [.peerLeaves(code: goAway.code, message: goAway.message)] : []
        for id in outgoing.ids.sorted() where id > last {
            outgoing.remove(id)
            actions.append(.fail(.notBegun(id)))
        }
        return actions + advance(to: now)
    }

    /// Leaves in good order: no new calls, what is in flight is finished, streams are ended, then the connection closes.
    public mutating func drain(_ code: GoAwayCode = .shutdown, message: String = "", now: Instant) -> [ConnectionAction] {
        guard phase == .open, ownGoAway == nil else { return phase == .new || phase == .greeting ? finish(.drained) : [] }
        let last = role == .callee ? highestCallID : 0
        ownGoAway = Departure(lastCallID: last, until: elapsed(now) + settings.drainTimeout)
        var actions: [ConnectionAction] = [.send(Frame(kind: .goAway(GoAway(lastCallID: last, code: code.rawValue, message: message))))]
        actions += role == .callee ? endIncomingStreams() : giveUpOutgoingStreams()
        return actions + advance(to: now)
    }

    /// Ends the connection for a fault of the peer: a go-away, then the close.
    public mutating func refuse(_ code: GoAwayCode, _ message: String) -> [ConnectionAction] {
        guard phase != .closed else { return [] }
        let last = role == .callee ? highestCallID : 0
        let goAway = ConnectionAction.send(Frame(kind: .goAway(GoAway(lastCallID: last, code: code.rawValue, message: message))))
        return [goAway] + finish(.refused(code, message))
    }

    /// Bytes came that are no frame.
    public mutating func refuse(_ violation: FrameRejection) -> [ConnectionAction] {
        refuse(violation.code, violation.message)
    }

    /// The peer closed or the network broke.
    public mutating func connectionLost() -> [ConnectionAction] { finish(.lost) }

    /// Gives up all calls in flight and closes.
    mutating func finish(_ reason: CloseReason) -> [ConnectionAction] {
        guard phase != .closed else { return [] }
        phase = .closed
        var actions: [ConnectionAction] = outgoing.ids.sorted().map { .fail(.broken($0)) }
        actions += incoming.ids.sorted().map { .stopWork(callID: $0) }
        outgoing = CallTable()
        incoming = CallTable()
        inFlightByMethod = inFlightByMethod.map { _ in 0 }
        earliestDeadline = nil
        return actions + [.close(reason)]
    }

    /// The actions for a frame that may only come on an open connection: `nil` to go on.
    mutating func expectOpen(_ what: String) -> [ConnectionAction]? {
        switch phase {
        case .open: nil
        case .closed: []
        case .new, .greeting: refuse(.protocolError, "\(what) before the hello.")
        }
    }
}
