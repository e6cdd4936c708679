internal import Clocks
public import Logging

/// Lines of an event that comes with every request: as `Logger` would write them, without the table that it needs for their fields.
public struct FrequentEvent: Sendable {
    /// The text between the time and the fields of each line.
    private let head: [UInt8]
    private let level: Logger.Level
    private let clock: any WallClock
    private let output: LogOutput

    /// The fields of one line.
    public struct Fields {
        fileprivate var line: JsonLine

        /// - Parameter name: Plain ASCII, and none of the fixed names: time, level, service, event.
        public mutating func add(_ name: StaticString, _ value: String) { line.add(plain: name, value) }

        /// As a number, which `Logger` has for the names in `NumberField`.
        public mutating func add(_ name: StaticString, _ value: Int64) { line.add(plain: name, value) }

        /// As a boolean, which `Logger` has for a `Bool` that is no text: `.stringConvertible(flag)`.
        public mutating func add(_ name: StaticString, _ flag: Bool) { line.add(plain: name, flag) }
    }

    /// - Returns: `nil` when the logger writes no such lines: by its level, its handler, or fields of its own.
    public init?(_ event: String, level: Logger.Level = .info, of logger: Logger) {
        guard logger.logLevel <= level, let handler = logger.handler as? JsonLogHandler, let parts = handler.parts else { return nil }
        var line = JsonLine()
        line.add("level", level.rawValue)
        line.add("service", parts.service)
        line.add("event", event)
        head = line.members
        self.level = level
        clock = parts.clock
        output = parts.output
    }

    public func write(_ fill: (inout Fields) -> Void) {
        var fields = Fields(line: JsonLine())
        fields.line.add(plain: "time", clock.now().iso8601)
        fields.line.add(members: head)
        fill(&fields)
        output.write(fields.line.finished(), level)
    }
}

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

/// Fields of a log line that are numbers: a reader can compare and add them. `Logger` carries all values as text.
enum NumberField {
    /// A name is one everywhere, so that a field has one type in all lines. `version` is not among them: programs have one that is no number.
    private static let names: Set<String> = [
        "asked", "attempt", "attempts", "bytes", "count", "duration_ms", "duration_us", "known", "length", "limit", "ms", "number", "port",
        "problems",
        "replaced", "seconds", "status", "sums",
    ]

    /// The value in JSON's form; `nil`: it is text, whatever it looks like.
    static func number(_ name: String, _ value: Logger.Metadata.Value) -> String? {
        guard names.contains(name) else { return nil }
        let text: String
        switch value {
        case .string(let string): text = string
        case .stringConvertible(let value): text = value.description
        case .array, .dictionary: return nil
        }
        return isNumber(text.utf8) ? text : nil
    }

    /// RFC 8259 section 6, without an exponent, and short enough for everybody's reader.
    private static func isNumber(_ text: String.UTF8View) -> Bool {
        guard text.count <= 20 else { return false }
        let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        let parts = unsigned.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ part in !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0) } }) else { return false }
        return parts[0].count == 1 || parts[0].first != UInt8(ascii: "0")
    }
}
