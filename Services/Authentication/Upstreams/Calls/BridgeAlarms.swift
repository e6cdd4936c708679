internal import Clocks
internal import Contracts
internal import Logging
internal import Synchronization

/// What an operator should look at, by upstream: the alarms of the bridge as they go to the log, the latest of each kind.
final class BridgeAlarms: Sendable {
    private struct Kind {
        var at: Timestamp
        var count: UInt32
        var details: String
    }

    private static let mostUpstreams = 1024
    private static let mostKinds = 64
    private static let longestDetails = 256
    private static let prefix = "bridge."

    private let clock: any WallClock
    private let known = Mutex<[OctetText: [OctetText: Kind]]>([:])

    init(clock: any WallClock) { self.clock = clock }

    /// The same log, whose alarms are remembered here.
    func watching(_ logger: Logger) -> Logger {
        var watched = logger
        watched.handler = Watch(inner: logger.handler, alarms: self)
        return watched
    }

    /// The newest first.
    func of(_ upstream: String) -> [UpstreamAlarm] {
        let kinds = known.withLock { $0[OctetText(upstream)] ?? [:] }
        return kinds.sorted { ($1.value.at, $0.key.text) < ($0.value.at, $1.key.text) }.map { event, kind in
            UpstreamAlarm(event: event.text, atMilliseconds: UInt64(clamping: kind.at.milliseconds), count: kind.count, details: kind.details)
        }
    }

    private func note(_ event: String, _ metadata: Logger.Metadata) {
        guard event.hasPrefix(Self.prefix), let upstream = metadata["upstream"]?.description else { return }
        let said = ["statement", "code", "details"].compactMap { name in metadata[name]?.description }.filter { !$0.isEmpty }.joined(separator: ", ")
        let details = String(decoding: said.utf8.prefix(Self.longestDetails), as: UTF8.self)
        let now = clock.now()
        known.withLock { known in
            let key = OctetText(upstream)
            guard known[key] != nil || known.count < Self.mostUpstreams else { return }
            var kinds = known[key] ?? [:]
            let count = kinds[OctetText(event)]?.count ?? 0
            guard count > 0 || kinds.count < Self.mostKinds else { return }
            kinds[OctetText(event)] = Kind(at: now, count: count < .max ? count + 1 : count, details: details)
            known[key] = kinds
        }
    }

    /// Lets errors pass, and tells of them.
    private struct Watch: LogHandler {
        var inner: any LogHandler
        let alarms: BridgeAlarms

        var metadata: Logger.Metadata {
            get { inner.metadata }
            set { inner.metadata = newValue }
        }

        var logLevel: Logger.Level {
            get { inner.logLevel }
            set { inner.logLevel = newValue }
        }

        var metadataProvider: Logger.MetadataProvider? {
            get { inner.metadataProvider }
            set { inner.metadataProvider = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { inner[metadataKey: key] }
            set { inner[metadataKey: key] = newValue }
        }

        func log(event: LogEvent) {
            if event.level >= .error { alarms.note(event.message.description, event.metadata ?? [:]) }
            inner.log(event: event)
        }
    }
}
