import Clocks
import Contracts
import Faults
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The contract of the store of logins, on every backend.
struct LoginStoreTests {
    private static let ada = Subscriber(mvpd: MvpdID("DemoCable"), userID: "0123")
    private static let chan7 = RequestorID("CHAN7")

    private static func session(
        _ number: Int, requestor: String = "CHAN7", mvpd: String = "DemoCable", kind: SessionKind = .regular, lifetime: Duration = .seconds(3600)
    ) -> SessionRecord {
        Sample.session(
            "session-\(number)", device: "dev-\(number)", requestor: requestor, record: nil, mvpd: mvpd, lifetime: lifetime,
            origin: SessionOrigin(kind: kind, authenticatedAt: t0))
    }

    private static func made(_ number: Int, from login: Int, replacing replaced: Int? = nil) -> MadeSession {
        MadeSession(
            session: session(number, kind: .automatic), login: SessionID("session-\(login)"), replaced: replaced.map { SessionID("session-\($0)") },
            tokens: nil)
    }

    @Test("Logins of a person at a requestor are found, live ones only and no other kinds", arguments: Backend.allCases)
    func findsLogins(_ backend: Backend) async throws {
        let store = try backend.open()
        for session in [
            Self.session(1), Self.session(2, kind: .platform), Self.session(3, requestor: "CHAN8"), Self.session(4, mvpd: "OtherCable"),
            Self.session(5, kind: .tempPass), Self.session(6, kind: .degraded), Self.session(7, kind: .shared), Self.session(8, kind: .automatic),
            Self.session(9, lifetime: .seconds(60)),
        ] {
            #expect(try await store.start(session, now: t0))
        }
        func found(_ now: Timestamp, _ subscribers: Subscriber...) async throws -> Set<String> {
            Set(try await store.logins(of: Set(subscribers), at: Self.chan7, now: now).map(\.id.text))
        }
        #expect(try await found(t0, Self.ada) == ["session-1", "session-2", "session-9"])
        #expect(try await found(t0 + .seconds(60), Self.ada) == ["session-1", "session-2"])
        #expect(try await found(t0, Subscriber(mvpd: MvpdID("OtherCable"), userID: "0123"), Self.ada).contains("session-4"))
        #expect(try await found(t0, Subscriber(mvpd: MvpdID("DemoCable"), userID: "4567")).isEmpty)
        #expect(try await found(t0).isEmpty)
        let device = SessionKey(device: DeviceID("dev-5"), requestor: Self.chan7)
        let (own, logins) = try await store.logins(of: [Self.ada], besides: device, now: t0 + .seconds(60))
        #expect(own == [Self.session(5, kind: .tempPass)] && Set(logins.map(\.id.text)) == ["session-1", "session-2"])
        #expect(try await store.logins(of: [], besides: Self.session(20).key, now: t0).own.isEmpty)
    }

    @Test("A session is made only while the login is there and the device has what it was seen to have", arguments: Backend.allCases)
    func startsWhileLive(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await !store.start(Self.made(2, from: 1), now: t0))
        #expect(try await store.start(Self.session(1), now: t0))
        #expect(try await !store.start(Self.made(2, from: 1, replacing: 9), now: t0))
        #expect(try await store.session(Self.session(2).key) == nil)
        #expect(try await store.start(Self.made(2, from: 1), now: t0))
        #expect(try await store.session(Self.session(2).key)?.kind == .automatic)
        #expect(try await !store.start(Self.made(2, from: 1), now: t0))
        #expect(try await store.start(Self.made(2, from: 1, replacing: 2), now: t0))
        #expect(try await !store.start(Self.made(3, from: 1), now: t0 + .seconds(3600)))
        _ = try await store.end(device: DeviceID("dev-1"), requestors: [Self.chan7], claims: DeviceClaims(), now: t0)
        #expect(try await !store.start(Self.made(3, from: 1), now: t0))
    }

    @Test("The end of a session is seen at once, also by a reader that had it in memory", arguments: Backend.allCases)
    func endsAtOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.start(Self.session(1), now: t0))
        #expect(try await store.start(Self.made(2, from: 1), now: t0))
        #expect(try await store.session(Self.session(2).key) != nil)
        #expect(try await store.endAutomatic([SessionID("session-1"), SessionID("session-2")], now: t0) == 1)
        #expect(try await store.session(Self.session(2).key) == nil)
        #expect(try await store.session(Self.session(1).key) != nil)
    }

    @Test("A logout is remembered, so that no login from before is taken over in its place", arguments: Backend.allCases)
    func remembersLogout(_ backend: Backend) async throws {
        let store = try backend.open()
        var login = Self.session(1)
        login.origin.identity = PlatformIdentity("ab01")
        #expect(try await store.start(login, now: t0))
        #expect(try await store.start(Self.made(2, from: 1), now: t0))
        #expect(try await store.endAutomatic([SessionID("session-2")], now: t0 + .seconds(1)) == 1)
        #expect(try await store.lastLogout(Self.session(2).key, now: t0 + .seconds(1)) == t0 + .seconds(1))
    }

    @Test("The look-up of logins uses its index, and an automatic session is not in it")
    func usesIndex() async throws {
        let store = try Backend.database(Folder.shared.newFile())
        let plan = try await store.read { database in
            let sql = """
                EXPLAIN QUERY PLAN SELECT * FROM session WHERE user_id = ? AND requestor = ? AND mvpd = ? AND kind <= 1 AND expires_at_ms > ?
                ORDER BY expires_at_ms DESC LIMIT ?
                """
            return try database.all(Statement(sql), ["0123", "CHAN7", "DemoCable", 0, 32]) { columns -> String in
                _ = (columns.next() as Int, columns.next() as Int, columns.next() as Int)
                return columns.next()
            }
        }
        #expect(plan.first?.contains("session_login (user_id=? AND requestor=?)") == true, "\(plan)")
        #expect(SessionKind.regular.rawValue <= 1 && SessionKind.platform.rawValue <= 1 && SessionKind.automatic.rawValue > 1)
    }

    @Test("An automatic session is there after a restart")
    func survivesRestart() async throws {
        let file = Folder.shared.newFile()
        let database = try Backend.database(file)
        let store = SqlAuthenticationStore(database)
        #expect(try await store.start(Self.session(1), now: t0))
        #expect(try await store.start(Self.made(2, from: 1), now: t0))
        await database.close()
        let reopened = SqlAuthenticationStore(try Backend.database(file))
        #expect(try await reopened.session(Self.session(2).key) == Self.session(2, kind: .automatic))
    }
}
