import Logging
import Synchronization

/// Keeps what the service logs.
struct LogRecorder: LogHandler {
    struct Line: Sendable {
        let level: Logger.Level
        let event: String
        let fields: [String: String]
    }

    private final class Content: Sendable {
        let lines = Mutex<[Line]>([])
    }

    private let content = Content()
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var lines: [Line] { content.lines.withLock { $0 } }

    /// The fields `reason` of all lines so far, oldest first.
    var reasons: [String] { lines.compactMap { $0.fields["reason"] } }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        content.lines.withLock { $0.append(Line(level: event.level, event: event.message.description, fields: fields)) }
    }
}
