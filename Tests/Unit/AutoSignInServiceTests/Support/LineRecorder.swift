import Logging
import Synchronization

/// Keeps what the service logs, one text per line.
struct LineRecorder: LogHandler {
    private final class Content: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let content = Content()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var lines: [String] { content.lines.withLock { $0 } }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0.key)=\($0.value)" }.sorted()
        content.lines.withLock { $0.append("\(event.level) \(event.message) \(fields.joined(separator: " "))") }
    }
}
