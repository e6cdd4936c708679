import Clocks
import Contracts
import Faults
import Storage
import StorageSqlite
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct DurabilityTests {
    @Test("What was acknowledged is there after a restart")
    func survivesRestart() async throws {
        let file = Folder.shared.newFile()
        let database = try Backend.database(file)
        let store = SqlAuthenticationStore(database)
        try await store.add(Sample.client())
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        #expect(try await store.session(Sample.session().key) == Sample.session())
        await database.close()

        let reopened = SqlAuthenticationStore(try Backend.database(file))
        #expect(try await reopened.client(ClientID("client-1")) == Sample.client())
        #expect(try await reopened.liveRecord(RegistrationCodeText(typed: "QK7M2XD"), now: t0)?.isUsed == true)
        #expect(try await reopened.session(Sample.session().key) == Sample.session())
        #expect(try await reopened.pending(RelayHandle("relay-1").digest, now: t0) == nil)
    }

    @Test("A trial is as it was after a restart, and so is the end of its session")
    func keepsTrials() async throws {
        let file = Folder.shared.newFile()
        let database = try Backend.database(file)
        let session = Sample.session(record: nil, mvpd: "Promo", origin: SessionOrigin(kind: .tempPass, authenticatedAt: t0))
        let preview = FreePreview(session: session, user: TrialUser("ab01"))
        let pass = TempPass(kind: .promotional, ttlSeconds: 60, maxResources: 2, userInformationKey: "email")
        let play = TrialPlay(
            session: session.id, holder: preview.holder, resource: "ONE", terms: try TrialTerms(Mvpd(signIn: .tempPass(pass))),
            newTrial: TrialID("trial-1"))
        let store = SqlAuthenticationStore(database)
        #expect(try await store.start(preview, now: t0) == .started(session))
        guard case .permitted = try await store.spend(play, now: t0) else { throw Fault(.internal, "the play was refused") }
        await database.close()

        let reopened = SqlAuthenticationStore(try Backend.database(file))
        let end = t0 + .seconds(60)
        #expect(try await reopened.trial(TrialID("trial-1")) == Trial(id: TrialID("trial-1"), startedAt: t0, expiresAt: end, resources: ["ONE"]))
        #expect(try await reopened.session(session.key)?.expiresAt == end)
        #expect(try await reopened.start(preview, now: end) == .usedUp)
        #expect(try await reopened.reset(.user(TrialUser("ab01")), requestor: session.key.requestor, mvpd: session.mvpd) == 1)
        #expect(try await reopened.start(preview, now: end) == .started(session))
    }

    @Test("What a trial was spent on in one moment keeps its order when it gets numbers, and the release before goes on beside them")
    func numbersResources() async throws {
        let file = Folder.shared.newFile()
        let released = AuthenticationDatabase.migrations.prefix { $0.name != "19-numbers" }
        let older = try Store(file: file, name: "authentication", migrations: Array(released))
        let spend: Statement = "INSERT INTO trial_resource (trial, resource, used_at_ms) VALUES ('trial-1', ?, ?)"
        try await older.write { database in
            try database.run(
                "INSERT INTO trial (id, requestor, mvpd, started_at_ms, expires_at_ms) VALUES ('trial-1', 'CHAN7', 'DemoCable', ?1, ?1)", [t0])
            for resource in ["z", "a"] { try database.run(spend, [resource, t0]) }
        }
        await older.close()
        let database = try Backend.database(file)
        try await database.write { try $0.run(spend, ["m", t0 + .seconds(1)]) }
        #expect(try await SqlAuthenticationStore(database).trial(TrialID("trial-1"))?.resources == ["z", "a", "m"])
    }

    @Test("A file of the version before is opened, its sessions are regular ones with the device of their code")
    func opensOlderFile() async throws {
        let file = Folder.shared.newFile()
        let released = AuthenticationDatabase.migrations.prefix { $0.name != "5-session-origins" }
        let older = try Store(file: file, name: "authentication", migrations: Array(released))
        let information = try Sample.device.serialized()
        try await older.write { database in
            let sql = """
                INSERT INTO registration_code VALUES ('QK7M2XD', 'record-1', 'CHAN7', 'DemoCable', ?, ?, 'dev-7f3a', ?, 'Player/1', 'TV', '', '',
                    'https://chan7.example/tv', 'client-1', 0)
                """
            try database.run(Statement(sql), [t0, t0 + .seconds(1800), information])
        }
        let end = t0 + .seconds(3600)
        let device = ["dev-7f3a", "dev-1"]
        let attributes = try Sample.subject().attributesColumn()
        try await older.write { database in
            let sql = """
                INSERT INTO session VALUES (?, 'CHAN7', ?, 'DemoCable', ?, '', '', 'client-1', '0123', 'user-42', 'user-42',
                    'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', 'q', 'sp', 'index-1', 0, ?, ?, ?)
                """
            try database.run(Statement(sql), [device[0], "session-1", "record-1", attributes, t0, end])
            try database.run(Statement(sql), [device[1], "session-2", "record-gone", attributes, t0, end])
        }
        await older.close()

        let store = SqlAuthenticationStore(try Backend.database(file))
        // Columns that came with later versions are empty.
        #expect(try await store.session(Sample.session().key) == Sample.session(providedID: ""))
        let other = try await store.session(Sample.session(device: "dev-1").key)
        #expect(other?.device == DeviceInformation() && other?.origin == Sample.session().origin)
    }
}
