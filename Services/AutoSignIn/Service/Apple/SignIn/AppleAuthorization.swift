internal import Clocks
internal import Cryptography
internal import FoundationEssentials
internal import Identifiers

/// A person whom Apple has proven, on the way to an account. Made of a verified token; a ticket keeps it sealed.
struct AppleAuthorization: Hashable, Sendable, Codable {
    let team: AppleTeamID
    /// Of apps that share the consent.
    let group: String
    let client: AppleClientID
    let subject: String
    let email: AppleEmail?
    let realUserStatus: RealUserStatus?
    let transferSubject: String?
    /// From the code, where one came.
    let refreshToken: AppleRefreshToken?
    /// On the first authorization only.
    let name: PersonName?

    init(_ token: VerifiedIdentityToken, app: AppleApp, refreshToken: AppleRefreshToken?, name: PersonName?) {
        team = app.teamID
        group = app.group.id
        client = app.client
        subject = token.subject
        email = token.email
        realUserStatus = token.realUserStatus
        transferSubject = token.transferSubject
        self.refreshToken = refreshToken
        self.name = name
    }
}

extension Identifier: Codable {
    init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// For what is sealed as a whole.
extension Secret: Codable {
    init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
