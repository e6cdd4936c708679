internal import AuthenticationCore
internal import Catalogue
internal import Clocks
package import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import OutboundHttp
internal import SamlExplanation
internal import Synchronization

/// Signs a test user in at each MVPD whose record asks for it, on a schedule. It acts as a browser at the public addresses and remembers how each
/// attempt ended (Shared/Documents/Decisions/0085). It is a test sign-in by the live configuration: it makes no session, and counts for no viewer.
package final class ScheduledSignIns: Sendable {
    /// The limit for one sign-in, all requests together; less than the shortest interval.
    static let longest: Duration = .seconds(30)
    /// The limit for one request.
    private static let longestAnswer: Duration = .seconds(10)
    private static let longestConnect: Duration = .seconds(5)
    /// At once, of this copy; the others wait for a second.
    private static let most = 64
    /// First ones are spread over that time, or over the interval where it is shorter.
    private static let spread: UInt32 = 60

    /// One of the catalogue.
    private struct Planned: Sendable {
        let mvpd: MvpdID
        let test: ScheduledSignIn
    }

    private struct State {
        var version: UInt64?
        var storeID = ""
        var planned: [Planned] = []
        /// It makes sense to ask the store at this time.
        var next: [MvpdID: Timestamp] = [:]
        var running = 0
        /// The number of sign-ins at an MVPD that could not be tried, one after the other.
        var skips: [MvpdID: UInt32] = [:]
    }

    private let tests: TestSignIns
    private let store: SqlAuthenticationStore
    private let catalogue: any CatalogueSource
    private let secrets: any ClientSecrets
    private let transport: any OutboundTransport
    /// The origin of our public addresses.
    private let origin: String
    private let clock: any WallClock
    private let logger: Logger
    private let metrics = ScheduledSignInMetrics()
    private let state = Mutex(State())

    init(
        tests: TestSignIns, store: SqlAuthenticationStore, catalogue: any CatalogueSource, secrets: any ClientSecrets,
        transport: any OutboundTransport, origin: String, clock: any WallClock, logger: Logger
    ) {
        (self.tests, self.store, self.catalogue, self.secrets, self.transport) = (tests, store, catalogue, secrets, transport)
        (self.origin, self.clock, self.logger) = (origin, clock, logger)
    }

    /// Until it is cancelled. One that hangs holds up no other.
    package func run() async {
        await withDiscardingTaskGroup { group in
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                for planned in due() { group.addTask { await self.attempt(planned) } }
            }
            group.cancelAll()
        }
    }

    /// Tries what is due now, and returns when all of it has ended.
    package func round() async {
        await withDiscardingTaskGroup { group in
            for planned in due() { group.addTask { await self.attempt(planned) } }
        }
    }

    /// Returns how the latest ended, of those that the catalogue asks for.
    func list() async throws(Fault) -> Contracts.ScheduledSignIns {
        refresh()
        let known = try await store.scheduledSignIns()
        let states = state.withLock { $0.planned }.map { planned in
            known.first { $0.mvpd == planned.mvpd.text } ?? ScheduledSignInState(mvpd: planned.mvpd.text, requestor: planned.test.requestorID)
        }
        return Contracts.ScheduledSignIns(signIns: states.sorted { $0.mvpd < $1.mvpd })
    }

    // MARK: When

    private func due() -> [Planned] {
        refresh()
        let now = clock.now()
        let (due, late) = state.withLock { state in
            var (due, late): ([Planned], [MvpdID]) = ([], [])
            for planned in state.planned where state.next[planned.mvpd].map({ $0 <= now }) ?? true {
                let every: Duration = .seconds(Int64(planned.test.everySeconds))
                if state.running < Self.most {
                    state.running += 1
                    // Until the store says when the next one is.
                    state.next[planned.mvpd] = now + every
                    due.append(planned)
                } else if let next = state.next[planned.mvpd] {
                    guard next + every <= now else { continue }
                    state.next[planned.mvpd] = now
                    late.append(planned.mvpd)
                } else {
                    state.next[planned.mvpd] = now
                }
            }
            return (due, late)
        }
        for mvpd in late { skip(mvpd, "others take too long") }
        return due
    }

    private func skip(_ mvpd: MvpdID, _ reason: String) {
        let skips = state.withLock { state in
            let skips = (state.skips[mvpd] ?? 0) + 1
            state.skips[mvpd] = skips
            return skips
        }
        metrics.skipped(mvpd)
        metrics.skips(skips, of: mvpd)
        logger.warning("scheduled_sign_in.not_tried", metadata: ["mvpd": "\(mvpd)", "reason": "\(reason)", "count": "\(skips)"])
    }

    /// Somebody tries them: this copy or another one.
    private func markTried(_ mvpd: MvpdID) {
        state.withLock { _ = $0.skips.removeValue(forKey: mvpd) }
        metrics.skips(0, of: mvpd)
    }

    private func refresh() {
        guard let catalogue = try? catalogue.current() else { return }
        let gone = state.withLock { state -> [MvpdID] in
            guard state.version != catalogue.version || state.storeID != catalogue.storeID else { return [] }
            (state.version, state.storeID) = (catalogue.version, catalogue.storeID)
            let before = state.planned
            state.planned = Self.planned(in: catalogue)
            // Another schedule counts from now on.
            for planned in state.planned where before.first(where: { $0.mvpd == planned.mvpd })?.test != planned.test {
                state.next[planned.mvpd] = nil
            }
            return before.map(\.mvpd).filter { mvpd in !state.planned.contains { $0.mvpd == mvpd } }
        }
        for mvpd in gone {
            metrics.failures(0, of: mvpd)
            markTried(mvpd)
        }
    }

    private static func planned(in catalogue: Catalogue) -> [Planned] {
        catalogue.configuration.mvpds.compactMap { mvpd in
            guard let test = mvpd.scheduledSignIn, !test.paused, test.everySeconds >= 60,
                let integration = catalogue.integration(requestor: test.requestorID, mvpd: mvpd.id), integration.enabled, integration.bridge == nil
            else { return nil }
            return Planned(mvpd: MvpdID(mvpd.id), test: test)
        }
    }

    /// The same for an MVPD at each copy, and another one for each MVPD.
    private static func offset(_ mvpd: MvpdID, within seconds: UInt32) -> Duration {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in mvpd.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return .milliseconds(Int64(hash >> 32) % (Int64(seconds) * 1000))
    }

    // MARK: One

    private func attempt(_ planned: Planned) async {
        defer { state.withLock { $0.running -= 1 } }
        let now = clock.now()
        let every: Duration = .seconds(Int64(planned.test.everySeconds))
        do throws(Fault) {
            let first = now + Self.offset(planned.mvpd, within: min(planned.test.everySeconds, Self.spread))
            let turn = try await store.takeTurn(planned.mvpd, first: first, next: now + every, now: now)
            markTried(planned.mvpd)
            switch turn {
            case .notYet(let moment, let latest):
                state.withLock { $0.next[planned.mvpd] = moment }
                if let latest { metrics.failures(latest.failures, of: planned.mvpd) }
            case .mine(let before): await keep(note(await visit(planned), of: planned, after: before), of: planned.mvpd)
            }
        } catch {
            skip(planned.mvpd, "\(error)")
        }
    }

    private func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async {
        do throws(Fault) {
            try await store.keep(state, of: mvpd)
        } catch {
            logger.warning("scheduled_sign_in.not_kept", metadata: ["mvpd": "\(mvpd)", "reason": "\(error)"])
        }
    }

    private struct Outcome: Sendable {
        var trace = ""
        var failure: TestVisit.Failure?
        var spent: [(step: TestVisit.Step, time: Duration)] = []

        /// Time of a step adds up.
        mutating func add(_ time: Duration, to step: TestVisit.Step) {
            if spent.last?.step == step { spent[spent.count - 1].time += time } else { spent.append((step, time)) }
        }
    }

    private func note(_ outcome: Outcome, of planned: Planned, after before: ScheduledSignInState?) -> ScheduledSignInState {
        let now = UInt64(clamping: clock.now().milliseconds)
        var state = ScheduledSignInState(
            mvpd: planned.mvpd.text, requestor: planned.test.requestorID, traceID: outcome.trace, endedAtMilliseconds: now,
            steps: outcome.spent.map {
                ScheduledSignInStep(name: $0.step.rawValue, durationMilliseconds: UInt32(clamping: $0.time.wholeMilliseconds))
            })
        if let failure = outcome.failure {
            (state.failedStep, state.reason, state.explanation) = (failure.step.rawValue, failure.reason, failure.explanation)
            state.failures = (before?.failures ?? 0).addingReportingOverflow(1).partialValue
            state.failingSinceMilliseconds = before?.failures ?? 0 > 0 ? before?.failingSinceMilliseconds ?? now : now
            logger.warning(
                "scheduled_sign_in.failed",
                metadata: [
                    "mvpd": "\(planned.mvpd)", "step": "\(failure.step.rawValue)", "reason": "\(failure.reason)",
                    "explanation": "\(failure.explanation)", "trace_id": "\(outcome.trace)", "failures": "\(state.failures)",
                ])
        } else if let before, before.failures > 0 {
            logger.info("scheduled_sign_in.recovered", metadata: ["mvpd": "\(planned.mvpd)", "failures": "\(before.failures)"])
        }
        metrics.ended(planned.mvpd, isGood: outcome.failure == nil, spent: outcome.spent)
        metrics.failures(state.failures, of: planned.mvpd)
        return state
    }

    private func visit(_ planned: Planned) async -> Outcome {
        var outcome = Outcome()
        let test: TestSignIn
        let plan: TestVisit.Plan
        do throws(Fault) {
            let reference = SecretReference(planned.test.passwordReference)
            guard let password = try await secrets.secret(reference) else {
                outcome.failure = Self.failure("no_password", "There is no secret '\(reference)', neither a file nor one that was written.")
                return outcome
            }
            let parties = try parties(planned)
            guard let origins = parties.origins else {
                outcome.failure = Self.failure("no_address", "The MVPD's record has no address of a login.")
                return outcome
            }
            test = try await tests.begin(parties.request, isScheduled: true)
            outcome.trace = test.id
            plan = TestVisit.Plan(
                origin: origin, address: "\(origin)/test-sign-in/\(test.ticket)",
                origins: origins.union(planned.test.origins.compactMap(TestOrigin.origin)),
                user: planned.test.user, password: password, userField: planned.test.userField, passwordField: planned.test.passwordField)
        } catch {
            outcome.failure = Self.failure(error.code.rawValue, "It could not be begun: \(error.message)")
            return outcome
        }
        await walk(plan, of: planned.mvpd, &outcome)
        if outcome.failure != nil {
            // An answer that comes now is none; what is left ends by itself.
            do throws(Fault) { try await store.drop(TestSignInID(test.id)) } catch { logger.debug("scheduled_sign_in.not_dropped") }
        }
        return outcome
    }

    private func walk(_ plan: TestVisit.Plan, of mvpd: MvpdID, _ outcome: inout Outcome) async {
        let clock = ContinuousClock()
        let end = clock.now + Self.longest
        var visit = TestVisit(plan)
        var action = visit.begin()
        while true {
            switch action {
            case .signedIn: return
            case .failed(let failure):
                outcome.failure = failure
                return
            case .send(let request):
                let begin = clock.now
                let step = visit.step
                do throws(OutboundFailure) {
                    let left = min(end - begin, Self.longestAnswer)
                    guard left > .zero else { throw OutboundFailure(.budgetSpent) }
                    let answer = try await transport.send(request, by: Self.route(mvpd), timeLeft: left)
                    outcome.add(clock.now - begin, to: step)
                    action = visit.next(after: answer)
                } catch {
                    outcome.add(clock.now - begin, to: step)
                    action = .failed(visit.failure(error))
                }
            }
        }
    }

    private static func route(_ mvpd: MvpdID) -> OutboundRoute {
        OutboundRoute(
            peer: "test sign-in \(mvpd)", connectTimeout: longestConnect, responseTimeout: longestAnswer, connections: 2)
    }

    private static func failure(_ reason: String, _ explanation: String) -> TestVisit.Failure {
        TestVisit.Failure(step: .start, reason: reason, explanation: explanation)
    }

    /// The request that begins the test, and the origins that its browser may visit; `nil`: none.
    private func parties(_ planned: Planned) throws(Fault) -> (request: BeginTestSignInRequest, origins: Set<String>?) {
        let catalogue = try catalogue.current()
        let mvpd = catalogue.mvpd(planned.mvpd.text)
        let proxy = mvpd.flatMap { $0.isProxied ? catalogue.mvpd($0.proxyMvpdID) : nil }
        var configuration = Configuration()
        configuration.requestors = [catalogue.requestor(planned.test.requestorID)].compactMap(\.self)
        configuration.mvpds = [mvpd, proxy].compactMap(\.self)
        configuration.integrations = [catalogue.integration(requestor: planned.test.requestorID, mvpd: planned.mvpd.text)].compactMap(\.self)
        let address: String? =
            switch mvpd?.signIn ?? proxy?.signIn {
            case .saml(let endpoint): endpoint.ssoURL
            case .oauth(let endpoint): endpoint.authorizeURL
            case .tempPass, nil: nil
            }
        let request = BeginTestSignInRequest(configuration: configuration, requestor: planned.test.requestorID, mvpd: planned.mvpd.text)
        return (request, address.flatMap(TestOrigin.origin).map { [$0] })
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension ScheduledSignIns: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.listScheduledSignIns) { [self] _, _ in try await list() }
    }
}
