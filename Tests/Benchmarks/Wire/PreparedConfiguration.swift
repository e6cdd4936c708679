import ContractRuntime
import Contracts
import Rpc

/// A catalogue like that of a small deployment, encoded once: what a service answers from memory.
struct PreparedConfiguration: Config {
    static let service = ConfigMethods.service

    let encoded: [UInt8]

    init() throws {
        encoded = try Self.example.serialized()
    }

    func register(in services: inout RpcServices) {
        let encoded = encoded
        ConfigMethods.register(self, in: &services)
        services.immediate(ConfigMethods.getConfiguration) { _, _ in encoded }
    }

    func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration { Self.example }

    func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        AsyncThrowingStream { $0.yield(Self.example) }
    }

    func issueSoftwareStatement(_ request: IssueSoftwareStatementRequest, context: CallContext) async throws -> SoftwareStatement {
        SoftwareStatement(statement: "", softwareID: request.applicationID)
    }

    private static let example = Configuration(
        version: 7, changedAtMilliseconds: 1_790_000_000_000,
        programmers: [Programmer(id: "acme", name: "Acme"), Programmer(id: "bravo", name: "Bravo")],
        requestors: ["ACME1", "ACME2", "BRAVO"].map { id in
            Requestor(
                id: id, name: id, programmerID: "acme", domains: [Domain(name: "\(id).example")],
                channels: ["\(id)-NEWS", "\(id)-SPORT", "\(id)-KIDS"])
        },
        mvpds: ["NorthCable", "LakeTel", "OpenFiber", "ParkedTV"].map(mvpd),
        integrations: ["ACME1", "ACME2", "BRAVO"].flatMap { requestor in
            ["NorthCable", "LakeTel", "OpenFiber", "ParkedTV"].map { mvpd in
                Integration(requestorID: requestor, mvpdID: mvpd, enabled: true, metadataKeys: [MetadataKey(key: "zip"), MetadataKey(key: "userID")])
            }
        },
        applications: [Application(id: "tv-app", name: "TV app", requestorIDs: ["ACME1", "ACME2"], softwareIDs: ["5f2b1c3d"])],
        statementKeys:
            #"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
    )

    private static func mvpd(_ id: String) -> Mvpd {
        Mvpd(
            id: id, displayName: id, logoURL: "https://\(id).example/logo.png",
            platforms: [PlatformSettings(platform: .tvos, platformMappingID: id, requiredMetadataFields: ["userID", "householdID"])],
            authorization: AuthorizationEndpoint(protocol: .xacmlJson, url: "https://\(id).example/pdp"),
            signIn: .saml(
                SamlEndpoint(
                    idpEntityID: "https://\(id).example/idp", ssoURL: "https://\(id).example/sso",
                    signingCertificates: [[UInt8](repeating: 0x30, count: 800)])))
    }
}
