import CatalogueSamples
import ConfigService
import ContractRuntime
import Contracts
import Cryptography
import Faults
import Foundation
import Logging
import Storage
import Tokens

/// The administration of a small catalogue with two programmers, `harbor` and `reef`, and administrators of each role.
struct AdministrationWorld {
    /// The administrators; each token is derived from the name.
    enum Who: String, CaseIterable, Sendable {
        /// Operators.
        case olga, otto
        /// Editors of harbor.
        case ed, emma
        /// Editor of reef.
        case rita
        /// Viewer of harbor.
        case vic
        case proxy
        /// Keeps the list of BigProxy.
        case watcher
        /// Viewer of harbor, with the right to personal data.
        case dpo
        /// Not an administrator.
        case stranger

        var token: String { "\(rawValue)-0123456789abcdef0123456789abcdef" }
    }

    let world: CatalogueFolder
    let store: Store
    let watcher: CatalogueFileWatcher
    let published: PublishedCatalogue
    let service: AdministrationService
    let keys: StatementKeys
    let statements: StatementSigner
    let publisher: CataloguePublisher

    /// The key of software statements that all copies have.
    private static let key = Result { JoseSigningKey(try P256PrivateKey.generate()) }

    /// - Parameters:
    ///   - former: With the store that another one of these left behind, for a restart, or has, for another copy.
    ///   - bearers: In place of those that the names give.
    ///   - keys: The keys of software statements.
    ///   - sessionCallers: The callers that may open sessions for people of an identity provider.
    init(
        _ former: CatalogueFolder? = nil, approvalRequired: Bool = false, catalogue: String = Self.catalogue, bearers: [Who: String] = [:],
        keys: SigningKeyFiles? = nil, sessionCallers: Set<String> = ["gateway.boxoffice"]
    ) async throws {
        let world = try former ?? CatalogueFolder()
        if former == nil { try world.write(catalogue, to: "catalogue.json") }
        let store = try world.store()
        let keys = StatementKeys(try keys ?? SigningKeyFiles(current: Self.key.get()), lead: .seconds(60))
        watcher = CatalogueFileWatcher(
            file: world.file, store: CatalogueStore(store), statementKeys: { keys.published }, clock: world.clock, logger: CatalogueFolder.silent)
        published = PublishedCatalogue(try await watcher.load())
        statements = StatementSigner(keys: keys, store: CatalogueStore(store), issuer: "boxoffice", clock: world.clock)
        publisher = CataloguePublisher(
            store: CatalogueStore(store), published: published, statementKeys: { keys.published }, clock: world.clock)
        service = AdministrationService(
            publisher: publisher, administratorRegistry: try Self.administratorRegistry(bearers), statements: statements,
            isApprovalRequired: approvalRequired, logger: CatalogueFolder.silent, sessionCallers: sessionCallers, watcher: watcher)
        (self.world, self.store, self.keys) = (world, store, keys)
    }

    private static func administratorRegistry(_ bearers: [Who: String]) throws -> AdministratorRegistry {
        var administratorRegistry = AdministratorRegistry()
        let roles: [(Who, AdministratorRole, [String])] = [
            (.olga, .operator, []), (.otto, .operator, []), (.ed, .editor, ["harbor"]), (.emma, .editor, ["harbor"]), (.rita, .editor, ["reef"]),
            (.vic, .viewer, ["harbor"]), (.proxy, .proxy, []),
        ]
        for (who, role, programmers) in roles {
            try administratorRegistry.add(who.rawValue, role, programmers: programmers, token: (bearers[who] ?? who.token) + "\n")
        }
        try administratorRegistry.add(Who.watcher.rawValue, .proxy, mvpd: "BigProxy", token: Who.watcher.token)
        try administratorRegistry.add(Who.dpo.rawValue, .viewer, programmers: ["harbor"], rights: [.personalData], token: Who.dpo.token)
        return administratorRegistry
    }

    static let catalogue = """
        {
          "programmers": [{"id": "harbor", "name": "Harbor"}, {"id": "reef", "name": "Reef"}],
          "requestors": [
            {"id": "NEWS", "name": "News", "programmer": "harbor", "domains": ["news.example"]},
            {"id": "SPORT", "name": "Sport", "programmer": "reef", "domains": ["sport.example"]}
          ],
          "mvpds": [
            {
              "id": "TinyCable", "displayName": "Tiny Cable", "authzTtl": 3600, "authnTtl": 2592000,
              "platforms": [{
                "platform": "tvos", "enablePlatformServices": true, "boardingStatus": "SUPPORTED", "platformMappingId": "tiny",
                "requiredMetadataFields": ["userID"]
              }],
              "oauth": {
                "issuer": "https://tiny.example", "authorizeUrl": "https://tiny.example/a", "tokenUrl": "https://tiny.example/t",
                "profileUrl": "https://tiny.example/p",
                "clientId": "boxoffice", "clientSecretReference": "tiny-secret"
              },
              "authorization": {"protocol": "xacmlJson", "url": "https://pdp.tiny.example/"}
            },
            {"id": "Trial", "displayName": "Free preview", "tempPass": {"kind": "basic", "ttl": 600}}
          ],
          "integrations": [
            {"requestor": "NEWS", "mvpd": "TinyCable"}, {"requestor": "SPORT", "mvpd": "TinyCable"}, {"requestor": "NEWS", "mvpd": "Trial"}
          ],
          "applications": [
            {
              "id": "news-tv", "name": "News TV", "programmer": "harbor", "requestors": ["NEWS"], "platforms": ["tvos"],
              "scopes": ["api:client:v1"], "redirectDomains": ["news.example"]
            },
            {
              "id": "sport-tv", "name": "Sport TV", "programmer": "reef", "requestors": ["SPORT"], "platforms": ["tvos"],
              "scopes": ["api:client:v1"]
            }
          ]
        }
        """
}
