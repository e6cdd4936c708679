/// The outcome of each check for a message that failed one of them: for explanations alone.
///
/// It is made after the verdict, of content that nobody vouches for, and nothing that it finds is used. A check that stands on a failed one is left out. It decrypts
/// nothing: it must not answer strangers' questions about ciphertexts that the sign-in itself would not look at.
struct ResponseSurvey {
    enum Finding: Hashable {
        case passed
        case failed(SamlRejection)
        /// Because of the check that failed before it.
        case leftOut(Check)
    }

    private(set) var findings: [Check: Finding] = [:]
    /// True when a signature fails because the content is not what was signed.
    private(set) var digestDiffers = false
    private let fresh: ResponseVerification
    private let decrypted: XmlElement?

    /// - Parameter verification: That came to its end.
    init(after verification: ResponseVerification) {
        fresh = ResponseVerification(expecting: verification.expected, at: verification.now)
        decrypted = verification.decryptedRoot
        if let root = verification.receivedRoot { survey(root) } else { leaveOut(.root, through: .attributes, because: .form) }
    }

    private mutating func survey(_ root: XmlElement) {
        guard attempt({ try $0.checkRoot(root) }) != nil else { return leaveOut(.identifiers, through: .attributes, because: .root) }
        let survey = DocumentSurvey(of: root)
        attempt { try $0.checkIdentifiers(survey) }
        guard let assertion = attempt({ try $0.onlyAssertion(survey, in: root) }) else {
            leaveOut(.signaturePosition, through: .decryption, because: .assertionPosition)
            surveyResponse(root, isSigned: false)
            return leaveOut(.assertionForm, through: .attributes, because: .assertionPosition)
        }
        let isEncrypted = assertion?.isNamed("EncryptedAssertion", in: Namespaces.assertion) ?? false
        let holders = [root] + (isEncrypted ? [] : assertion.map { [$0] } ?? [])
        let signatures = attempt { try $0.place(survey.signatures, at: holders) }
        if let signatures {
            let received = ResponseVerification.Received(
                root: root, assertion: assertion, isEncrypted: isEncrypted, responseSignature: signatures[0],
                assertionSignature: signatures.count > 1 ? signatures[1] : nil)
            attempt { try $0.checkPolicy(received) }
            for (signature, holder) in zip(signatures, holders) { if let signature { surveySignature(signature, of: holder) } }
        } else {
            leaveOut(.signaturePolicy, through: .digestedOctets, because: .signaturePosition)
        }
        surveyDecryption(of: assertion, isEncrypted: isEncrypted)
        surveyResponse(root, isSigned: signatures?[0] != nil)
        surveyContent(of: isEncrypted ? decrypted : assertion, isEncrypted: isEncrypted)
    }

    /// Steps 11 to 17.
    private mutating func surveySignature(_ signature: XmlElement, of holder: XmlElement) {
        let description = SignatureDescription(signature)
        attempt { try $0.checkObjects(description) }
        attempt { try $0.checkReference(description, of: holder) }
        attempt { try $0.checkTransforms(description) }
        guard let (algorithm, _) = attempt({ try $0.checkAlgorithms(description) }) else {
            return leaveOut(.pinnedKey, through: .digestedOctets, because: .algorithms)
        }
        attempt { try $0.pinnedKeys(for: algorithm) }
        let needed: [Check] = [.identifiers, .reference, .transforms, .noObjects, .pinnedKey]
        if let missing = needed.first(where: hasFailed) { return leaveOut(.signature, through: .digestedOctets, because: missing) }
        attempt { try $0.verify(signature, of: holder) }
        if hasFailed(.signature) { leaveOut(.digestedOctets, through: .digestedOctets, because: .signature) }
    }

    /// Step 18.
    private mutating func surveyDecryption(of assertion: XmlElement?, isEncrypted: Bool) {
        if assertion != nil, !isEncrypted {
            attempt { try $0.requireEncryption() }
        } else if isEncrypted, decrypted == nil, let earlier = firstFailure {
            // Where the sign-in itself tried, its own finding stands.
            leaveOut(.decryption, through: .decryption, because: earlier)
        }
    }

    /// Steps 19 to 23.
    private mutating func surveyResponse(_ response: XmlElement, isSigned: Bool) {
        attempt { try $0.checkDestination(of: response, isSigned: isSigned) }
        attempt { try $0.checkAge(of: response) }
        attempt { try $0.checkAnsweredRequest(of: response) }
        if let issuer = response.firstChild("Issuer", in: Namespaces.assertion) { attempt { try $0.checkIssuer(issuer, .responseIssuer) } }
        attempt { try $0.requireSuccess(of: response) }
    }

    /// Steps 24 to 32.
    private mutating func surveyContent(of assertion: XmlElement?, isEncrypted: Bool) {
        guard let assertion else {
            guard !isEncrypted, !hasFailed(.status) else {
                return leaveOut(.assertionForm, through: .attributes, because: isEncrypted ? .decryption : .status)
            }
            findings[.assertionForm] = .failed(SamlRejection(.assertionForm, ResponseVerification.lacksAssertion))
            return leaveOut(.assertionIssuer, through: .attributes, because: .assertionForm)
        }
        attempt { try $0.checkForm(of: assertion) }
        attempt { try $0.checkIssuer(try $0.only("Issuer", in: assertion, .assertionIssuer, .issuer), .assertionIssuer) }
        surveySubject(of: assertion)
        if let conditions = attempt({ try $0.onlyConditions(of: assertion) }) {
            attempt { try $0.checkPeriod(of: conditions) }
            attempt { try $0.checkAudience(try $0.restrictions(of: conditions)) }
            if findings[.audience] == nil { leaveOut(.audience, through: .audience, because: .conditions) }
        } else {
            leaveOut(.conditions, through: .conditions, because: .audience)
        }
        attempt { try $0.checkAuthnStatements(of: assertion) }
    }

    /// Steps 26, 27 and 32.
    private mutating func surveySubject(of assertion: XmlElement) {
        guard let subject = attempt({ try $0.only("Subject", in: assertion, .subject, .subjectFormat) }) else {
            leaveOut(.confirmation, through: .confirmation, because: .subject)
            return leaveOut(.attributes, through: .attributes, because: .subject)
        }
        attempt { try $0.checkConfirmation(of: subject) }
        guard let nameID = attempt({ try $0.checkNameID(of: subject) }) else {
            return leaveOut(.attributes, through: .attributes, because: hasFailed(.subject) ? .subject : .assertionIssuer)
        }
        attempt { try $0.checkUserID(nameID, of: assertion) }
    }

    private var firstFailure: Check? { Check.allCases.first(where: hasFailed) }

    private func hasFailed(_ check: Check) -> Bool { if case .failed = findings[check] { true } else { false } }

    /// Makes a check and remembers how it went; a failure stays one.
    @discardableResult
    private mutating func attempt<Value>(_ check: (inout ResponseVerification) throws -> Value) -> Value? {
        var verification = fresh
        var rejection: SamlRejection?
        var value: Value?
        do { value = try check(&verification) } catch { rejection = error as? SamlRejection }
        digestDiffers = digestDiffers || verification.digestDiffers
        for entry in verification.trace.entries where !hasFailed(entry.check) {
            findings[entry.check] = entry.passed ? .passed : rejection.map(Finding.failed)
        }
        return value
    }

    private mutating func leaveOut(_ first: Check, through last: Check, because cause: Check) {
        for check in Check.allCases where first.step <= check.step && check.step <= last.step && !hasFailed(check) {
            findings[check] = .leftOut(cause)
        }
    }
}
