/// Hints on what to change after a failure of a signature or of the encryption.
extension Explainer {
    func signatureHint(_ check: Check) -> String {
        switch check {
        case .signaturePolicy:
            "Signed: \(facts.signatures.isEmpty ? "nothing" : facts.signatures.map(\.place).joined(separator: ", ")); the endpoint's "
                + "saml.signaturePolicy is \(expected.signaturePolicy). Change one of the two."
        case .reference: "The signature needs one Reference whose URI is # and the ID of the element that holds it."
        case .transforms: "Allowed are enveloped-signature, then exclusive canonicalization without comments (xml-exc-c14n#)."
        case .noObjects: "The signature must not hold ds:Object, nor refer to a Manifest."
        case .algorithms:
            "Used are \(algorithms); the endpoint allows SHA-256 and longer unless saml.signatureAlgorithms or saml.legacySha1Until say otherwise."
        case .pinnedKey: "The pinned certificate's key (saml.signingCertificates) is of another kind than the algorithm \(algorithms)."
        default: digestDiffers ? changedContentHint : certificateHint
        }
    }

    private var algorithms: String {
        facts.signatures.map { "\($0.algorithm) with \($0.digest) (\($0.place))" }.joined(separator: ", ")
    }

    private var changedContentHint: String {
        "The content is not what was signed: something between the MVPD's signing and us changed it (re-indenting, white space, encoding), or the "
            + "message was tampered with."
    }

    private var certificateHint: String {
        let sent = facts.signatures.compactMap(\.certificate)
        let pinned = expected.pinnedCertificates.map(\.der)
        if sent.isEmpty { return "The message names no certificate; check that the pinned one is the MVPD's signing certificate of today." }
        return sent.allSatisfy(pinned.contains)
            ? "The message names the pinned certificate, but was not signed with its key."
            : "The message names another certificate than the \(pinned.count) pinned (fingerprints below). If the MVPD changed its key, get the new "
                + "certificate from it by another way and pin it (saml.signingCertificates)."
    }

    func decryptionHint(_ reason: String) -> String {
        switch reason {
        case RejectionReason.encryptionRequired.rawValue: "The endpoint demands encrypted assertions: change the MVPD, or saml.encryption."
        case RejectionReason.encryptionAlgorithm.rawValue:
            "Used are \(facts.encryption.joined(separator: ", ")). Our metadata names what the MVPD may use: RSA-OAEP as key transport, AES-GCM as content "
                + "cipher."
        default: "Was it encrypted for the certificate of our metadata, as it is today?"
        }
    }
}
