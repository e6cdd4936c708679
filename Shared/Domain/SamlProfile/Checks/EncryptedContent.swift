internal import CXmlSec
public import Clocks

/// An `EncryptedAssertion` of a form that may be decrypted (mvpd §2.3 step 18).
struct EncryptedContent {
    let data: XmlElement
    /// Those that may be for us, at most four, in the order of the document (SAML core §2.3.4).
    let keys: [WrappedSessionKey]
    let cipher: cxs_content_cipher
    /// True for AES-GCM: the ciphertext cannot have been changed.
    let isAuthenticated: Bool

    /// A part that is not allowed; the text goes on from `The encryption`, and repeats nothing of the message.
    struct Rejection: Error, Hashable {
        let text: String
    }

    private static let mostKeys = 4
    private static let ciphers: [String: (cxs_content_cipher, isAuthenticated: Bool)] = [
        "http://www.w3.org/2009/xmlenc11#aes128-gcm": (CXS_AES128_GCM, true),
        "http://www.w3.org/2009/xmlenc11#aes192-gcm": (CXS_AES192_GCM, true),
        "http://www.w3.org/2009/xmlenc11#aes256-gcm": (CXS_AES256_GCM, true),
        "http://www.w3.org/2001/04/xmlenc#aes128-cbc": (CXS_AES128_CBC, false),
        "http://www.w3.org/2001/04/xmlenc#aes192-cbc": (CXS_AES192_CBC, false),
        "http://www.w3.org/2001/04/xmlenc#aes256-cbc": (CXS_AES256_CBC, false),
    ]

    /// - Parameters:
    ///   - encryptedAssertion: As it was received.
    ///   - recipients: The names under which an `EncryptedKey` is for us; one that names nobody may be.
    ///   - isVerified: True when a signature covers the ciphertext.
    init(_ encryptedAssertion: XmlElement, for recipients: [String], isVerified: Bool) throws(Rejection) {
        let allData = encryptedAssertion.children("EncryptedData", in: Namespaces.encryption)
        guard allData.count == 1 else { throw Rejection(text: "does not have exactly one EncryptedData") }
        guard !Self.reachesOutside(encryptedAssertion) else {
            throw Rejection(text: "refers to ciphertext or a key elsewhere (CipherReference, RetrievalMethod)")
        }
        guard let method = Self.method(of: allData[0])?.attribute("Algorithm") else {
            throw Rejection(text: "does not name the cipher of the content")
        }
        guard let (cipher, isAuthenticated) = Self.ciphers[method] else {
            throw Rejection(text: "has a content cipher that is not allowed: AES-GCM is, and AES-CBC inside a signed Response")
        }
        guard isAuthenticated || isVerified else {
            throw Rejection(text: "has AES-CBC as content cipher, which is allowed only inside a signed Response: use AES-GCM, or sign the Response")
        }
        let information = allData[0].firstChild("KeyInfo", in: Namespaces.signature)
        let all =
            (information?.children("EncryptedKey", in: Namespaces.encryption) ?? [])
            + encryptedAssertion.children("EncryptedKey", in: Namespaces.encryption)
        guard !all.isEmpty else { throw Rejection(text: "has no EncryptedKey") }
        let ours = all.filter { key in key.attribute("Recipient").map { name in recipients.contains { OctetText($0) == OctetText(name) } } ?? true }
        guard !ours.isEmpty else { throw Rejection(text: "has no EncryptedKey for us: each names another Recipient than our entity id") }
        var keys: [WrappedSessionKey] = []
        var problem: Rejection?
        for key in ours {
            do throws(Rejection) { keys.append(try WrappedSessionKey(key)) } catch { problem = problem ?? error }
        }
        if keys.isEmpty, let problem { throw problem }
        (data, self.keys, self.cipher, self.isAuthenticated) = (allData[0], Array(keys.prefix(Self.mostKeys)), cipher, isAuthenticated)
    }

    static func method(of element: XmlElement) -> XmlElement? { element.firstChild("EncryptionMethod", in: Namespaces.encryption) }

    /// True when ciphertext or key would have to be fetched.
    private static func reachesOutside(_ element: XmlElement) -> Bool {
        if element.isNamed("CipherReference", in: Namespaces.encryption) { return true }
        if element.isNamed("RetrievalMethod", in: Namespaces.signature), element.attribute("URI")?.hasPrefix("#") != true { return true }
        return element.children.contains(where: reachesOutside)
    }
}

/// An `EncryptedKey` that RSAES-OAEP can open, without parameters (XML Encryption 1.1 §5.5.2).
struct WrappedSessionKey {
    let element: XmlElement
    let digest: DigestAlgorithm
    /// The digest of MGF1.
    let mask: DigestAlgorithm

    /// Always with MGF1 of SHA-1.
    static let fixedMask = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"
    /// With the mask function that is named, or else the same.
    static let namedMask = "http://www.w3.org/2009/xmlenc11#rsa-oaep"
    static let masks: [String: DigestAlgorithm] = [
        "http://www.w3.org/2009/xmlenc11#mgf1sha1": .sha1, "http://www.w3.org/2009/xmlenc11#mgf1sha256": .sha256,
        "http://www.w3.org/2009/xmlenc11#mgf1sha384": .sha384, "http://www.w3.org/2009/xmlenc11#mgf1sha512": .sha512,
    ]

    init(_ element: XmlElement) throws(EncryptedContent.Rejection) {
        guard let method = EncryptedContent.method(of: element), let algorithm = method.attribute("Algorithm") else {
            throw .init(text: "does not name its key transport")
        }
        guard algorithm == Self.fixedMask || algorithm == Self.namedMask else {
            throw .init(text: "has a key transport that is not allowed: RSA-OAEP is (rsa-oaep-mgf1p, xmlenc11#rsa-oaep), RSA 1.5 is not")
        }
        var digest: DigestAlgorithm?
        var mask: DigestAlgorithm?
        for child in method.children {
            if child.isNamed("DigestMethod", in: Namespaces.signature), digest == nil {
                guard let named = child.attribute("Algorithm").flatMap(DigestAlgorithm.init) else {
                    throw .init(text: "has a digest in its key transport that is not allowed: SHA-1, SHA-256, SHA-384 and SHA-512 are")
                }
                digest = named
            } else if child.isNamed("MGF", in: Namespaces.encryption11), mask == nil {
                guard let named = child.attribute("Algorithm").flatMap({ Self.masks[$0] }), algorithm == Self.namedMask || named == .sha1 else {
                    throw .init(
                        text: "has a mask function in its key transport that is not allowed: MGF1 with SHA-1, and by xmlenc11#rsa-oaep with SHA-256, "
                            + "SHA-384 or SHA-512 as well")
                }
                mask = named
            } else {
                throw .init(text: "has parameters in its key transport (such as OAEPparams), which are not allowed")
            }
        }
        (self.element, self.digest, self.mask) = (element, digest ?? .sha1, mask ?? .sha1)
    }
}

/// The signature algorithms that may be allowed to an MVPD (mvpd §2.3 step 14).
public enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
    case rsaSHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
    case rsaSHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
    case rsaSHA384 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"
    case rsaSHA512 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"
    case ecdsaSHA256 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"
    case ecdsaSHA384 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"
    case ecdsaSHA512 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"

    /// The default of an endpoint: everything but SHA-1.
    public static let current: Set<SignatureAlgorithm> = Set(allCases).subtracting([.rsaSHA1])

    var usesRSA: Bool {
        switch self {
        case .rsaSHA1, .rsaSHA256, .rsaSHA384, .rsaSHA512: true
        case .ecdsaSHA256, .ecdsaSHA384, .ecdsaSHA512: false
        }
    }

    var method: cxs_signature_method {
        switch self {
        case .rsaSHA1: CXS_RSA_SHA1
        case .rsaSHA256: CXS_RSA_SHA256
        case .rsaSHA384: CXS_RSA_SHA384
        case .rsaSHA512: CXS_RSA_SHA512
        case .ecdsaSHA256: CXS_ECDSA_SHA256
        case .ecdsaSHA384: CXS_ECDSA_SHA384
        case .ecdsaSHA512: CXS_ECDSA_SHA512
        }
    }
}

/// The digests that a reference may name (mvpd §2.3 step 14).
enum DigestAlgorithm: String, Hashable, Sendable {
    case sha1 = "http://www.w3.org/2000/09/xmldsig#sha1"
    case sha256 = "http://www.w3.org/2001/04/xmlenc#sha256"
    case sha384 = "http://www.w3.org/2001/04/xmldsig-more#sha384"
    case sha512 = "http://www.w3.org/2001/04/xmlenc#sha512"

    var method: cxs_digest_method {
        switch self {
        case .sha1: CXS_SHA1
        case .sha256: CXS_SHA256
        case .sha384: CXS_SHA384
        case .sha512: CXS_SHA512
        }
    }
}

/// Everything that the caller knows about the answer it waits for: the pending request, the endpoint's record, the service's keys.
public struct ExpectedResponse: Sendable {
    /// `ID` of the pending request.
    public var requestID: String
    /// The request was sent at this time; `forceAuthn` compares with it.
    public var requestedAt: Timestamp
    /// The address of the assertion consumer service: `Destination` and `Recipient`.
    public var assertionConsumerServiceURL: String
    /// Another accepted address, for answers to a platform's sign-in framework (mvpd §2.8); nil: none.
    public var exchangeURL: String?
    public var answeredRequest: AnsweredRequest = .recorded
    public var issuer: ExpectedIssuer
    /// The base `spEntityId`, accepted as audience.
    public var serviceProviderEntityID: String
    /// The exact issuer that the request named, accepted as audience.
    public var issuerSent: String
    /// Clocks may differ this far.
    public var clockSkew: Duration = .seconds(60)
    /// How old a response may be.
    public var maximumResponseAge: Duration = .seconds(300)
    public var signaturePolicy: SignaturePolicy = .assertion
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// Until when SHA-1 signatures and digests are accepted; nil: never.
    public var legacySHA1Until: Timestamp?
    /// The endpoint's pinned certificates, 1 to 4; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    /// The accepted NameID formats: the one requested, and those listed for the endpoint. The `unspecified` format accepts any.
    public var nameIDFormats: [String]
    public var forceAuthn = false
    /// False for an answer to a query for attributes, and when the platform sent the request itself (mvpd §2.8).
    public var requiresAuthnStatement = true
    public var encryption: EncryptionPolicy = .optional
    /// The service's own keys for encrypted assertions, newest first.
    public var decryptionKeys: [DecryptionKey] = []
    /// The attribute that holds the user id in place of the NameID.
    public var guidAttributeName: String?
    public var attributeMap: [AttributeMapping] = []

    /// True for the address of this service under which the answer came.
    func isAddressed(to address: String?) -> Bool { address == assertionConsumerServiceURL || address != nil && address == exchangeURL }

    /// - Parameters:
    ///   - requestID: `ID` of the pending request.
    ///   - requestedAt: When the request was sent.
    ///   - assertionConsumerServiceURL: The address that the request named.
    ///   - issuer: Who answers.
    ///   - serviceProviderEntityID: The base `spEntityId`.
    ///   - issuerSent: The issuer that the request named.
    ///   - pinnedCertificates: The endpoint's certificates.
    ///   - nameIDFormats: The accepted formats.
    public init(
        requestID: String, requestedAt: Timestamp, assertionConsumerServiceURL: String, issuer: ExpectedIssuer,
        serviceProviderEntityID: String, issuerSent: String, pinnedCertificates: [PinnedCertificate], nameIDFormats: [String]
    ) {
        self.requestID = requestID
        self.requestedAt = requestedAt
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.issuer = issuer
        self.serviceProviderEntityID = serviceProviderEntityID
        self.issuerSent = issuerSent
        self.pinnedCertificates = pinnedCertificates
        self.nameIDFormats = nameIDFormats
    }
}
