public import Clocks

/// Everything that the caller knows about the answer to its query: what it asked, and the endpoint's record.
public struct ExpectedDecision: Sendable {
    /// The parts that the decision point has to sign.
    public enum Signature: Hashable, Sendable {
        case response
        case assertion
        case both
        /// Nothing: the connection authenticates the answer. A signature that is present must still verify.
        case none
    }

    /// `ID` of the query.
    public var queryID: String
    public var issuer: ExpectedIssuer
    /// The base `spEntityId`, accepted as audience.
    public var serviceProviderEntityID: String
    /// The exact issuer that the query named, accepted as audience.
    public var issuerSent: String
    public var signature: Signature = .response
    /// The endpoint's pinned certificates; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// True: an answer that does not name the query is refused.
    public var requiresInResponseTo = false
    /// Clocks may differ this far.
    public var clockSkew: Duration = .seconds(60)
    /// How old an answer may be.
    public var maximumAge: Duration = .seconds(300)

    /// - Parameters:
    ///   - queryID: `ID` of the query.
    ///   - issuer: Who must have issued the answer.
    ///   - serviceProviderEntityID: The base `spEntityId`, accepted as audience.
    ///   - issuerSent: The issuer that the query named, accepted as audience.
    ///   - pinnedCertificates: The only source of keys.
    public init(
        queryID: String, issuer: ExpectedIssuer, serviceProviderEntityID: String, issuerSent: String, pinnedCertificates: [PinnedCertificate]
    ) {
        self.queryID = queryID
        self.issuer = issuer
        self.serviceProviderEntityID = serviceProviderEntityID
        self.issuerSent = issuerSent
        self.pinnedCertificates = pinnedCertificates
    }

    /// The expectations in the form that the checks of a sign-in use; fields of sign-ins only stay empty.
    func response(at now: Timestamp) -> ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: queryID, requestedAt: now, assertionConsumerServiceURL: "", issuer: issuer, serviceProviderEntityID: serviceProviderEntityID,
            issuerSent: issuerSent, pinnedCertificates: pinnedCertificates, nameIDFormats: [])
        expected.signaturePolicy =
            switch signature {
            case .response, .none: .response
            case .assertion: .assertion
            case .both: .both
            }
        expected.signatureAlgorithms = signatureAlgorithms
        expected.clockSkew = clockSkew
        expected.maximumResponseAge = maximumAge
        return expected
    }
}

/// The results of an answer that passed every check, read from verified content only.
public struct VerifiedDecision: Hashable, Sendable {
    public let results: [DecisionResult]
    /// Until when the assertion holds; nil when it does not say.
    public let notOnOrAfter: Timestamp?
}

/// The checks of a decision point's answer in SOAP (mvpd §4.2): octets in, results out.
///
/// It holds no state, does no I/O, and may be used from any thread.
public struct DecisionVerifier: Sendable {
    public init() {}

    /// Checks an answer and reads its results.
    /// - Parameters:
    ///   - octets: The envelope as it arrived.
    ///   - expected: The demands of the query and the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The first check of mvpd §2.3 that failed.
    public func verify(_ octets: [UInt8], expecting expected: ExpectedDecision, at now: Timestamp) throws(SamlRejection) -> VerifiedDecision {
        var verification = ResponseVerification(expecting: expected.response(at: now), at: now)
        return try verification.run(octets, expecting: expected)
    }
}

extension ResponseVerification {
    /// Steps B, C, 20 to 25, 28 and 29 for an answer in an envelope (mvpd §4.2).
    mutating func run(_ octets: [UInt8], expecting decision: ExpectedDecision) throws(SamlRejection) -> VerifiedDecision {
        let received = try structure(ofEnvelope: octets)
        let signed = decision.signature == .none ? try verifyPresentSignatures(of: received) : try verifySignatures(of: received)
        try checkAnswer(signed.response?.element ?? received.root, requiresInResponseTo: decision.requiresInResponseTo)
        // Without a signature the connection vouches for what was received.
        let unsigned = decision.signature == .none && received.responseSignature == nil && received.assertionSignature == nil
        guard let assertion = signed.assertion?.element ?? (unsigned ? received.assertion : nil) else {
            throw trace.fail(.assertionForm, .assertionForm, "The answer is a success without an assertion.")
        }
        return try checkDecision(assertion)
    }

    /// Steps 5 to 9, where the envelope is the root.
    private mutating func structure(ofEnvelope octets: [UInt8]) throws(SamlRejection) -> Received {
        let envelope = try parse(octets).root
        let bodies = envelope.children("Body", in: Namespaces.soap)
        let content = bodies.first.map { Array($0.children) } ?? []
        guard envelope.isNamed("Envelope", in: Namespaces.soap), bodies.count == 1, content.count == 1 else {
            throw trace.fail(.root, .root, "The root is not a SOAP envelope with one message.")
        }
        let response = content[0]
        try trace.require(
            response.isNamed("Response", in: Namespaces.protocol) && response.attribute("Version", equals: "2.0"), .root, .root,
            "The envelope does not hold a SAML 2.0 Response.")
        let survey = DocumentSurvey(of: envelope)
        try checkIdentifiers(survey)
        let assertions = survey.assertions
        try trace.require(
            assertions.isEmpty || (assertions.count == 1 && assertions[0].parent?.isSame(as: response) == true), .assertionPosition,
            .assertionPosition, "There is not at most one assertion, directly inside the response.")
        let assertion = assertions.first?.element
        guard assertion?.isNamed("EncryptedAssertion", in: Namespaces.assertion) != true else {
            throw trace.fail(.decryption, .encryptionAlgorithm, "Encrypted decisions are not supported.")
        }
        let signatures = try place(survey.signatures, at: [response] + (assertion.map { [$0] } ?? []))
        return Received(
            root: response, assertion: assertion, isEncrypted: false, responseSignature: signatures[0],
            assertionSignature: signatures.count > 1 ? signatures[1] : nil)
    }

    private mutating func checkAnswer(_ response: XmlElement, requiresInResponseTo: Bool) throws(SamlRejection) {
        try checkAge(of: response)
        if let answered = response.attribute("InResponseTo") {
            try trace.require(answered == expected.requestID, .inResponseTo, .request, "The answer is one to another query.")
        } else {
            try trace.require(!requiresInResponseTo, .inResponseTo, .unsolicited, "The answer does not name the query.")
        }
        if let issuer = response.firstChild("Issuer", in: Namespaces.assertion) { try checkIssuer(issuer, .responseIssuer) }
        try trace.require(Self.isSuccess(response), .status, .assertionForm, "The status is not a success.")
    }

    private mutating func checkDecision(_ assertion: XmlElement) throws(SamlRejection) -> VerifiedDecision {
        _ = try checkForm(of: assertion)
        try checkIssuer(try only("Issuer", in: assertion, .assertionIssuer, .issuer), .assertionIssuer)
        let end = try checkConditions(of: assertion)
        let statements = assertion.children("XACMLAuthzDecisionStatement", in: Namespaces.decisionAssertion)
        let contexts = statements.first?.children("Response", in: Namespaces.decisionContext) ?? []
        guard statements.count == 1, contexts.count == 1 else {
            throw trace.fail(.assertionForm, .assertionForm, "The assertion does not hold one decision statement with one response.")
        }
        return VerifiedDecision(results: try DecisionContext.results(of: contexts[0]), notOnOrAfter: end)
    }
}
