internal import CXmlSec

extension AuthnRequest {
    /// The address for the Redirect binding: the request deflated, and the query signed over its exact text (SAML bindings §3.4.4.1).
    /// - Parameter relayState: The handle; nil: the parameter is left out, also of what is signed.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func redirectURL(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        var query = "SAMLRequest=" + QueryEncoding.encoded(StrictBase64.encode(try Self.deflated(document())))
        if let relayState { query += "&RelayState=" + QueryEncoding.encoded(relayState.rawValue) }
        query += "&SigAlg=" + QueryEncoding.encoded(SignatureAlgorithm.rsaSHA256.rawValue)
        query += "&Signature=" + QueryEncoding.encoded(StrictBase64.encode(try key.signature(of: query)))
        return destination + (destination.contains("?") ? "&" : "?") + query
    }

    /// The form fields for the POST binding: the request with an enveloped signature, base64 (SAML bindings §3.5.4).
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        let signed = try signedDocument(signedWith: key)
        return PostForm(
            action: destination,
            fields: [("SAMLRequest", signed)] + (relayState.map { [("RelayState", $0.rawValue)] } ?? []))
    }

    /// The request with an enveloped signature, base64: what a form or a platform's framework carries.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func signedDocument(signedWith key: SigningKey) throws(SamlConfigurationError) -> String {
        StrictBase64.encode(Array(try key.sign(document(signatureFor: key.certificate)).utf8))
    }

    private static func deflated(_ text: String) throws(SamlConfigurationError) -> [UInt8] {
        var length = 0
        let octets = Array(text.utf8)
        guard let deflated = cxs_deflate(octets, octets.count, &length) else {
            throw SamlConfigurationError("There is no memory to deflate a request.")
        }
        defer { cxs_free(deflated) }
        return Array(UnsafeBufferPointer(start: deflated, count: length))
    }
}
