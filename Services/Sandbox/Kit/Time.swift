package import Clocks
internal import FoundationEssentials
internal import Synchronization

/// A clock that tests can set ahead or back, to simulate a provider with a wrong clock.
package final class AdjustableClock: WallClock {
    private let base: any WallClock
    private let offset = Mutex(Duration.zero)

    package init(_ base: any WallClock) { self.base = base }

    package func now() -> Timestamp { base.now() + offset.withLock { $0 } }

    /// Sets how far the clock is ahead of its base.
    package func shift(by span: Duration) { offset.withLock { $0 = span } }
}

/// `xs:dateTime` in UTC, as SAML writes it (SAML core §1.3.3).
package enum Instant {
    package static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(style(fraction: true))
    }

    /// - Returns: nil when the text is not an instant in UTC.
    package static func parse(_ text: String) -> Timestamp? {
        guard text.hasSuffix("Z") else { return nil }
        let date = (try? style(fraction: true).parse(text)) ?? (try? style(fraction: false).parse(text))
        return date.map { Timestamp(milliseconds: Int64(($0.timeIntervalSince1970 * 1000).rounded())) }
    }

    private static func style(fraction: Bool) -> Date.ISO8601FormatStyle {
        Date.ISO8601FormatStyle(includingFractionalSeconds: fraction)
    }
}
