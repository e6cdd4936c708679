internal import SandboxKit
internal import CSandboxXml

/// The signature of a redirected message, over the octets as they were received (SAML bindings §3.4.4.1, mvpd §2.7).
struct QuerySignature {
    let fields: FormFields
    /// The parameter with the message.
    var message = "SAMLRequest"

    func verify(with certificate: Certificate) throws(RequestRefusal) {
        guard let algorithm = try fields.single("SigAlg"), let text = try fields.single("Signature") else {
            throw RequestRefusal("sig.missing", "The query carries no SigAlg and Signature.")
        }
        guard let digest = Self.digest(of: algorithm) else { throw RequestRefusal("sig.alg", "The algorithm \(algorithm) is not accepted.") }
        guard let signature = Base64.octets(text) else { throw RequestRefusal("bind.base64", "Signature is not base64.") }
        do {
            try certificate.verify(signature, over: Array(signedText.utf8), digest: digest)
        } catch {
            throw RequestRefusal("sig.invalid", "The query's signature does not verify with the service provider's certificate.")
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

/// The compression of the HTTP redirect binding (SAML bindings §3.4.4.1).
enum RawDeflate {
    /// Most octets that a message may have after inflating.
    static let largestMessage = 64 * 1024

    static func inflate(_ octets: [UInt8]) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_inflate(octets, octets.count, largestMessage, $0) }
    }

    static func deflate(_ octets: [UInt8]) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_deflate(octets, octets.count, $0) }
    }
}
