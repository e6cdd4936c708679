internal import Cryptography

extension MarkupWriter {
    /// An empty enveloped signature over the element with that ID (RSA-SHA256, exclusive canonicalization), to be filled by `SamlSigningKey.sign`.
    mutating func signatureTemplate(over id: String, certificate: [UInt8]) {
        let canonicalization = "\(Namespaces.exclusiveCanonicalization)"
        element("ds:Signature", [("xmlns:ds", "\(Namespaces.signature)")]) { signature in
            signature.element("ds:SignedInfo") { info in
                info.element("ds:CanonicalizationMethod", [("Algorithm", canonicalization)])
                info.element("ds:SignatureMethod", [("Algorithm", SignatureAlgorithm.rsaSHA256.rawValue)])
                info.element("ds:Reference", [("URI", "#" + id)]) { reference in
                    reference.element("ds:Transforms") { transforms in
                        transforms.element("ds:Transform", [("Algorithm", "\(Namespaces.signature)enveloped-signature")])
                        transforms.element("ds:Transform", [("Algorithm", canonicalization)])
                    }
                    reference.element("ds:DigestMethod", [("Algorithm", DigestAlgorithm.sha256.rawValue)])
                    reference.element("ds:DigestValue")
                }
            }
            signature.element("ds:SignatureValue")
            signature.keyInformation(certificate: certificate)
        }
    }

    mutating func keyInformation(certificate: [UInt8]) {
        element("ds:KeyInfo") { information in
            information.element("ds:X509Data") { $0.element("ds:X509Certificate", text: Base64.standard.encode(certificate)) }
        }
    }
}
