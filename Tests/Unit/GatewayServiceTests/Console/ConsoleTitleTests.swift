internal import Contracts
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Each window's title names the entry and the page (WCAG 2.4.2).
@Suite struct ConsoleTitleTests {
    private let console = ConsoleFixture(.operator)

    /// Entries of every kind have one name: the title alone tells them apart.
    init() {
        console.gateway.administration.getEntity.answer { request, _ in
            CatalogueEntity(
                kind: request.kind, id: request.id,
                json: #"{"id":"same","name":"Same","displayName":"Same","requestor":"ACME1","mvpd":"NorthCable","saml":{}}"#, etag: "e")
        }
        let version = CatalogueVersion(version: 3)
        console.gateway.administration.getVersion.answer(with: VersionSnapshot(version: version, documentJson: "{}"))
        console.gateway.administration.compareVersions.answer(with: VersionComparison(oldVersion: 2, newVersion: 3))
        console.gateway.administration.listVersions.answer(with: VersionPage(versions: [version], total: 1, page: 1, size: 10))
        console.gateway.administration.listAuditRecords.answer(with: AuditPage(total: 0, page: 1, size: 50))
        console.gateway.administration.listSessions.answer(with: AdministratorSessions())
        console.gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"]))
        console.gateway.usage.queryUsage.answer { query, _ in UsageReport(metrics: query.metrics) }
        console.gateway.operations.getSignInReport.answer { request, _ in
            SignInReport(traceID: request.traceID, requestor: "ACME1", mvpd: "NorthCable", result: .rejected)
        }
    }

    /// An address of a route: with a query where the page needs one.
    private static func address(_ path: String) -> String {
        let parts = [
            "{id}": "same", "{requestor}": "ACME1", "{mvpd}": "NorthCable", "{scope}": "roku", "{version}": "3", "{trace}": "0123456789abcdef",
            "{report}": "sso",
        ]
        let address = parts.reduce(path) { $0.replacing($1.key, with: $1.value) }
        return switch path {
        case "/console/history/compare": address + "?version=2&version=3"
        case "/console/sign-ins/watch": address + "?mvpd=NorthCable&after=0&paused=1"
        case "/console/test-sign-in", "/console/test-sign-in/{id}": address + "?mvpd=NorthCable&requestor=ACME1"
        default: address
        }
    }

    private static func title(_ page: Reply) throws -> String {
        String(try #require(page.text.firstMatch(of: /<title>([^<]*)<\/title>/)).1)
    }

    @Test("each page of the console has a title, and no two pages have the same")
    func differ() async throws {
        let routes = try console.gateway.routes().filter { route in
            guard case .console = route.audience else { return false }
            return route.handler(for: .get) != nil && route.path != "/" && !route.path.hasSuffix("/catalogue") && !route.path.contains("/assets/")
        }
        #expect(routes.count > 50, "every route is looked at")
        var paths: [String: String] = [:]
        for route in routes {
            let address = Self.address(route.path)
            #expect(!address.contains("{"), "\(route.path) has no address")
            let page = try await console.gateway.send(.get, address, ConsoleFixture.browser)
            #expect(page.status == 200, "\(address)")
            let title = try Self.title(page)
            #expect(title.hasSuffix(" – Boxoffice console") && title.count > 22, "\(address): \(title)")
            if let other = paths.updateValue(address, forKey: title) { Issue.record("\(other) and \(address) have the title \(title)") }
            // Pages of one entry name it.
            if route.path.contains("{id}") || route.path.contains("{mvpd}") {
                #expect(title.lowercased().contains("same") || title.contains("NorthCable"), "\(address): \(title)")
            }
        }
    }

    @Test("a title names the id where the name may be another's, what a list is narrowed to, and its page; a refusal says what it is")
    func name() async throws {
        #expect(try Self.title(await console.get("/channels/same")) == "Same (same) – Channels – Boxoffice console")
        #expect(try Self.title(await console.get("/mvpds/same/edit")) == "Edit Same (same) – MVPDs – Boxoffice console")
        #expect(
            try Self.title(await console.get("/integrations?requestor=ACME1&q=a"))
                == "Integrations: ACME1, “a” – Boxoffice console")
        console.gateway.administration.listEntities.answer(with: EntityPage(total: 500, page: 3, size: 50))
        #expect(try Self.title(await console.get("/mvpds?page=3")) == "MVPDs, page 3 – Boxoffice console")
        #expect(try Self.title(await console.get("/nothing")) == "Not here – Boxoffice console")
        #expect(try Self.title(await console.get("")) == "Home – Boxoffice console")
        #expect(Set(ConsoleFace.Notice.allCases.map(\.title)).count == ConsoleFace.Notice.allCases.count)
    }
}
