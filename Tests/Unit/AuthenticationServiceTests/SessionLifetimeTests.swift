import Clocks
import Contracts
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct SessionLifetimeTests {
    private let week = Integration(authnTtlSeconds: 604_800, hbaAuthnTtlSeconds: 3600)
    private let soon = t0 + .seconds(600)
    private let late = t0 + .seconds(9_000_000)

    @Test("mvpd #8: the integration's TTL counts, home-based its own")
    func usesConfiguredLifetime() {
        #expect(SessionLifetime.end(week, Mvpd(), isHomeBased: false, limit: nil, now: t0) == t0 + .seconds(604_800))
        #expect(SessionLifetime.end(week, Mvpd(), isHomeBased: true, limit: nil, now: t0) == t0 + .seconds(3600))
    }

    @Test("mvpd #16: SessionNotOnOrAfter shortens, and never lengthens, a configured TTL")
    func obeysLimit() {
        #expect(SessionLifetime.end(week, Mvpd(), isHomeBased: false, limit: soon, now: t0) == soon)
        #expect(SessionLifetime.end(week, Mvpd(), isHomeBased: false, limit: late, now: t0) == t0 + .seconds(604_800))
    }

    @Test("mvpd #113: with the MVPD as source its end counts alone; without one, the configured TTL")
    func usesMvpdEnd() {
        let mvpd = Mvpd(authnTtlFromMvpd: true)
        #expect(SessionLifetime.end(week, mvpd, isHomeBased: false, limit: late, now: t0) == late)
        #expect(SessionLifetime.end(week, mvpd, isHomeBased: true, limit: soon, now: t0) == soon)
        #expect(SessionLifetime.end(week, mvpd, isHomeBased: false, limit: nil, now: t0) == t0 + .seconds(604_800))
    }

    @Test("rest-v1 §5: a session lives as long as its device's platform says")
    func appliesPlatform() async throws {
        let rig = try Rig()
        rig.catalogue.change { configuration in
            configuration.integrations[0].authnTtlSeconds = 604_800
            configuration.integrations[0].platformOverrides = [
                PlatformOverride(scope: .roku, authnTtlSeconds: 3600), PlatformOverride(scope: .tv, authnTtlSeconds: 7200),
            ]
        }
        for (osName, seconds) in [("Roku OS", 3600), ("tvOS", 7200), ("iOS", 604_800)] {
            var call = try await rig.call(rig.bearer(), device: osName)
            call.device?.osName = osName
            try await rig.signIn(call, assertion: "_\(seconds)")
            #expect(try await rig.session(call).expiresAtMilliseconds == UInt64((t0 + .seconds(Int64(seconds))).milliseconds))
        }
    }

    @Test("A session of the home network ends by its own TTL", arguments: [(false, 604_800), (true, 3600)])
    func appliesToSignIn(_ isHomeBased: Bool, _ seconds: Int64) async throws {
        let rig = try Rig()
        rig.catalogue.change { configuration in
            configuration.integrations[0].authnTtlSeconds = 604_800
            configuration.integrations[0].hbaAuthnTtlSeconds = 3600
        }
        let call = try await rig.call(rig.bearer())
        let browser = try await rig.start(rig.code(call).code)
        rig.saml.accept(isHomeBased: isHomeBased)
        _ = try await rig.finish(browser)
        #expect(try await rig.session(call).expiresAtMilliseconds == UInt64((t0 + .seconds(seconds)).milliseconds))
    }
}
