internal import Clocks
internal import Contracts
internal import Doubles
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// A browser at the console of a gateway whose config knows one administrator.
struct ConsoleFixture {
    static let secret = "console_" + String(repeating: "ab", count: 32)
    static let hostile = #"<script>alert(1)</script>"#
    /// A quotation mark with an accent is one character, and ends an attribute all the same.
    static let accented = "x\"\u{301} onfocus=alert(1)"

    let gateway: TestGateway
    let token = FormToken(secret: Self.secret, purpose: "console").text

    init(
        _ role: AdministratorRole = .editor, admin: AdministrationSettings = AdministrationSettings(), provider: OpenIDProvider? = nil,
        cluster: ClusterView = ClusterView(), wall: any WallClock = SystemClock()
    ) {
        gateway = TestGateway(admin: admin, provider: provider, cluster: cluster, wall: wall)
        let administrator = Administrator(name: "ada", role: role, programmerIDs: role == .operator ? [] : ["acme"])
        gateway.administration.getAdministrator.answer { request, _ in
            guard request.token == Self.secret else { throw Fault(.accessDenied, "The session is over.") }
            return administrator
        }
        gateway.administration.openSession.answer { request, _ in
            guard request.token == "good-token" || request.person != nil else { throw Fault(.accessDenied, "nobody") }
            return OpenedSession(secret: Self.secret, administrator: administrator, session: AdministratorSession(id: "s1", name: "ada"))
        }
        gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7))
        gateway.administration.listDegradationRules.answer(with: DegradationRules())
        gateway.administration.listVersions.answer(with: VersionPage(versions: [], total: 0, page: 1, size: 10))
        gateway.administration.listEntities.answer(with: EntityPage(entities: [], total: 0, page: 1, size: 50))
        gateway.administration.listPendingPushes.answer(with: PendingPushes())
        gateway.operations.listSignInReports.answer(with: SignInReports())
        gateway.operations.listSecrets.answer(with: SecretList())
    }

    /// As a browser that is signed in.
    static let browser: HTTPFields = [.cookie: "boxoffice-console=\(secret)", .secFetchSite: "same-origin"]

    func get(_ path: String) async throws -> Reply { try await gateway.send(.get, "/console" + path, Self.browser) }

    /// - Parameter fields: Encoded; the page's token goes along.
    func post(_ path: String, _ fields: String, _ headers: HTTPFields = Self.browser) async throws -> Reply {
        try await gateway.post("/console" + path, form: fields + (fields.isEmpty ? "" : "&") + "token=" + token, headers)
    }

    static func integration(enabled: String = "", etag: String = "e1", isChanged: Bool = false) -> CatalogueEntity {
        CatalogueEntity(
            kind: .integration, id: "ACME1/NorthCable", json: #"{"requestor":"ACME1","mvpd":"NorthCable"\#(enabled),"metadataKeys":["userID"]}"#,
            etag: etag,
            effectiveJson: #"{"all":{"authnTtl":{"value":2592000,"source":"mvpd","mandatory":false}},"#
                + #""roku":{"authnTtl":{"value":604800,"source":"integration:roku","mandatory":false}}}"#, isChanged: isChanged)
    }

    /// The line of a draft that switches it off.
    static let change = CatalogueChange(
        number: 1, kind: .integration, entityID: "ACME1/NorthCable", property: "enabled", operation: .add, newJson: "false")

    static let draft = CatalogueDraft(baseVersion: 7, changes: [change], etag: "d1")
}

extension Reply {
    var location: String { headers[.location] ?? "" }
}
