internal import Foundation
internal import ServiceKit
internal import Logging

/// Logs as the services write theirs: one JSON object per line on standard output.
struct JsonLines: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        if let error = event.error { line["error"] = "\(error)" }
        line["time"] = Date.now.formatted(.iso8601WithFraction)
        line["level"] = event.level.rawValue
        line["service"] = "sandbox"
        line["event"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(line) else { return }
        ProgramLog.add([UInt8](text) + [0x0a], level: event.level)
    }
}

extension FormatStyle where Self == Date.ISO8601FormatStyle {
    fileprivate static var iso8601WithFraction: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
