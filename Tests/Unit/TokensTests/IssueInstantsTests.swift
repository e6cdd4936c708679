internal import Clocks
internal import Testing
@testable import Tokens

@Suite struct IssueInstantsTests {
    private static func play(_ resource: String, of person: String = "ada") -> IssueInstants.Subject {
        IssueInstants.Subject(sessionGUID: person, requestor: "ACME1", resource: resource, mvpd: "NorthCable")
    }

    @Test("rest-v1 #72: a play gets each second once, the latest first, 120 of them")
    func eachSecondOnce() {
        var instants = IssueInstants()
        let now = Timestamp(seconds: 1_900_000_000)
        let given = (0..<120).map { _ in instants.claim(Self.play("NEWS"), now: now) }
        #expect(given == (0..<120).map { .second(Timestamp(seconds: 1_900_000_000 - $0)) })
        #expect(instants.claim(Self.play("NEWS"), now: now) == .exhausted)
        #expect(instants.claim(Self.play("SPORT"), now: now) == .second(now), "another play has its own")
        let later = Timestamp(seconds: 1_900_000_001)
        #expect(instants.claim(Self.play("NEWS"), now: later) == .second(later))
        #expect(instants.claim(Self.play("NEWS"), now: later) == .exhausted)
        let muchLater = Timestamp(seconds: 1_900_000_500)
        #expect(instants.claim(Self.play("NEWS"), now: muchLater) == .second(muchLater))
    }

    @Test("a clock that is set back gives no second twice")
    func clockSetBack() {
        var instants = IssueInstants()
        let now = Timestamp(seconds: 1_900_000_000)
        #expect(instants.claim(Self.play("NEWS"), now: now) == .second(now))
        let back = Timestamp(seconds: 1_899_999_990)
        #expect(instants.claim(Self.play("NEWS"), now: back) == .second(back))
        #expect(instants.claim(Self.play("NEWS"), now: now) == .second(Timestamp(seconds: 1_899_999_999)))
        // By more than is remembered: play goes on, and the seconds from before are not given when they come again.
        let longAgo = Timestamp(seconds: 1_899_990_000)
        #expect(instants.claim(Self.play("NEWS"), now: longAgo) == .second(longAgo))
        #expect(instants.claim(Self.play("NEWS"), now: longAgo) == .second(Timestamp(seconds: 1_899_989_999)))
        #expect(instants.claim(Self.play("SPORT"), now: longAgo) == .second(longAgo))
        #expect(instants.claim(Self.play("NEWS"), now: now) == .second(Timestamp(seconds: 1_899_999_998)))
        #expect(instants.claim(Self.play("NEWS"), now: back) == .second(Timestamp(seconds: 1_899_999_989)))
    }

    @Test("more plays than there is room for are refused until the old ones are out of reach; a long resource takes no more room than a short one")
    func hasABound() {
        var instants = IssueInstants(capacity: 1000)
        let now = Timestamp(seconds: 1_900_000_000)
        let long = String(repeating: "x", count: 16_384)
        for number in 0..<1000 { #expect(instants.claim(Self.play(long, of: "\(number)"), now: now) == .second(now)) }
        #expect(instants.claim(Self.play("NEWS", of: "one more"), now: now) == .full)
        #expect(instants.claim(Self.play(long, of: "7"), now: now) == .second(Timestamp(seconds: 1_899_999_999)), "who is known goes on")
        let later = Timestamp(seconds: 1_900_000_121)
        #expect(instants.claim(Self.play("NEWS", of: "one more"), now: later) == .second(later))
    }
}
