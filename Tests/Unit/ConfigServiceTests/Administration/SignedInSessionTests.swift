import ConfigService
import ContractRuntime
import Contracts
import Faults
import Testing

@Suite("Sessions of people whom an identity provider knows")
struct SignedInSessionTests {
    private typealias Who = AdministrationWorld.Who

    private static let mia = SignedInPerson(name: "mia@example.com", role: .editor, programmerIDs: ["harbor"])

    @Test("the gateway opens a session with role and programmers, which are the session's own and outlive a restart")
    func carriesRoleAndScope() async throws {
        let world = try await AdministrationWorld()
        let opened = try await world.open(Self.mia)
        #expect(opened.administrator?.name == "mia@example.com" && opened.administrator?.role == .editor)
        let page = try await world.service.listEntities(ListEntitiesRequest(token: opened.secret, kind: .requestor), context: CallContext())
        #expect(page.entities.map(\.id) == ["NEWS"])
        #expect(try await world.audit(.ed).first?.text == "Session \(opened.session?.id ?? "") opened by the identity provider from 192.0.2.7")
        await world.store.close()
        let restarted = try await AdministrationWorld(world.world)
        let known = try await restarted.administrator(opened.secret)
        #expect(known.name == "mia@example.com" && known.role == .editor && known.programmerIDs == ["harbor"])
        let list = try await restarted.service.listSessions(ListSessionsRequest(token: Who.olga.token), context: CallContext())
        #expect(list.sessions.map(\.name) == ["mia@example.com"])
        let end = EndSessionRequest(token: Who.olga.token, id: opened.session?.id ?? "")
        _ = try await restarted.service.endSession(end, context: CallContext())
        #expect(try await code { try await restarted.administrator(opened.secret) } == .accessDenied)
    }

    @Test("what belongs to another programmer is not there: entry, search, filter, report, comparison, history and audit log")
    func seesOwnOnly() async throws {
        let world = try await AdministrationWorld()
        try await world.edit(.integration, "SPORT/TinyCable") { $0["enabled"] = false }
        _ = try await world.push("Sport is off")
        let token = try await world.open(Self.mia).secret
        let service = world.service
        let get = GetEntityRequest(token: token, kind: .requestor, id: "SPORT")
        #expect(try await code { try await service.getEntity(get, context: CallContext()) } == .notFound)
        for kind in [EntityKind.requestor, .integration, .application, .programmer] {
            let list = ListEntitiesRequest(token: token, kind: kind, query: "s")
            let found = try await service.listEntities(list, context: CallContext()).entities
            #expect(!found.contains { $0.id.contains("SPORT") || $0.id.contains("reef") || $0.id.contains("sport") })
        }
        let filter = ListEntitiesRequest(token: token, kind: .integration, requestorID: "SPORT")
        #expect(try await service.listEntities(filter, context: CallContext()).entities.isEmpty)
        let report = GetReportRequest(token: token, kind: .sso, requestorIDs: ["SPORT"])
        #expect(try await code { try await service.getReport(report, context: CallContext()) } == .notFound)
        let own = try await service.getReport(GetReportRequest(token: token, kind: .sso), context: CallContext())
        #expect(Set(own.rows.map(\.requestorID)) == ["NEWS"])
        let newest = try await world.versions()[0].version
        let comparison = CompareVersionsRequest(token: token, oldVersion: newest - 1, newVersion: newest)
        #expect(try await code { try await service.compareVersions(comparison, context: CallContext()) } == .notFound)
        let versions = try await service.listVersions(ListVersionsRequest(token: token), context: CallContext()).versions
        #expect(!versions.contains { $0.description.contains("Sport") })
        #expect(
            try await !service.listAuditRecords(ListAuditRecordsRequest(token: token), context: CallContext()).records.contains {
                $0.text.contains("SPORT")
            })
    }

    @Test("a person whose name stands for no person in the audit log has no session", arguments: ["catalogue file", "time", "application news-tv"])
    func reservedNames(name: String) async throws {
        let world = try await AdministrationWorld()
        #expect(try await code { try await world.open(SignedInPerson(name: name, role: .operator)) } == .invalidRequest)
    }

    @Test("nobody but a named caller vouches for people")
    func trustsNamedCallersOnly() async throws {
        let world = try await AdministrationWorld()
        for caller in [nil, "authentication.boxoffice", "Gateway.boxoffice"] {
            #expect(try await code { try await world.open(Self.mia, caller: caller) } == .accessDenied)
        }
        #expect(try await code { try await world.open(Self.mia, token: Who.olga.token) } == .accessDenied)
        let opened = try await world.open(Self.mia)
        await world.store.close()
        let closed = try await AdministrationWorld(world.world, sessionCallers: [])
        #expect(try await code { try await closed.open(Self.mia) } == .accessDenied)
        #expect(try await code { try await closed.administrator(opened.secret) } == .accessDenied)
    }

    @Test("a name of an administrator with a bearer, a role without programmers, and any other role are refused")
    func checksTheForm() async throws {
        let world = try await AdministrationWorld()
        func refusal(_ name: String, _ role: AdministratorRole, _ programmers: [String]) async throws -> Fault.Code? {
            try await code { try await world.open(SignedInPerson(name: name, role: role, programmerIDs: programmers)) }
        }
        #expect(try await refusal("olga", .operator, []) == .accessDenied)
        #expect(try await refusal("mia", .editor, []) == .invalidRequest)
        #expect(try await refusal("mia", .operator, ["harbor"]) == .invalidRequest)
        #expect(try await refusal("mia", .proxy, []) == .invalidRequest)
        #expect(try await refusal("mia", .unknown, []) == .invalidRequest)
        #expect(try await refusal("mia", .viewer, ["har bor"]) == .invalidRequest)
        #expect(try await refusal("mia", .viewer, ["*"]) == .invalidRequest)
        #expect(try await refusal("", .operator, []) == .invalidRequest)
        #expect(try await refusal("a\nb", .operator, []) == .invalidRequest)
        #expect(try await refusal(String(repeating: "x", count: 256), .operator, []) == .invalidRequest)
        #expect(try await refusal(String(repeating: "x", count: 255), .operator, []) == nil)
        #expect(try await refusal("mia", .viewer, (0...100).map { "p\($0)" }) == .invalidRequest)
        #expect(try await refusal("mia", .viewer, (1...100).map { "p\($0)" }) == nil)
        for (id, isGood) in [
            (String(repeating: "p", count: 128), true), (String(repeating: "p", count: 129), false), ("", false), ("pé", false), ("p\u{7f}", false),
        ] {
            #expect(try await refusal("mia", .viewer, [id]) == (isGood ? nil : .invalidRequest))
        }
        #expect(try await refusal("mia", .operator, []) == nil)
    }
}

extension AdministrationWorld {
    fileprivate func open(
        _ person: SignedInPerson, caller: String? = "gateway.boxoffice", token: String = ""
    ) async throws -> OpenedSession {
        let request = OpenSessionRequest(token: token, client: "192.0.2.7", person: person)
        return try await service.openSession(request, context: CallContext(caller: caller))
    }

    fileprivate func administrator(_ token: String) async throws -> Administrator {
        try await service.getAdministrator(GetAdministratorRequest(token: token), context: CallContext())
    }
}
