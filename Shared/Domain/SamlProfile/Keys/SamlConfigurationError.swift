/// A key, certificate or setting that cannot be used; found when the configuration is read, never during a sign-in.
public struct SamlConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Plain words for an operator, without any secret.
    public let description: String

    init(_ description: String) { self.description = description }
}
