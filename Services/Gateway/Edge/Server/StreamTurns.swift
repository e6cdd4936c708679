internal import NIOCore

/// Decides when the requests of one connection of HTTP/2 are taken up. They have the turns of one connection, as requests that a client of HTTP/1.1
/// sends ahead. They wait for the next turn, where as many connections would be refused. None begins while the connection does not read its answers.
///
/// `@unchecked Sendable`: used on its event loop only.
final class StreamTurns: @unchecked Sendable {
    /// Between two turns: the loop reads from others meanwhile.
    private static let turn = TimeAmount.microseconds(250)
    /// Requests that look in one turn whether there is time for them.
    private static let mostAtOnce = 16

    private typealias Waiter = CheckedContinuation<Void, Never>

    private let eventLoop: any EventLoop
    private let admission: LoopAdmission
    /// The loop's round in which a request was taken up last.
    private var lastRound: UInt64 = 0
    /// In the order in which they came.
    private var waiting = CircularBuffer<Waiter>()
    /// Came before those, and had a turn in which there was no time for them.
    private var passedOver = CircularBuffer<Waiter>()
    private var nextTurn: Scheduled<Void>?
    private var isOver = false
    /// The octets of answers that the connection holds.
    var unsent = 0 {
        didSet { if isRead, oldValue > HeldOctets.startsBelow { beginTurn() } }
    }

    init(_ admission: LoopAdmission, eventLoop: any EventLoop) {
        self.admission = admission
        self.eventLoop = eventLoop
    }

    private var isRead: Bool { unsent <= HeldOctets.startsBelow }

    /// Waits for a turn. Called on the event loop.
    /// - Returns: The verdict on the request; `nil` when the connection is over.
    func take() async -> LoopLoad.Verdict? {
        guard !isOver else { return nil }
        if waiting.isEmpty, passedOver.isEmpty, let verdict = takeNow() { return verdict }
        arm()
        await withCheckedContinuation { waiting.append($0) }
        while !isOver {
            if let verdict = takeNow() { return verdict }
            await withCheckedContinuation { passedOver.append($0) }
        }
        return nil
    }

    private func takeNow() -> LoopLoad.Verdict? {
        guard isRead, nextTurn == nil, admission.hasTurn(after: lastRound) else { return nil }
        let verdict = admission.take(after: lastRound)
        lastRound = admission.round
        return verdict
    }

    /// While answers are not read there are no turns.
    private func arm() {
        guard isRead, nextTurn == nil, !isOver else { return }
        nextTurn = eventLoop.assumeIsolated().scheduleTask(in: Self.turn) {
            self.nextTurn = nil
            self.beginTurn()
        }
    }

    private func beginTurn() {
        for _ in 0..<Self.mostAtOnce {
            guard let next = passedOver.popFirst() ?? waiting.popFirst() else { break }
            next.resume()
        }
        // Behind these.
        eventLoop.assumeIsolated().execute { if !self.waiting.isEmpty || !self.passedOver.isEmpty { self.arm() } }
    }

    /// The connection is over.
    func end() {
        isOver = true
        nextTurn?.cancel()
        nextTurn = nil
        while let next = passedOver.popFirst() ?? waiting.popFirst() { next.resume() }
    }
}
