extension ResponseVerification {
    /// A response with an unambiguous structure; its content is not trusted yet.
    struct Received {
        let root: XmlElement
        /// The `Assertion` or `EncryptedAssertion`.
        let assertion: XmlElement?
        let isEncrypted: Bool
        let responseSignature: XmlElement?
        let assertionSignature: XmlElement?
    }

    /// Steps 5 to 9.
    mutating func structure(of response: UnverifiedResponse) throws(SamlRejection) -> Received {
        let root = try parse(response.octets).root
        receivedRoot = root
        try checkRoot(root)
        let survey = DocumentSurvey(of: root)
        try checkIdentifiers(survey)
        let assertion = try onlyAssertion(survey, in: root)
        let isEncrypted = assertion?.isNamed("EncryptedAssertion", in: Namespaces.assertion) ?? false
        let signatures = try place(survey.signatures, at: [root] + (isEncrypted ? [] : assertion.map { [$0] } ?? []))
        return Received(
            root: root, assertion: assertion, isEncrypted: isEncrypted, responseSignature: signatures[0],
            assertionSignature: signatures.count > 1 ? signatures[1] : nil)
    }

    /// Step 6.
    mutating func checkRoot(_ root: XmlElement) throws(SamlRejection) {
        try trace.require(
            root.isNamed("Response", in: Namespaces.protocol) && root.attribute("Version", equals: "2.0"), .root, .root,
            "The root is not a SAML 2.0 Response.")
    }

    /// Step 8.
    /// - Returns: Nil when there is none.
    mutating func onlyAssertion(_ survey: DocumentSurvey, in root: XmlElement) throws(SamlRejection) -> XmlElement? {
        let assertions = survey.assertions
        try trace.require(
            assertions.isEmpty || (assertions.count == 1 && assertions[0].parent?.isSame(as: root) == true), .assertionPosition, .assertionPosition,
            "There is not at most one assertion, directly inside the response.")
        return assertions.first?.element
    }

    /// Steps 7 to 9 for a decrypted assertion: it stands alone.
    /// - Returns: Its signature.
    mutating func structure(ofDecrypted root: XmlElement) throws(SamlRejection) -> XmlElement? {
        try trace.require(
            root.isNamed("Assertion", in: Namespaces.assertion), .root, .assertionPosition, "The decrypted content is not one assertion.")
        let survey = DocumentSurvey(of: root)
        try checkIdentifiers(survey)
        try trace.require(survey.assertions.count == 1, .assertionPosition, .assertionPosition, "The assertion holds another one.")
        return try place(survey.signatures, at: [root])[0]
    }

    mutating func checkIdentifiers(_ survey: DocumentSurvey) throws(SamlRejection) {
        try trace.require(
            survey.identifiersAreSound, .identifiers, .duplicateID, "An ID is not an NCName, or the document uses it more than once.")
        guard !survey.holdsOtherCiphertext else {
            throw trace.fail(.decryption, .encryptionAlgorithm, "Encrypted identifiers and attributes are not supported.")
        }
    }

    /// The signature of each element, in their order. Any other signature, and a second one, is refused.
    mutating func place(
        _ signatures: [DocumentSurvey.PlacedSignature], at elements: [XmlElement]
    ) throws(SamlRejection) -> [XmlElement?] {
        var placed = [XmlElement?](repeating: nil, count: elements.count)
        for found in signatures {
            guard let index = elements.firstIndex(where: found.parent.isSame), placed[index] == nil else {
                throw trace.fail(.signaturePosition, .signaturePosition, "A signature stands elsewhere than once in the response or its assertion.")
            }
            placed[index] = found.signature
        }
        trace.pass(.signaturePosition)
        return placed
    }
}
