@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams
import Contracts
import SamlProfile
import Testing
import UsageCounting

@Suite("What counts of sign-ins") struct UsageTests {
    private func drained(_ rig: Rig) -> [UsageSum] { rig.modules.environment.metrics.usage.drain() }

    private func pending() async throws -> (rig: Rig, browser: Browser) {
        let rig = try Rig()
        let call = try await rig.call(rig.bearer())
        return (rig, try await rig.start(rig.code(call).code))
    }

    @Test("rest-v2 §7: sent to the MVPD, back from it, signed in; with the device, its application and the API of its code")
    func success() async throws {
        let (rig, browser) = try await pending()
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .signedIn)
        let sums = drained(rig)
        #expect(sums.map(\.counts) == [UsageCounts(authnAttempts: 1, authnPending: 1, authnSuccessful: 1)])
        let dimensions = sums.first?.dimensions
        #expect(dimensions?.requestorID == "CHAN7" && dimensions?.mvpdID == "DemoCable" && dimensions?.applicationID == "tv")
        #expect(dimensions?.osType == Sample.device.osName && dimensions?.api == .restV1)
    }

    @Test("rest-v2 §7: the sign-in of an app of v2 is told as v2's")
    func versionTwo() async throws {
        let rig = try Rig()
        try await rig.signIn(planned: rig.v2Call(try await rig.bearer("old")))
        #expect(drained(rig).compactMap(\.dimensions).map(\.api) == [.restV2])
    }

    @Test("bridge §8.1, §11: a login that upstream knew already is single sign-on", arguments: [true, false])
    func takenOver(isPartner: Bool) throws {
        let rig = try Rig()
        let session = Sample.session("s", record: nil, mvpd: "DemoCable")
        let part = UpstreamPart(
            session: session.id, key: session.key, mvpd: session.mvpd, upstream: "vendor", serviceProvider: "SP", theirMvpd: "M", slot: "c",
            kind: "regular",
            startsAt: t0, expiresAt: session.expiresAt, confirmedAt: t0, encryptedNames: [], attributes: [], device: session.device, userAgent: "")
        rig.modules.environment.metrics.countTakenOver(part, isPartner: isPartner)
        let sums = drained(rig)
        #expect(sums.map(\.counts) == [UsageCounts(sso: 1)])
        #expect(sums.first?.dimensions?.ssoType == "platform" && sums.first?.dimensions?.externalProvider == (isPartner ? "Apple" : ""))
    }

    @Test("an answer that signs nobody in has failed, for a reason; a genuine one may still follow")
    func failure() async throws {
        let (rig, browser) = try await pending()
        rig.saml.answer(.rejected(SamlRejection(.signatureInvalid, "The signature does not verify.")))
        #expect(try await rig.finish(browser).result == .rejected)
        rig.saml.accept()
        #expect(try await rig.finish(browser).result == .signedIn)
        let sums = drained(rig)
        #expect(Set(sums.compactMap(\.counts)) == [UsageCounts(authnAttempts: 1, authnPending: 2, authnSuccessful: 1), UsageCounts(authnFailed: 1)])
        #expect(sums.first { $0.counts?.authnFailed == 1 }?.dimensions?.reason == "sig.invalid")
    }

    @Test("an answer to no sign-in that is known counts nowhere; neither does a session that is read, nor a TempPass")
    func silence() async throws {
        let (rig, browser) = try await pending()
        rig.saml.accept()
        _ = try await rig.finish(browser)
        _ = drained(rig)
        #expect(try await rig.finish(browser).result == .rejected)
        let call = try await rig.call(rig.bearer(), device: "dev-2")
        _ = try await rig.preview(call)
        _ = try await rig.session(call)
        #expect(drained(rig).isEmpty)
    }
}
