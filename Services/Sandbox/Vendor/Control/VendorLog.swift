internal import SandboxKit
internal import Logging
internal import Synchronization

/// Every call to the stand-in vendor, with all that it said: tests look for what must not come here.
final class VendorLog: Sendable {
    /// Most entries kept; the oldest goes first. Counters go on.
    static let limit = 5000
    /// Octets of a body, and of a header, that are kept.
    private static let longestText = 65_536

    struct Entry: Sendable, Codable, Equatable {
        /// Counts from 1 since the last reset.
        var number: Int
        /// Milliseconds since 1970 by the stand-in's clock.
        let at: Int64
        let operation: VendorOperation
        let method: String
        let path: String
        let query: String
        /// By names in small letters; of several values the first.
        let headers: [String: String]
        let body: String
        /// The peer of the connection, and its port.
        let peer: String
        let port: Int
        /// `1.1` or `2`.
        let httpVersion: String
        /// 0: no answer.
        let status: Int
        /// An error's code, or what happened in a word.
        let outcome: String
        /// The fault that was applied.
        let fault: VendorFault.Kind?
        /// Between the call and its answer, by the machine's clock.
        let tookMilliseconds: Int64
    }

    struct Counter: Sendable, Codable, Equatable {
        var calls = 0
        var inFlight = 0
        /// Most calls at one time.
        var mostInFlight = 0
    }

    struct Report: Sendable, Codable, Equatable {
        /// By operation; those that were never called are left out.
        var counters: [String: Counter] = [:]
        /// Questions that reached the MVPDs' own decision points.
        var mvpdQuestions = 0
        /// Newest last.
        var entries: [Entry] = []
    }

    private struct Content {
        var counters: [VendorOperation: Counter] = [:]
        var entries: [Entry] = []
        var last = 0
    }

    private let content = Mutex(Content())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Counts a call when it arrives.
    func begin(_ operation: VendorOperation) {
        content.withLock { content in
            var counter = content.counters[operation] ?? Counter()
            counter.calls += 1
            counter.inFlight += 1
            counter.mostInFlight = max(counter.mostInFlight, counter.inFlight)
            content.counters[operation] = counter
        }
    }

    /// A call is over, answered or not.
    func end(_ operation: VendorOperation) {
        content.withLock { content in
            guard let counter = content.counters[operation], counter.inFlight > 0 else { return }
            content.counters[operation]?.inFlight = counter.inFlight - 1
        }
    }

    func note(_ call: VendorCall, status: Int, outcome: String, fault: VendorFault.Kind?, took: Duration) {
        logger.info(
            "upstream_answered", metadata: ["operation": "\(call.operation.rawValue)", "status": "\(status)", "outcome": "\(outcome)"])
        var headers: [String: String] = [:]
        for field in call.headers where headers[field.name.canonicalName] == nil {
            headers[field.name.canonicalName] = String(field.value.prefix(Self.longestText))
        }
        if let authority = call.authority { headers["host"] = authority }
        let body = String(decoding: call.body.prefix(Self.longestText), as: UTF8.self)
        content.withLock { content in
            content.last += 1
            content.entries.append(
                Entry(
                    number: content.last, at: call.now.milliseconds, operation: call.operation, method: call.method, path: call.path,
                    query: call.query, headers: headers, body: body, peer: call.peer, port: call.port, httpVersion: call.httpVersion, status: status,
                    outcome: outcome, fault: fault,
                    tookMilliseconds: took.wholeMilliseconds))
            // Many at once, since those that stay move.
            if content.entries.count >= 2 * Self.limit { content.entries.removeFirst(Self.limit) }
        }
    }

    func reset() {
        content.withLock { content in
            // Calls under way stay counted as such.
            let under = content.counters.filter { $0.value.inFlight > 0 }
            content = Content(
                counters: under.mapValues { Counter(calls: 0, inFlight: $0.inFlight, mostInFlight: $0.inFlight) })
        }
    }

    /// - Parameters:
    ///   - operation: Entries of this one alone; nil: of all.
    ///   - number: Entries after this one.
    func report(_ operation: VendorOperation?, after number: Int, mvpdQuestions: Int) -> Report {
        content.withLock { content in
            Report(
                counters: Dictionary(uniqueKeysWithValues: content.counters.map { ($0.key.rawValue, $0.value) }), mvpdQuestions: mvpdQuestions,
                entries: content.entries.suffix(Self.limit).filter { $0.number > number && (operation == nil || $0.operation == operation) })
        }
    }
}
