internal import Logging
internal import Synchronization

/// Every call to the stand-in Apple, with hashes for secrets.
final class AppleLog: Sendable {
    /// Most entries kept; the oldest goes first. Counters go on.
    static let limit = 5000

    struct Entry: Sendable, Codable, Equatable {
        /// Milliseconds since 1970, by the stand-in's clock.
        let at: Int64
        let endpoint: AppleEndpoint
        let method: String
        let path: String
        /// 0: no answer.
        let status: Int
        let outcome: String
        /// The fault that was applied to the call.
        let fault: AppleFault.Kind?
        let fields: [String: String]
    }

    struct Report: Sendable, Codable, Equatable {
        /// Calls by endpoint.
        var counters: [String: Int] = [:]
        /// Newest last.
        var entries: [Entry] = []
    }

    private let content = Mutex(Report())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func note(_ entry: Entry) {
        logger.info(
            "apple_answered", metadata: ["endpoint": "\(entry.endpoint.rawValue)", "status": "\(entry.status)", "outcome": "\(entry.outcome)"])
        content.withLock { content in
            content.counters[entry.endpoint.rawValue, default: 0] += 1
            content.entries.append(entry)
            if content.entries.count > Self.limit { content.entries.removeFirst() }
        }
    }

    func reset() { content.withLock { $0 = Report() } }

    func report() -> Report { content.withLock { $0 } }
}
