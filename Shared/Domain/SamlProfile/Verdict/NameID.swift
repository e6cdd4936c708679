/// The subject's name with everything that a later logout has to send back (mvpd §2.7).
public struct NameID: Hashable, Sendable {
    public let value: ProviderUserID
    /// URI; nil when it was not sent.
    public let format: String?
    public let nameQualifier: String?
    public let spNameQualifier: String?
    public let spProvidedID: String?

    /// - Parameters:
    ///   - value: The MVPD's name for the person.
    ///   - format: URI; nil when it was not sent.
    ///   - nameQualifier: `NameQualifier`; nil when it was not sent.
    ///   - spNameQualifier: `SPNameQualifier`; nil when it was not sent.
    ///   - spProvidedID: `SPProvidedID`; nil when it was not sent.
    public init(
        value: ProviderUserID, format: String? = nil, nameQualifier: String? = nil, spNameQualifier: String? = nil, spProvidedID: String? = nil
    ) {
        self.value = value
        self.format = format
        self.nameQualifier = nameQualifier
        self.spNameQualifier = spNameQualifier
        self.spProvidedID = spProvidedID
    }
}
