internal import CXmlSec

extension ResponseVerification {
    /// A response with verified signatures; content that none of them covers stays untrusted.
    struct Signed {
        let received: Received
        /// The response out of its own signature; nil when it is not signed.
        let response: VerifiedElement?
        /// The assertion out of its own signature or the response's; nil when there is none, or it is still encrypted.
        let assertion: VerifiedElement?
    }

    /// Steps 10 to 17.
    mutating func verifySignatures(of received: Received) throws(SamlRejection) -> Signed {
        try checkPolicy(received)
        return try verifyPresentSignatures(of: received)
    }

    /// Steps 11 to 17 for each signature that is there.
    mutating func verifyPresentSignatures(of received: Received) throws(SamlRejection) -> Signed {
        var response: VerifiedElement?
        var assertion: VerifiedElement?
        if let signature = received.responseSignature { response = try verify(signature, of: received.root) }
        if let signature = received.assertionSignature, let parent = received.assertion {
            assertion = try verify(signature, of: parent)
        } else if !received.isEncrypted {
            assertion = response?.firstChild("Assertion", in: Namespaces.assertion)
        }
        return Signed(received: received, response: response, assertion: assertion)
    }

    /// Step 10. An encrypted assertion's own signature is looked for after decryption.
    mutating func checkPolicy(_ received: Received) throws(SamlRejection) {
        if expected.signaturePolicy != .assertion {
            guard received.responseSignature != nil else {
                throw trace.fail(.signaturePolicy, .signatureMissing, "The response is not signed.")
            }
        }
        let refusesWithoutAssertion = received.assertion == nil && !Self.isSuccess(received.root)
        if expected.signaturePolicy != .response, !received.isEncrypted, !refusesWithoutAssertion {
            guard received.assertionSignature != nil else {
                throw trace.fail(.signaturePolicy, .signatureMissing, "The assertion is not signed.")
            }
        }
        trace.pass(.signaturePolicy)
    }

    /// Steps 11 to 17 for one signature and the element that holds it.
    mutating func verify(_ signature: XmlElement, of parent: XmlElement) throws(SamlRejection) -> VerifiedElement {
        let description = SignatureDescription(signature)
        try checkObjects(description)
        try checkReference(description, of: parent)
        try checkTransforms(description)
        let (algorithm, digest) = try checkAlgorithms(description)
        let keys = try pinnedKeys(for: algorithm)
        return try verify(signature, in: parent.document, algorithm, digest, keys)
    }

    /// Step 13.
    mutating func checkObjects(_ description: SignatureDescription) throws(SamlRejection) {
        try trace.require(!description.holdsObject, .noObjects, .signatureObject, "The signature holds an object or refers to a manifest.")
    }

    /// Step 11.
    mutating func checkReference(_ description: SignatureDescription, of parent: XmlElement) throws(SamlRejection) {
        try trace.require(
            description.refersOnly(to: parent), .reference, .signatureReference, "The signature does not refer to its parent alone, by its ID.")
    }

    /// Step 12.
    mutating func checkTransforms(_ description: SignatureDescription) throws(SamlRejection) {
        try trace.require(
            description.hasAllowedTransforms, .transforms, .signatureTransform,
            "The transforms are not enveloped signature and exclusive canonicalization alone.")
    }

    /// Step 14.
    mutating func checkAlgorithms(
        _ description: SignatureDescription
    ) throws(SamlRejection) -> (SignatureAlgorithm, DigestAlgorithm) {
        let acceptsSHA1 = expected.legacySHA1Until.map { now < $0 } ?? false
        guard let algorithm = description.algorithm, let digest = description.digest,
            algorithm == .rsaSHA1 ? acceptsSHA1 : expected.signatureAlgorithms.contains(algorithm), digest != .sha1 || acceptsSHA1
        else { throw trace.fail(.algorithms, .signatureAlgorithm, "The signature or digest algorithm is not allowed.") }
        guard expected.pinnedCertificates.contains(where: \.key.isStrong) else {
            throw trace.fail(.algorithms, .signatureAlgorithm, "No pinned certificate has a key of sufficient size.")
        }
        trace.pass(.algorithms)
        return (algorithm, digest)
    }

    /// Step 15: the strong keys that the algorithm can use; `KeyInfo` is ignored.
    mutating func pinnedKeys(for algorithm: SignatureAlgorithm) throws(SamlRejection) -> [KeyHandle] {
        let keys = expected.pinnedCertificates.map(\.key).filter { $0.isStrong && $0.isRSA == algorithm.usesRSA }
        try trace.require(!keys.isEmpty, .pinnedKey, .signatureInvalid, "No pinned certificate fits the signature algorithm.")
        return keys
    }

    /// Steps 16 and 17.
    private mutating func verify(
        _ signature: XmlElement, in document: ParsedDocument, _ algorithm: SignatureAlgorithm, _ digest: DigestAlgorithm, _ keys: [KeyHandle]
    ) throws(SamlRejection) -> VerifiedElement {
        var verified: OpaquePointer?
        var parse = CXS_PARSED
        let pointers = keys.map { Optional($0.pointer) }
        let status = withExtendedLifetime(keys) {
            cxs_verify(document.pointer, signature.pointer, algorithm.method, digest.method, pointers, pointers.count, &verified, &parse)
        }
        guard status == CXS_VERIFIED, let verified else {
            keepDiagnostic()
            digestDiffers = status == CXS_DIGEST_MISMATCH
            throw trace.fail(.signature, .signatureInvalid, "The signature does not verify with a pinned certificate.")
        }
        trace.pass(.signature)
        trace.pass(.digestedOctets)
        return VerifiedElement(digested: ParsedDocument(verified))
    }
}
