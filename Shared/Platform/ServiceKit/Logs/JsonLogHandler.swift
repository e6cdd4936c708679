internal import Clocks
public import Logging

/// One JSON object per event and line: time, level, service, event (the message), then the fields.
public struct JsonLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    public var metadataProvider: Logger.MetadataProvider?
    private let service: String
    private let clock: any WallClock
    private let output: LogOutput

    init(service: String, level: Logger.Level, clock: any WallClock = SystemClock(), output: LogOutput) {
        self.service = service
        self.clock = clock
        self.output = output
        logLevel = level
    }

    /// For a program that is no service, on standard output.
    public init(program: String) { self.init(service: program, level: .info, output: .standard) }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// The parts of each of its lines; `nil` when it has fields of its own.
    var parts: (service: String, clock: any WallClock, output: LogOutput)? {
        metadata.isEmpty && metadataProvider == nil ? (service, clock, output) : nil
    }

    public func log(event: LogEvent) {
        var line = JsonLine()
        line.add("time", clock.now().iso8601)
        line.add("level", event.level.rawValue)
        line.add("service", service)
        line.add("event", event.message.description)
        for (name, value) in fields(event).sorted(by: { $0.key < $1.key }) {
            if let number = NumberField.number(name, value) { line.add(name, number: number) } else { line.add(Self.free(name), value) }
        }
        output.write(line.finished(), event.level)
    }

    private func fields(_ event: LogEvent) -> Logger.Metadata {
        if metadata.isEmpty, metadataProvider == nil, event.error == nil { return event.metadata ?? [:] }
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = .string("\(error)") }
        return fields
    }

    /// A field must not hide one of the fixed names.
    private static func free(_ name: String) -> String {
        switch name {
        case "time", "level", "service", "event": name + "_"
        default: name
        }
    }
}
