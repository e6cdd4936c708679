internal import Cryptography

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
