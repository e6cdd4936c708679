/// A setting or a variable of telemetry that cannot be used.
public struct TelemetryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the variable, or the key in the settings.
    public let name: String
    /// The given value; `nil` where it could be a secret.
    public let value: String?
    /// Goes on from "must be".
    public let accepted: String

    init(_ name: String, _ value: String?, _ accepted: String) {
        self.name = name
        self.value = value
        self.accepted = accepted
    }

    /// Goes on from the name.
    public var text: String { "must be \(accepted)" + (value.map { "; it is '\($0)'" } ?? "") }

    public var description: String { "\(name) \(text)" }
}
