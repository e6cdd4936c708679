@testable import AuthorizationService
import ContractRuntime
import Contracts
import Faults
import Testing
import UsageCounting

@Suite("What counts of decisions") struct UsageTests {
    /// All counts since the last time, and what they were about.
    private func drained(_ fixture: AuthorizationFixture) -> (total: UsageCounts, sums: [UsageSum]) {
        let sums = fixture.service.metrics.usage.drain()
        var total = UsageCounts()
        for counts in sums.compactMap(\.counts) {
            total.authzAttempts += counts.authzAttempts
            total.authzSuccessful += counts.authzSuccessful
            total.authzFailed += counts.authzFailed
            total.authzRejected += counts.authzRejected
            total.mediaTokens += counts.mediaTokens
            total.decisionAttempts += counts.decisionAttempts
            total.decisionSuccessful += counts.decisionSuccessful
            total.decisionFailed += counts.decisionFailed
        }
        return (total, sums)
    }

    @Test("rest-v2 §7: the MVPD's decision is an authz event, a cached one is not; every media token counts")
    func permits() async throws {
        let fixture = try AuthorizationFixture()
        _ = try await fixture.authorize()
        _ = try await fixture.authorize()
        _ = try await fixture.mediaToken()
        _ = try await fixture.mediaToken()
        let (total, sums) = drained(fixture)
        #expect(total == UsageCounts(authzAttempts: 1, authzSuccessful: 1, mediaTokens: 2, decisionAttempts: 2, decisionSuccessful: 2))
        #expect(sums.count == 1 && sums.first?.dimensions?.channel == "CHAN7-HD" && sums.first?.dimensions?.decisionType == "authorize")
        #expect(sums.first?.dimensions?.requestorID == "CHAN7" && sums.first?.dimensions?.mvpdID == "DemoCable")
    }

    @Test("a denial fails with its reason; one that the MVPD is spared is rejected")
    func denials() async throws {
        let fixture = try AuthorizationFixture()
        for _ in 0..<6 {
            fixture.transport.answer(Xacml.deny())
            _ = await fault { try await fixture.authorize() }
        }
        let (total, sums) = drained(fixture)
        #expect(total == UsageCounts(authzAttempts: 5, authzFailed: 5, authzRejected: 1, decisionAttempts: 6, decisionFailed: 6))
        #expect(Set(sums.compactMap(\.dimensions?.reason)) == ["authorization_denied_by_mvpd"])
    }

    @Test("who has no session asks for no decision that counts; an MVPD without a decision point is asked nothing")
    func others() async throws {
        let fixture = try AuthorizationFixture()
        _ = await fault { try await fixture.authorize(device: "dev-2") }
        #expect(drained(fixture).sums.isEmpty)
        fixture.signIn(mvpd: "OpenTel")
        _ = try await fixture.authorize()
        #expect(drained(fixture).total == UsageCounts(decisionAttempts: 1, decisionSuccessful: 1))
    }

    @Test(
        "rest-v2 §7: a session by the platform's sign-in names Apple on Apple's devices, and no other one does",
        arguments: [(SessionKind.platform, "iOS", "Apple"), (.platform, "tvOS", "Apple"), (.platform, "Roku OS", ""), (.regular, "tvOS", "")])
    func externalProviders(_ kind: SessionKind, _ system: String, _ provider: String) async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(kind: kind)
        var call = fixture.call()
        call.device = DeviceInformation(osName: system)
        _ = try await fixture.service.authorize(AuthorizeRequest(call: call, resource: "CHAN7-HD"), context: CallContext())
        #expect(drained(fixture).sums.map(\.dimensions?.externalProvider) == [provider])
    }

    @Test("a call of REST v2 is one; so is a preauthorization, by resource")
    func apis() async throws {
        let fixture = try AuthorizationFixture()
        var call = fixture.call()
        call.api = .v2
        call.device = DeviceInformation(osName: "Roku OS")
        _ = try await fixture.service.authorize(AuthorizeRequest(call: call, resource: "CHAN7-HD"), context: CallContext())
        let dimensions = drained(fixture).sums.first?.dimensions
        #expect(dimensions?.api == .restV2 && dimensions?.platform == .roku)
        fixture.degrade(.authzAll)
        _ = try await fixture.preauthorize("A,B")
        let (total, sums) = drained(fixture)
        #expect(total == UsageCounts(decisionAttempts: 2, decisionSuccessful: 2))
        #expect(Set(sums.compactMap(\.dimensions?.decisionType)) == ["preauthorize"] && sums.count == 2)
    }
}
