internal import Clocks
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The requests that the stand-in received, for tests.
final class RequestLog: Sendable {
    /// Most entries kept; the oldest goes first. Counters go on.
    static let limit = 1000

    struct Entry: Sendable, Codable, Equatable {
        let at: String
        /// `sso`, `login`, `pdp` or `metadata`.
        let endpoint: String
        let mvpd: String
        /// `login-page`, `signed-in`, `refused`, …; for `pdp` the decisions in the order of the answer.
        let outcome: String
        let fields: [String: String]
    }

    struct Report: Sendable, Codable, Equatable {
        /// Requests by `endpoint/mvpd`.
        var counters: [String: Int] = [:]
        /// Newest last.
        var entries: [Entry] = []
    }

    private let content = Mutex(Report())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Counts a request when it arrives, independent of its outcome.
    func count(_ endpoint: String, mvpd: String) {
        content.withLock { $0.counters["\(endpoint)/\(mvpd)", default: 0] += 1 }
    }

    /// Keeps the outcome of a request, and writes it to the service's log without names of people and resources.
    func note(_ endpoint: String, mvpd: String, outcome: String, fields: [String: String] = [:], at now: Timestamp) {
        var metadata: Logger.Metadata = ["mvpd": "\(mvpd)", "outcome": "\(outcome)"]
        metadata["reason"] = fields["reason"].map { "\($0)" }
        logger.info("\(endpoint)_answered", metadata: metadata)
        let entry = Entry(at: Instant.text(now), endpoint: endpoint, mvpd: mvpd, outcome: outcome, fields: fields)
        content.withLock { content in
            content.entries.append(entry)
            if content.entries.count > Self.limit { content.entries.removeFirst() }
        }
    }

    func reset() { content.withLock { $0 = Report() } }

    func report() -> Report { content.withLock { $0 } }
}
