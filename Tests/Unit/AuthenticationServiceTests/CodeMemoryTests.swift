import Clocks
import Contracts
import Faults
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A device that waits polls by its code, which the service reads from its memory. Every reader must see each change of the code (rest-v2 §2.8).
@Suite("The memory of codes")
struct CodeMemoryTests {
    /// The changes of a code's row.
    enum Change: CaseIterable {
        case signIn, plain, upstream, preview, plan, replacement, removal, claim

        func perform(_ store: SqlAuthenticationStore) async throws {
            let session = Sample.session()
            switch self {
            case .signIn:
                #expect(try await store.begin(Sample.pending(), now: t0))
                #expect(try await store.complete(Sample.completion(), now: t0) == .completed)
            case .plain: #expect(try await store.start(session, now: t0))
            case .upstream:
                let tokens = ProviderTokenRecord(
                    session: session.id, requestor: session.key.requestor, mvpd: session.mvpd, refreshToken: [1], accessToken: [2],
                    accessExpiresAt: t0 + .seconds(60), expiresAt: session.expiresAt)
                #expect(try await store.start(session, keeping: tokens, now: t0))
            case .preview:
                let preview = FreePreview(session: session, user: nil)
                #expect(try await store.start(preview, now: t0) != .codeGone)
            case .plan:
                var record = CodeMemoryTests.record
                record.domainName = "other.example"
                #expect(try await store.plan(record, now: t0))
            case .replacement:
                var later = Sample.record("ABCDEFG", id: "record-2")
                later.isPlan = true
                #expect(try await store.claim(later, now: t0))
            case .removal: #expect(try await store.remove(CodeMemoryTests.record.code, requestor: RequestorID("CHAN7"), now: t0))
            case .claim:
                let end = CodeMemoryTests.record.keptUntil
                #expect(try await store.claim(Sample.record(id: "record-2", from: end), now: end))
            }
        }
    }

    /// As whoever polls asks: for what was over for less than an hour, too.
    private static let asked = t0 - RegistrationRecord.remembrance

    fileprivate static let record: RegistrationRecord = {
        var record = Sample.record()
        record.isPlan = true
        return record
    }()

    @Test("A change is seen by who has polled before", arguments: Change.allCases)
    func changesAreSeen(_ change: Change) async throws {
        let file = Folder.shared.newFile()
        let store = SqlAuthenticationStore(try Backend.database(file))
        #expect(try await store.claim(Self.record, now: t0))
        for _ in 0..<2 { #expect(try await store.keptRecord(Self.record.code, now: Self.asked) == Self.record) }
        try await change.perform(store)
        let seen = try await store.keptRecord(Self.record.code, now: Self.asked)
        #expect(seen != Self.record)
        let fresh = SqlAuthenticationStore(try Backend.database(file))
        #expect(seen == (try await fresh.keptRecord(Self.record.code, now: Self.asked)), "as a store that remembers nothing has it")
    }

    @Test("A change by another copy is seen", arguments: Change.allCases)
    func changesOfOthersAreSeen(_ change: Change) async throws {
        let file = Folder.shared.newFile()
        let (one, other) = (SqlAuthenticationStore(try Backend.database(file)), SqlAuthenticationStore(try Backend.database(file)))
        #expect(try await one.claim(Self.record, now: t0))
        for store in [one, other] { #expect(try await store.keptRecord(Self.record.code, now: Self.asked) == Self.record) }
        try await change.perform(other)
        for store in [one, other] { #expect(try await store.keptRecord(Self.record.code, now: Self.asked) != Self.record) }
    }

    @Test func aCodeThatIsNoneTakesNoPlace() async throws {
        let store = SqlAuthenticationStore(try Backend.database(Folder.shared.newFile()), cachedSessions: 2)
        #expect(try await store.claim(Self.record, now: t0))
        #expect(try await store.keptRecord(Self.record.code, now: Self.asked) == Self.record)
        for code in ["AAAAAAA", "BBBBBBB", "CCCCCCC"] { #expect(try await store.keptRecord(RegistrationCodeText(typed: code), now: t0) == nil) }
        guard case .hit = store.codes.lookup(Self.record.code) else {
            Issue.record("the code is forgotten")
            return
        }
    }
}
