internal import Contracts

/// The person as the MVPD named them (mvpd §2.4); never printed.
struct UpstreamSubject: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The raw user id: NameID, or the attribute that the endpoint names instead.
    let userID: String
    /// What a later logout has to send back (mvpd §2.7).
    let name: SubjectName
    let isHomeBased: Bool
    var attributes: [UserAttribute]

    var description: String { "[hidden]" }
    var debugDescription: String { "[hidden]" }
}

/// The NameID with its qualifiers and the MVPD's own session.
struct SubjectName: Hashable, Sendable {
    var value = ""
    var format = ""
    var nameQualifier = ""
    var serviceProviderQualifier = ""
    /// The name that this service once gave the person at the MVPD (`SPProvidedID`, SAML core §2.2.2).
    var serviceProvidedID = ""
    var sessionIndex = ""
}
