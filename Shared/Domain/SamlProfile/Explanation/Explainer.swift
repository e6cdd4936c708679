internal import Clocks
internal import Cryptography

/// Turns a report into plain text.
struct Explainer {
    let expected: ExpectedResponse
    let now: Timestamp
    let facts: MessageFacts
    let digestDiffers: Bool
    /// The checks of a refused message would go in this way, each by itself.
    let others: [Check: ResponseSurvey.Finding]

    func explain(_ report: ResponseReport) -> ResponseExplanation {
        var reason = ""
        if case .rejected(let rejection) = report.verdict { reason = rejection.reason.rawValue }
        let entries = Dictionary(grouping: report.trace.entries, by: \.check)
        let failed = report.trace.entries.last { !$0.passed }?.check
        let steps = Check.allCases.map { check in step(check, entries[check] ?? [], failed: failed, reason: reason) }
        return ResponseExplanation(steps: steps, facts: FactList(facts, pinned: expected.pinnedCertificates).all)
    }

    private func step(_ check: Check, _ entries: [CheckTrace.Entry], failed: Check?, reason: String) -> ResponseExplanation.Step {
        if let failure = entries.last(where: { !$0.passed }) {
            return ResponseExplanation.Step(
                check: check, outcome: .failed, reason: reason, explanation: failure.note, hint: hint(for: check, reason))
        }
        if case .failed(let rejection) = others[check] {
            let reason = rejection.reason.rawValue
            return ResponseExplanation.Step(
                check: check, outcome: .failed, reason: reason, explanation: rejection.explanation, hint: hint(for: check, reason))
        }
        if !entries.isEmpty || check == .parameters || check == .pendingRequest {
            return ResponseExplanation.Step(check: check, outcome: .passed)
        }
        switch others[check] {
        case .passed: return ResponseExplanation.Step(check: check, outcome: .passed, explanation: unvouched(failed))
        case .leftOut(let cause):
            return ResponseExplanation.Step(check: check, outcome: .notReached, explanation: ResponseExplanation.notChecked(because: cause))
        case .failed, nil: break
        }
        // Nobody remembers a refused message, so this check of it was not made.
        if let failed, check == .replay {
            return ResponseExplanation.Step(check: check, outcome: .notReached, explanation: ResponseExplanation.notChecked(because: failed))
        }
        if check == .replay { return ResponseExplanation.Step(check: check, outcome: .notChecked) }
        return ResponseExplanation.Step(check: check, outcome: .notNeeded, explanation: absence(of: check))
    }

    /// Said of a check that passes on content whose signature did not hold.
    private func unvouched(_ failed: Check?) -> String {
        guard let failed, failed.step <= Check.digestedOctets.step else { return "" }
        return "as the message says, whose signature was not accepted"
    }

    private func absence(of check: Check) -> String {
        switch check {
        case .decryption: "the assertion is not encrypted"
        case .responseIssuer: "the response names no Issuer of its own"
        case .reference, .transforms, .noObjects, .algorithms, .pinnedKey, .signature, .digestedOctets: "nothing is signed"
        default: ""
        }
    }
}

/// Hints on what to change after a failure.
extension Explainer {
    func hint(for check: Check, _ reason: String) -> String {
        switch check {
        case .form, .root, .identifiers, .assertionPosition, .signaturePosition: structureHint(check, reason)
        case .signaturePolicy, .reference, .transforms, .noObjects, .algorithms, .pinnedKey, .signature: signatureHint(check)
        case .decryption: decryptionHint(reason)
        case .destination, .issueInstant, .inResponseTo, .responseIssuer, .status: responseHint(check, reason)
        case .assertionForm, .assertionIssuer, .subject, .confirmation, .conditions, .audience, .authnStatement, .attributes:
            assertionHint(check, reason)
        case .parameters, .size, .base64, .pendingRequest, .digestedOctets, .replay: ""
        }
    }

    private func structureHint(_ check: Check, _ reason: String) -> String {
        switch check {
        case .form where reason == RejectionReason.doctype.rawValue: "The MVPD must not send a document type declaration."
        case .form where reason == RejectionReason.limit.rawValue: "The MVPD must send fewer elements or attributes: 5000 nodes, 64 levels."
        case .form: "The message was cut or changed on its way, or holds CDATA, comments inside values, or another encoding than UTF-8."
        case .root: facts.root.isEmpty ? "" : "The root is \(facts.root); post the SAML 2.0 Response of the login, nothing else."
        case .identifiers: "IDs begin with a letter or underscore, and occur once; this also looks like an attempt to wrap a signature."
        case .assertionPosition: "The MVPD must send one assertion, directly inside the Response; anything else looks like a wrapped signature."
        default: "A signature may be a direct child of the Response and of its Assertion; anything else looks like a wrapped signature."
        }
    }

    private func responseHint(_ check: Check, _ reason: String) -> String {
        switch check {
        case .destination: "Destination is \(shown(facts.destination)); our address is \(expected.assertionConsumerServiceURL)."
        case .issueInstant where isOddInstant(facts.issueInstant): oddInstantHint([("IssueInstant", facts.issueInstant)])
        case .issueInstant:
            "IssueInstant is \(shown(facts.issueInstant)), here it is \(SamlInstant.format(now)); allowed are \(expected.maximumResponseAge) of age "
                + "(saml.maxResponseAge) and \(expected.clockSkew) of difference (saml.clockSkew). Compare the clocks."
        case .inResponseTo where facts.inResponseTo == nil:
            "The MVPD started the login by itself (IdP-initiated); that is always refused. Start it at the app."
        case .inResponseTo: "InResponseTo is \(shown(facts.inResponseTo)); our request was \(expected.requestID)."
        case .responseIssuer: issuerHint(facts.issuer)
        default: statusHint
        }
    }

    private var statusHint: String {
        let codes = facts.status.map { $0.split(separator: ":").last.map(String.init) ?? $0 }.joined(separator: "/")
        return switch facts.status.last?.split(separator: ":").last ?? "" {
        case "AuthnFailed", "RequestDenied", "UnknownPrincipal": "The MVPD or the person said no (\(codes)); this is no fault of the connection."
        case "NoPassive": "The person is signed in nowhere and was not to be asked; this is no fault of the connection."
        case "InvalidNameIDPolicy": "The MVPD does not offer the NameID format that we ask for: change saml.nameIdFormat of the MVPD."
        case "NoAuthnContext": "The MVPD cannot sign people in as our request asks for: look into the MVPD's own log."
        default: "The MVPD answers \(codes): it does not accept our request as it is. Look into the MVPD's own log."
        }
    }

    private func assertionHint(_ check: Check, _ reason: String) -> String {
        let assertion = facts.assertion
        return switch check {
        case .assertionIssuer: issuerHint(assertion?.issuer)
        case .subject where assertion?.nameIDFormat == nil:
            "The Subject has no NameID. Ask the MVPD for one that stays the same at each sign-in, or name the attribute that holds the person's id: "
                + "saml.guidAttributeName."
        case .subject:
            "The NameID's format is \(shown(assertion?.nameIDFormat)); asked for: \(expected.nameIDFormats.joined(separator: ", ")). "
                + "Change it at the MVPD, or saml.nameIdFormat."
        case .confirmation: confirmationHint
        case .conditions where reason == RejectionReason.condition.rawValue:
            "Its conditions are \(assertion?.conditions.joined(separator: ", ") ?? "unknown"); beside the audience we know OneTimeUse and "
                + "ProxyRestriction."
        case .conditions where isOddInstant(assertion?.notBefore) || isOddInstant(assertion?.notOnOrAfter):
            oddInstantHint([("NotBefore", assertion?.notBefore), ("NotOnOrAfter", assertion?.notOnOrAfter)])
        case .conditions:
            "Valid from \(shown(assertion?.notBefore)) to \(shown(assertion?.notOnOrAfter)), here it is \(SamlInstant.format(now)), with "
                + "\(expected.clockSkew) of tolerance (saml.clockSkew). Compare the clocks."
        case .audience:
            "Audience names \(list(assertion?.audiences)), we are \(expected.serviceProviderEntityID)"
                + (expected.issuerSent == expected.serviceProviderEntityID ? "." : " or \(expected.issuerSent).")
        case .authnStatement where isOddInstant(assertion?.authnInstant) || isOddInstant(assertion?.sessionNotOnOrAfter):
            oddInstantHint([("AuthnInstant", assertion?.authnInstant), ("SessionNotOnOrAfter", assertion?.sessionNotOnOrAfter)])
        case .authnStatement:
            "AuthnInstant is \(shown(assertion?.authnInstant)), SessionNotOnOrAfter \(shown(assertion?.sessionNotOnOrAfter)), here it is "
                + "\(SamlInstant.format(now))\(expected.forceAuthn ? "; the endpoint demands a new login (saml.forceAuthn)" : "")."
        case .attributes: userIDHint
        case .assertionForm where isOddInstant(assertion?.issueInstant): oddInstantHint([("IssueInstant", assertion?.issueInstant)])
        default: "The assertion needs Version 2.0, an ID and an IssueInstant that is not in the future."
        }
    }

    private func isOddInstant(_ text: String?) -> Bool { text.flatMap(SamlInstant.problem) != nil }

    /// The hint for moments that are written in another way than SAML's: no clock is wrong.
    private func oddInstantHint(_ instants: [(name: String, text: String?)]) -> String {
        instants.compactMap { name, text in
            text.flatMap { text in SamlInstant.problem(text).map { "\(name) is \(shown(text)): it \($0). The MVPD must write it so." } }
        }.joined(separator: " ")
    }

    private var userIDHint: String {
        let name = expected.guidAttributeName ?? ""
        return switch facts.assertion?.userIDForm {
        case .several:
            "The attribute \(name) must have one value: it may be sent twice, but not with two values. Ask the MVPD for that, or name another attribute: "
                + "saml.guidAttributeName."
        case .structured: "The attribute \(name) must hold text, or a NameID element with text; anything else in it is not read."
        case .empty: "The MVPD sends the attribute \(name) without a value for this person."
        case .absent, .good:
            "The user id is to come from the attribute \(name); sent are \(list(facts.assertion?.attributes.map(\.name))). The setting is "
                + "saml.guidAttributeName, and compares the whole Name."
        case nil: "The user id is to come from the NameID, which is empty. To take it from an attribute, set saml.guidAttributeName."
        }
    }

    private func issuerHint(_ issuer: String?) -> String {
        let ours =
            switch expected.issuer {
            case .direct(let entityID): entityID
            case .proxied(let ids): ids.joined(separator: " or ") + ", as the MVPD is behind a proxy"
            }
        return "Issuer is \(shown(issuer)); the endpoint expects \(ours) (saml.idpEntityId)."
    }

    private var confirmationHint: String {
        let confirmations = facts.assertion?.confirmations ?? []
        guard let first = confirmations.first else { return "The Subject needs a bearer SubjectConfirmation with its data." }
        if let odd = confirmations.first(where: { isOddInstant($0.notOnOrAfter) }) { return oddInstantHint([("NotOnOrAfter", odd.notOnOrAfter)]) }
        if first.method != SamlURI.bearer { return "The method is \(first.method); only bearer is accepted." }
        if !expected.isAddressed(to: first.recipient) {
            return "Recipient is \(shown(first.recipient)); our address is \(expected.assertionConsumerServiceURL)."
        }
        if first.hasNotBefore { return "A bearer confirmation must not have NotBefore." }
        if first.inResponseTo != expected.requestID, expected.answeredRequest == .recorded {
            return "InResponseTo is \(shown(first.inResponseTo)); our request was \(expected.requestID)."
        }
        return "NotOnOrAfter is \(shown(first.notOnOrAfter)), here it is \(SamlInstant.format(now)). Compare the clocks (saml.clockSkew)."
    }

    func shown(_ text: String?) -> String { text.map { $0.isEmpty ? "empty" : $0 } ?? "absent" }

    private func list(_ texts: [String]?) -> String {
        guard let texts, !texts.isEmpty else { return "nothing" }
        return texts.joined(separator: ", ")
    }
}

/// The content of a message, as rows to show.
struct FactList {
    private(set) var all: [ResponseExplanation.Fact] = []

    init(_ facts: MessageFacts, pinned: [PinnedCertificate]) {
        guard !facts.root.isEmpty else { return }
        add("root", facts.root)
        add("destination", facts.destination)
        add("issued", facts.issueInstant)
        add("answers", facts.inResponseTo)
        add("issuer", facts.issuer)
        add("status", facts.status.joined(separator: " / "))
        add("the MVPD's message", facts.statusMessage)
        for signature in facts.signatures { add(signature) }
        for certificate in pinned { add("pinned certificate", Self.fingerprint(certificate.der)) }
        add("encryption", facts.encryption.joined(separator: ", "))
        if let assertion = facts.assertion { add(assertion) }
    }

    private mutating func add(_ signature: MessageFacts.Signature) {
        add("signature of the \(signature.place)", "\(signature.algorithm), digest \(signature.digest)")
        add("certificate sent with it", signature.certificate.map(Self.fingerprint))
    }

    private mutating func add(_ assertion: MessageFacts.AssertionFacts) {
        add("assertion's issuer", assertion.issuer)
        add("NameID", assertion.nameIDFormat.map { "[hidden], format \($0)" })
        for confirmation in assertion.confirmations {
            add("confirmation", "\(confirmation.method), for \(confirmation.recipient ?? "nobody"), until \(confirmation.notOnOrAfter ?? "none")")
        }
        if assertion.notBefore != nil || assertion.notOnOrAfter != nil {
            add("valid", "\(assertion.notBefore ?? "always") to \(assertion.notOnOrAfter ?? "always")")
        }
        for audience in assertion.audiences { add("audience", audience) }
        add("signed in at", assertion.authnInstant)
        add("session ends", assertion.sessionNotOnOrAfter)
        for attribute in assertion.attributes {
            add("attribute", "\(attribute.name): \(attribute.values) value\(attribute.values == 1 ? "" : "s") [hidden]")
        }
    }

    private mutating func add(_ name: String, _ value: String?) {
        guard let value, !value.isEmpty else { return }
        all.append(ResponseExplanation.Fact(name: name, value: value))
    }

    private static func fingerprint(_ der: [UInt8]) -> String { "SHA-256 " + Hex.encode(SHA256.hash(der)) }
}
