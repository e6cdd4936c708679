/// The subject's name with everything that a later logout has to send back (mvpd §2.7).
public struct NameID: Hashable, Sendable {
    public let value: UpstreamUserID
    /// URI; nil when it was not sent.
    public let format: String?
    public let nameQualifier: String?
    public let spNameQualifier: String?
    public let spProvidedID: String?
}
