public import Contracts
public import Faults

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
