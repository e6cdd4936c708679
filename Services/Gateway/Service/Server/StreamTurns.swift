internal import NIOCore

/// When the requests of one connection of HTTP/2 are taken up: as those that a client of HTTP/1.1 sends ahead, they have the turns of one connection and wait for
/// the next one, where as many connections would be refused; and none begins while the connection does not read what it was answered.
///
/// `@unchecked Sendable`: used on its event loop only.
final class StreamTurns: @unchecked Sendable {
    /// As a connection of HTTP/1.1.
    private static let turn = TimeAmount.milliseconds(1)

    private let eventLoop: any EventLoop
    private let admission: LoopAdmission
    /// The loop's round in which a request was taken up last.
    private var lastRound: UInt64 = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var nextTurn: Scheduled<Void>?
    private var isOver = false
    /// What the connection holds of answers, in octets.
    var unsent = 0 {
        didSet { if unsent <= UnsentAnswers.startsBelow, oldValue > UnsentAnswers.startsBelow { wake() } }
    }

    init(_ admission: LoopAdmission, eventLoop: any EventLoop) {
        self.admission = admission
        self.eventLoop = eventLoop
    }

    /// Waits for a turn. Called on the event loop.
    /// - Returns: What becomes of the request; `nil` when the connection is over.
    func take() async -> LoopLoad.Verdict? {
        while !isOver {
            let isRead = unsent <= UnsentAnswers.startsBelow
            if isRead, nextTurn == nil, admission.hasTurn(after: lastRound) {
                let verdict = admission.take(after: lastRound)
                lastRound = admission.round
                return verdict
            }
            if isRead { arm() }
            await withCheckedContinuation { waiting.append($0) }
        }
        return nil
    }

    private func arm() {
        guard nextTurn == nil else { return }
        nextTurn = eventLoop.assumeIsolated().scheduleTask(in: Self.turn) {
            self.nextTurn = nil
            self.wake()
        }
    }

    /// The connection is over.
    func end() {
        isOver = true
        nextTurn?.cancel()
        nextTurn = nil
        wake()
    }

    /// Each looks again, in the order in which they came.
    private func wake() {
        let all = waiting
        waiting = []
        for one in all { one.resume() }
    }
}
