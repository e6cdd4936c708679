package import Contracts
package import StrictJson

/// Reads a catalogue document into a `Configuration` and checks that it fits together.
///
/// Sections are read in the order of their references, whatever their order in the text.
package final class CatalogueReading {
    /// Raised by each release that reads another configuration from the same document: what an older one made of it is then published anew, once.
    package static let level = 2
    /// Since then an OAuth record that does not say its callback has one of its own; before, all shared one.
    package static let levelOfCallbacks = 2

    /// States whether entries must fit together in what one of them can have without the other.
    package enum Completeness {
        /// A file is read as a whole.
        case whole
        /// Entries are edited one after the other; the administration asks for the rest at the entry or at the push (dashboard §4).
        case inProgress
    }

    let certificates: CertificateReader
    let completeness: Completeness
    /// True when a problem may say which other entry has what this one takes: it may be another tenant's.
    let namesOthers: Bool
    /// `nil`: where they lie is not known here.
    let clientSecrets: ClientSecretFiles?
    var programmers: [OctetText: Programmer] = [:]
    var requestors: [OctetText: Requestor] = [:]
    var mvpds: [OctetText: Mvpd] = [:]
    var mappingIDs: Set<OctetText> = []
    var integrations: Set<[OctetText]> = []
    /// Those that an upstream serves.
    var bridged: Set<[OctetText]> = []
    /// Tests that stand before their integrations.
    var scheduled: [(value: JsonValue, requestor: String, mvpd: String)] = []
    var applications: Set<OctetText> = []
    /// Name and version of each programmer's applications.
    var editions: Set<[OctetText]> = []
    /// Whose each public key, imported client and listed statement is.
    var identities: [OctetText: String] = [:]
    var issuers: Set<OctetText> = []
    var serviceTokenIssuers: Set<OctetText> = []
    var upstreams: [OctetText: BridgeUpstream] = [:]
    /// Service providers of upstreams, and the requestor that each is.
    var serviceProviders: [[OctetText]: String] = [:]
    /// References to requestors that stand before the requestors themselves.
    var bridgedRequestors: [(reference: JsonValue, id: String)] = []
    var appleTeams: Set<OctetText> = []
    /// Where each app of every team stands.
    var appleClients: [OctetText: JsonPath] = [:]
    private var ownWarnings: [CatalogueProblem] = []
    /// References to MVPDs that may stand before the MVPD itself.
    var proxies: [(reference: JsonValue, id: String, from: String)] = []
    /// The requestors of each MVPD that its proxy lists; none: all of the proxy's.
    var listed: [OctetText: Set<OctetText>] = [:]

    /// - Parameter namesOthers: False for somebody who may not know whose the other entries of the catalogue are.
    package init(
        certificates: CertificateReader, completeness: Completeness = .whole, clientSecrets: ClientSecretFiles? = nil, namesOthers: Bool = true
    ) {
        self.certificates = certificates
        self.completeness = completeness
        self.namesOthers = namesOthers
        self.clientSecrets = clientSecrets
    }

    /// Warnings that an operator should look at, though the catalogue can be used.
    package var warnings: [CatalogueProblem] { ownWarnings + certificates.warnings }

    /// - Parameter message: Goes on from the path.
    func warn(_ message: String, at path: JsonPath) { ownWarnings.append(CatalogueProblem(warning: message, at: path)) }

    package func configuration(_ root: JsonValue) -> Configuration? {
        root.object { object in
            var configuration = Configuration()
            configuration.programmers = object.required("programmers")?.array(programmer) ?? []
            configuration.upstreams = object.optional("upstreams")?.array(upstream) ?? []
            configuration.requestors = object.required("requestors")?.array(requestor) ?? []
            configuration.mvpds = object.required("mvpds")?.array(mvpd) ?? []
            configuration.integrations = object.required("integrations")?.array(integration) ?? []
            configuration.applications = object.optional("applications")?.array(application) ?? []
            configuration.platformIdentityIssuers = object.optional("platformIdentityIssuers")?.array(identityIssuer) ?? []
            configuration.serviceTokenIssuers = object.optional("serviceTokenIssuers")?.array(serviceTokenIssuer) ?? []
            checkProxies()
            checkBridgedRequestors()
            if completeness == .whole { checkScheduled() }
            completeListed(&configuration)
            return configuration
        }
    }

    private func programmer(_ value: JsonValue) -> Programmer? {
        value.object { object in
            var programmer = Programmer()
            programmer.id = object.newID { programmers[$0] == nil }
            programmer.name = object.displayName("name")
            programmer.certificates = certificates(object)
            programmer.metadataEncryption = object.choice(
                "metadataEncryption", ["oaepSha256": .oaepSha256, "pkcs1v15": .pkcs1V15], else: .oaepSha256)
            programmer.customSchemes = customSchemes(object)
            programmer.appleTeams = object.optional("appleTeams")?.array(appleTeam) ?? []
            if !programmer.id.isEmpty { programmers[programmer.id] = programmer }
            return programmer
        }
    }

    private func checkProxies() {
        for (reference, id, from) in proxies {
            if id == from {
                reference.problem("must be another MVPD than the one it stands in")
            } else if let proxy = mvpds[id] {
                if proxy.isProxied { reference.problem("names '\(id)', which is itself reached through a proxy") }
                if mvpds[from]?.signIn == nil, case .saml = proxy.signIn {
                } else if mvpds[from]?.signIn == nil {
                    reference.problem("names '\(id)', which signs nobody in by SAML; give a 'saml' of its own, or name another proxy")
                }
            } else {
                reference.problem("names the MVPD '\(id)', which is not in the catalogue")
            }
        }
    }
}
