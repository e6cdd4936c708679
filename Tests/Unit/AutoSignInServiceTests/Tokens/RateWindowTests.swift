import Clocks
import Testing

@testable import AutoSignInService

@Suite("Counting within a span")
struct RateWindowTests {
    private let start = Timestamp(seconds: 1000)
    private let span: Duration = .seconds(60)

    private func window(_ times: Int, at moment: Timestamp) -> RateWindow {
        var window = RateWindow(now: start)
        for _ in 0..<times { window.add(now: moment, span: span) }
        return window
    }

    @Test("events of the span before count in as far as the span still reaches back to them")
    func slides() {
        for (seconds, count) in [(0, 10), (59, 10), (60, 10), (90, 5), (119, 0), (120, 0), (1000, 0)] {
            var window = window(10, at: start)
            #expect(window.count(now: start + .seconds(seconds), span: span) == count, "after \(seconds) s")
        }
    }

    @Test("a clock that was set back begins anew, instead of refusing for ever")
    func setBack() {
        var window = window(10, at: start)
        #expect(window.count(now: start - .seconds(1), span: span) == 0)
    }
}
