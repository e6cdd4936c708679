import Clocks
import Contracts
import CoreMetrics
import Faults
import Identifiers
import ServiceKit
import Testing

@testable import AutoSignInService

@Suite("Issuing tokens", .everyEngine)
struct IssueTests {
    @Test("apple #1: a fresh session with a granted context gets a value of 71 characters; the family is active after ConfirmStored")
    func issues() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let token = try await rig.issue()
        #expect(token.value.utf8.count == 71 && token.value.hasPrefix("asi1."))
        #expect(token.value.split(separator: ".").map(\.utf8.count) == [4, 22, 43])
        #expect(token.expiresAtMilliseconds == UInt64((rig.clock.now() + .seconds(180 * 86_400)).milliseconds))
        #expect(try await rig.state(token.familyID) == .pending)
        #expect(try await rig.confirm(token.familyID).state == .active)
        #expect(try await rig.state(token.familyID) == .active)
    }

    @Test("apple #2: without a granted context nothing is stored", arguments: [ContextAuthorization.denied, .notDetermined])
    func needsGrant(_ authorization: ContextAuthorization) async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        #expect(await refusal { try await rig.issue(authorization: authorization) } == .optInRequired)
        #expect(try await rig.status().families.isEmpty)
        #expect(
            try await rig.files.read { try $0.accountID(of: TVLogin(mvpd: MvpdID("NorthCable"), userID: "ada"), programmer: ProgrammerID("acme")) }
                == nil)
    }

    @Test("apple #3: a session with acr=auto gets no token")
    func refusesAutomaticSession() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        #expect(await refusal { try await rig.issue("tv-2") } == .sessionNotFresh)
    }

    @Test("apple #4: 10,000 values have neither an id nor a secret in common")
    func valuesDiffer() {
        let values = (0..<10_000).map { _ in TokenValue.random(from: SystemRandom()) }
        #expect(Set(values.map(\.id)).count == 10_000 && Set(values.map(\.secret)).count == 10_000)
        #expect(values.allSatisfy { TokenValue($0.text) == $0 })
    }

    @Test("A session older than 15 minutes is not fresh")
    func needsFreshSession() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        rig.clock.advance(by: .seconds(900))
        #expect(await refusal { try await rig.issue() } == nil)
        rig.clock.advance(by: .seconds(1))
        #expect(await refusal { try await rig.issue() } == .sessionNotFresh)
        #expect(await refusal { try await rig.issue("tv-9") } == .sessionNotFresh)
    }

    @Test("apple #34: the same idempotency key gets the same answer and one family; with another request it is refused")
    func repeats() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let first = try await rig.issue(key: "k")
        rig.clock.advance(by: .seconds(3600))
        #expect(try await rig.issue(key: "k") == first)
        #expect(try await rig.restarted().issue(key: "k") == first)
        #expect(try await rig.status().families.count == 1)
        #expect(await refusal { try await rig.issue(environment: .sandbox, key: "k") } == .idempotencyKeyReused)
        rig.clock.advance(by: .seconds(86_400))
        rig.logins.signIn("tv-1")
        #expect(try await rig.issue(key: "k").familyID != first.familyID)
    }

    @Test("apple #34: equal keys at once have one effect")
    func repeatsAtOnce() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let families = try await withThrowingTaskGroup(of: IssuedToken.self) { group in
            for _ in 0..<20 { group.addTask { try await rig.issue(key: "k") } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(families.count == 1)
        #expect(try await rig.status().families.count == 1)
    }

    @Test("apple #75: an MVPD that does not take part has subscription_required, at both ends")
    func needsFlag() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.logins.allow([])
        #expect(await refusal { try await rig.issue() } == .subscriptionRequired)
        #expect(await refusal { try await rig.redeem(token.value) } == .subscriptionRequired)
    }

    @Test("apple #76: a trial or a degraded login is not fresh", arguments: [SessionKind.tempPass, .degraded, .shared, .automatic])
    func needsPerson(_ kind: SessionKind) async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1", kind: kind)
        #expect(await refusal { try await rig.issue() } == .sessionNotFresh)
    }

    @Test("A foreign app or environment is refused; so is one Apple Account too many")
    func checksRequest() async throws {
        let rig = try TokenRig(familiesPerAccount: 2)
        rig.logins.signIn("tv-1")
        #expect(await refusal { try await rig.issue(bundleID: "tv.bravo") } == .clientUnknown)
        #expect(await refusal { try await rig.issue(bundleID: "tv.acme.web") } == .clientUnknown)
        #expect(await refusal { try await rig.issue(environment: .unknown) } == .invalidRequest)
        #expect(await refusal { try await rig.issue(account: "another") } == .sessionNotFresh)
        let first = try await rig.issue()
        #expect(try await rig.issue(account: first.accountID).accountID == first.accountID)
        #expect(await refusal { try await rig.issue() } == .tooManyFamilies)
        try await rig.confirm(first.familyID, .failed)
        #expect(await refusal { try await rig.issue() } == nil)
    }

    @Test("A value that could not be stored revokes its family; a foreign family is unknown")
    func confirmsFailure() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let token = try await rig.issue()
        rig.logins.signIn("tv-2", user: "ben")
        #expect(await refusal { try await rig.confirm(token.familyID, device: "tv-2") } == .familyUnknown)
        #expect(await refusal { try await rig.confirm("none") } == .familyUnknown)
        #expect(try await rig.confirm(token.familyID, .failed).state == .revoked)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
    }

    @Test("Operators see how many values could not be stored, and none that could")
    func countsUnstored() async throws {
        let rig = try TokenRig()
        rig.logins.signIn("tv-1")
        let numbers = PrometheusMetrics()
        func counted(_ outcome: StorageOutcome) async throws -> [String] {
            let token = try await rig.issue()
            _ = try await withMetricsFactory(numbers) { try await rig.confirm(token.familyID, outcome) }
            return numbers.text().split(separator: "\n").filter { $0.hasPrefix("boxoffice_autosignin_families_revoked_total") }.map(String.init)
        }
        #expect(try await counted(.stored) == [])
        #expect(try await counted(.failed) == [#"boxoffice_autosignin_families_revoked_total{reason="not_stored"} 1"#])
    }
}
