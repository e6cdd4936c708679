import Clocks
import Testing

@testable import AutoSignInService

@Suite("Trying again at Apple")
struct RetryPolicyTests {
    private let begin = Timestamp(seconds: 1_900_000_000)

    private func step(
        _ outcome: DeliveryOutcome, _ kind: OutboxKind = .update, after spent: Duration = .zero, attempts: Int = 1, refused: Int = 0,
        unclear: Bool = false, fraction: Double = 1
    ) -> RetryPolicy.Step {
        let progress = DeliveryProgress(beganAt: begin, attempts: attempts, refusedCredentials: refused, isUnclear: unclear)
        return RetryPolicy.step(after: outcome, of: kind, progress: progress, now: begin + spent, fraction: fraction)
    }

    private func pause(_ step: RetryPolicy.Step, from moment: Timestamp) -> Duration? {
        if case .again(let next, _) = step { next - moment } else { nil }
    }

    @Test("pauses double from a second to a quarter of an hour, with full jitter")
    func backoff() {
        let busy = DeliveryOutcome.busy(status: 503, retryAfter: nil)
        for (attempts, seconds) in [(1, 1), (2, 2), (3, 4), (10, 512), (11, 900), (40, 900)] {
            #expect(pause(step(busy, attempts: attempts), from: begin) == .seconds(seconds))
            #expect(pause(step(busy, attempts: attempts, fraction: 0), from: begin) == .zero)
        }
        #expect(pause(step(.busy(status: 429, retryAfter: .seconds(30)), fraction: 0), from: begin) == .seconds(30))
    }

    @Test("an Update is given up after 24 hours, a Delete or a revocation at Apple after 30 days more, tried once a day")
    func patience() {
        let (day, busy): (Duration, DeliveryOutcome) = (.seconds(86_400), .unreachable)
        #expect(pause(step(busy, after: day - .seconds(1)), from: begin + day - .seconds(1)) != nil)
        #expect(pause(step(busy, after: day), from: begin) == nil)
        for kind in [OutboxKind.delete, .revoke] {
            #expect(pause(step(busy, kind, after: day - .milliseconds(1)), from: begin + day - .milliseconds(1)) == .seconds(1))
            #expect(pause(step(busy, kind, after: day), from: begin + day) == day)
            #expect(pause(step(busy, kind, after: day * 30), from: begin + day * 30) == day)
            #expect(pause(step(busy, kind, after: day * 31), from: begin) == nil)
        }
    }

    @Test("404 means absent to a first Update, assumed to one after an unclear try, done to a Delete")
    func unknownValue() {
        #expect(step(.unknown) == .absent)
        #expect(step(.unknown, unclear: true) == .assumed)
        #expect(step(.unknown, .delete) == .done)
    }

    @Test("401 is tried once more at once; other refusals end it")
    func refusals() {
        #expect(pause(step(.credentialsRefused), from: begin) == .zero)
        #expect(pause(step(.credentialsRefused, refused: 1), from: begin) == nil)
        #expect(pause(step(.refused(status: 400)), from: begin) == nil)
    }

    @Test("a time-out, and an answer of an intermediary, are unclear; a refusal of the server is not")
    func clarity() {
        for status in [200, 301, 502, 504] {
            guard case .unclear = DeliveryOutcome.storeKit(status: status, retryAfter: nil) else {
                Issue.record("\(status) is not unclear")
                continue
            }
        }
        for status in [429, 500, 503] {
            guard case .busy = DeliveryOutcome.storeKit(status: status, retryAfter: nil) else {
                Issue.record("\(status) is not busy")
                continue
            }
        }
        guard case .again(_, let progress) = step(.unclear(status: 0, retryAfter: nil)) else {
            Issue.record("a time-out is not tried again")
            return
        }
        #expect(progress.isUnclear)
    }
}
