/// A question as it came, in one of the forms of mvpd §4.1.
struct DecisionMessage: Sendable {
    enum Form: String, Sendable {
        case json, xml, soap, rest
    }

    /// What the SAML layer of the SOAP form contained.
    struct Query: Sendable {
        let identifier: String
        let issuer: String
    }

    let form: Form
    var request: XacmlRequest
    var query: Query?
    /// Whether its signature verified; a bearer token may replace the signature.
    var isSigned = false
}
