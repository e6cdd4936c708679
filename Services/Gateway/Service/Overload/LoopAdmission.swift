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

    /// A request has arrived.
    func take() -> LoopLoad.Verdict {
        let (verdict, beginsRound) = load.take(at: Self.now())
        // A loop does its tasks after all that it reads in a round.
        if beginsRound { eventLoop.assumeIsolated().execute { self.load.endRound(at: Self.now()) } }
        return verdict
    }

    /// A request was refused.
    func noteRefusal() { load.noteRefusal(at: Self.now()) }

    private static func now() -> Int64 { Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds) }
}
