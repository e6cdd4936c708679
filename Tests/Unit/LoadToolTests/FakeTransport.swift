import LoadTool

/// A target without a network, on a clock that the test moves.
final class FakeTransport: CallTransport {
    struct Sent {
        var ticket: Int
        var at: Nanoseconds
        var operation: Int
    }

    weak var sink: (any CallSink)?
    var capacity = 1000
    var openConnections = 1
    /// Calls without an answer.
    private(set) var inFlight: [Sent] = []
    private(set) var sentCount = 0

    var room: Int { openConnections > 0 ? capacity - inFlight.count : 0 }

    func send(_ call: Call, ticket: Int, now: Nanoseconds, deadline: Nanoseconds) {
        inFlight.append(Sent(ticket: ticket, at: now, operation: call.operation))
        sentCount += 1
    }

    /// Answers the calls that were sent before the moment.
    func answer(sentBefore moment: Nanoseconds = .max, _ answer: Answer = .none) {
        let due = inFlight.filter { $0.at < moment }
        inFlight.removeAll { $0.at < moment }
        for call in due { sink?.ended(call.ticket, answer, bytes: 10) }
    }

    func shutDown() {}
}

/// A clock that stands until it is moved.
final class TestClock {
    var now: Nanoseconds = 0
}

/// Users who call each operation in turn, with a pause between the calls.
final class FakeWorkload: Workload {
    let operations: [String]
    private let pause: Nanoseconds
    /// The users' step after an answer that they reject.
    var verdict: (Answer) -> Step? = { _ in nil }

    init(_ operations: [String] = ["call"], pause: Nanoseconds = 0) {
        self.operations = operations
        self.pause = pause
    }

    func begin(_ user: inout User) -> Step {
        user.place = 0
        return .call(Call(operation: 0, payload: [1, 2, 3]))
    }

    func proceed(_ user: inout User, _ answer: Answer) -> Step {
        if let step = verdict(answer) { return step }
        user.place += 1
        let (operation, isPause) = pause > 0 ? ((user.place + 1) / 2, user.place % 2 == 1) : (user.place, false)
        guard operation < operations.count else { return .done }
        return isPause ? .pause(pause) : .call(Call(operation: operation, payload: [1, 2, 3]))
    }
}
