internal import Cryptography
internal import CXmlSec
internal import TextEncodings

/// How a message of ours travels by the browser (SAML bindings §3.4 and §3.5).
struct BrowserBinding {
    /// `SAMLRequest` or `SAMLResponse`.
    let parameter: String
    let destination: String
    let key: SigningKey
    /// Nil: the parameter is left out, also of what is signed.
    let relayState: RelayState?

    /// The address for the Redirect binding: the message deflated, and the query signed over its exact text (SAML bindings §3.4.4.1).
    /// - Parameter document: The XML, without a signature.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    func redirectURL(_ document: String) throws(SamlConfigurationError) -> String {
        var query = parameter + "=" + PercentEncoding.encode(Base64.standard.encode(try Self.deflated(document)))
        if let relayState { query += "&RelayState=" + PercentEncoding.encode(relayState.rawValue) }
        query += "&SigAlg=" + PercentEncoding.encode(SignatureAlgorithm.rsaSHA256.rawValue)
        query += "&Signature=" + PercentEncoding.encode(Base64.standard.encode(try key.signature(of: query)))
        return destination + (destination.contains("?") ? "&" : "?") + query
    }

    /// The form fields for the POST binding.
    /// - Parameter document: The XML with an empty enveloped signature.
    /// - Throws: `SamlConfigurationError` when the key cannot sign.
    func postForm(_ document: String) throws(SamlConfigurationError) -> PostForm {
        PostForm(
            action: destination,
            fields: [(parameter, try signed(document))] + (relayState.map { [("RelayState", $0.rawValue)] } ?? []))
    }

    /// The signed document, base64.
    func signed(_ document: String) throws(SamlConfigurationError) -> String { Base64.standard.encode(Array(try key.sign(document).utf8)) }

    private static func deflated(_ text: String) throws(SamlConfigurationError) -> [UInt8] {
        var length = 0
        let octets = Array(text.utf8)
        guard let deflated = cxs_deflate(octets, octets.count, &length) else {
            throw SamlConfigurationError("There is no memory to deflate a message.")
        }
        defer { cxs_free(deflated) }
        return Array(UnsafeBufferPointer(start: deflated, count: length))
    }
}
