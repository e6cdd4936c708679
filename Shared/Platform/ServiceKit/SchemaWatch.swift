internal import Faults
internal import Logging
internal import Storage
internal import Synchronization

/// States whether this program still understands its store, which copies of a newer release may have changed meanwhile. It also tells when its server
/// goes and comes.
final class SchemaWatch: Sendable {
    private static let interval: Duration = .seconds(2)

    private let store: Store
    private let logger: Logger
    private let trouble = Mutex<String?>(nil)
    private let isAway = Mutex(false)
    private let warning = Mutex<String?>(nil)

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Why the program can no longer work with the store; `nil` as long as it can.
    var lacking: String? { trouble.withLock { $0 } }

    func run() async throws {
        while true {
            try await Task.sleep(for: Self.interval)
            await look()
        }
    }

    private func tellServer() {
        let reason = store.trouble
        let wasAway = isAway.withLock { isAway in
            defer { isAway = reason != nil }
            return isAway
        }
        switch (reason, wasAway) {
        case (let reason?, false): logger.error("store.away", metadata: ["place": "\(store.place)", "reason": "\(reason)"])
        case (nil, true): logger.notice("store.back", metadata: ["place": "\(store.place)"])
        default: break
        }
        let (found, before) = warning.withLock { warning in
            let before = warning
            warning = store.warning
            return (warning, before)
        }
        if let found, before == nil { logger.warning("store.warning", metadata: ["place": "\(store.place)", "reason": "\(found)"]) }
    }

    private func look() async {
        tellServer()
        let found: String?
        do throws(Fault) {
            found = try await store.isUnderstood() ? nil : "the store was changed by a newer version of this service; start that version here too"
        } catch {
            // A store that does not answer is told by the calls that need it.
            return
        }
        let before = trouble.withLock { trouble in
            defer { trouble = found }
            return trouble
        }
        if let found, before == nil { logger.error("store.superseded", metadata: ["file": "\(store.place)", "reason": "\(found)"]) }
    }
}
