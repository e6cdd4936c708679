internal import Clocks

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
