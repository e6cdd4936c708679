import Contracts
import Identifiers
import Logging
import SamlProfile
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Checks the host's clock by MVPDs' answers.
@Suite struct ClockDoubtTests {
    private let log = LogRecorder()
    private let start = ContinuousClock.now

    private func doubt() -> ClockDoubt { ClockDoubt(logger: Logger(label: "test") { [log] _ in log }) }

    private var told: [String] {
        log.lines.filter { $0.event == "clock.doubtful" }.map { "\($0.level) \($0.fields["clock"] ?? "") \($0.fields["mvpds"] ?? "")" }
    }

    @Test("three MVPDs within ten minutes, in one direction, make it doubtful; the log says so once, and again after ten minutes")
    func threeMvpds() {
        let doubt = doubt()
        doubt.refused(.behind, by: MvpdID("A"), at: start)
        doubt.refused(.behind, by: MvpdID("A"), at: start + .seconds(1))
        doubt.refused(.behind, by: MvpdID("B"), at: start + .seconds(300))
        doubt.refused(.ahead, by: MvpdID("C"), at: start + .seconds(301))
        #expect(told.isEmpty)
        doubt.refused(.behind, by: MvpdID("D"), at: start + .seconds(600))
        #expect(told == ["error behind A,B,D"])
        for second in 601..<610 { doubt.refused(.behind, by: MvpdID("E"), at: start + .seconds(second)) }
        #expect(told.count == 1)
        for (number, name) in ["A", "B", "D"].enumerated() { doubt.refused(.behind, by: MvpdID(name), at: start + .seconds(1150 + number)) }
        doubt.refused(.behind, by: MvpdID("E"), at: start + .seconds(1201))
        #expect(told.count == 2)
    }

    @Test("what is older than ten minutes counts no more, and the end is told")
    func ends() {
        let doubt = doubt()
        for name in ["A", "B", "C"] { doubt.refused(.ahead, by: MvpdID(name), at: start) }
        doubt.look(at: start + .seconds(599))
        #expect(told.count == 1 && !log.lines.contains { $0.event == "clock.agrees" })
        doubt.look(at: start + .seconds(600))
        #expect(log.lines.contains { $0.event == "clock.agrees" && $0.level == .notice && $0.fields["clock"] == "ahead" })
        #expect(doubt.suspects(.ahead, at: start + .seconds(600)).isEmpty)
    }

    @Test("an MVPD whose next answer is accepted speaks for the clock")
    func accepted() {
        let doubt = doubt()
        doubt.refused(.ahead, by: MvpdID("A"), at: start)
        doubt.refused(.ahead, by: MvpdID("B"), at: start)
        doubt.accepted(MvpdID("A"))
        doubt.refused(.ahead, by: MvpdID("C"), at: start)
        #expect(told.isEmpty && doubt.suspects(.ahead, at: start) == ["B", "C"])
    }

    @Test("answers that are refused for their time count, of viewers and of test users; others do not")
    func signIns() async throws {
        let rig = try Rig()
        let clock = try #require(rig.modules.environment.metrics.clock)
        func refuse(_ mvpd: String, _ rejection: SamlRejection, device: String) async throws {
            let code = try await rig.code(rig.call(rig.bearer(), device: device))
            let browser = try await rig.start(code.code, mvpd: mvpd)
            rig.saml.answer(.rejected(rejection))
            #expect(try await rig.finish(browser).result == .rejected)
        }
        try await refuse("DemoCable", SamlRejection(.signatureInvalid, "x"), device: "dev-1")
        #expect(clock.suspects(.behind, at: .now).isEmpty)
        try await refuse("DemoCable", SamlRejection(.stale, "x", clock: .behind), device: "dev-2")
        try await refuse("OtherCable", SamlRejection(.time, "x", clock: .behind), device: "dev-3")
        #expect(clock.suspects(.behind, at: .now) == ["DemoCable", "OtherCable"] && clock.doubt == nil)
        clock.refused(.behind, by: MvpdID("Third"))
        #expect(rig.modules.environment.metrics.clock?.doubt == "it looks behind to 3 MVPDs, whose answers are refused for their time")
        #expect(rig.log.lines.contains { $0.event == "clock.doubtful" && $0.level == .error })
        try await rig.signIn(rig.call(rig.bearer(), device: "dev-4"))
        #expect(clock.suspects(.behind, at: .now) == ["OtherCable", "Third"])
    }

    @Test("an id_token of another time says how our clock looks")
    func identityToken() {
        #expect(OAuthRejection(.notYetValid).clock == .behind && OAuthRejection(.expired).clock == .ahead)
        #expect(OAuthRejection(.wrongNonce).clock == nil && OAuthRejection(OAuthRejection.Reason.code).clock == nil)
    }
}
