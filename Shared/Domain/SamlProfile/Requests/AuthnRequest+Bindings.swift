extension AuthnRequest {
    /// The address for the Redirect binding: the request deflated, and the query signed over its exact text (SAML bindings §3.4.4.1).
    /// - Parameter relayState: The handle; nil: the parameter is left out, also of what is signed.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func redirectURL(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> String {
        try binding(key, relayState).redirectURL(document())
    }

    /// The form fields for the POST binding: the request with an enveloped signature, base64 (SAML bindings §3.5.4).
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func postForm(signedWith key: SigningKey, relayState: RelayState?) throws(SamlConfigurationError) -> PostForm {
        try binding(key, relayState).postForm(document(signatureFor: key.certificate))
    }

    /// The request with an enveloped signature, base64: what a form or a platform's framework carries.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    public func signedDocument(signedWith key: SigningKey) throws(SamlConfigurationError) -> String {
        try binding(key, nil).signed(document(signatureFor: key.certificate))
    }

    private func binding(_ key: SigningKey, _ relayState: RelayState?) -> BrowserBinding {
        BrowserBinding(parameter: "SAMLRequest", destination: destination, key: key, relayState: relayState)
    }
}
