/// A request that passed the checks of ``AuthnRequestReader``.
struct AuthnRequest: Sendable, Codable, Equatable {
    var identifier: String
    /// The issuer as sent, with or without the requestor's suffix.
    var issuer: String
    /// Who the sign-in is for: the issuer's suffix, else the scoping's requester id.
    let requestor: String?
    /// The proxied providers that the scoping names.
    let providers: [String]
    /// The id of the proxied provider that is asked: who issues the answer then (mvpd §2.3 step 25).
    var proxiedProvider: String?
    let isPassive: Bool
    let forceAuthn: Bool
    let nameIDFormat: String?
    let spNameQualifier: String?
    let relayState: String?
    /// The attributes that an AttributeQuery asks for; nil for an AuthnRequest.
    var queriedAttributes: [String]?
}
