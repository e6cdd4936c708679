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
