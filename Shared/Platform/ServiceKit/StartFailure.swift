/// A program cannot start or go on for this reason: what the operator reads before it exits.
public struct StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line that names the file and key and says what to do; then one per further problem of the same file.
    public let lines: [String]
    /// Nothing but a change of the settings, or of the files that they name, makes the program start: it exits with 78, else with 1.
    public private(set) var isOfSettings: Bool

    public init(_ line: String, isOfSettings: Bool = false) { self.init(lines: [line], isOfSettings: isOfSettings) }

    public init(lines: [String], isOfSettings: Bool = false) { (self.lines, self.isOfSettings) = (lines, isOfSettings) }

    public var description: String { lines.joined(separator: "\n") }

    /// `EX_CONFIG` of sysexits.h, at which the units of systemd start nothing again; 1 for all else.
    public var exitStatus: Int32 { isOfSettings ? 78 : 1 }

    /// The failure that checks of the settings throw.
    static func ofSettings(_ error: any Error) -> StartFailure {
        var failure = (error as? StartFailure) ?? StartFailure("\(error)")
        failure.isOfSettings = true
        return failure
    }
}
