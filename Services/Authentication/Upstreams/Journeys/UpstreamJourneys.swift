internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import SamlExplanation
internal import Synchronization

/// The latest sign-ins through upstreams, step by step; in memory alone.
final class UpstreamJourneys: SignInTraces {
    private static let most = 512

    private struct State {
        /// The newest last.
        var journeys: [UpstreamJourney] = []
    }

    private let clock: any WallClock
    private let reports: any SignInReporting
    private let state = Mutex(State())

    /// - Parameter reports: Takes each sign-in that has ended.
    init(clock: any WallClock, reports: any SignInReporting) { (self.clock, self.reports) = (clock, reports) }

    /// A sign-in begins at an upstream.
    func starting<Answer>(
        _ parties: UpstreamJourney.Parties, trace: String, _ body: () async throws(Fault) -> Answer
    ) async throws(Fault) -> Answer {
        let journey = UpstreamJourney(trace: trace, parties, now: clock.now())
        let result = await UpstreamJourney.$current.withValue(journey) { () async -> Result<Answer, Fault> in
            do throws(Fault) { return .success(try await body()) } catch { return .failure(error) }
        }
        switch result {
        case .success(let answer):
            // Nothing is to be told of one that made no call: it went on in a login that had begun.
            guard !journey.now.calls.isEmpty else { return answer }
            if journey.now.end == nil { journey.change { $0.isSent = true } }
            keep(journey)
            if journey.now.end != nil { ended(journey) }
            return answer
        case .failure(let fault):
            journey.change { $0.end = .failed(fault.message) }
            keep(journey)
            ended(journey)
            throw fault
        }
    }

    /// A browser is back from upstream.
    func returning(trace: String, _ body: () async throws -> SignInOutcome) async throws -> SignInOutcome {
        try await UpstreamJourney.$arrival.withValue(trace, operation: body)
    }

    /// Upstream is asked what became of a login.
    func following<Answer: Sendable>(_ pending: UpstreamPending, _ body: @Sendable () async -> Answer) async -> Answer {
        let arrival = UpstreamJourney.arrival
        let journey = journey(of: pending, arrival: arrival ?? "")
        if let arrival {
            journey.add(trace: arrival)
            journey.change { $0.isBack = true }
        }
        let answer = await UpstreamJourney.$current.withValue(journey, operation: body)
        let now = journey.now
        switch now.end {
        case .signedIn?, .codeGone?: ended(journey)
        // Polls look again and again: what they do not find is no end.
        case .declined?, .failed?, nil:
            guard arrival != nil else { break }
            let failure = now.calls.last.flatMap(\.failure)
            journey.change { $0.end = failure.map { .failed(UpstreamWords.seen($0)) } ?? .declined }
            ended(journey)
        }
        return answer
    }

    /// - Returns: `nil`: none of that trace id is remembered.
    func report(trace: String) -> SignInReport? {
        let found = state.withLock { state in state.journeys.last { $0.now.traces.contains(trace) } }
        return found.map { UpstreamExplanation($0.now).record(trace: trace).contract() }
    }

    private func journey(of pending: UpstreamPending, arrival: String) -> UpstreamJourney {
        let known = state.withLock { state in
            state.journeys.last { journey in
                let parties = journey.now.parties
                return parties?.record == pending.record && parties?.mvpd == pending.mvpd.text
            }
        }
        if let known { return known }
        let journey = UpstreamJourney(
            trace: arrival,
            UpstreamJourney.Parties(
                record: pending.record, requestor: pending.key.requestor.text, mvpd: pending.mvpd.text, upstream: pending.upstream,
                serviceProvider: pending.serviceProvider, theirMvpd: pending.theirMvpd, isOwnReturn: pending.isOwn), isForeign: true,
            now: pending.startedAt)
        journey.change { $0.isSent = true }
        keep(journey)
        return journey
    }

    private func keep(_ journey: UpstreamJourney) {
        state.withLock { state in
            if state.journeys.count >= Self.most { state.journeys.removeFirst() }
            state.journeys.append(journey)
        }
    }

    private func ended(_ journey: UpstreamJourney) {
        let moment = clock.now()
        journey.change { $0.endedAt = moment }
        let now = journey.now
        guard let trace = now.traces.last else { return }
        reports.add(UpstreamExplanation(now).record(trace: trace))
    }
}

extension UpstreamJourney.Parties {
    init(_ record: RegistrationRecord, _ way: BridgeWay) {
        self.init(
            record: record.id, requestor: way.requestor, mvpd: way.mvpd, upstream: way.upstream.id, serviceProvider: way.serviceProvider,
            theirMvpd: way.theirMvpd, isOwnReturn: !way.bridge.returnOrigin.isEmpty)
    }
}

extension UpstreamJourney {
    /// - Parameter result: As the log has it.
    func end(_ result: String) { change { $0.end = result == "signed_in" ? .signedIn : .codeGone } }
}
