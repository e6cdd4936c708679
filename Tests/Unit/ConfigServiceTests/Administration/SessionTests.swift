import ConfigService
import ContractRuntime
import Contracts
import Faults
import Testing

@Suite("Sessions of the console")
struct SessionTests {
    private typealias Who = AdministrationWorld.Who

    @Test("a session stands for the bearer that opened it, and both ends are recorded")
    func standsForABearer() async throws {
        let world = try await AdministrationWorld()
        let opened = try await world.open(.ed, client: "192.0.2.7")
        #expect(opened.administrator?.name == "ed" && opened.administrator?.role == .editor)
        #expect(opened.secret.hasPrefix("console_") && opened.secret.utf8.count == 72)
        let page = try await world.service.listEntities(ListEntitiesRequest(token: opened.secret, kind: .requestor), context: CallContext())
        #expect(page.entities.map(\.id) == ["NEWS"])
        _ = try await world.service.endSession(EndSessionRequest(token: opened.secret), context: CallContext())
        #expect(try await code { try await world.administrator(opened.secret) } == .accessDenied)
        let records = try await world.audit(.ed).prefix(2)
        #expect(records.map(\.action) == ["session_ended", "session_opened"])
        #expect(records.last?.text == "Session \(opened.session?.id ?? "") opened from 192.0.2.7")
        #expect(!records.contains { $0.text.contains(opened.secret) })
        #expect(try await !world.audit(.rita).contains { $0.action.hasPrefix("session_") })
        #expect(try await world.verdict().isIntact)
    }

    @Test("a session that rests for half an hour is over; one in use is over after twelve hours")
    func ends() async throws {
        let world = try await AdministrationWorld()
        let resting = try await world.open(.ed)
        world.world.clock.advance(by: .seconds(1799))
        _ = try await world.administrator(resting.secret)
        world.world.clock.advance(by: .seconds(1799))
        _ = try await world.administrator(resting.secret)
        world.world.clock.advance(by: .seconds(1800))
        #expect(try await code { try await world.administrator(resting.secret) } == .accessDenied)
        let used = try await world.open(.ed)
        for _ in 0..<25 {
            world.world.clock.advance(by: .seconds(1700))
            _ = try await world.administrator(used.secret)
        }
        world.world.clock.advance(by: .seconds(700))
        #expect(try await code { try await world.administrator(used.secret) } == .accessDenied)
    }

    @Test("the use of a session is written down once a minute, so that reading pages writes little")
    func writesSeldom() async throws {
        let world = try await AdministrationWorld()
        let opened = try await world.open(.ed)
        let start = try #require(opened.session?.usedAtMilliseconds)
        func used(after span: Duration) async throws -> UInt64? {
            world.world.clock.advance(by: span)
            _ = try await world.administrator(opened.secret)
            let list = try await world.service.listSessions(ListSessionsRequest(token: Who.olga.token), context: CallContext())
            return list.sessions.first.map { $0.usedAtMilliseconds - start }
        }
        #expect(try await used(after: .milliseconds(59_999)) == 0)
        #expect(try await used(after: .milliseconds(1)) == 60_000)
        #expect(try await used(after: .milliseconds(59_999)) == 60_000)
    }

    @Test("an administrator ends own sessions, an operator anybody's")
    func isRevocable() async throws {
        let world = try await AdministrationWorld()
        let (first, second) = (try await world.open(.ed), try await world.open(.ed))
        let id = try #require(second.session?.id)
        let end = { (who: Who) in try await world.service.endSession(EndSessionRequest(token: who.token, id: id), context: CallContext()) }
        #expect(try await code { try await end(.emma) } == .notFound)
        let list = { (token: String) in
            try await world.service.listSessions(ListSessionsRequest(token: token), context: CallContext()).sessions
        }
        #expect(try await list(Who.emma.token).isEmpty)
        #expect(try await list(first.secret).filter(\.isOwn).map(\.id) == [first.session?.id])
        #expect(try await list(Who.olga.token).count == 2)
        _ = try await end(.olga)
        #expect(try await world.audit(.olga).first?.text == "Session \(id) of ed ended")
        #expect(try await code { try await world.administrator(second.secret) } == .accessDenied)
        _ = try await world.administrator(first.secret)
        #expect(try await code { try await end(.olga) } == .notFound)
    }

    @Test("no session without a bearer: none from another session, none for strangers and proxies")
    func opensForBearersOnly() async throws {
        let world = try await AdministrationWorld()
        let opened = try await world.open(.olga)
        let open = { (token: String, client: String) in
            try await world.service.openSession(OpenSessionRequest(token: token, client: client), context: CallContext())
        }
        #expect(try await code { try await open(opened.secret, "") } == .accessDenied)
        #expect(try await code { try await open(Who.stranger.token, "") } == .accessDenied)
        #expect(try await code { try await open(Who.proxy.token, "") } == .insufficientRole)
        for client in [String(repeating: "x", count: 201), "a\u{7}"] {
            #expect(try await code { try await open(Who.olga.token, client) } == .invalidRequest)
        }
        #expect(try await code { try await open(Who.olga.token, String(repeating: "x", count: 200)) } == nil)
        #expect(
            try await code { try await world.service.endSession(EndSessionRequest(token: Who.olga.token), context: CallContext()) }
                == .invalidRequest)
        #expect(try await code { try await world.administrator("console_" + String(repeating: "0", count: 64)) } == .accessDenied)
    }

    @Test("a session outlives a restart, and not the bearer that opened it")
    func followsTheBearer() async throws {
        let world = try await AdministrationWorld()
        let opened = try await world.open(.ed)
        await world.store.close()
        let restarted = try await AdministrationWorld(world.world)
        _ = try await restarted.administrator(opened.secret)
        await restarted.store.close()
        let changed = try await AdministrationWorld(world.world, bearers: [.ed: "ed-ffffffffffffffffffffffffffffffff"])
        #expect(try await code { try await changed.administrator(opened.secret) } == .accessDenied)
    }

    @Test("integrations and applications are listed by what they connect, and by whether the draft changes them")
    func filters() async throws {
        let world = try await AdministrationWorld()
        let list = { (kind: EntityKind, requestor: String, mvpd: String, changed: Bool) in
            let request = ListEntitiesRequest(
                token: Who.olga.token, kind: kind, requestorID: requestor, mvpdID: mvpd, changedOnly: changed)
            return try await world.service.listEntities(request, context: CallContext()).entities.map(\.id)
        }
        #expect(try await list(.integration, "NEWS", "", false) == ["NEWS/TinyCable", "NEWS/Trial"])
        #expect(try await list(.integration, "", "TinyCable", false) == ["NEWS/TinyCable", "SPORT/TinyCable"])
        #expect(try await list(.integration, "SPORT", "Trial", false) == [])
        #expect(try await list(.application, "SPORT", "", false) == ["sport-tv"])
        #expect(try await list(.mvpd, "NEWS", "", false) == [])
        #expect(try await list(.integration, "", "", true) == [])
        try await world.edit(.integration, "NEWS/TinyCable") { $0["enabled"] = false }
        #expect(try await list(.integration, "", "", true) == ["NEWS/TinyCable"])
    }
}

extension AdministrationWorld {
    fileprivate func open(_ who: Who, client: String = "") async throws -> OpenedSession {
        try await service.openSession(OpenSessionRequest(token: who.token, client: client), context: CallContext())
    }

    fileprivate func administrator(_ token: String) async throws -> Administrator {
        try await service.getAdministrator(GetAdministratorRequest(token: token), context: CallContext())
    }
}
