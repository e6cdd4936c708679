internal import Faults

/// The calls that this side answers.
extension ConnectionStateMachine {
    /// A request came.
    /// - Parameters:
    ///   - method: The method that was found for its names.
    ///   - timeoutMicroseconds: As in the frame.
    ///   - arrival: When its bytes were read.
    ///   - now: Later than `arrival` when the frame waited for others of the same read.
    public mutating func receiveRequest(
        callID: UInt64, method: RequestedMethod, timeoutMicroseconds: UInt64, arrival: Instant, now: Instant
    ) -> Admission {
        if let refusal = misplacedRequest(callID) { return refusal }
        highestCallID = callID
        let index: Int
        switch method {
        case .unknown: return .refuse(Fault(.unimplemented, "The service or the method is not offered here."))
        case .notPermitted: return .refuse(Fault(.permissionDenied, "The caller may not use the service."))
        case .offered(let offered): index = offered
        }
        guard hasRoom(index) else {
            return .refuse(Fault(.overloaded, "Too many calls are in flight.", retryAfter: settings.overloadedRetryAfter))
        }
        let deadline = CallTimeout.span(timeoutMicroseconds).map { elapsed(arrival) + $0 }
        if let deadline, deadline <= elapsed(now) { return .refuse(Fault(.deadlineExceeded, "The deadline was over on arrival.")) }
        incoming.insert(IncomingCall(method: index, deadline: deadline), id: callID)
        inFlightByMethod[index] += 1
        earliestDeadline = Duration.earliest(earliestDeadline, deadline)
        return .begin(deadline: deadline.map { origin.advanced(by: $0) })
    }

    /// The work of a call with one answer is done.
    /// - Returns: True when to send the response: the caller does not wait for it after a cancel or the deadline.
    public mutating func respond(_ callID: UInt64) -> Bool { finishIncoming(callID) }

    /// The work of a stream has an item.
    /// - Returns: True when to send it.
    public func sendsItem(_ callID: UInt64) -> Bool { incoming[callID] != nil }

    /// The work of a stream is done.
    /// - Returns: True when to send the stream end.
    public mutating func endStream(_ callID: UInt64) -> Bool { finishIncoming(callID) }

    /// The caller no longer waits.
    public mutating func receiveCancel(callID: UInt64) -> [ConnectionAction] {
        if let refusal = expectOpen("A cancel") { return refusal }
        guard role == .callee else { return refuse(.protocolError, "A cancel to a caller.") }
        guard callID <= highestCallID, callID > 0 else {
            // After this side's go-away, requests were dropped without a trace.
            return ownGoAway == nil ? refuse(.protocolError, "A cancel of a call that was not made.") : []
        }
        return finishIncoming(callID) ? [.stopWork(callID: callID)] : []
    }

    private mutating func misplacedRequest(_ callID: UInt64) -> Admission? {
        if phase == .closed { return .drop }
        if let refusal = expectOpen("A request") { return .violation(refusal) }
        guard role == .callee else { return .violation(refuse(.protocolError, "A request to a caller.")) }
        guard peerGoAway == nil else { return .violation(refuse(.protocolError, "A request after the caller's go-away.")) }
        guard callID > highestCallID else { return .violation(refuse(.protocolError, "A call id that is not greater than the last.")) }
        return ownGoAway == nil ? nil : .drop
    }

    private func hasRoom(_ method: Int) -> Bool {
        guard incoming.count < settings.maxCallsInFlight else { return false }
        guard let limit = rules[method].maxCallsInFlight else { return true }
        return inFlightByMethod[method] < limit
    }

    private mutating func finishIncoming(_ callID: UInt64) -> Bool {
        guard let call = incoming.remove(callID) else { return false }
        inFlightByMethod[call.method] -= 1
        return true
    }

    /// Calls whose time is over are answered here, and their work is stopped.
    mutating func expireIncoming(_ now: Duration) -> [ConnectionAction] {
        let fault = Fault(.deadlineExceeded, "The deadline is over.")
        return dueCalls(incoming, now, deadline: \.deadline).flatMap { endIncoming($0, fault) }
    }

    /// Streams have no end of their own that a drain could wait for: their callers open them elsewhere.
    mutating func endIncomingStreams() -> [ConnectionAction] {
        let fault = Fault(.unavailable, "The callee leaves.")
        return incoming.ids.sorted().filter { incoming[$0].map { rules[$0.method].isStream } == true }.flatMap { endIncoming($0, fault) }
    }

    private mutating func endIncoming(_ id: UInt64, _ fault: Fault) -> [ConnectionAction] {
        guard let call = incoming[id] else { return [] }
        _ = finishIncoming(id)
        let end: Frame.Kind =
            rules[call.method].isStream
            ? .streamEnd(StreamEnd(callID: id, fault: WireFault(fault))) : .response(Response(callID: id, outcome: .fault(WireFault(fault))))
        return [.stopWork(callID: id), .send(Frame(kind: end))]
    }
}
