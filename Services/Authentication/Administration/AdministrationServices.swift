package import AuthenticationCore
package import AuthenticationSignIn
package import ContractRuntime
internal import Contracts
internal import Faults
package import OutboundHttp
internal import SamlExplanation

/// Operators' work: people, support, reports of sign-ins, test sign-ins, answers to explain.
package struct AdministrationServices: CallRegistration {
    package let scheduled: ScheduledSignIns
    package let people: PersonService
    private let calls: [any CallRegistration]

    /// - Parameters:
    ///   - transport: Carries scheduled sign-ins; its owner shuts it down.
    ///   - origin: The origin of the public addresses.
    ///   - traces: Know some sign-ins better than the reports.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, saml: any SamlSignIn, tests: TestSignIns, reports: SignInReports,
        transport: any OutboundTransport, origin: String, traces: [any SignInTraces], delegates: Delegates
    ) {
        let (catalogue, store, clock, logger) = (environment.catalogue, environment.store, environment.clock, environment.logger)
        let (scrambler, metrics) = (environment.scrambler, environment.metrics)
        scheduled = ScheduledSignIns(
            tests: tests, store: store, catalogue: catalogue, secrets: clients.clientSecrets, transport: transport, origin: origin, clock: clock,
            logger: logger)
        self.people = PersonService(
            store: store, catalogue: catalogue, scrambler: scrambler, deciders: delegates.deciders, clock: clock, metrics: metrics, logger: logger)
        let explainer = ResponseExplainer(catalogue: catalogue, clock: clock) { saml.finding(on: $0, from: $1, now: $2) }
        var calls: [any CallRegistration] = [
            tests, scheduled, self.people, SignInReportCalls(reports: reports, traces: traces), ResponseExplanations(explainer: explainer),
            ViewerSupport(catalogue: catalogue, store: store, scrambler: scrambler, clock: clock, metrics: metrics),
        ]
        if let returns = metrics.returns { calls.append(ReturnCountCalls(counter: returns, catalogue: catalogue, clock: clock)) }
        self.calls = calls
    }

    package func register(on calls: inout some MethodRegistry) { for owner in self.calls { owner.register(on: &calls) } }
}

/// Explains responses that engineers bring.
struct ResponseExplanations: CallRegistration {
    let explainer: ResponseExplainer

    /// - Throws: As `ResponseExplainer.explain`.
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.explainResponse) { request, _ in
            try await offEventLoop { [explainer] () throws(Fault) in try explainer.explain(request) }
        }
    }
}
