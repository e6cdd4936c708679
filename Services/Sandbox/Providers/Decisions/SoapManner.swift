/// The envelope of a decision point's answers in the SOAP form, as tests set it.
struct SoapManner: Sendable, Equatable {
    enum Signature: String, Sendable, Decodable {
        case response, assertion, both, none

        var coversResponse: Bool { self == .response || self == .both }
        var coversAssertion: Bool { self == .assertion || self == .both }
    }

    static let standardValidity = 300

    var signature = Signature.response
    /// nil: the provider's entity id.
    var issuer: String?
    /// nil: the issuer of the query.
    var audience: String?
    var age = Duration.zero
    var validity = Duration.seconds(Self.standardValidity)
    /// Whether `InResponseTo` is there.
    var namesQuery = true
}
