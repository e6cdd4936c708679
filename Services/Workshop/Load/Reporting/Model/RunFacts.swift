/// The facts by which a run is known.
public struct RunFacts: Codable, Sendable, Equatable {
    /// A run ended for one of these reasons.
    public enum End: String, Codable, Sendable {
        /// The planned time had passed.
        case duration
        /// As many calls as were wanted had been begun.
        case calls
        /// Interrupted by Ctrl-C; the report has what was measured until then.
        case interrupted
        /// `--stop-on-error-rate` or a ramp that had found its knee.
        case stopCondition
        /// No connection was left, and none came back.
        case targetLost
    }

    /// Random, 32 lower-case hex digits.
    public var id: String
    /// `--name`.
    public var name: String?
    /// `--tag key=value`.
    public var tags: [String: String]
    /// The measured part began at this time: milliseconds since 1970.
    public var startedAtMilliseconds: Int64
    public var end: End
    /// Version of the tool.
    public var toolVersion: String
    /// The command line, without secrets.
    public var commandLine: [String]

    public init(
        id: String, name: String? = nil, tags: [String: String] = [:], startedAtMilliseconds: Int64, end: End, toolVersion: String,
        commandLine: [String] = []
    ) {
        self.id = id
        self.name = name
        self.tags = tags
        self.startedAtMilliseconds = startedAtMilliseconds
        self.end = end
        self.toolVersion = toolVersion
        self.commandLine = commandLine
    }
}
