internal import CXmlSec
internal import Clocks

/// The run of one response through the checks of mvpd §2.3.
struct ResponseVerification {
    let expected: ExpectedResponse
    let now: Timestamp
    var trace = CheckTrace()
    /// The library's message about the last signature or decryption that failed.
    var diagnostic: String?
    /// The root of the received document and of the decrypted one, as far as there were any; for explanations only.
    var receivedRoot: XmlElement?
    var decryptedRoot: XmlElement?
    /// True when a signature failed because its content is not what was signed.
    var digestDiffers = false

    static let lacksAssertion = "The response is a success without an assertion."

    init(expecting expected: ExpectedResponse, at now: Timestamp) {
        self.expected = expected
        self.now = now
        for check in [Check.size, .base64] { trace.pass(check) }
    }

    mutating func report(on response: UnverifiedResponse) -> ResponseReport {
        let verdict: ResponseVerdict
        do {
            verdict = try run(response)
        } catch {
            verdict = .rejected(error)
        }
        return ResponseReport(verdict: verdict, trace: trace, diagnostic: diagnostic, digestDiffers: digestDiffers)
    }

    private mutating func run(_ response: UnverifiedResponse) throws(SamlRejection) -> ResponseVerdict {
        let received = try structure(of: response)
        let signed = try verifySignatures(of: received)
        let assertion = try decryptIfNeeded(signed)
        if let status = try checkResponse(signed) { return .status(status) }
        guard let assertion else { throw trace.fail(.assertionForm, .assertionForm, Self.lacksAssertion) }
        return .accepted(try checkAssertion(assertion))
    }

    /// Parses octets under the limits of step 5.
    mutating func parse(_ octets: [UInt8]) throws(SamlRejection) -> ParsedDocument {
        do {
            let document = try ParsedDocument.parse(octets)
            trace.pass(.form)
            return document
        } catch {
            throw trace.fail(.form, error.rejection.reason, error.rejection.explanation)
        }
    }

    /// The text of an element with a text value (mvpd §2.3, reading text).
    mutating func text(of element: XmlElement, _ check: Check) throws(SamlRejection) -> String {
        guard let text = element.text else { throw trace.fail(check, .form, "An element whose value is text holds something else.") }
        return text
    }

    /// The moment in an attribute; nil when there is none. One that cannot be read is never taken as absent (SAML core §1.3.3).
    mutating func instant(
        _ name: StaticString, of element: XmlElement, _ check: Check, _ reason: RejectionReason
    ) throws(SamlRejection) -> Timestamp? {
        guard let text = element.attribute(name) else { return nil }
        if let problem = SamlInstant.problem(text) { throw trace.fail(check, reason, "\(name) \(problem).") }
        return SamlInstant.parse(text)
    }

    mutating func keepDiagnostic() {
        diagnostic = cxs_last_complaint().map { String(cString: $0) }
    }
}

extension ResponseVerification {
    /// Step 18, and steps 5 to 17 for what it yields.
    /// - Returns: The assertion to read; nil when the response has none.
    mutating func decryptIfNeeded(_ signed: Signed) throws(SamlRejection) -> VerifiedElement? {
        guard signed.received.isEncrypted, let received = signed.received.assertion else {
            if signed.received.assertion != nil { try requireEncryption() }
            return signed.assertion
        }
        let verified = signed.response?.firstChild("EncryptedAssertion", in: Namespaces.assertion)
        let plaintext = try decrypt(verified?.element ?? received, isVerified: verified != nil)
        decryptedRoot = plaintext.root
        if let signature = try structure(ofDecrypted: plaintext.root) {
            return try verify(signature, of: plaintext.root)
        }
        guard expected.signaturePolicy == .response, let verified else {
            throw trace.fail(.signaturePolicy, .signatureMissing, "The encrypted assertion is not signed.")
        }
        return VerifiedElement(decrypted: plaintext, from: verified)
    }

    /// The check of an assertion that is not encrypted.
    mutating func requireEncryption() throws(SamlRejection) {
        if expected.encryption == .required { throw trace.fail(.decryption, .encryptionRequired, "The assertion is not encrypted.") }
    }

    private mutating func decrypt(_ encryptedAssertion: XmlElement, isVerified: Bool) throws(SamlRejection) -> ParsedDocument {
        let content: EncryptedContent
        do throws(EncryptedContent.Rejection) {
            content = try EncryptedContent(
                encryptedAssertion, for: [expected.serviceProviderEntityID, expected.issuerSent], isVerified: isVerified)
        } catch {
            throw trace.fail(.decryption, .encryptionAlgorithm, "The encryption \(error.text).")
        }
        // All are tried before the answer is no: how many of them are ours must not be told by the time that it takes.
        for session in content.keys {
            for key in expected.decryptionKeys {
                if let plaintext = try decrypt(content, session, with: key.key) { return plaintext }
            }
        }
        keepDiagnostic()
        throw trace.fail(.decryption, .encryptionFailed, "The assertion cannot be decrypted.")
    }

    /// Nil when the key does not fit or the ciphertext was changed: the caller must not learn which.
    private mutating func decrypt(
        _ content: EncryptedContent, _ session: WrappedSessionKey, with key: KeyHandle
    ) throws(SamlRejection) -> ParsedDocument? {
        var wrapped = cxs_wrapped_key(encrypted_key: session.element.pointer, digest: session.digest.method, mask: session.mask.method)
        var plaintext: OpaquePointer?
        var parse = CXS_PARSED
        let outcome = withExtendedLifetime(key) {
            cxs_decrypt(content.data.pointer, &wrapped, content.cipher, key.pointer, &plaintext, &parse)
        }
        if outcome == 0, let plaintext {
            trace.pass(.decryption)
            return ParsedDocument(plaintext)
        }
        guard parse != CXS_PARSED, content.isAuthenticated else { return nil }
        let failure = XmlRejection(parse).rejection
        throw trace.fail(.form, failure.reason, failure.explanation)
    }
}

extension ResponseVerification {
    /// The combined content of the authn statements.
    struct SessionStatement {
        let instant: Timestamp
        let index: String?
        let end: Timestamp?
    }

    /// Step 30. With several statements the first names the session, and the earliest end counts.
    /// - Returns: Nil when there is none, where that is allowed (mvpd §2.8).
    mutating func checkAuthnStatements(of assertion: XmlElement) throws(SamlRejection) -> SessionStatement? {
        var session: SessionStatement?
        for statement in assertion.children("AuthnStatement", in: Namespaces.assertion) {
            let next = try checkAuthnStatement(statement)
            let ends = [session?.end, next.end].compactMap { $0 }
            session = SessionStatement(
                instant: session?.instant ?? next.instant, index: session == nil ? next.index : session?.index, end: ends.min())
        }
        try trace.require(
            session != nil || !expected.requiresAuthnStatement, .authnStatement, .authnStatement, "The assertion has no authn statement.")
        return session
    }

    private mutating func checkAuthnStatement(_ statement: XmlElement) throws(SamlRejection) -> SessionStatement {
        let begun = try instant("AuthnInstant", of: statement, .authnStatement, .authnStatement)
        guard let instant = begun, instant <= now + expected.clockSkew else {
            throw trace.fail(
                .authnStatement, .authnStatement, "The sign-in lies in the future, or has no time.", clock: begun == nil ? nil : .behind)
        }
        let end = try self.instant("SessionNotOnOrAfter", of: statement, .authnStatement, .authnStatement)
        guard end.map({ now < $0 }) ?? true else {
            throw trace.fail(.authnStatement, .authnStatement, "The MVPD's session has ended.")
        }
        guard !expected.forceAuthn || instant >= expected.requestedAt - expected.clockSkew else {
            throw trace.fail(.authnStatement, .authnStatement, "The person did not sign in anew, as was asked.")
        }
        return SessionStatement(instant: instant, index: statement.attribute("SessionIndex"), end: end)
    }

    /// Step 32.
    mutating func checkUserID(_ nameID: NameID?, of assertion: XmlElement) throws(SamlRejection) -> ProviderUserID {
        let userID = try expected.guidAttributeName.map { name throws(SamlRejection) in try only(name, in: assertion) } ?? nameID?.value.rawValue
        guard let userID, !userID.isEmpty else {
            throw trace.fail(.attributes, .subjectMissing, "The assertion does not hold the user id: its NameID is empty.")
        }
        trace.pass(.attributes)
        return ProviderUserID(userID)
    }

    /// The person's id out of the attribute of that name.
    private mutating func only(_ name: String, in assertion: XmlElement) throws(SamlRejection) -> String {
        switch IdentifyingAttribute(name, in: assertion) {
        case .value(let value): return value
        case .absent: throw trace.fail(.attributes, .subjectMissing, "The assertion does not hold the attribute of the user id, \(name).")
        case .empty: throw trace.fail(.attributes, .subjectMissing, "The attribute of the user id, \(name), is there without a value.")
        case .several:
            throw trace.fail(
                .attributes, .subjectMissing,
                "The attribute of the user id, \(name), has different values: which of them is the person, nobody knows.")
        case .structured:
            throw trace.fail(
                .attributes, .subjectMissing, "The attribute of the user id, \(name), holds an element other than a NameID where its text belongs.")
        }
    }
}

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
