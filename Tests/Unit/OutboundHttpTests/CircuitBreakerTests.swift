import Clocks
import Testing

@testable import OutboundHttp

@Suite struct CircuitBreakerTests {
    private static let start = Timestamp(seconds: 1_000_000)

    private func opened() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<20 { breaker.record(.failure, permission: breaker.ask(now: Self.start), now: Self.start) }
        return breaker
    }

    @Test("mvpd §4.3: below 20 calls, or below half, it stays closed")
    func needsEnoughFailures() {
        var breaker = CircuitBreaker()
        for _ in 0..<19 { breaker.record(.failure, permission: breaker.ask(now: Self.start), now: Self.start) }
        #expect(breaker.isClosed)
        var half = CircuitBreaker()
        for number in 0..<100 { half.record(number % 5 < 2 ? .failure : .success, permission: half.ask(now: Self.start), now: Self.start) }
        #expect(half.isClosed)
    }

    @Test("mvpd §4.3: calls older than 30 s do not count")
    func forgetsOldCalls() {
        var breaker = CircuitBreaker()
        for _ in 0..<19 { breaker.record(.failure, permission: breaker.ask(now: Self.start), now: Self.start) }
        let later = Self.start + .seconds(31)
        breaker.record(.failure, permission: breaker.ask(now: later), now: later)
        #expect(breaker.isClosed)
    }

    @Test("mvpd §4.3: open for 15 s, then three probes at most")
    func probesAfterAWhile() {
        var breaker = opened()
        #expect(breaker.ask(now: Self.start + .milliseconds(14_999)) == .refused)
        let later = Self.start + .seconds(15)
        #expect((0..<4).map { _ in breaker.ask(now: later) } == [.probe, .probe, .probe, .refused])
        for _ in 0..<3 { breaker.record(.success, permission: .probe, now: later) }
        #expect(breaker.isClosed)
    }

    @Test("mvpd §4.3: one failed probe opens it again")
    func aFailedProbeOpensAgain() {
        var breaker = opened()
        let later = Self.start + .seconds(15)
        breaker.record(.success, permission: breaker.ask(now: later), now: later)
        breaker.record(.failure, permission: breaker.ask(now: later), now: later)
        #expect(breaker.ask(now: later + .milliseconds(14_999)) == .refused)
        #expect(breaker.ask(now: later + .seconds(15)) == .probe)
    }

    @Test func aClockSetBackDoesNotKeepItOpen() {
        var breaker = opened()
        #expect(breaker.ask(now: Self.start - .seconds(3600)) == .probe)
        var closed = CircuitBreaker()
        for _ in 0..<19 { closed.record(.failure, permission: closed.ask(now: Self.start), now: Self.start) }
        let earlier = Self.start - .seconds(3600)
        closed.record(.failure, permission: closed.ask(now: earlier), now: earlier)
        #expect(closed.isClosed, "calls of a time that is yet to come do not count")
    }

    @Test func anAbandonedProbeMakesRoomForAnother() {
        var breaker = opened()
        let later = Self.start + .seconds(15)
        for _ in 0..<3 { #expect(breaker.ask(now: later) == .probe) }
        breaker.record(.abandoned, permission: .probe, now: later)
        #expect(breaker.ask(now: later) == .probe)
    }

    @Test func lateOutcomesOfCallsDoNotDisturbProbes() {
        var breaker = opened()
        breaker.record(.failure, permission: .call, now: Self.start + .seconds(16))
        #expect(breaker.ask(now: Self.start + .seconds(16)) == .probe)
    }
}
