/// The signature of a redirected message, over the octets as they were received (SAML bindings §3.4.4.1, mvpd §2.7).
struct QuerySignature {
    let fields: FormFields
    /// The parameter with the message.
    var message = "SAMLRequest"

    func verify(with certificate: Certificate) throws(SamlRefusal) {
        guard let algorithm = try fields.single("SigAlg"), let text = try fields.single("Signature") else {
            throw SamlRefusal("sig.missing", "The query carries no SigAlg and Signature.")
        }
        guard let digest = Self.digest(of: algorithm) else { throw SamlRefusal("sig.alg", "The algorithm \(algorithm) is not accepted.") }
        guard let signature = Base64.octets(text) else { throw SamlRefusal("bind.base64", "Signature is not base64.") }
        do {
            try certificate.verify(signature, over: Array(signedText.utf8), digest: digest)
        } catch {
            throw SamlRefusal("sig.invalid", "The query's signature does not verify with the service provider's certificate.")
        }
    }

    private var signedText: String {
        [message, "RelayState", "SigAlg"].compactMap { name in
            fields.raw(name).first.map { "\(name)=\($0)" }
        }.joined(separator: "&")
    }

    private static func digest(of algorithm: String) -> String? {
        switch algorithm {
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": "SHA256"
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384": "SHA384"
        case "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": "SHA512"
        default: nil
        }
    }
}
