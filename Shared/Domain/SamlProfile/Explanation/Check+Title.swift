extension Check {
    /// A short description of the check.
    public var title: String {
        switch self {
        case .parameters: "one SAMLResponse in a form post"
        case .size: "at most 256 KiB"
        case .base64: "base64, with or without line breaks"
        case .pendingRequest: "RelayState and cookie lead to a pending sign-in"
        case .form: "plain well-formed XML, no DOCTYPE, within limits"
        case .root: "a SAML 2.0 Response"
        case .identifiers: "every ID sound and unique"
        case .assertionPosition: "one assertion, directly inside the response"
        case .signaturePosition: "signatures only where they belong"
        case .signaturePolicy: "signed as the endpoint's policy demands"
        case .reference: "the signature refers to its parent alone"
        case .transforms: "no other transforms than the usual two"
        case .noObjects: "no objects or manifests in the signature"
        case .algorithms: "allowed algorithms and key sizes"
        case .pinnedKey: "a pinned certificate of that kind"
        case .signature: "the signature verifies with a pinned certificate"
        case .digestedOctets: "only what was digested is read on"
        case .decryption: "the assertion can be decrypted"
        case .destination: "Destination is our address"
        case .issueInstant: "IssueInstant is fresh"
        case .inResponseTo: "it answers our request"
        case .responseIssuer: "the response's Issuer is the MVPD"
        case .status: "the status is Success"
        case .assertionForm: "the assertion has ID, version and time"
        case .assertionIssuer: "the assertion's Issuer is the MVPD"
        case .subject: "a NameID of the format that was asked for, or an attribute in its place"
        case .confirmation: "a bearer confirmation for us and this request"
        case .conditions: "valid now, under conditions that we know"
        case .audience: "we are the audience"
        case .authnStatement: "the person signed in properly"
        case .replay: "the assertion was not used before"
        case .attributes: "the user id is there"
        }
    }
}
