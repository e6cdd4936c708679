public import Clocks
internal import Cryptography

/// The content of an MVPD's metadata about its identity provider (SAML metadata §2.4.3). It is untrusted: an operator compares it with what the MVPD
/// announced (mvpd §2.7). It is read from the text alone; nothing is fetched.
public struct IdentityProviderMetadata: Hashable, Sendable {
    /// Octets; a longer document is refused.
    public static let largest = 256 * 1024

    /// An address with its binding.
    public struct Endpoint: Hashable, Sendable {
        public let service: Service
        /// URI.
        public let binding: String
        public let location: String
        /// Answers go here; nil: to the location.
        public let responseLocation: String?

        public var isRedirect: Bool { binding == SamlURI.redirectBinding }
        public var isPost: Bool { binding == SamlURI.postBinding }
    }

    /// The purpose of an address.
    public enum Service: String, Hashable, Sendable, CaseIterable {
        case singleSignOn = "SingleSignOnService"
        case singleLogout = "SingleLogoutService"
    }

    /// A certificate of a `KeyDescriptor`.
    public struct Certificate: Hashable, Sendable {
        /// DER; empty when there is none that could be read.
        public let der: [UInt8]
        /// False: for encryption only.
        public let signs: Bool
        /// There is no DER for this reason, to go on from the certificate's place; empty when there is.
        public let problem: String

        init(der: [UInt8], signs: Bool) { (self.der, self.signs, problem) = (der, signs, "") }

        init(problem: String, signs: Bool) { (der, self.signs, self.problem) = ([], signs, problem) }
    }

    /// Empty when it is missing.
    public let entityID: String
    /// Nil when there is none.
    public let displayName: String?
    public let endpoints: [Endpoint]
    /// In the order of the document, without repetitions; those that cannot be read as well.
    public let certificates: [Certificate]
    public let nameIDFormats: [String]
    public let wantsSignedRequests: Bool
    /// The earliest of the document, its entity and its role; nil when none of them says.
    public let validUntil: Timestamp?
    /// An end that the document names cannot be read for this reason, to go on from `validUntil`; nil when each can. Such a document must not be
    /// taken.
    public let validUntilProblem: String?

    /// - Parameter document: Text, whatever encoding its declaration names; an `EntitiesDescriptor` may stand round the one entity.
    /// - Throws: `bind.size`; why the document cannot be read; `xml.root` when it is no metadata of one SAML 2.0 identity provider.
    public init(document: String) throws(SamlRejection) {
        guard document.utf8.count <= Self.largest else { throw SamlRejection(.size, "The metadata is larger than 256 KiB.") }
        let octets = XmlDeclaration.withoutEncoding(document)
        if let other = Self.otherKind(octets) { throw SamlRejection(.form, other) }
        let root: XmlElement
        do throws(XmlRejection) {
            root = try ParsedDocument.parseMetadata(octets).root
        } catch {
            throw error == .form ? SamlRejection(.form, "It is not well-formed XML, or was cut or changed on its way.") : error.rejection
        }
        let (entity, holders) = try Self.onlyEntity(in: root)
        let role = Self.roles(of: entity)[0]
        entityID = entity.uri("entityID") ?? ""
        displayName = Self.displayName(of: role) ?? Self.organization(of: entity)
        (validUntil, validUntilProblem) = Self.end(of: holders + [entity, role])
        wantsSignedRequests = ["true", "1"].contains(role.attribute("WantAuthnRequestsSigned"))
        certificates = Self.certificates(of: role)
        nameIDFormats = role.children("NameIDFormat", in: Namespaces.metadata).compactMap(\.text)
        endpoints = Self.endpoints(.singleSignOn, "SingleSignOnService", of: role) + Self.endpoints(.singleLogout, "SingleLogoutService", of: role)
    }

    /// The kind of text that people give in place of metadata.
    private static func otherKind(_ octets: [UInt8]) -> String? {
        let head = String(decoding: octets.prefix(64), as: UTF8.self).lowercased()
        if head.isEmpty { return "It is empty." }
        if head.hasPrefix("{") || head.hasPrefix("[") {
            return
                "It is JSON, and SAML metadata is XML. A discovery document of OpenID Connect counts only as its provider serves it: give its https "
                + "address, which ends in /.well-known/openid-configuration, in place of a file."
        }
        if head.hasPrefix("-----begin") { return "It is a PEM file, such as a certificate alone; metadata is XML that holds the certificate." }
        if head.hasPrefix("<!doctype html") || head.hasPrefix("<html") {
            return "It is a page of HTML, such as a sign-in page or an error: the metadata is elsewhere, or not open to everybody."
        }
        if !head.hasPrefix("<") { return "It is no XML: it does not begin with <." }
        return nil
    }

    /// The one entity with an identity provider, and the elements round it.
    private static func onlyEntity(in root: XmlElement) throws(SamlRejection) -> (XmlElement, holders: [XmlElement]) {
        var entities: [(XmlElement, holders: [XmlElement])] = []
        func visit(_ element: XmlElement, _ holders: [XmlElement]) {
            if element.isNamed("EntityDescriptor", in: Namespaces.metadata) {
                entities.append((element, holders))
            } else if element.isNamed("EntitiesDescriptor", in: Namespaces.metadata) {
                for child in element.children { visit(child, holders + [element]) }
            }
        }
        visit(root, [])
        guard !entities.isEmpty else {
            let name = ShownText.of(root.localName)
            throw SamlRejection(
                .root, "The root is \(name), and holds no EntityDescriptor of SAML 2.0 metadata; give the metadata of the MVPD's identity provider.")
        }
        let providers = entities.filter { !roles(of: $0.0).isEmpty }
        guard let only = providers.first else {
            throw SamlRejection(
                .root,
                "It has no IDPSSODescriptor for SAML 2.0: it is metadata of a service provider, or of SAML 1.1; ask for the identity provider's.")
        }
        guard providers.count == 1 else {
            throw SamlRejection(
                .root, "It holds \(providers.count) identity providers; give the EntityDescriptor of the MVPD alone.")
        }
        guard roles(of: only.0).count == 1 else {
            throw SamlRejection(.root, "There is not exactly one IDPSSODescriptor for SAML 2.0.")
        }
        return only
    }

    private static func roles(of entity: XmlElement) -> [XmlElement] {
        entity.children("IDPSSODescriptor", in: Namespaces.metadata).filter(speaksSAML2)
    }

    private static func speaksSAML2(_ role: XmlElement) -> Bool {
        role.attribute("protocolSupportEnumeration")?.split(whereSeparator: \.isWhitespace).contains { $0 == "\(Namespaces.protocol)" } ?? false
    }

    /// The document is good until its earliest end (SAML metadata §2.3.1, §2.3.2, §2.4.1).
    private static func end(of elements: [XmlElement]) -> (Timestamp?, problem: String?) {
        var earliest: Timestamp?
        var problem: String?
        for element in elements {
            guard let text = element.attribute("validUntil") else { continue }
            if let end = SamlInstant.parseAnyOffset(text) {
                earliest = min(earliest ?? end, end)
            } else {
                let cause =
                    SamlInstant.read(text) == .withoutZone
                    ? "names no time zone: is it UTC, ending in Z?" : "is no xs:dateTime, such as 2031-03-04T10:00:00Z"
                problem = problem ?? "of the \(element.localName) is '\(ShownText.of(text))', which \(cause)"
            }
        }
        return (earliest, problem)
    }

    private static func endpoints(_ service: Service, _ name: StaticString, of role: XmlElement) -> [Endpoint] {
        role.children(name, in: Namespaces.metadata).map { element in
            Endpoint(
                service: service, binding: element.uri("Binding") ?? "", location: element.uri("Location") ?? "",
                responseLocation: element.uri("ResponseLocation"))
        }
    }

    private static func certificates(of role: XmlElement) -> [Certificate] {
        var found: [Certificate] = []
        for descriptor in role.children("KeyDescriptor", in: Namespaces.metadata) {
            let signs = descriptor.attribute("use") != "encryption"
            let information = descriptor.children("KeyInfo", in: Namespaces.signature)
            let elements = information.flatMap { $0.children("X509Data", in: Namespaces.signature) }
                .flatMap { $0.children("X509Certificate", in: Namespaces.signature) }
            if elements.isEmpty {
                let others = information.flatMap { $0.children.map(\.localName) }.map(ShownText.of)
                let instead = others.isEmpty ? "nothing" : others.joined(separator: ", ")
                found.append(Certificate(problem: "holds \(instead) in place of an X509Certificate", signs: signs))
            }
            for certificate in elements.flatMap({ CertificateText.certificates(of: $0) }) {
                switch certificate {
                case .der(let der):
                    let certificate = Certificate(der: der, signs: signs)
                    if !found.contains(certificate) { found.append(certificate) }
                case .problem(let problem): found.append(Certificate(problem: problem, signs: signs))
                }
            }
        }
        return found
    }

    /// The user interface's name (SAML metadata extensions for login and discovery §2.1.2).
    private static func displayName(of role: XmlElement) -> String? {
        let extensions = role.firstChild("Extensions", in: Namespaces.metadata)
        let names = extensions?.firstChild("UIInfo", in: Namespaces.userInterface)?.children("DisplayName", in: Namespaces.userInterface)
        return names?.first?.text
    }

    private static func organization(of root: XmlElement) -> String? {
        root.firstChild("Organization", in: Namespaces.metadata)?.firstChild("OrganizationDisplayName", in: Namespaces.metadata)?.text
    }
}

extension XmlElement {
    /// The value of an attribute that is a URI: the white space of xs:anyURI is collapsed (XML Schema part 2 §3.2.17).
    fileprivate func uri(_ name: StaticString) -> String? {
        attribute(name).map { value in
            let octets = Array(value.utf8)
            func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }
            guard let first = octets.firstIndex(where: { !isSpace($0) }), let last = octets.lastIndex(where: { !isSpace($0) }) else { return "" }
            return String(decoding: octets[first...last], as: UTF8.self)
        }
    }
}

/// The content of an `X509Certificate`: base64 of DER, or what people make of it by hand.
enum CertificateText {
    case der([UInt8])
    /// Goes on from the certificate's place.
    case problem(String)

    private static let armour = "-----"

    static func certificates(of element: XmlElement) -> [CertificateText] {
        guard let text = element.text else { return [.problem("holds elements in place of base64")] }
        return certificates(text, mayNest: true)
    }

    /// - Parameter mayNest: True when base64 may hold a PEM file: some consoles encode what is encoded already.
    private static func certificates(_ text: String, mayNest: Bool) -> [CertificateText] {
        let parts = text.split(separator: armour, omittingEmptySubsequences: false)
        var found: [CertificateText] = []
        for (index, part) in parts.enumerated() {
            // Every other part stands in armour: BEGIN and END lines.
            if !index.isMultiple(of: 2), parts.count > 1 {
                let label = ShownText.of(String(part))
                if label.hasPrefix("BEGIN"), !label.hasSuffix("CERTIFICATE") {
                    return [.problem("holds a \(label.dropFirst(6)) in place of a certificate")]
                }
                continue
            }
            let digits = part.filter { !$0.isWhitespace }
            if digits.isEmpty { continue }
            guard let octets = Base64.standard.decode(digits) else {
                found.append(.problem("is not whole base64: a character is foreign to it, or the end is missing"))
                continue
            }
            if mayNest, octets.drop(while: { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }).starts(with: Array(armour.utf8)),
                let inner = String(validating: octets, as: UTF8.self)
            {
                found += certificates(inner, mayNest: false)
            } else {
                found.append(.der(octets))
            }
        }
        return found.isEmpty ? [.problem("is empty")] : found
    }
}
