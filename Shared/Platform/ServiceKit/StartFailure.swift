/// Why a program cannot start or go on: what the operator reads before it exits with status 1.
public struct StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line that names the file and key and says what to do; then one per further problem of the same file.
    public let lines: [String]

    public init(_ line: String) { lines = [line] }

    public init(lines: [String]) { self.lines = lines }

    public var description: String { lines.joined(separator: "\n") }
}
