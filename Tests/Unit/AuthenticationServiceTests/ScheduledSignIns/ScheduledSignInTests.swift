import Clocks
import Contracts
import Doubles
import Identifiers
import OutboundHttp
import SamlProfile
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Sign-ins of test users on a schedule.
@Suite struct ScheduledSignInTests {
    private static let mvpd = MvpdID("DemoCable")

    private func rig(_ backend: Backend = .sqlite, _ change: (inout ScheduledSignIn) -> Void = { _ in }) throws -> (rig: Rig, site: TestSite) {
        let site = TestSite()
        let rig = try Rig(backend, site: site)
        var test = ScheduledSignIn(
            requestorID: "CHAN7", user: "tess", passwordReference: "tess", everySeconds: 60, origins: [TestSite.mvpd])
        change(&test)
        rig.catalogue.change { $0.mvpds[0].scheduledSignIn = test }
        site.script.withLock { ($0.service, $0.saml) = (rig.service, rig.saml) }
        rig.saml.accept(assertion: "_scheduled")
        return (rig, site)
    }

    /// Until the first one is due, which the store has to be asked for.
    private func run(_ rig: Rig, after span: Duration = .seconds(60)) async {
        await rig.modules.administration.scheduled.round()
        rig.clock.advance(by: span)
        await rig.modules.administration.scheduled.round()
    }

    private func state(_ rig: Rig) async throws -> ScheduledSignInState {
        let list = try await rig.operations.listScheduledSignIns(ListScheduledSignInsRequest(), context: rig.context)
        return try #require(list.signIns.first { $0.mvpd == "DemoCable" })
    }

    @Test("a test user signs in as a browser does, step by step, and leaves no session, usage, report or test behind", arguments: Backend.allCases)
    func succeeds(_ backend: Backend) async throws {
        let (rig, site) = try rig(backend)
        #expect(try await state(rig).endedAtMilliseconds == 0)
        await run(rig)
        let state = try await state(rig)
        #expect(state.failedStep.isEmpty && state.reason.isEmpty && state.failures == 0 && state.requestor == "CHAN7", "\(state)")
        #expect(state.steps.map(\.name) == ["start", "page", "login", "answer"])
        #expect(state.endedAtMilliseconds == UInt64(rig.clock.now().milliseconds))
        #expect(site.requests.count == 4)
        #expect(try await rig.store.sessions(SessionKey(device: DeviceID("dev-7f3a"), requestor: RequestorID("CHAN7"))).isEmpty)
        #expect(rig.modules.environment.metrics.usage.drain().isEmpty)
        let reports = try await rig.operations.listSignInReports(ListSignInReportsRequest(), context: rig.context)
        #expect(reports.reports.isEmpty)
        #expect(!rig.log.lines.contains { "\($0)".contains("s3same") })
    }

    @Test("what is due is tried once by one of two copies, and again after its time", arguments: Backend.allCases)
    func isTriedOnce(_ backend: Backend) async throws {
        let (rig, site) = try rig(backend)
        let copy = rig.otherModules()
        site.script.withLock { $0.password = "changed" }
        for _ in 0..<5 {
            async let one: Void = rig.modules.administration.scheduled.round()
            async let other: Void = copy.administration.scheduled.round()
            _ = await (one, other)
            rig.clock.advance(by: .seconds(60))
        }
        await rig.modules.administration.scheduled.round()
        await copy.administration.scheduled.round()
        let opened = site.requests.count { $0.url.hasPrefix(TestSite.origin + "/test-sign-in/") }
        #expect(opened == 5, "the first minute spreads")
        #expect(try await state(rig).failures == 5)
        // Nothing is due now.
        await rig.modules.administration.scheduled.round()
        await copy.administration.scheduled.round()
        #expect(site.requests.count { $0.url.hasPrefix(TestSite.origin + "/test-sign-in/") } == 5)
    }

    @Test(
        "a password that changed is told with its step and what the MVPD says, since when, and until it is right again; neither user nor password shows"
    )
    func passwordChanged() async throws {
        let (rig, site) = try rig()
        site.script.withLock { $0.password = "changed" }
        await run(rig)
        let first = try await state(rig)
        #expect(first.failedStep == "login" && first.reason == "login_refused" && first.failures == 1)
        #expect(first.explanation.contains("422") && first.explanation.contains("the password [hidden] is wrong"), "\(first.explanation)")
        #expect(!first.explanation.contains("tess") && first.steps.map(\.name) == ["start", "page", "login"])
        await run(rig)
        let second = try await state(rig)
        #expect(second.failures == 2 && second.failingSinceMilliseconds == first.endedAtMilliseconds)
        let line = try #require(rig.log.lines.last { $0.event == "scheduled_sign_in.failed" })
        #expect(line.fields["step"] == "login" && line.fields["mvpd"] == "DemoCable" && line.fields["trace_id"] == second.traceID)
        site.script.withLock { $0.password = "s3same" }
        await run(rig)
        let last = try await state(rig)
        #expect(last.failures == 0 && last.failingSinceMilliseconds == 0 && last.failedStep.isEmpty)
        #expect(!rig.log.lines.contains { "\($0)".contains("s3same") || "\($0)".contains("tess") })
    }

    @Test(
        "an MVPD that hangs, is away, or answers something else than a login is told by step and reason",
        arguments: [
            (OutboundFailure.Kind.responseTimeout, "timeout"), (.connectTimeout, "timeout"), (.notSent, "unreachable"), (.unusable, "unusable"),
        ])
    func tellsTrouble(_ kind: OutboundFailure.Kind, reason: String) async throws {
        let (rig, site) = try rig()
        site.script.withLock { $0.failure = kind }
        await run(rig)
        let state = try await state(rig)
        #expect(state.failedStep == "page" && state.reason == reason && state.explanation.hasPrefix("The MVPD "))
        // It holds no place, neither an administrator's nor another test's.
        #expect(try await rig.store.store.read { try $0.value("SELECT count(*) FROM test_sign_in") as Int? } == 0)
    }

    @Test("HTML without a form is told with its title")
    func noForm() async throws {
        let (rig, site) = try rig()
        site.script.withLock { $0.page = TestSite.html("<title>Down for\n maintenance</title><p>Soon.") }
        await run(rig)
        let state = try await state(rig)
        #expect(state.failedStep == "page" && state.reason == "no_form" && state.explanation.contains("says 'Down for maintenance'"))
    }

    @Test("an answer that our checks refuse is told by the reason that reports have")
    func answerRefused() async throws {
        let (rig, _) = try rig()
        rig.saml.answer(.rejected(SamlRejection(.signatureInvalid, "The signature does not verify.")))
        await run(rig)
        let state = try await state(rig)
        #expect(state.failedStep == "answer" && state.reason == "sig.invalid")
    }

    @Test("a secret that is not there is told, and nobody is asked")
    func noPassword() async throws {
        let (rig, site) = try rig { $0.passwordReference = "nobody" }
        await run(rig)
        let state = try await state(rig)
        #expect(state.failedStep == "start" && state.reason == "no_password" && state.explanation.contains("'nobody'") && site.requests.isEmpty)
    }

    @Test("what is paused, switched off or taken out is not tried, and a test that comes back starts anew")
    func followsCatalogue() async throws {
        let (rig, site) = try rig { $0.paused = true }
        await run(rig)
        #expect(site.requests.isEmpty)
        rig.catalogue.change { $0.mvpds[0].scheduledSignIn?.paused = false }
        await run(rig)
        #expect(site.requests.count == 4)
        rig.catalogue.change { configuration in
            for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == "DemoCable" {
                configuration.integrations[index].enabled = false
            }
        }
        await run(rig)
        #expect(site.requests.count == 4)
        #expect(try await rig.operations.listScheduledSignIns(ListScheduledSignInsRequest(), context: rig.context).signIns.isEmpty)
    }

    @Test("one that cannot be tried is skipped, and counted until somebody tries again")
    func skipped() async throws {
        let (rig, site) = try rig()
        // The schedule of no MVPD can be read or written while the table is away.
        func away(_ isAway: Bool) async throws {
            let (from, to) = isAway ? ("scheduled_sign_in", "away") : ("away", "scheduled_sign_in")
            _ = try await rig.store.store.write { try $0.run(.init("ALTER TABLE \(from) RENAME TO \(to)")) }
        }
        let scheduled = rig.modules.administration.scheduled
        try await away(true)
        for _ in 0..<3 {
            await scheduled.round()
            await scheduled.round()
            rig.clock.advance(by: .seconds(60))
        }
        var skips: [String?] { rig.log.lines.filter { $0.event == "scheduled_sign_in.not_tried" }.map { $0.fields["count"] } }
        #expect(skips == ["1", "2", "3"] && site.requests.isEmpty, "once in each period")
        try await away(false)
        await run(rig)
        #expect(site.requests.count == 4)
        try await away(true)
        rig.clock.advance(by: .seconds(60))
        await scheduled.round()
        #expect(skips == ["1", "2", "3", "1"])
    }

    @Test("an interval that became shorter counts from now on")
    func shorterInterval() async throws {
        let (rig, site) = try rig { $0.everySeconds = 86_400 }
        await run(rig)
        #expect(site.requests.count == 4)
        rig.catalogue.change { $0.mvpds[0].scheduledSignIn?.everySeconds = 60 }
        await rig.modules.administration.scheduled.round()
        #expect(site.requests.count == 8)
    }

    @Test("scheduled ones take no place of the 64 that administrators have, and end within a minute", arguments: Backend.allCases)
    func takesNoPlace(_ backend: Backend) async throws {
        let (rig, _) = try rig(backend)
        var configuration = try rig.catalogue.current().configuration
        (configuration.applications, configuration.statementKeys) = ([], "")
        let request = BeginTestSignInRequest(configuration: configuration, requestor: "CHAN7", mvpd: "DemoCable")
        let tests = rig.modules.tests
        for _ in 0...TestSignInRecord.most { _ = try await tests.begin(request, isScheduled: true) }
        for _ in 0..<TestSignInRecord.most { _ = try await tests.begin(request) }
        await expectFault(.overloaded) { _ = try await tests.begin(request) }
        let scheduled = try await tests.begin(request, isScheduled: true)
        let dropped = try await tests.begin(request, isScheduled: true)
        try await rig.store.drop(TestSignInID(dropped.id))
        await expectFault(.notFound) { _ = try await tests.open(OpenTestSignInRequest(ticket: dropped.ticket)) }
        rig.clock.advance(by: .seconds(61))
        await expectFault(.notFound) { _ = try await tests.open(OpenTestSignInRequest(ticket: scheduled.ticket)) }
    }

    @Test("a turn is one caller's, the first is due when it is said, and a state stays", arguments: Backend.allCases)
    func turns(_ backend: Backend) async throws {
        let store = try backend.open()
        let (first, next) = (t0 + .seconds(10), t0 + .seconds(70))
        guard case .notYet(first, nil) = try await store.takeTurn(Self.mvpd, first: first, next: next, now: t0) else {
            Issue.record("the first is due before its time")
            return
        }
        guard case .mine(nil) = try await store.takeTurn(Self.mvpd, first: t0, next: next, now: first) else {
            Issue.record("the first is nobody's")
            return
        }
        var state = ScheduledSignInState(mvpd: "DemoCable", requestor: "CHAN7", failures: 3)
        state.steps = [ScheduledSignInStep(name: "start", durationMilliseconds: 5)]
        try await store.keep(state, of: Self.mvpd)
        guard case .notYet(next, state) = try await store.takeTurn(Self.mvpd, first: t0, next: next, now: first) else {
            Issue.record("a turn is taken twice")
            return
        }
        #expect(try await store.scheduledSignIns() == [state])
    }
}
