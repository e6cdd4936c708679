internal import Contracts

/// A configuration with everything by its id.
final class CatalogueIndex: Sendable {
    let configuration: Configuration
    let requestors: [String: Requestor]
    let mvpds: [String: Mvpd]
    let integrations: [IntegrationKey: Integration]
    let integrationsByRequestor: [String: [Integration]]
    let applications: [String: Application]
    let applicationsBySoftware: [String: Application]
    let programmers: [String: Programmer]
    let degradationRules: [IntegrationKey: [DegradationRule]]
    let appleApps: [String: AppleApp]
    let appleTeams: [String: (programmer: String, team: AppleTeam)]

    init(_ configuration: Configuration) {
        self.configuration = configuration
        requestors = Self.index(configuration.requestors) { $0.id }
        mvpds = Self.index(configuration.mvpds) { $0.id }
        integrations = Self.index(configuration.integrations) { IntegrationKey(requestor: $0.requestorID, mvpd: $0.mvpdID) }
        integrationsByRequestor = Dictionary(grouping: configuration.integrations) { $0.requestorID }
        applications = Self.index(configuration.applications) { $0.id }
        programmers = Self.index(configuration.programmers) { $0.id }
        degradationRules = Dictionary(grouping: configuration.degradationRules) { IntegrationKey(requestor: $0.requestorID, mvpd: $0.mvpdID) }
        let pairs = configuration.applications.flatMap { application in application.softwareIDs.map { ($0, application) } }
        applicationsBySoftware = Dictionary(pairs) { first, _ in first }
        (appleTeams, appleApps) = Catalogue.appleIndex(configuration.programmers)
    }

    private static func index<Key: Hashable, Value>(_ values: [Value], by key: (Value) -> Key) -> [Key: Value] {
        Dictionary(values.map { (key($0), $0) }) { first, _ in first }
    }
}
