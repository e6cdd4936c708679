internal import CXmlSec

/// An `EncryptedAssertion` of a form that may be decrypted (mvpd §2.3 step 18).
struct EncryptedContent {
    let data: XmlElement
    let key: XmlElement
    let cipher: cxs_content_cipher
    /// True for AES-GCM: the ciphertext cannot have been changed.
    let isAuthenticated: Bool

    private static let keyTransport = "\(Namespaces.encryption)rsa-oaep-mgf1p"
    private static let ciphers: [String: (cxs_content_cipher, isAuthenticated: Bool)] = [
        "http://www.w3.org/2009/xmlenc11#aes128-gcm": (CXS_AES128_GCM, true),
        "http://www.w3.org/2009/xmlenc11#aes192-gcm": (CXS_AES192_GCM, true),
        "http://www.w3.org/2009/xmlenc11#aes256-gcm": (CXS_AES256_GCM, true),
        "http://www.w3.org/2001/04/xmlenc#aes128-cbc": (CXS_AES128_CBC, false),
        "http://www.w3.org/2001/04/xmlenc#aes192-cbc": (CXS_AES192_CBC, false),
        "http://www.w3.org/2001/04/xmlenc#aes256-cbc": (CXS_AES256_CBC, false),
    ]

    /// Nil when anything about it is not allowed.
    init?(_ encryptedAssertion: XmlElement) {
        let allData = encryptedAssertion.children("EncryptedData", in: Namespaces.encryption)
        let information = allData.first?.firstChild("KeyInfo", in: Namespaces.signature)
        let keys =
            (information?.children("EncryptedKey", in: Namespaces.encryption) ?? [])
            + encryptedAssertion.children("EncryptedKey", in: Namespaces.encryption)
        guard allData.count == 1, keys.count == 1, !Self.reachesOutside(encryptedAssertion),
            let (cipher, isAuthenticated) = Self.algorithm(of: allData[0]).flatMap({ Self.ciphers[$0] }),
            Self.algorithm(of: keys[0]) == Self.keyTransport, Self.usesPlainOAEP(keys[0])
        else { return nil }
        (data, key, self.cipher, self.isAuthenticated) = (allData[0], keys[0], cipher, isAuthenticated)
    }

    private static func algorithm(of element: XmlElement) -> String? {
        element.firstChild("EncryptionMethod", in: Namespaces.encryption)?.attribute("Algorithm")
    }

    /// Without parameters, and with SHA-1 as the digest: the library supports no other.
    private static func usesPlainOAEP(_ key: XmlElement) -> Bool {
        guard let method = key.firstChild("EncryptionMethod", in: Namespaces.encryption) else { return false }
        return method.children.allSatisfy {
            $0.isNamed("DigestMethod", in: Namespaces.signature) && $0.attribute("Algorithm", equals: DigestAlgorithm.sha1.rawValue)
        }
    }

    /// True when ciphertext or key would have to be fetched.
    private static func reachesOutside(_ element: XmlElement) -> Bool {
        if element.isNamed("CipherReference", in: Namespaces.encryption) { return true }
        if element.isNamed("RetrievalMethod", in: Namespaces.signature), element.attribute("URI")?.hasPrefix("#") != true { return true }
        return element.children.contains(where: reachesOutside)
    }
}
