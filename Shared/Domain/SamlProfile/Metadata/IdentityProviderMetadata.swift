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
        /// Where answers go; nil: to the location.
        public let responseLocation: String?

        public var isRedirect: Bool { binding == SamlURI.redirectBinding }
        public var isPost: Bool { binding == SamlURI.postBinding }
    }

    /// What an address is for.
    public enum Service: String, Hashable, Sendable, CaseIterable {
        case singleSignOn = "SingleSignOnService"
        case singleLogout = "SingleLogoutService"
    }

    /// A certificate of a `KeyDescriptor`.
    public struct Certificate: Hashable, Sendable {
        /// DER; empty when the text is no base64.
        public let der: [UInt8]
        /// False: for encryption only.
        public let signs: Bool
    }

    /// Empty when it is missing.
    public let entityID: String
    /// Nil when there is none.
    public let displayName: String?
    public let endpoints: [Endpoint]
    /// In the order of the document, without repetitions.
    public let certificates: [Certificate]
    public let nameIDFormats: [String]
    public let wantsSignedRequests: Bool
    /// Nil when the document does not say.
    public let validUntil: Timestamp?

    /// - Throws: `bind.size`; why the document cannot be read; `xml.root` when it is no metadata of one SAML 2.0 identity provider.
    public init(document: String) throws(SamlRejection) {
        guard document.utf8.count <= Self.largest else { throw SamlRejection(.size, "The metadata is larger than 256 KiB.") }
        let root: XmlElement
        do throws(ParseFailure) {
            root = try ParsedDocument.parse(Array(document.utf8)).root
        } catch {
            throw error.rejection
        }
        guard root.isNamed("EntityDescriptor", in: Namespaces.metadata) else {
            throw SamlRejection(.root, "The root is no EntityDescriptor of SAML 2.0 metadata; give the one of the MVPD alone.")
        }
        let roles = root.children("IDPSSODescriptor", in: Namespaces.metadata).filter(Self.speaksSAML2)
        guard roles.count == 1 else { throw SamlRejection(.root, "There is not exactly one IDPSSODescriptor for SAML 2.0.") }
        let role = roles[0]
        entityID = root.attribute("entityID") ?? ""
        displayName = Self.displayName(of: role) ?? Self.organization(of: root)
        validUntil = root.attribute("validUntil").flatMap(SamlInstant.parse)
        wantsSignedRequests = ["true", "1"].contains(role.attribute("WantAuthnRequestsSigned"))
        certificates = Self.certificates(of: role)
        nameIDFormats = role.children("NameIDFormat", in: Namespaces.metadata).compactMap(\.text)
        endpoints = Self.endpoints(.singleSignOn, "SingleSignOnService", of: role) + Self.endpoints(.singleLogout, "SingleLogoutService", of: role)
    }

    private static func speaksSAML2(_ role: XmlElement) -> Bool {
        role.attribute("protocolSupportEnumeration")?.split(separator: " ").contains { $0 == "\(Namespaces.protocol)" } ?? false
    }

    private static func endpoints(_ service: Service, _ name: StaticString, of role: XmlElement) -> [Endpoint] {
        role.children(name, in: Namespaces.metadata).map { element in
            Endpoint(
                service: service, binding: element.attribute("Binding") ?? "", location: element.attribute("Location") ?? "",
                responseLocation: element.attribute("ResponseLocation"))
        }
    }

    private static func certificates(of role: XmlElement) -> [Certificate] {
        var found: [Certificate] = []
        for descriptor in role.children("KeyDescriptor", in: Namespaces.metadata) {
            let signs = descriptor.attribute("use") != "encryption"
            let data = descriptor.children("KeyInfo", in: Namespaces.signature).flatMap { $0.children("X509Data", in: Namespaces.signature) }
            for element in data.flatMap({ $0.children("X509Certificate", in: Namespaces.signature) }) {
                let text = (element.text ?? "").filter { !$0.isWhitespace }
                let certificate = Certificate(der: Base64.standard.decode(text) ?? [], signs: signs)
                if !found.contains(certificate) { found.append(certificate) }
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
