internal import BridgeClient
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Memos
internal import Synchronization

/// The resources, among several, that an upstream would permit (bridge §9.5).
struct UpstreamPreflight: Sendable {
    let sessions: any Sessions
    let permits: PreliminaryPermits

    /// - Returns: A verdict for each resource, in order; what could not be asked about is unanswered.
    /// - Throws: A fault that nobody is signed in any more; `unavailable` where upstream had to be asked, and nothing could be asked about.
    func verdicts(_ resources: [RequestedResource], _ session: SessionAtHand, _ context: CallContext) async throws(Fault) -> [ResourceVerdict] {
        let known = resources.map { permits.hold(session.session.id, $0.text) }
        let open = zip(resources, known).filter { !$0.1 }.map { $0.0 }
        guard !open.isEmpty else { return resources.map { _ in .permitted } }
        var asked = try await ask(open, session, context)[...]
        return known.map { $0 ? .permitted : asked.removeFirst() }
    }

    private func ask(_ resources: [RequestedResource], _ session: SessionAtHand, _ context: CallContext) async throws(Fault) -> [ResourceVerdict] {
        let request = AskUpstreamRequest(
            call: session.call, sessionID: session.session.id, resources: resources.map(\.text), isPreauthorization: true)
        let answer: UpstreamDecisions
        do {
            answer = try await sessions.askUpstream(request, context: context)
        } catch {
            throw Fault.unexpected(error)
        }
        let known = Dictionary(texts: answer.decisions.map { ($0.resource, $0) }, uniquingKeysWith: { first, _ in first })
        var verdicts: [ResourceVerdict] = []
        for resource in resources {
            guard let decision = known[OctetText(resource.text)] else {
                verdicts.append(.unanswered(.networkReceivedError))
                continue
            }
            let verdict = try Self.verdict(decision)
            if verdict == .permitted { permits.keep(session.session.id, resource.text) }
            verdicts.append(verdict)
        }
        return verdicts
    }

    private static func verdict(_ decision: UpstreamDecision) throws(Fault) -> ResourceVerdict {
        if decision.isPermitted { return .permitted }
        let fault = decision.fault
        switch (fault.code, BridgeMeaning(decision.refusal)) {
        // A trial that is over says no to its resources (bridge §12.1).
        case (_, .trial): return .denied(Denial(code: fault.code, details: fault.details))
        // The question has one resource, so its error is the call's.
        case (.authenticationSessionMissing, _), (.authenticationSessionExpired, _), (.authenticationSessionInvalidated, _): throw fault
        case (.networkReceivedError, _), (.networkConnectionTimeout, _), (.maximumExecutionTimeExceeded, _): return .unanswered(fault.code)
        default: return .denied(Denial(code: fault.code, details: fault.details))
        }
    }
}

/// The resources that upstreams would permit, each as of the last minute, in the memory of this copy alone (bridge §9.5). They are of no use for a play.
final class PreliminaryPermits: Sendable {
    /// A permit is told again for so long.
    private static let life: Duration = .seconds(60)
    /// Each takes about 100 octets.
    private static let most = 32_768

    private let clock: any WallClock
    /// The moments at which upstream permitted, by digests of session and resource.
    private let moments = Mutex(BoundedCache<[UInt8], Timestamp>(capacity: PreliminaryPermits.most))

    init(clock: any WallClock) { self.clock = clock }

    func hold(_ session: String, _ resource: String) -> Bool {
        let (key, now) = (Self.key(session, resource), clock.now())
        return moments.withLock { moments in moments[key].map { now >= $0 && now < $0 + Self.life } ?? false }
    }

    func keep(_ session: String, _ resource: String) {
        let (key, now) = (Self.key(session, resource), clock.now())
        moments.withLock { $0[key] = now }
    }

    /// Upstream has denied a play of the resource.
    func forget(_ session: String, _ resource: String) {
        let key = Self.key(session, resource)
        moments.withLock { $0[key] = nil }
    }

    private static func key(_ session: String, _ resource: String) -> [UInt8] { SHA256.hash("\(session)\0\(resource)") }
}
