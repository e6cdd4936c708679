internal import NIOCore

/// Admits the requests of one event loop, or does not.
///
/// `@unchecked Sendable`: used on its event loop only.
final class LoopAdmission: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var load: LoopLoad

    init(_ eventLoop: any EventLoop, _ settings: OverloadSettings) {
        self.eventLoop = eventLoop
        load = LoopLoad(settings)
    }

    func connectionOpened() { load.connections += 1 }
    func connectionClosed() { load.connections -= 1 }

    /// What would become of a request that arrived now.
    var verdict: LoopLoad.Verdict { load.verdict(at: Self.now()) }

    /// The number of the loop's round, or of the one before.
    var round: UInt64 { load.round }

    /// Whether a request that waits behind another one of its connection may be taken up now.
    /// - Parameter last: The round in which a request of the connection was taken up last; 0 if none was.
    func hasTurn(after last: UInt64) -> Bool { last != load.round || load.hasTurn(after: last, at: Self.now()) }

    /// A request has arrived.
    /// - Parameter last: As for `hasTurn`.
    func take(after last: UInt64 = 0) -> LoopLoad.Verdict {
        let (verdict, beginsRound) = load.take(after: last, at: Self.now())
        // A loop does its tasks after all that it reads in a round.
        if beginsRound { eventLoop.assumeIsolated().execute { self.load.endRound(at: Self.now()) } }
        return verdict
    }

    /// A request was refused.
    func noteRefusal() { load.noteRefusal(at: Self.now()) }

    private static func now() -> Int64 { Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds) }
}
