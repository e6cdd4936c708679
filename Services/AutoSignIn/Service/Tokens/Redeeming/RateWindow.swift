internal import Clocks

/// Counts events within a span that slides: the span before counts in as far as it still reaches into it.
struct RateWindow: Hashable, Sendable {
    private var start: Timestamp
    private var current = 0
    private var previous = 0

    init(now: Timestamp) { start = now }

    /// How many there were within the span, as far as two counters know.
    mutating func count(now: Timestamp, span: Duration) -> Int {
        turn(now, span)
        let elapsed = Double((now - start).wholeMilliseconds) / Double(span.wholeMilliseconds)
        return current + Int((Double(previous) * max(0, 1 - elapsed)).rounded(.down))
    }

    mutating func add(now: Timestamp, span: Duration) {
        turn(now, span)
        current += 1
    }

    /// When the current span is over.
    func end(span: Duration) -> Timestamp { start + span }

    private mutating func turn(_ now: Timestamp, _ span: Duration) {
        // A clock that was set back begins anew.
        if now < start || now >= start + span + span {
            self = RateWindow(now: now)
        } else if now >= start + span {
            (previous, current, start) = (current, 0, start + span)
        }
    }
}
