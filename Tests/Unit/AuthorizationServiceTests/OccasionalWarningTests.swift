@testable import AuthorizationService
import Clocks
import Testing

/// Warnings of what a client does wrong with every call.
@Suite("A warning once a minute")
struct OccasionalWarningTests {
    @Test("the first is due at once, the next one a minute later, and a clock that is set back does not silence it")
    func isDue() {
        let (warning, start) = (OccasionalWarning(), Timestamp(seconds: 1_800_000_000))
        #expect(warning.isDue(now: start))
        #expect(!warning.isDue(now: start) && !warning.isDue(now: start + .milliseconds(59_999)))
        #expect(warning.isDue(now: start + .seconds(60)))
        // An hour back, and then by that clock.
        #expect(warning.isDue(now: start - .seconds(3600)))
        #expect(!warning.isDue(now: start - .seconds(3541)))
        #expect(warning.isDue(now: start - .seconds(3540)))
    }
}
