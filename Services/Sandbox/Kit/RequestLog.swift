package import Clocks
internal import FoundationEssentials
package import Logging
internal import Synchronization

/// The requests that the stand-in received, for tests.
package final class RequestLog: Sendable {
    /// Most entries kept; the oldest goes first. Counters go on.
    package static let limit = 1000

    /// One request with its outcome.
    package struct Entry: Sendable, Codable, Equatable {
        package let at: String
        /// `sso`, `login`, `pdp` or `metadata`.
        package let endpoint: String
        package let mvpd: String
        /// `login-page`, `signed-in`, `refused`, …; for `pdp` the decisions in the order of the answer.
        package let outcome: String
        package let fields: [String: String]
    }

    /// Everything that is kept.
    package struct Report: Sendable, Codable, Equatable {
        /// Requests by `endpoint/mvpd`.
        package var counters: [String: Int] = [:]
        /// Newest last.
        package var entries: [Entry] = []
    }

    private let content = Mutex(Report())
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    /// Counts a request when it arrives, independent of its outcome.
    package func count(_ endpoint: String, mvpd: String) {
        content.withLock { $0.counters["\(endpoint)/\(mvpd)", default: 0] += 1 }
    }

    /// Keeps the outcome of a request, and writes it to the service's log without names of people and resources.
    package func note(_ endpoint: String, mvpd: String, outcome: String, fields: [String: String] = [:], at now: Timestamp) {
        var metadata: Logger.Metadata = ["mvpd": "\(mvpd)", "outcome": "\(outcome)"]
        metadata["reason"] = fields["reason"].map { "\($0)" }
        logger.info("\(endpoint)_answered", metadata: metadata)
        let entry = Entry(at: Instant.text(now), endpoint: endpoint, mvpd: mvpd, outcome: outcome, fields: fields)
        content.withLock { content in
            content.entries.append(entry)
            if content.entries.count > Self.limit { content.entries.removeFirst() }
        }
    }

    package func reset() { content.withLock { $0 = Report() } }

    package func report() -> Report { content.withLock { $0 } }
}

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
