public import Clocks
internal import Cryptography

/// The message's own claims, as it was received. Nothing of it is trusted, and nothing of it is personal. The NameID and the values of attributes are
/// never read.
struct MessageFacts: Hashable, Sendable {
    struct Signature: Hashable, Sendable {
        /// `response` or `assertion`.
        let place: String
        let algorithm: String
        let digest: String
        /// The certificate that the message carries, which is never used: DER.
        let certificate: [UInt8]?
    }

    struct Attribute: Hashable, Sendable {
        let name: String
        let values: Int
    }

    /// The attribute of the user id is there in one of these ways.
    enum UserIDForm: Hashable, Sendable { case absent, empty, several, structured, good }

    struct Confirmation: Hashable, Sendable {
        let method: String
        let recipient: String?
        let notOnOrAfter: String?
        let inResponseTo: String?
        let hasNotBefore: Bool
    }

    struct AssertionFacts: Hashable, Sendable {
        var issuer: String?
        var issueInstant: String?
        var nameIDFormat: String?
        var confirmations: [Confirmation] = []
        var notBefore: String?
        var notOnOrAfter: String?
        var conditions: [String] = []
        var audiences: [String] = []
        var authnInstant: String?
        var sessionNotOnOrAfter: String?
        var attributes: [Attribute] = []
        /// Nil when the NameID is the user id.
        var userIDForm: UserIDForm?
    }

    var root = ""
    var destination: String?
    var issueInstant: String?
    var inResponseTo: String?
    var issuer: String?
    var status: [String] = []
    /// The MVPD's own words about it.
    var statusMessage: String?
    var signatures: [Signature] = []
    /// Key transport and content cipher of an encrypted assertion, with digest and mask function.
    var encryption: [String] = []
    /// Nil when there is none, or it is encrypted and could not be read.
    var assertion: AssertionFacts?
}

extension MessageFacts {
    /// - Parameters:
    ///   - response: The root of the received document.
    ///   - decrypted: The assertion, when it came encrypted and was decrypted.
    ///   - userIDAttribute: The attribute that names the person; nil: the NameID does.
    init(of response: XmlElement, decrypted: XmlElement?, userIDAttribute: String?) {
        root = response.displayName
        destination = response.shown("Destination")
        issueInstant = response.shown("IssueInstant")
        inResponseTo = response.shown("InResponseTo")
        issuer = response.firstChild("Issuer", in: Namespaces.assertion)?.shownText
        var holder = response.firstChild("Status", in: Namespaces.protocol)
        while let code = holder?.firstChild("StatusCode", in: Namespaces.protocol), status.count < 4 {
            status.append(code.shown("Value") ?? "")
            holder = code
        }
        statusMessage = response.firstChild("Status", in: Namespaces.protocol)?.firstChild("StatusMessage", in: Namespaces.protocol)?.shownText
        signatures = Signature.list(of: response, place: "response")
        if let encrypted = response.firstChild("EncryptedAssertion", in: Namespaces.assertion) {
            encryption = encrypted.encryptionMethods
        }
        guard let assertion = decrypted ?? response.firstChild("Assertion", in: Namespaces.assertion) else { return }
        signatures += Signature.list(of: assertion, place: "assertion")
        self.assertion = AssertionFacts(of: assertion)
        self.assertion?.userIDForm = userIDAttribute.map { name in
            switch IdentifyingAttribute(name, in: assertion) {
            case .value: .good
            case .absent: .absent
            case .empty: .empty
            case .several: .several
            case .structured: .structured
            }
        }
    }
}

extension MessageFacts.Signature {
    fileprivate static func list(of parent: XmlElement, place: String) -> [MessageFacts.Signature] {
        parent.children("Signature", in: Namespaces.signature).prefix(2).map { signature in
            let information = signature.firstChild("SignedInfo", in: Namespaces.signature)
            let reference = information?.firstChild("Reference", in: Namespaces.signature)
            let certificate = signature.firstChild("KeyInfo", in: Namespaces.signature)?.firstChild("X509Data", in: Namespaces.signature)?
                .firstChild("X509Certificate", in: Namespaces.signature)?.text
            return MessageFacts.Signature(
                place: place, algorithm: information?.firstChild("SignatureMethod", in: Namespaces.signature)?.shown("Algorithm") ?? "none",
                digest: reference?.firstChild("DigestMethod", in: Namespaces.signature)?.shown("Algorithm") ?? "none",
                certificate: certificate.flatMap { Base64.standard.decode($0.filter { !$0.isWhitespace }) })
        }
    }
}

extension MessageFacts.AssertionFacts {
    private static let mostAttributes = 60

    fileprivate init(of assertion: XmlElement) {
        issuer = assertion.firstChild("Issuer", in: Namespaces.assertion)?.shownText
        issueInstant = assertion.shown("IssueInstant")
        let subject = assertion.firstChild("Subject", in: Namespaces.assertion)
        nameIDFormat = subject?.firstChild("NameID", in: Namespaces.assertion).map { $0.shown("Format") ?? "none" }
        confirmations = (subject?.children("SubjectConfirmation", in: Namespaces.assertion) ?? []).prefix(4).map { confirmation in
            let data = confirmation.firstChild("SubjectConfirmationData", in: Namespaces.assertion)
            return MessageFacts.Confirmation(
                method: confirmation.shown("Method") ?? "none", recipient: data?.shown("Recipient"), notOnOrAfter: data?.shown("NotOnOrAfter"),
                inResponseTo: data?.shown("InResponseTo"), hasNotBefore: data?.attribute("NotBefore") != nil)
        }
        readConditions(of: assertion)
        let statement = assertion.firstChild("AuthnStatement", in: Namespaces.assertion)
        authnInstant = statement?.shown("AuthnInstant")
        sessionNotOnOrAfter = statement?.shown("SessionNotOnOrAfter")
        attributes = assertion.children("AttributeStatement", in: Namespaces.assertion)
            .flatMap { $0.children("Attribute", in: Namespaces.assertion) }.prefix(Self.mostAttributes).map { attribute in
                MessageFacts.Attribute(
                    name: attribute.shown("Name") ?? "without name",
                    values: attribute.children("AttributeValue", in: Namespaces.assertion).count)
            }
    }

    private mutating func readConditions(of assertion: XmlElement) {
        let all = assertion.firstChild("Conditions", in: Namespaces.assertion)
        notBefore = all?.shown("NotBefore")
        notOnOrAfter = all?.shown("NotOnOrAfter")
        for condition in all.map({ Array($0.children) })?.prefix(8) ?? [] {
            conditions.append(condition.displayName)
            audiences += condition.children("Audience", in: Namespaces.assertion).prefix(4).map { $0.shownText ?? "" }
        }
    }
}

extension XmlElement {
    /// The attribute's value, fit to be shown.
    fileprivate func shown(_ name: StaticString) -> String? { attribute(name).map(ShownText.of) }

    fileprivate var shownText: String? { text.map(ShownText.of) }

    fileprivate var displayName: String { ShownText.of(localName) }

    fileprivate var encryptionMethods: [String] {
        var found: [String] = []
        func visit(_ element: XmlElement) {
            if element.isNamed("EncryptionMethod", in: Namespaces.encryption), found.count < 8 {
                let parts = element.children.prefix(3).map { "\($0.displayName) \($0.shown("Algorithm") ?? "")" }
                found.append(([element.shown("Algorithm") ?? "none"] + parts).joined(separator: " with "))
            }
            element.children.forEach(visit)
        }
        visit(self)
        return found
    }
}

/// Text from an untrusted message, made safe for a terminal, a log and a page.
enum ShownText {
    private static let longest = 200

    /// Printable ASCII, everything else as `?`, cut after 200 characters.
    static func of(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(longest).map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }
        return String(shown) + (text.unicodeScalars.count > longest ? "..." : "")
    }
}

extension ResponseVerifier {
    /// Verifies a response as `verify` does, and describes the outcome of every check. After one that failed, it also describes the later checks that
    /// do not depend on it. That costs only a response that is refused.
    ///
    /// Steps 1, 4 and 31 belong to the caller: 1 and 4 are marked as passed, 31 as not checked.
    /// - Parameters:
    ///   - response: The message as it arrived.
    ///   - expected: The demands of the pending request and the endpoint's record.
    ///   - now: The time of day.
    public func explain(_ response: UnverifiedResponse, expecting expected: ExpectedResponse, at now: Timestamp) -> ResponseFinding {
        var verification = ResponseVerification(expecting: expected, at: now)
        let report = verification.report(on: response)
        let facts = verification.receivedRoot.map {
            MessageFacts(of: $0, decrypted: verification.decryptedRoot, userIDAttribute: expected.guidAttributeName)
        }
        let survey: ResponseSurvey? = if case .accepted = report.verdict { nil } else { ResponseSurvey(after: verification) }
        let explainer = Explainer(
            expected: expected, now: now, facts: facts ?? MessageFacts(), digestDiffers: report.digestDiffers || survey?.digestDiffers == true,
            others: survey?.findings ?? [:])
        return ResponseFinding(verdict: report.verdict, explanation: explainer.explain(report), digestDiffers: report.digestDiffers)
    }
}
