import Faults
import Frames

/// Moments of a fake clock.
enum FakeTime {
    private static let start = ContinuousClock.now

    /// - Parameter milliseconds: Since the connection came up.
    static func at(_ milliseconds: Int64) -> ContinuousClock.Instant { start.advanced(by: .milliseconds(milliseconds)) }
}

/// State machines in the states that tests begin with.
enum Machines {
    /// Settings with times that do not interfere with each other.
    static func settings(_ change: (inout ConnectionSettings) -> Void = { _ in }) -> ConnectionSettings {
        var settings = ConnectionSettings(software: "test", softwareVersion: "1", services: ["a.B"])
        settings.pingInterval = nil
        settings.idleTimeout = nil
        change(&settings)
        return settings
    }

    static let hello = Hello(protocolVersion: 1, software: "peer", maxFrameBytes: 65_536, maxCallsInFlight: 3)

    static let unary = 0
    static let stream = 1
    static let narrow = 2

    static func newCallee(_ change: (inout ConnectionSettings) -> Void = { _ in }) -> ConnectionStateMachine {
        let rules = [MethodRule(isStream: false), MethodRule(isStream: true), MethodRule(isStream: false, maxCallsInFlight: 1)]
        return .callee(settings(change), methods: rules, now: FakeTime.at(0))
    }

    static func newCaller(_ change: (inout ConnectionSettings) -> Void = { _ in }) -> ConnectionStateMachine {
        .caller(settings(change), now: FakeTime.at(0))
    }

    static func callee(_ change: (inout ConnectionSettings) -> Void = { _ in }) -> ConnectionStateMachine { opened(newCallee(change)) }

    static func caller(_ change: (inout ConnectionSettings) -> Void = { _ in }) -> ConnectionStateMachine { opened(newCaller(change)) }

    private static func opened(_ machine: ConnectionStateMachine) -> ConnectionStateMachine {
        var machine = machine
        _ = machine.start(now: FakeTime.at(0))
        _ = machine.receiveHello(hello, now: FakeTime.at(0))
        return machine
    }
}

extension ConnectionStateMachine {
    /// A request that comes at a moment.
    mutating func request(
        _ callID: UInt64, _ method: Int = Machines.unary, timeoutMicroseconds: UInt64 = 0, at milliseconds: Int64 = 0
    ) -> Admission {
        receiveRequest(
            callID: callID, method: .offered(method), timeoutMicroseconds: timeoutMicroseconds, arrival: FakeTime.at(milliseconds),
            now: FakeTime.at(milliseconds))
    }

    /// A call that is begun at a moment.
    mutating func begin(isStream: Bool = false, deadline: Int64? = nil, at milliseconds: Int64 = 0) throws(Fault) -> UInt64 {
        try beginCall(deadline: deadline.map(FakeTime.at), isStream: isStream, now: FakeTime.at(milliseconds))
    }
}

extension Admission {
    var isBegun: Bool {
        if case .begin = self { return true }
        return false
    }

    var isDropped: Bool {
        if case .drop = self { return true }
        return false
    }

    var refusal: Fault? {
        if case .refuse(let fault) = self { return fault }
        return nil
    }

    var violation: [ConnectionAction]? {
        if case .violation(let actions) = self { return actions }
        return nil
    }
}

extension ReplyVerdict {
    var isDelivered: Bool {
        if case .deliver = self { return true }
        return false
    }

    var isDropped: Bool {
        if case .drop = self { return true }
        return false
    }

    var violation: [ConnectionAction]? {
        if case .violation(let actions) = self { return actions }
        return nil
    }
}

extension [ConnectionAction] {
    var frames: [Frame.Kind] {
        compactMap {
            if case .send(let frame) = $0 { return frame.kind }
            return nil
        }
    }

    var goAway: GoAway? {
        for case .goAway(let goAway) in frames { return goAway }
        return nil
    }

    var close: CloseReason? {
        for case .close(let reason) in self { return reason }
        return nil
    }

    var failures: [CallFailure] {
        compactMap {
            if case .fail(let failure) = $0 { return failure }
            return nil
        }
    }

    /// A go-away of the code, then the close, and nothing of a good end.
    func refuses(_ code: GoAwayCode) -> Bool {
        guard case .refused(code, _) = close else { return false }
        return goAway?.code == code.rawValue
    }
}
