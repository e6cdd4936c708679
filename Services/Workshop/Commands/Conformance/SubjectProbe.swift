internal import CommandKit
internal import ContractConformance

/// Waits for the implementation to answer.
struct SubjectProbe {
    let subject: Subject

    init(_ subject: Subject) { self.subject = subject }

    /// - Throws: `CommandFailure` when it does not in that time.
    func wait(for patience: Duration) async throws {
        let end = ContinuousClock.now + patience
        while true {
            guard let problem = await subject.problem() else { return }
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    "\(subject.service.rawValue) at \(subject.host):\(subject.port) cannot be examined (\(problem))",
                    advice: "is it started, with a certificate for \(subject.service.certificateName) that the authority signed?")
            }
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}
