internal import Catalogue
package import Contracts
internal import Cryptography
internal import Foundation
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
    /// Each app of every team stands here.
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

extension CatalogueReading {
    /// The certificates of a programmer or a requestor (dashboard §2).
    func certificates(_ object: JsonObject) -> [Contracts.Certificate] {
        var seen: Set<OctetText> = []
        return object.optional("certificates")?.array { value -> Contracts.Certificate? in
            guard let certificate = certificate(value) else { return nil }
            if !seen.insert(certificate.id).inserted { value.problem("is there twice") }
            return certificate
        } ?? []
    }

    private func certificate(_ value: JsonValue) -> Contracts.Certificate? {
        value.object { object -> Contracts.Certificate? in
            let isRevoked = object.flag("revoked")
            let encrypts = object.flag("encryptsUserMetadata")
            guard let text = object.required("certificate"), let der = certificates.encryptionCertificate(text, isRevoked: isRevoked) else {
                return nil
            }
            return Contracts.Certificate(id: Hex.encode(SHA256.hash(der)), der: der, encryptsUserMetadata: encrypts, revoked: isRevoked)
        } ?? nil
    }

    /// A certificate that has ended since it was written down keeps nothing from being used. The key is left out until there is another (rest-v1 §8).
    func checkEncryption(_ key: JsonValue, _ requestor: Requestor) {
        let programmer = programmers[requestor.programmerID]
        let catalogue = Catalogue(Configuration(programmers: programmer.map { [$0] } ?? []))
        guard catalogue.metadataCertificate(of: requestor, now: certificates.now) == nil else { return }
        let named = requestor.certificates.filter(\.encryptsUserMetadata) + (programmer?.certificates.filter(\.encryptsUserMetadata) ?? [])
        if named.contains(where: { !$0.revoked }) {
            warn("is left out: no certificate of '\(requestor.id)' and its programmer is valid today", at: key.path)
        } else {
            key.problem("is to be encrypted, but neither '\(requestor.id)' nor its programmer has a certificate that encrypts user metadata")
        }
    }
}

/// Sign-ins of a test user that are tried on a schedule (Shared/Documents/Decisions/0085).
extension CatalogueReading {
    /// Seconds from one to the next.
    static let testIntervals: ClosedRange<UInt32> = 60...86_400
    /// Beside the MVPD's own.
    private static let mostOrigins = 8

    func scheduledSignIn(_ object: JsonObject, of mvpd: Mvpd) -> ScheduledSignIn? {
        guard let value = object.optional("testSignIn") else { return nil }
        let test = value.object { object in
            var test = ScheduledSignIn()
            test.requestorID = object.reference("requestor", "requestor", in: requestors)
            test.user = object.text("user")
            test.passwordReference = secretReference(object, "passwordReference", required: true)
            test.everySeconds = object.number("every", Self.testIntervals, else: Self.testIntervals.lowerBound)
            test.userField = object.text("userField", required: false)
            test.passwordField = object.text("passwordField", required: false)
            test.origins = object.texts("origins", CatalogueURL.originProblem)
            if test.origins.count > Self.mostOrigins { object.optional("origins")?.problem("must have at most \(Self.mostOrigins) origins") }
            test.paused = !object.flag("enabled", else: true)
            return test
        }
        if case .tempPass = mvpd.signIn { value.problem("has no meaning for a TempPass: nobody signs in at it") }
        if mvpd.upstreamOnly { value.problem("must not be there beside upstreamOnly") }
        if let test { scheduled.append((value, test.requestorID, mvpd.id)) }
        return test
    }

    /// The integration that a test tries may be gone: nobody is to keep one for a test's sake.
    func checkScheduled() {
        for (value, requestor, mvpd) in scheduled where requestors[requestor] != nil && !mvpd.isEmpty {
            if !integrations.contains([OctetText(requestor), OctetText(mvpd)]) {
                warn("is not tried: the requestor '\(requestor)' has no integration with '\(mvpd)'", at: value.path)
            } else if bridged.contains([OctetText(requestor), OctetText(mvpd)]) {
                warn("is not tried: an upstream signs in the viewers of the requestor '\(requestor)'", at: value.path)
            }
        }
    }
}

extension CatalogueReading {
    func integration(_ value: JsonValue) -> Integration? {
        value.object { object in
            var integration = Integration()
            integration.requestorID = object.reference("requestor", "requestor", in: requestors)
            integration.mvpdID = object.reference("mvpd", "MVPD", in: mvpds)
            integration.enabled = object.flag("enabled", else: true)
            integration.platformSsoEnabled = object.flag("platformSso")
            integration.autoSignIn = object.flag("autoSignIn")
            integration.authnTtlSeconds = object.number("authnTtl", Self.lifetimes)
            integration.authzTtlSeconds = object.number("authzTtl", Self.lifetimes)
            integration.hbaAuthnTtlSeconds = object.number("hbaAuthnTtl", Self.lifetimes)
            integration.metadataKeys = object.optional("metadataKeys")?.array { metadataKey($0, for: integration.requestorID) } ?? []
            if !integrations.insert([OctetText(integration.requestorID), OctetText(integration.mvpdID)]).inserted {
                object.problem("is a second integration of '\(integration.requestorID)' with '\(integration.mvpdID)'")
            }
            integration.preflightMaxResources = object.number("preflightMaxResources", Self.preflightLimits)
            checkLifetimes(object, authn: integration.authnTtlSeconds, hba: integration.hbaAuthnTtlSeconds)
            integration.platformOverrides = overrides(object, of: mvpds[integration.mvpdID], isIntegration: true)
            integration.oauthClient = oauthClient(object, of: mvpds[integration.mvpdID])
            checkPlatform(object, integration)
            integration.bridge = integrationBridge(object, of: integration)
            if integration.bridge != nil { bridged.insert([OctetText(integration.requestorID), OctetText(integration.mvpdID)]) }
            return integration
        }
    }

    private func checkPlatform(_ object: JsonObject, _ integration: Integration) {
        guard integration.platformSsoEnabled, let mvpd = mvpds[integration.mvpdID], !supportsSingleSignOn(mvpd, .all) else { return }
        object.optional("platformSso")?.problem("is on, but the MVPD '\(mvpd.id)' supports it on no platform")
    }

    /// `"userID"`, or an object where the value is to be encrypted.
    private func metadataKey(_ value: JsonValue, for requestor: String) -> MetadataKey? {
        var key = MetadataKey()
        if value.isString {
            key.key = value.string() ?? ""
        } else {
            guard let read = value.object({ MetadataKey(key: $0.text("key"), encrypted: $0.flag("encrypted")) }) else { return nil }
            key = read
        }
        if !key.key.isEmpty, !CatalogueSyntax.isMetadataKey(key.key) { value.problem("must be a metadata key such as 'userID'; it is '\(key.key)'") }
        if key.key == "zip", !key.encrypted { value.problem("must be encrypted: 'zip' is sensitive (mvpd §1.2)") }
        if key.encrypted, completeness == .whole, let requestor = requestors[requestor] { checkEncryption(value, requestor) }
        return key
    }
}

/// Where the secrets lie that OAuth providers gave, as the authentication service reads them. Looked for here, never read.
package struct ClientSecretFiles: Hashable, Sendable {
    let folder: String

    func path(_ name: String) -> String { "\(folder)/\(name).secret" }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
