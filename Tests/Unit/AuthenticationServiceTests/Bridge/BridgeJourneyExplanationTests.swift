import BridgeClient
import Clocks
import Contracts
import Faults
import OutboundHttp
import SamlExplanation
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The explanation of a sign-in through an upstream.
@Suite struct BridgeJourneyExplanationTests {
    private static let parties = UpstreamJourney.Parties(
        record: RegistrationRecordID("r-1"), requestor: "ACME1", mvpd: "CoastCable", upstream: "vendor", serviceProvider: "SP", theirMvpd: "Coast",
        isOwnReturn: true)

    private static func call(_ operation: BridgeOperation, _ failure: BridgeFailure? = nil, trace: String = "") -> UpstreamJourney.Call {
        UpstreamJourney.Call(operation: operation, failure: failure, status: 200, trace: trace, milliseconds: 7, isBreakerOpen: false)
    }

    private func state(_ change: (inout UpstreamJourney.State) -> Void) -> UpstreamJourney.State {
        var state = UpstreamJourney.State(parties: Self.parties, traces: ["t1"], endedAt: t0)
        change(&state)
        return state
    }

    private func outcomes(_ state: UpstreamJourney.State) -> [SignInCheckOutcome] { UpstreamExplanation(state).checks.map(\.outcome) }

    @Test("bridge B107: the step that failed is named with upstream's trace and what to do, and nothing after it was reached")
    func namesFailures() {
        let refusal = BridgeFailure.refused(BridgeRefusal(status: 400, code: "invalid_integration", trace: "v-9"))
        let failed = state { state in
            state.calls = [Self.call(.register), Self.call(.token), Self.call(.create, refusal, trace: "v-9")]
            state.end = .failed("The provider is not available for this channel.")
        }
        let report = UpstreamExplanation(failed).record(trace: "t1").contract()
        #expect(report.result == .rejected && report.reason == "invalid_integration" && report.traceID == "t1")
        let step = report.checks[4]
        #expect(step.outcome == .failed && step.step == 5 && step.explanation.contains("400 invalid_integration") && step.explanation.contains("v-9"))
        #expect(!step.hint.isEmpty)
        #expect(outcomes(failed) == Array(repeating: .passed, count: 4) + [.failed] + Array(repeating: .notReached, count: 5))
    }

    @Test("bridge B107: each way in which a sign-in stops is told at its own step")
    func tellsWays() {
        func failedStep(_ change: @escaping (inout UpstreamJourney.State) -> Void) -> UInt32? {
            UpstreamExplanation(state(change)).checks.first { $0.outcome == .failed }?.step
        }
        #expect(failedStep { $0.end = .failed("The upstream service refuses the software statement.") } == 3)
        #expect(failedStep { $0.calls = [Self.call(.register, .unreachable(.notSent))] } == 3)
        #expect(failedStep { $0.calls = [Self.call(.token, .serverError(500))] } == 4)
        #expect(failedStep { $0.calls = [Self.call(.create, .unusable("no JSON"))] } == 5)
        #expect(
            failedStep {
                $0.calls = [Self.call(.create)]; $0.end = .failed("leads elsewhere")
            } == 6)
        #expect(
            failedStep {
                $0.calls = [Self.call(.create), Self.call(.byCode, .throttled(retryAfter: .seconds(1)))]; $0.isSent = true; $0.isBack = true
            } == 8)
        #expect(
            failedStep {
                $0.calls = [Self.call(.create), Self.call(.byCode)]; $0.isSent = true; $0.isBack = true; $0.profiles = []
            } == 9)
        #expect(
            failedStep { state in
                state.calls = [Self.call(.create), Self.call(.byCode)]
                (state.isSent, state.isBack, state.end) = (true, true, .codeGone)
                state.profiles = [UpstreamJourney.Profile(mvpd: "Coast", kind: "regular", attributes: ["zip (encrypted)"])]
            } == 10)
    }

    @Test("a sign-in that came about passes every step; one without a browser needs none; one that waits says so")
    func tellsSuccesses() {
        func done(_ state: inout UpstreamJourney.State) {
            state.calls.append(Self.call(.byCode))
            state.profiles = [UpstreamJourney.Profile(mvpd: "Coast", kind: "regular", attributes: ["userID"])]
            state.end = .signedIn
        }
        let whole = state { state in
            state.calls = [Self.call(.create)]
            (state.isSent, state.isBack) = (true, true)
            done(&state)
        }
        #expect(outcomes(whole).allSatisfy { $0 == .passed } && UpstreamExplanation(whole).record(trace: "t1").result == .signedIn)
        #expect(UpstreamExplanation(whole).checks[8].explanation.contains("userID"))
        let known = state { state in
            state.calls = [Self.call(.create)]
            done(&state)
        }
        #expect(outcomes(known)[5] == .notNeeded && outcomes(known)[6] == .notNeeded && outcomes(known)[9] == .passed)
        let open = state { state in
            state.calls = [Self.call(.create)]
            state.isSent = true
        }
        let report = UpstreamExplanation(open).record(trace: "t1")
        #expect(report.result == .declined && report.reason == "unfinished" && outcomes(open)[6] == .notReached)
        let cancelled = state { state in
            state.calls = [Self.call(.create), Self.call(.byCode)]
            (state.isSent, state.isBack, state.profiles, state.end) = (true, true, [], .declined)
        }
        #expect(UpstreamExplanation(cancelled).record(trace: "t1").result == .declined)
    }

    @Test("bridge B107: a journey is found by the trace of its beginning and by that of its end; 512 are remembered")
    func remembers() async throws {
        let journeys = UpstreamJourneys(clock: SystemClock(), reports: SignInReports(capacity: 1))
        for number in 0..<600 {
            await #expect(throws: Fault.self) {
                _ = try await journeys.starting(Self.parties, trace: "trace-\(number)") { () async throws(Fault) -> Int in
                    throw Fault(.upstreamUnavailable, "away")
                }
            }
        }
        #expect(journeys.report(trace: "trace-599")?.reason == "refused" && journeys.report(trace: "trace-88") != nil)
        #expect(journeys.report(trace: "trace-87") == nil && journeys.report(trace: "") == nil)
        #expect(try await journeys.starting(Self.parties, trace: "direct") { 1 } == 1)
        #expect(journeys.report(trace: "direct") == nil, "it went on in a login that had begun")
    }
}
