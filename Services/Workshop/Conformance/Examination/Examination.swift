internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Synchronization
internal import Frames

/// One requirement while it is tried: opens connections, and records their last frames for the report.
final class Examination: Sendable {
    /// Time limit for an answer that is due at once; generous, because the machine may be busy.
    @TaskLocal static var patience: Duration = .seconds(8)

    private struct Transcript {
        var sent: [String] = []
        var came: [String] = []
    }

    /// Lines of the transcript that a report shows.
    private static let shown = 3

    let subject: Subject
    private let transcript = Mutex(Transcript())

    init(_ subject: Subject) { self.subject = subject }

    func sent(_ text: String) {
        transcript.withLock { transcript in
            transcript.sent.append(text)
            transcript.came.removeAll()
            if transcript.sent.count > Self.shown { transcript.sent.removeFirst() }
        }
    }

    func came(_ text: String) {
        transcript.withLock { transcript in
            transcript.came.append(text)
            if transcript.came.count > Self.shown { transcript.came.removeFirst() }
        }
    }

    var lastSent: [String] { transcript.withLock { $0.sent } }
    var lastCame: [String] { transcript.withLock { $0.came } }

    // MARK: Connections

    /// A new connection, before any hello.
    func connect() async throws -> WireProbe { try await WireProbe(self, as: subject.caller) }

    /// A connection after the exchange of hellos.
    func greet(maxFrameBytes: UInt32 = 16 * 1024 * 1024) async throws -> Conversation {
        try await Conversation(try await connect(), maxFrameBytes: maxFrameBytes)
    }

    /// Ends the implementation and starts it again; on return it serves.
    /// - Throws: `NotApplicable` when the examiner cannot.
    func restart() async throws {
        guard let restart = subject.restart else { throw NotApplicable("the examiner cannot restart the implementation (--restart)") }
        try await restart()
        let end = ContinuousClock.now + .seconds(30)
        while let problem = await subject.problem() {
            guard ContinuousClock.now < end else { throw Unmet("a service that serves, 30 s after its restart", came: problem) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Peers

    /// - Throws: `NotApplicable` when the examiner plays none.
    func peers() throws -> PlayedPeers {
        guard let peers = subject.peers else { throw NotApplicable("the examiner does not play this implementation's peers (--peers-port)") }
        return PlayedPeers(doubles: peers)
    }
}
