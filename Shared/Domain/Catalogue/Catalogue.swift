public import Clocks
public import Contracts
public import Cryptography
public import Faults
internal import Memos

/// One version of the configuration, indexed for the lookups of services.
///
/// A copy costs one reference, so that each call can keep its own.
public struct Catalogue: Sendable {
    let index: CatalogueIndex

    /// Builds the indexes: once for each version of the configuration, not for each call.
    public init(_ configuration: Configuration) { index = CatalogueIndex(configuration) }

    public var configuration: Configuration { index.configuration }
    var programmers: [OctetText: Programmer] { index.programmers }
    var bridgedIntegrationsByRequestor: [OctetText: [Integration]] { index.bridgedIntegrations }
    var degradationRules: [IntegrationKey: [DegradationRule]] { index.degradationRules }
    var appleApps: [OctetText: AppleApp] { index.appleApps }
    var appleTeams: [OctetText: (programmer: String, team: AppleTeam)] { index.appleTeams }

    public var version: UInt64 { index.configuration.version }

    /// Id of the store that the version comes from; empty: unknown.
    public var storeID: String { index.configuration.storeID }

    /// The requestor with that id; `nil` when there is none.
    public func requestor(_ id: String) -> Requestor? { index.requestors[id] }

    /// The MVPD with that id; `nil` when there is none.
    public func mvpd(_ id: String) -> Mvpd? { index.mvpds[id] }

    /// The programmer that a requestor belongs to.
    public func programmer(of requestor: Requestor) -> Programmer? { index.programmers[requestor.programmerID] }

    /// The application with that id; `nil` when there is none.
    public func application(_ id: String) -> Application? { index.applications[id] }

    /// Prefix of the digest of a software statement that another issuer signed; the digest takes the place of a software id.
    public static let legacySoftware = "sha256:"

    /// The key pair that signs requests, and the application that owns it (clients §2).
    public func signingKey(_ publicKey: String) -> (application: Application, key: RequestSigningKey)? { index.signingKeys[OctetText(publicKey)] }

    /// A client that another system registered, and the application that owns it (clients §2.1).
    public func importedClient(_ id: String) -> (application: Application, client: ImportedClient)? { index.importedClients[OctetText(id)] }

    /// The application with a software statement of that id that is not revoked.
    /// - Parameter softwareID: The id of a statement issued here, or `legacySoftware` and a listed digest.
    public func application(softwareID: String) -> Application? { index.applicationsBySoftware[softwareID]?.application }

    /// The same for a client that registered with the statement.
    /// - Parameter moment: When it registered, in milliseconds since 1970: before the statement was listed for the application's programmer it was another programmer's
    ///   client, and nobody's now.
    public func application(softwareID: String, registeredAtMilliseconds moment: Int64) -> Application? {
        guard let found = index.applicationsBySoftware[softwareID], found.sinceMilliseconds <= UInt64(clamping: moment) else { return nil }
        return found.application
    }

    /// The integration as it is in the catalogue, enabled or not. It may be the stand-in where a requestor offers every MVPD of an upstream (bridge
    /// §3.2). States whether upstream lists that MVPD is not known here.
    public func integration(requestor: String, mvpd: String) -> Integration? {
        index.integrations[IntegrationKey(requestor: requestor, mvpd: mvpd)] ?? wholeUpstream(requestor: requestor, mvpd: mvpd)
    }

    func isInCatalogue(requestor: String, mvpd: String) -> Bool { index.integrations[IntegrationKey(requestor: requestor, mvpd: mvpd)] != nil }

    /// The enabled integrations of a requestor with their MVPDs, in catalogue order (rest-v1 §3.3 lists only these), without those that an upstream serves.
    /// - Parameter platform: Its overrides are applied; `nil`: no platform is known.
    public func activeIntegrations(requestor: String, platform: Platform? = nil) -> [(integration: Integration, mvpd: Mvpd)] {
        (index.integrationsByRequestor[requestor] ?? []).compactMap { integration in
            guard integration.enabled, let mvpd = index.mvpds[integration.mvpdID] else { return nil }
            return Self.resolved(integration, mvpd, scope: PlatformScope(platform))
        }
    }
}

struct IntegrationKey: Hashable {
    let requestor: String
    let mvpd: String
}

extension Catalogue {
    /// - Throws: `invalid_requestor` (rest-v1 §2.8).
    public func requireRequestor(_ id: String) throws(Fault) -> Requestor {
        guard !id.isEmpty else { throw Fault(.invalidRequestor, "Required 'requestor' is not present") }
        guard let requestor = index.requestors[id] else { throw Fault(.invalidRequestor, "The requestor is not known.") }
        return requestor
    }

    /// The enabled integration of two known parties.
    /// - Parameter platform: Its overrides are applied; `nil`: no platform is known.
    /// - Throws: `unknown_integration` when there is none, or it is switched off (rest-v1 §2.8).
    public func requireIntegration(
        requestor: String, mvpd: String, platform: Platform? = nil
    ) throws(Fault) -> (integration: Integration, mvpd: Mvpd) {
        guard let integration = integration(requestor: requestor, mvpd: mvpd), integration.enabled,
            let record = index.mvpds[mvpd] ?? (integration.bridge == nil ? nil : Mvpd(id: mvpd, upstreamOnly: true))
        else { throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.") }
        return Self.resolved(integration, record, scope: PlatformScope(platform))
    }
}

/// Entries that may stay in an older catalogue, and are not added any more.
extension Mvpd {
    /// True when its OAuth provider sends browsers back to the address that records of before share.
    public var sharesCallback: Bool {
        guard case .oauth(let endpoint) = signIn else { return false }
        return endpoint.callback != .own
    }
}

extension Requestor {
    /// True when sign-ins are to be confirmed, and those at its upstream cannot be: they end at the app's own page (bridge §7.4).
    public var cannotConfirm: Bool { confirmsSignIn && bridge.map(\.returnOrigin.isEmpty) ?? false }
}

/// Lookups for Automatic Sign-In and Sign in with Apple.
extension Catalogue {
    /// The app of any programmer with that bundle id or Services ID; letter case counts.
    public func appleApp(_ clientID: String) -> AppleApp? { appleApps[clientID] }

    /// The app with that client id, unless it is another programmer's than the requestor's.
    public func appleApp(_ clientID: String, for requestor: Requestor) -> AppleApp? {
        guard let app = appleApps[clientID], app.programmer == requestor.programmerID else { return nil }
        return app
    }

    /// The team with that id, and the id of its programmer.
    public func appleTeam(_ id: String) -> (programmer: String, team: AppleTeam)? { appleTeams[id] }

    /// The programmer that a requestor belongs to; `nil` when either is not in the catalogue.
    public func programmer(ofRequestor id: String) -> Programmer? { requestor(id).flatMap { programmer(of: $0) } }

    static func appleIndex(
        _ programmers: [Programmer]
    ) -> (teams: [OctetText: (programmer: String, team: AppleTeam)], apps: [OctetText: AppleApp]) {
        var teams: [OctetText: (programmer: String, team: AppleTeam)] = [:]
        var apps: [OctetText: AppleApp] = [:]
        for programmer in programmers {
            for team in programmer.appleTeams {
                teams[team.teamID] = (programmer.id, team)
                for group in team.groups {
                    for id in group.clientIDs {
                        let isNative = group.bundleIDs.contains(id)
                        apps[id] = AppleApp(programmer: programmer.id, team: team, group: group, clientID: id, isNative: isNative)
                    }
                }
            }
        }
        return (teams, apps)
    }
}

extension Catalogue {
    /// The certificate for encrypting the user metadata of a requestor: the newest valid one with that usage. So a backup takes over when the primary
    /// one is revoked or has expired (rest-v1 §8). A requestor's own certificates take precedence over its programmer's.
    /// - Returns: `nil` when there is none: values that must be encrypted are then left out.
    public func metadataCertificate(of requestor: Requestor, now: Timestamp) -> Cryptography.Certificate? {
        let own = requestor.certificates.filter(\.encryptsUserMetadata)
        let candidates = own.isEmpty ? programmer(of: requestor)?.certificates ?? [] : own
        return Self.newestEncrypting(candidates, now: now)
    }

    /// The padding that the requestor's programmer asks for.
    public func metadataEncryption(of requestor: Requestor) -> MetadataEncryption {
        programmer(of: requestor)?.metadataEncryption ?? .oaepSha256
    }

    /// They are looked at with each answer that tells something of a person, and change with the catalogue only.
    private static let parsed = Memo<[UInt8], Cryptography.Certificate?>(capacity: 1024)

    /// The newest; the last of several that began at the same time.
    public static func newestEncrypting(_ certificates: [Contracts.Certificate], now: Timestamp) -> Cryptography.Certificate? {
        certificates
            .filter { $0.encryptsUserMetadata && !$0.revoked }
            .compactMap { certificate in parsed.value(certificate.der) { try? Cryptography.Certificate(der: certificate.der) } }
            .filter { $0.isValid(at: now) }
            .reduce(nil) { best, next in
                guard let best, next.notBefore < best.notBefore else { return next }
                return best
            }
    }

    /// The custom URL schemes under which apps of a requestor may be reached: its own and its programmer's.
    public func customSchemes(of requestor: Requestor) -> [String] {
        requestor.customSchemes + (programmer(of: requestor)?.customSchemes ?? [])
    }
}

/// Tokens live for this long; the last level that sets a value wins: deployment, MVPD, integration (mvpd §1.1). For a device, take the pair that
/// `requireIntegration(requestor:mvpd:platform:)` resolved for its platform.
extension Catalogue {
    /// Used where neither the MVPD nor the integration sets a value (rest-v1 §5).
    public enum DefaultLifetime {
        public static let authn: Duration = .seconds(30 * 24 * 3600)
        public static let authz: Duration = .seconds(24 * 3600)
        public static let mediaToken: Duration = .seconds(420)
    }

    /// Lifetime of a session (rest-v1 §5): the integration's, else the MVPD's, else 30 days.
    public static func authnLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.authnTtlSeconds, mvpd.authnTtlSeconds, DefaultLifetime.authn)
    }

    /// Lifetime of a session from home-based authentication; `authnLifetime` where none is set.
    public static func hbaAuthnLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.hbaAuthnTtlSeconds, mvpd.hbaAuthnTtlSeconds, authnLifetime(integration, mvpd))
    }

    /// Lifetime of an authorization (rest-v1 §5): the integration's, else the MVPD's, else 24 hours.
    public static func authzLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.authzTtlSeconds, mvpd.authzTtlSeconds, DefaultLifetime.authz)
    }

    /// Lifetime of a media token (rest-v1 §7): the requestor's, else 420 seconds.
    public static func mediaTokenLifetime(_ requestor: Requestor) -> Duration {
        requestor.mediaTokenTtlSeconds == 0 ? DefaultLifetime.mediaToken : .seconds(Int64(requestor.mediaTokenTtlSeconds))
    }

    /// One preauthorization may ask about this many resources (dashboard §2).
    public static func preflightMaxResources(_ integration: Integration, _ mvpd: Mvpd) -> Int {
        let values = [integration.preflightMaxResources, mvpd.authorization?.preflightMaxResources ?? 0, defaultPreflightMaxResources]
        return values.first { $0 != 0 }.map(Int.init) ?? 0
    }

    static let defaultPreflightMaxResources: UInt32 = 5

    private static func lifetime(_ integration: UInt32, _ mvpd: UInt32, _ fallback: Duration) -> Duration {
        if integration != 0 { return .seconds(Int64(integration)) }
        return mvpd != 0 ? .seconds(Int64(mvpd)) : fallback
    }
}

extension Catalogue {
    /// The rule that decides in place of the MVPD at this moment (rest-v1 §6.1).
    ///
    /// AuthZ-None comes before AuthN-All, that before AuthZ-All; of two rules of one kind the one that lasts longer counts. Where an upstream decides, the
    /// latter two need the requestor's `localMediaTokens` (bridge §10.3).
    /// - Parameters:
    ///   - platform: The device's; `nil` when it is unknown: a rule for some platforms does not apply then.
    ///   - resource: The resource to watch; `nil` for a sign-in, to which only AuthN-All applies, independent of the resources that the rule names.
    public func degradation(requestor: String, mvpd: String, platform: Platform?, resource: String?, now: Timestamp) -> DegradationRule? {
        guard let rules = degradationRules[IntegrationKey(requestor: requestor, mvpd: mvpd)] else { return nil }
        let permits = permitsByRule(requestor: requestor, mvpd: mvpd)
        let holding = rules.filter { $0.holds(on: platform, for: resource, at: now) && (permits || $0.kind == .authzNone) }
        return holding.max { ($0.kind.precedence, $0.endsAtMilliseconds) < ($1.kind.precedence, $1.endsAtMilliseconds) }
    }

    /// The rule of that id, if the pair has it; it may have ended.
    public func degradationRule(_ id: String, requestor: String, mvpd: String) -> DegradationRule? {
        degradationRules[IntegrationKey(requestor: requestor, mvpd: mvpd)]?.first { $0.id == id }
    }
}

extension DegradationRule {
    /// True from its start up to its end.
    public func isActive(at now: Timestamp) -> Bool {
        let now = UInt64(clamping: now.milliseconds)
        return startsAtMilliseconds <= now && now < endsAtMilliseconds
    }

    fileprivate func holds(on platform: Platform?, for resource: String?, at now: Timestamp) -> Bool {
        guard isActive(at: now), kind.precedence > 0, platforms.isEmpty || platform.map(platforms.contains) == true else { return false }
        guard let resource else { return kind == .authnAll }
        return resources.isEmpty || resources.contains(resource)
    }
}

extension DegradationKind {
    /// 0: an unknown kind.
    fileprivate var precedence: Int {
        switch self {
        case .authzNone: 3
        case .authnAll: 2
        case .authzAll: 1
        case .unknown, .unrecognized: 0
        }
    }
}
