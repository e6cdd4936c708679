import Clocks
import Testing

@testable import AuthorizationService

@Suite struct DecisionLifetimeTests {
    private let now = Timestamp(seconds: 1000)
    private let sessionEnd = Timestamp(seconds: 100_000)

    @Test("mvpd #94: each source in order; none at all is a failure")
    func takesTheFirstSource() {
        var lifetime = DecisionLifetime(reauthorizeAfter: .seconds(10), mvpdExpiry: Timestamp(seconds: 2000), configured: .seconds(5000))
        #expect(lifetime.end(now: now, sessionEnd: sessionEnd) == Timestamp(seconds: 1010))
        lifetime.reauthorizeAfter = nil
        #expect(lifetime.end(now: now, sessionEnd: sessionEnd) == Timestamp(seconds: 2000))
        lifetime.mvpdExpiry = nil
        #expect(lifetime.end(now: now, sessionEnd: sessionEnd) == Timestamp(seconds: 6000))
        #expect(lifetime.end(now: now, sessionEnd: Timestamp(seconds: 3000)) == Timestamp(seconds: 3000))
        lifetime.configured = nil
        #expect(lifetime.end(now: now, sessionEnd: sessionEnd) == nil)
    }
}
