/// The stand-in upstream in the settings.
public struct UpstreamSettings: Sendable, Equatable {
    public var listen: SandboxSettings.Listener
    /// Base of the addresses that browsers open, without a slash at the end.
    public var publicURL: String
    /// File with the certificate by which media tokens and statements are verified.
    public var certificate: String
    /// File with the key to it.
    public var key: String
    /// Whether calls are throttled from the start: 1 a second and 10 more for each address (rest-v2 §1.4).
    public var throttles: Bool
}
