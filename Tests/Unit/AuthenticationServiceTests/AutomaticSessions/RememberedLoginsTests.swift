import Clocks
import Contracts
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The cached logins of a person never differ from those in the store.
struct RememberedLoginsTests {
    private static let ada = Subscriber(mvpd: MvpdID("DemoCable"), userID: "0123")
    private static let chan7 = RequestorID("CHAN7")
    private static let newDevice = SessionKey(device: DeviceID("dev-99"), requestor: chan7)

    private let store: SqlAuthenticationStore

    init() throws { store = SqlAuthenticationStore(try Backend.database(Folder.shared.newFile())) }

    private static func session(
        _ number: Int, device: Int? = nil, user: String = "0123", kind: SessionKind = .regular, lifetime: Duration = .seconds(3600)
    ) -> SessionRecord {
        Sample.session(
            "session-\(number)", device: "dev-\(device ?? number)", record: nil, user: user, lifetime: lifetime,
            origin: SessionOrigin(kind: kind, authenticatedAt: t0))
    }

    private func remembered(_ now: Timestamp = t0, besides device: SessionKey = Self.newDevice) async throws -> Set<String> {
        let found = try #require(try await store.rememberedLogins(of: [Self.ada], besides: device, now: now))
        let told = try await store.logins(of: [Self.ada], besides: device, now: now)
        #expect(Set(found.logins) == Set(told.logins))
        return Set(found.logins.map(\.id.text))
    }

    /// A person who is signed in at two devices, known to memory.
    private func signIn() async throws {
        for number in 1...2 { #expect(try await store.start(Self.session(number), now: t0)) }
        #expect(try await remembered() == ["session-1", "session-2"])
    }

    @Test("A login that is added is told of, also where there was none")
    func addsLogins() async throws {
        #expect(try await remembered().isEmpty)
        try await signIn()
        #expect(try await store.start(Self.session(3, kind: .platform), now: t0))
        #expect(try await remembered() == ["session-1", "session-2", "session-3"])
    }

    @Test("A login that ends is not told of any more: logged out, ended by the MVPD, or over")
    func dropsLogins() async throws {
        try await signIn()
        _ = try await store.end(device: DeviceID("dev-1"), requestors: [Self.chan7], claims: DeviceClaims(), now: t0)
        #expect(try await remembered() == ["session-2"])
        let logout = MvpdLogout(
            replay: .init(issuer: "https://idp.example", assertionID: "_1", expiresAt: t0 + .seconds(600)), mvpds: [MvpdID("DemoCable")],
            name: Self.session(2).subject.name, sessionIndexes: ["index-1"])
        _ = try await store.end(logout, now: t0)
        #expect(try await remembered().isEmpty)
        #expect(try await store.start(Self.session(3, lifetime: .seconds(60)), now: t0))
        #expect(try await remembered() == ["session-3"])
        #expect(try await remembered(t0 + .seconds(60)).isEmpty)
        #expect(try await remembered(t0 + .seconds(59)) == ["session-3"], "the clock was set back")
    }

    @Test("A login that is replaced on its device is no longer reported, by any kind of replacement")
    func dropsReplacedLogins() async throws {
        try await signIn()
        #expect(try await store.start(Self.session(3, device: 1, user: "4567"), now: t0))
        #expect(try await remembered() == ["session-2"])
        let made = MadeSession(
            session: Self.session(4, device: 2, kind: .automatic), login: SessionID("session-2"), replaced: SessionID("session-2"), tokens: nil)
        #expect(try await store.start(made, now: t0))
        #expect(try await remembered().isEmpty)
        #expect(try await store.start(Self.session(5, device: 1), now: t0))
        #expect(try await remembered() == ["session-5"])
        #expect(try await store.start(Self.session(6, device: 1), now: t0))
        #expect(try await remembered() == ["session-6"])
    }

    @Test("A session that is made is known at once, and forgotten as it ends")
    func knowsMadeSessions() async throws {
        try await signIn()
        let key = Self.session(3).key
        #expect(try #require(try await store.rememberedLogins(of: [Self.ada], besides: key, now: t0)).own.isEmpty)
        let made = MadeSession(session: Self.session(3, kind: .automatic), login: SessionID("session-1"), replaced: nil, tokens: nil)
        #expect(try await store.start(made, now: t0))
        #expect(try await store.rememberedLogins(of: [Self.ada], besides: key, now: t0)?.own == [made.session])
        #expect(try await store.session(key) == made.session)
        #expect(try await !store.start(made, now: t0), "the device has it already")
        #expect(try await store.session(key) == made.session)
        #expect(try await store.endAutomatic([made.session.id], now: t0) == 1)
        #expect(try #require(try await store.rememberedLogins(of: [Self.ada], besides: key, now: t0)).own.isEmpty)
        #expect(try await store.session(key) == nil)
    }

    @Test("The cache does not answer for a person with very many devices")
    func leavesManyToTheStore() async throws {
        for number in 0..<33 { #expect(try await store.start(Self.session(number), now: t0)) }
        #expect(try await store.rememberedLogins(of: [Self.ada], besides: Self.newDevice, now: t0) == nil)
        #expect(try await store.logins(of: [Self.ada], besides: Self.newDevice, now: t0).logins.count == 32)
        _ = try await store.end(device: DeviceID("dev-1"), requestors: [Self.chan7], claims: DeviceClaims(), now: t0)
        #expect(try await remembered().count == 32)
    }

    @Test("While devices sign in and out, memory and store agree whenever nothing is under way")
    func agreesAfterConcurrency() async throws {
        try await signIn()
        for round in 0..<20 {
            await withTaskGroup(of: Void.self) { [store] group in
                for device in 1...6 {
                    group.addTask { _ = try? await store.start(Self.session(round * 10 + device + 100, device: device), now: t0) }
                    group.addTask { _ = try? await store.rememberedLogins(of: [Self.ada], besides: Self.newDevice, now: t0) }
                    group.addTask {
                        _ = try? await store.end(device: DeviceID("dev-\(device)"), requestors: [Self.chan7], claims: DeviceClaims(), now: t0)
                    }
                    let made = MadeSession(
                        session: Self.session(round * 10 + device + 500, device: device + 10, kind: .automatic),
                        login: SessionID("session-\(round * 10 + device + 100)"), replaced: nil, tokens: nil)
                    group.addTask { _ = try? await store.start(made, now: t0) }
                }
            }
            _ = try await remembered()
        }
    }
}
