public import Faults

/// The caller's calls.
extension ConnectionStateMachine {
    /// Begins a call.
    /// - Returns: Its id, for the request frame to send now.
    /// - Throws: `unavailable` when the connection takes no calls, `overloaded` when as many are in flight as the peer accepts,
    ///   `deadline_exceeded`. Nothing was sent in all three cases.
    public mutating func beginCall(deadline: Instant?, isStream: Bool, now: Instant) throws(Fault) -> UInt64 {
        precondition(role == .caller, "A callee makes no calls.")
        guard takesNewCalls, let peer else { throw Fault(.unavailable, "The connection takes no calls.") }
        guard outgoing.count < min(settings.maxCallsInFlight, Int(peer.maxCallsInFlight)) else {
            throw Fault(.overloaded, "Too many calls are in flight on the connection.", retryAfter: settings.overloadedRetryAfter)
        }
        let deadline = deadline.map(elapsed)
        if let deadline, deadline <= elapsed(now) { throw Fault(.deadlineExceeded, "The deadline is over.") }
        highestCallID += 1
        outgoing.insert(OutgoingCall(isStream: isStream, deadline: deadline), id: highestCallID)
        earliestDeadline = Duration.earliest(earliestDeadline, deadline)
        return highestCallID
    }

    /// Takes back a call whose request could not be encoded: nothing of it was sent.
    public mutating func abandonCall(_ id: UInt64) { outgoing.remove(id) }

    /// The caller no longer waits.
    /// - Returns: The cancel frame to send, unless the call is over.
    public mutating func cancelCall(_ id: UInt64) -> [ConnectionAction] {
        guard outgoing.remove(id) != nil else { return [] }
        cancelled.insert(id)
        return [.send(Frame(kind: .cancel(Cancel(callID: id))))]
    }

    /// A response came.
    /// - Parameter isFault: True when its outcome is a fault; only then may it answer a stream.
    public mutating func receiveResponse(callID: UInt64, isFault: Bool) -> ReplyVerdict {
        guard let call = outgoing[callID] else { return unknownReply(callID, "A response") }
        guard !call.isStream || isFault else { return .violation(refuse(.protocolError, "A response to a call that has a stream.")) }
        outgoing.remove(callID)
        return .deliver
    }

    /// An item of a stream came.
    public mutating func receiveStreamItem(callID: UInt64) -> ReplyVerdict {
        guard let call = outgoing[callID] else { return unknownReply(callID, "A stream item") }
        return call.isStream ? .deliver : .violation(refuse(.protocolError, "A stream item for a call that has one response."))
    }

    /// The end of a stream came.
    public mutating func receiveStreamEnd(callID: UInt64) -> ReplyVerdict {
        guard let call = outgoing[callID] else { return unknownReply(callID, "A stream end") }
        guard call.isStream else { return .violation(refuse(.protocolError, "A stream end for a call that has one response.")) }
        outgoing.remove(callID)
        return .deliver
    }

    private mutating func unknownReply(_ callID: UInt64, _ what: String) -> ReplyVerdict {
        if phase == .closed || cancelled.contains(callID) && callID <= highestCallID { return .drop }
        if let refusal = expectOpen(what) { return .violation(refusal) }
        return .violation(refuse(.protocolError, role == .caller ? "\(what) for a call that is not in flight." : "\(what) to a callee."))
    }

    /// Calls whose time is over end here, and the callee is told.
    mutating func expireOutgoing(_ now: Duration) -> [ConnectionAction] {
        var actions: [ConnectionAction] = []
        for id in dueCalls(outgoing, now, deadline: \.deadline) {
            actions.append(.fail(.late(id)))
            actions += cancelCall(id)
        }
        return actions
    }

    /// Streams have no end of their own that a drain could wait for.
    mutating func giveUpOutgoingStreams() -> [ConnectionAction] {
        var actions: [ConnectionAction] = []
        for id in outgoing.ids.sorted() where outgoing[id]?.isStream == true {
            actions.append(.fail(.cancelled(id)))
            actions += cancelCall(id)
        }
        return actions
    }
}
