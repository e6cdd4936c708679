internal import CXmlSec

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
        do throws(EncryptedContent.Problem) {
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
        let failure = ParseFailure(parse).rejection
        throw trace.fail(.form, failure.reason, failure.explanation)
    }
}
