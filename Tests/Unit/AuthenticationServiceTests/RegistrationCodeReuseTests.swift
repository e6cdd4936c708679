import Clocks
import Contracts
import Faults
import Identifiers
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The text of a code that has expired may be given out again; its record, named by an id of its own, never comes back.
struct RegistrationCodeReuseTests {
    private static let later = t0 + .seconds(1800)
    private static let other = other(at: later)

    /// Differs from the sample in everything but the code.
    private static func other(at moment: Timestamp) -> RegistrationRecord {
        RegistrationRecord(
            id: RegistrationRecordID("record-2"), code: Sample.record().code, requestor: RequestorID("CHAN8"), mvpd: "OtherCable",
            generatedAt: moment,
            expiresAt: moment + .seconds(60), deviceID: DeviceID("dev-2"), device: DeviceInformation(model: "Model 8", osName: "tvOS"),
            userAgent: "Player/2", deviceType: "Phone", claims: DeviceClaims(appID: "app-2", deviceUser: "user-2"),
            registrationURL: "https://chan8.example/tv", clientID: ClientID("client-2"), identity: PlatformIdentity("ab02"))
    }

    @Test("Nothing of the old record is left, neither its use nor the sign-in under way through it", arguments: Backend.allCases)
    func replacesAll(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        #expect(try await store.begin(Sample.pending(), now: t0))
        #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
        #expect(try await store.liveRecord(Self.other.code, now: t0)?.isUsed == true)
        #expect(try await !store.claim(Self.other, now: Self.later), "clients §4.3: its maker may ask for the session as long as that lasts")
        #expect(try await store.keptRecord(Self.other.code, now: Self.later)?.isUsed == true)
        let end = Sample.session().expiresAt
        let other = Self.other(at: end)
        #expect(try await store.claim(other, now: end))
        #expect(try await store.liveRecord(other.code, now: end) == other)
        #expect(try await !store.begin(Sample.pending("_request-2", relay: "relay-2"), now: end), "the old record is gone")
        #expect(try await store.begin(Sample.pending("_request-3", relay: "relay-3", record: other), now: end))
    }

    @Test("Claiming is one statement: a taken code changes no row, an expired one is written where it was")
    func writesOneRow() async throws {
        let database = try Backend.database(Folder.shared.newFile())
        let store = SqlAuthenticationStore(database)
        func rows() async throws -> [Int64: String] {
            try await database.read { database in
                let rows = try database.all("SELECT rowid, id FROM registration_code") { ($0.next() as Int64, $0.next() as String) }
                return Dictionary(uniqueKeysWithValues: rows)
            }
        }
        func changes() async throws -> Int { try await database.write { try $0.value("SELECT total_changes()") ?? 0 } }
        let before = try await changes()
        #expect(try await store.claim(Sample.record(), now: t0))
        let first = try await rows()
        #expect(first.values.sorted() == ["record-1"])
        #expect(try await !store.claim(Self.other, now: Self.later - .milliseconds(1)))
        #expect(try await rows() == first)
        #expect(try await store.claim(Self.other, now: Self.later))
        #expect(try await rows() == first.mapValues { _ in "record-2" })
        #expect(try await changes() == before + 2)
    }

    @Test("Of many devices that draw one expired code at once exactly one gets it", arguments: Backend.allCases)
    func givesOutOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.claim(Sample.record(), now: t0))
        let winners = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let record = Sample.record(id: "next-\(number)", device: "dev-\(number)", from: Self.later)
                    return try await store.claim(record, now: Self.later) ? record.id.text : nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
        }
        #expect(winners.count == 1)
        #expect(try await store.liveRecord(Sample.record().code, now: Self.later)?.id.text == winners.first)
    }

    @Test("A code text that comes again signs in the new device, and never shows the session of the old one", arguments: Backend.allCases)
    func signsInTheNewDevice(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let codes = RegistrationCodes(
            bearers: rig.modules.clients.bearers, catalogue: rig.catalogue, store: rig.store, clock: rig.clock, random: OneCode(),
            userIDs: rig.modules.sessions.codes.userIDs,
            metrics: AuthenticationMetrics(), offers: [])
        var bearer = try await rig.bearer()
        func draw(_ device: String) async throws -> String {
            try await codes.create(CreateRegistrationCodeRequest(call: rig.call(bearer, device: device))).code
        }
        func signIn(_ code: String, _ assertion: String) async throws {
            let browser = try await rig.start(code)
            rig.saml.accept(assertion: assertion)
            #expect(try await rig.finish(browser).result == .signedIn)
        }
        let old = try await draw("dev-1")
        try await signIn(old, "_assertion-1")
        #expect(try await rig.session(byCode: old).kind == .regular)
        await expectFault(.overloaded) { _ = try await draw("dev-2") }
        rig.clock.advance(by: .seconds(1800))
        await expectFault(.overloaded) { _ = try await draw("dev-2") }
        rig.clock.advance(by: .seconds(30 * 86_400))
        bearer = try await rig.bearer()
        #expect(try await draw("dev-2") == old)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(byCode: old) }
        try await signIn(old, "_assertion-2")
        let session = try await rig.session(rig.call(bearer, device: "dev-2"))
        #expect(try await rig.session(byCode: old) == session)
        await expectFault(.authenticationSessionExpired) { _ = try await rig.session(rig.call(bearer, device: "dev-1")) }
    }

    @Test("RFC 9562 §5.7: a record's id begins with the moment it was made, so that later ids are larger")
    func idsGrow() async throws {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        var ids: [String] = []
        for _ in 0..<50 {
            ids.append(try await rig.code(call).id)
            rig.clock.advance(by: .milliseconds(1))
        }
        #expect(ids == ids.sorted() && Set(ids).count == 50)
        for (index, id) in ids.enumerated() {
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(id)")
            #expect(UInt64(id.prefix(13).filter { $0 != "-" }, radix: 16) == UInt64(t0.milliseconds) + UInt64(index))
        }
    }
}

/// Draws one code, and ids as ever.
private struct OneCode: RandomSource {
    func bytes(_ count: Int) -> [UInt8] {
        count == RegistrationCodeText.length ? [UInt8](repeating: 7, count: count) : SystemRandom().bytes(count)
    }
}
