public import Contracts

/// A configuration with everything by its id.
final class CatalogueIndex: Sendable {
    let configuration: Configuration
    let requestors: [OctetText: Requestor]
    let mvpds: [OctetText: Mvpd]
    let integrations: [IntegrationKey: Integration]
    let integrationsByRequestor: [OctetText: [Integration]]
    let bridgedIntegrations: [OctetText: [Integration]]
    let applications: [OctetText: Application]
    /// With the time since when the statement is its programmer's.
    let applicationsBySoftware: [OctetText: (application: Application, sinceMilliseconds: UInt64)]
    let signingKeys: [OctetText: (application: Application, key: RequestSigningKey)]
    let importedClients: [OctetText: (application: Application, client: ImportedClient)]
    let programmers: [OctetText: Programmer]
    let degradationRules: [IntegrationKey: [DegradationRule]]
    let appleApps: [OctetText: AppleApp]
    /// Names of the registered domains of all requestors, lower case; and those of them that are for development.
    let domainNames: Set<OctetText>
    let developmentDomainNames: Set<OctetText>
    let appleTeams: [OctetText: (programmer: String, team: AppleTeam)]

    init(_ configuration: Configuration) {
        self.configuration = configuration
        requestors = Self.index(configuration.requestors) { OctetText($0.id) }
        mvpds = Self.index(configuration.mvpds) { OctetText($0.id) }
        integrations = Self.index(configuration.integrations) { IntegrationKey(requestor: $0.requestorID, mvpd: $0.mvpdID) }
        // The integrations of an upstream are listed in its own order.
        integrationsByRequestor = Dictionary(grouping: configuration.integrations.filter { $0.bridge == nil }) { OctetText($0.requestorID) }
        bridgedIntegrations = Dictionary(grouping: configuration.integrations.filter { $0.bridge != nil }) { OctetText($0.requestorID) }
        applications = Self.index(configuration.applications) { OctetText($0.id) }
        programmers = Self.index(configuration.programmers) { OctetText($0.id) }
        degradationRules = Dictionary(grouping: configuration.degradationRules) { IntegrationKey(requestor: $0.requestorID, mvpd: $0.mvpdID) }
        let pairs = configuration.applications.flatMap { application in
            application.softwareIDs.map { ($0, (application: application, sinceMilliseconds: UInt64(0))) }
                + application.legacyStatements.enumerated().map { index, digest in
                    let since = application.legacySinceMilliseconds
                    return (Catalogue.legacySoftware + digest, (application: application, sinceMilliseconds: index < since.count ? since[index] : 0))
                }
        }
        signingKeys = Dictionary(
            configuration.applications.flatMap { application in application.signingKeys.map { (OctetText($0.publicKey), (application, $0)) } }
        ) { first, _ in first }
        importedClients = Dictionary(
            configuration.applications.flatMap { application in application.clients.map { (OctetText($0.clientID), (application, $0)) } }
        ) { first, _ in first }
        applicationsBySoftware = Dictionary(texts: pairs) { first, _ in first }
        let domains = configuration.requestors.flatMap(\.domains).filter { !$0.name.isEmpty }
        domainNames = Set(texts: domains.map { $0.name.lowercased() })
        developmentDomainNames = Set(texts: domains.filter(\.development).map { $0.name.lowercased() })
        (appleTeams, appleApps) = Catalogue.appleIndex(configuration.programmers)
    }

    private static func index<Key: Hashable, Value>(_ values: [Value], by key: (Value) -> Key) -> [Key: Value] {
        Dictionary(values.map { (key($0), $0) }) { first, _ in first }
    }
}

/// An app of a programmer, as Apple names it (apple §2.8).
public struct AppleApp: Hashable, Sendable {
    /// Id of the programmer.
    public let programmer: String
    public let team: AppleTeam
    public let group: AppleAppGroup
    /// A bundle id, or a Services ID.
    public let clientID: String
    /// Native apps have bundle ids, web sign-in has a Services ID.
    public let isNative: Bool
}

extension AppleAppGroup {
    /// Every app that shares the group's consent: bundle ids, then Services IDs.
    public var clientIDs: [String] { bundleIDs + servicesIDs }
}
