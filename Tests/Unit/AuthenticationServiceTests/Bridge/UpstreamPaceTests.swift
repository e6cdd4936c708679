import Clocks
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// How fast an upstream is called (bridge §5.3, §5.4).
@Suite struct UpstreamPaceTests {
    private func taken(_ pace: inout UpstreamPace, _ now: Timestamp, of tries: Int = 100) -> Int {
        (0..<tries).count { _ in pace.take(perSecond: 10, now) }
    }

    @Test("a second has so many calls; the next one fails at once")
    func limits() {
        var pace = UpstreamPace(perSecond: 10, t0)
        let counts = [t0, t0 + .milliseconds(500), t0 + .seconds(3600), t0].map { taken(&pace, $0) }
        #expect(counts == [10, 5, 10, 0], "a clock that was set back gives nothing")
    }

    @Test("bridge B98: more than twenty addresses throttled at once halve the pace, which comes back slowly; a few, or one often, do not")
    func slowsDown() {
        var pace = UpstreamPace(perSecond: 10, t0)
        let few = (0..<69).map { number in pace.throttled(number < 50 ? "203.0.113.1" : "198.51.100.\(number)", t0) }
        #expect(!few.contains(true))
        var late = pace
        let (isLateOne, isOne) = (late.throttled("198.51.100.99", t0 + .seconds(11)), pace.throttled("198.51.100.99", t0 + .seconds(1)))
        #expect(!isLateOne && isOne)
        _ = taken(&pace, t0 + .seconds(1))
        let (slow, recovered) = (taken(&pace, t0 + .seconds(2)), taken(&pace, t0 + .seconds(200)))
        #expect(slow == 5 && recovered == 10)
    }
}
