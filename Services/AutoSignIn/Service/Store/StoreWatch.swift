internal import Faults
public import Logging
internal import Synchronization

/// Whether the store answers, as far as the last look says.
public final class StoreWatch: Sendable {
    private let store: AutoSignInStore
    private let logger: Logger
    private let trouble = Mutex<String?>("not looked at yet")

    public init(store: AutoSignInStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// What is wrong with the store; `nil` when it answered well.
    public var lacking: String? { trouble.withLock { $0 } }

    /// Looks once.
    public func look() async {
        let found: String?
        do throws(Fault) {
            try await store.verify()
            found = nil
        } catch {
            found = error.message
        }
        let before = trouble.withLock { trouble in
            defer { trouble = found }
            return trouble
        }
        if let found, found != before { logger.error("store.trouble", metadata: ["reason": "\(found)"]) }
        if found == nil, before != nil { logger.info("store.answers") }
    }
}
