import Clocks
import Testing

@testable import AuthorizationService

@Suite struct DenialLimiterTests {
    private static let start = Timestamp(seconds: 1_000_000)
    private let subject = DenialLimiter.Subject(device: "d", requestor: "r", resource: "x")
    private let denial = Denial(code: .authorizationDeniedByMvpd, details: "no")

    @Test("mvpd §4.3: five denials within 10 s block for 10 s; the last one is repeated")
    func blocksAfterFive() {
        var limiter = DenialLimiter()
        for second in 0..<4 { limiter.record(Denial(code: .authorizationDeniedByMvpd), for: subject, now: Self.start + .seconds(second)) }
        #expect(limiter.blocked(subject, now: Self.start + .seconds(4)) == nil)
        limiter.record(denial, for: subject, now: Self.start + .seconds(4))
        #expect(limiter.blocked(subject, now: Self.start + .seconds(4)) == denial)
        #expect(limiter.blocked(subject, now: Self.start + .milliseconds(13_999)) == denial)
        #expect(limiter.blocked(subject, now: Self.start + .seconds(14)) == nil)
    }

    @Test func slowDenialsDoNotBlock() {
        var limiter = DenialLimiter()
        for number in 0..<20 { limiter.record(denial, for: subject, now: Self.start + .milliseconds(2500 * number)) }
        #expect(limiter.blocked(subject, now: Self.start + .milliseconds(2500 * 19)) == nil)
    }

    @Test func aClockSetBackDoesNotKeepItBlocked() {
        var limiter = DenialLimiter()
        for _ in 0..<5 { limiter.record(denial, for: subject, now: Self.start) }
        let earlier = Self.start - .seconds(3600)
        #expect(limiter.blocked(subject, now: earlier) == nil)
        for _ in 0..<4 { limiter.record(denial, for: subject, now: earlier) }
        #expect(limiter.blocked(subject, now: earlier) == nil)
        limiter.record(denial, for: subject, now: earlier)
        #expect(limiter.blocked(subject, now: earlier) == denial)
    }

    @Test func blocksOneSubjectOnly() {
        var limiter = DenialLimiter()
        for _ in 0..<5 { limiter.record(denial, for: subject, now: Self.start) }
        for other in [("e", "r", "x"), ("d", "s", "x"), ("d", "r", "y")] {
            #expect(limiter.blocked(.init(device: other.0, requestor: other.1, resource: other.2), now: Self.start) == nil)
        }
    }

    @Test func theEndOfOthersDoesNotSetItFree() {
        var limiter = DenialLimiter()
        let other = DenialLimiter.Subject(device: "e", requestor: "r", resource: "x")
        limiter.record(denial, for: other, now: Self.start)
        for _ in 0..<5 { limiter.record(denial, for: subject, now: Self.start + .seconds(5)) }
        limiter.record(denial, for: other, now: Self.start + .seconds(12))
        #expect(limiter.blocked(subject, now: Self.start + .seconds(12)) == denial)
    }

    @Test func itsMemoryIsBounded() {
        var limiter = DenialLimiter(limit: 2)
        for device in ["1", "2", "3"] {
            let subject = DenialLimiter.Subject(device: device, requestor: "r", resource: "x")
            for _ in 0..<5 { limiter.record(denial, for: subject, now: Self.start) }
        }
        #expect(limiter.blocked(.init(device: "3", requestor: "r", resource: "x"), now: Self.start) == nil)
        let later = Self.start + .seconds(30)
        let third = DenialLimiter.Subject(device: "3", requestor: "r", resource: "x")
        for _ in 0..<5 { limiter.record(denial, for: third, now: later) }
        #expect(limiter.blocked(third, now: later) == denial)
    }
}
