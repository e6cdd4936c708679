public import Contracts
public import Faults

/// One version of the configuration, indexed for the questions that services ask of it.
public struct Catalogue: Sendable {
    public let configuration: Configuration
    private let requestors: [String: Requestor]
    private let mvpds: [String: Mvpd]
    private let integrations: [IntegrationKey: Integration]
    private let integrationsByRequestor: [String: [Integration]]
    private let applications: [String: Application]
    private let applicationsBySoftware: [String: Application]
    let programmers: [String: Programmer]
    let degradationRules: [IntegrationKey: [DegradationRule]]
    let appleApps: [String: AppleApp]
    let appleTeams: [String: (programmer: String, team: AppleTeam)]

    public init(_ configuration: Configuration) {
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
        (appleTeams, appleApps) = Self.appleIndex(configuration.programmers)
    }

    public var version: UInt64 { configuration.version }

    public func requestor(_ id: String) -> Requestor? { requestors[id] }

    public func mvpd(_ id: String) -> Mvpd? { mvpds[id] }

    /// The programmer that a requestor belongs to.
    public func programmer(of requestor: Requestor) -> Programmer? { programmers[requestor.programmerID] }

    public func application(_ id: String) -> Application? { applications[id] }

    /// The application whose software statement has that id and is not revoked.
    public func application(softwareID: String) -> Application? { applicationsBySoftware[softwareID] }

    /// The pair as it stands in the catalogue, enabled or not.
    public func integration(requestor: String, mvpd: String) -> Integration? {
        integrations[IntegrationKey(requestor: requestor, mvpd: mvpd)]
    }

    /// The enabled integrations of a requestor with their MVPDs, in catalogue order (rest-v1 §3.3 lists only these).
    /// - Parameter platform: Whose values are put in place of the general ones; `nil`: no platform is known.
    public func activeIntegrations(requestor: String, platform: Platform? = nil) -> [(integration: Integration, mvpd: Mvpd)] {
        (integrationsByRequestor[requestor] ?? []).compactMap { integration in
            guard integration.enabled, let mvpd = mvpds[integration.mvpdID] else { return nil }
            return Self.resolved(integration, mvpd, scope: PlatformScope(platform))
        }
    }

    private static func index<Key: Hashable, Value>(_ values: [Value], by key: (Value) -> Key) -> [Key: Value] {
        Dictionary(values.map { (key($0), $0) }) { first, _ in first }
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
        guard let requestor = requestors[id] else { throw Fault(.invalidRequestor, "The requestor is not known.") }
        return requestor
    }

    /// The enabled integration of two known parties.
    /// - Parameter platform: Whose values are put in place of the general ones; `nil`: no platform is known.
    /// - Throws: `unknown_integration` when there is none, or it is switched off (rest-v1 §2.8).
    public func requireIntegration(
        requestor: String, mvpd: String, platform: Platform? = nil
    ) throws(Fault) -> (integration: Integration, mvpd: Mvpd) {
        guard let integration = integration(requestor: requestor, mvpd: mvpd), integration.enabled, let record = mvpds[mvpd] else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        return Self.resolved(integration, record, scope: PlatformScope(platform))
    }
}
