package import AuthenticationCore
internal import BridgeClient
package import ContractRuntime
package import OutboundHttp

/// Upstreams, in front of which this cluster stands.
package struct UpstreamServices: CallRegistration {
    /// The upstreams' methods, which come before this cluster's own.
    package let delegates: Delegates
    /// Sign-ins through upstreams, step by step.
    package let traces: any SignInTraces
    let signIns: BridgedSignIns
    private let logouts: BridgedLogouts
    private let calls: [any CallRegistration]

    /// - Parameters:
    ///   - store: The same as the environment's.
    ///   - transport: Reaches upstreams, whose lists are long; its owner shuts it down.
    ///   - origin: This cluster's public addresses, by which it names itself to another.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, store: any BridgeStore, transport: any OutboundTransport,
        origin: String, reports: any SignInReporting
    ) {
        let (catalogue, clock, random, seal) = (environment.catalogue, environment.clock, environment.random, environment.keys.seal)
        let (metrics, records) = (environment.metrics, environment.store)
        let alarms = BridgeAlarms(clock: clock)
        let logger = alarms.watching(environment.logger)
        let line = BridgeLine(transport: transport, via: BridgeVia(origin: origin), clock: clock, logger: logger)
        let slots = BridgeSlots(line: line, store: store, statements: clients.clientSecrets, seal: seal, clock: clock, logger: logger)
        let caller = BridgeCaller(line: line, slots: slots)
        let journeys = BridgeJourneys(clock: clock, reports: reports)
        let profiles = BridgedProfiles(seal: seal, scrambler: environment.scrambler, random: random)
        logouts = BridgedLogouts(
            caller: caller, store: store, visits: records, catalogue: catalogue, random: random, clock: clock, logger: logger)
        let lists = BridgedLists(caller: caller, store: store, catalogue: catalogue, clock: clock, logger: logger)
        let confirmations = BridgedConfirmations(store: store, catalogue: catalogue)
        signIns = BridgedSignIns(
            caller: caller, profiles: profiles, logouts: logouts, lists: lists, confirmations: confirmations, store: store, codes: records,
            sessions: records, catalogue: catalogue, clock: clock, random: random, seal: seal, metrics: metrics, logger: logger,
            journeys: journeys)
        let partners = BridgedPartners(
            caller: caller, profiles: profiles, confirmations: confirmations, store: store, requests: records, clock: clock, random: random,
            seal: seal, metrics: metrics, logger: logger)
        let lookups = BridgedLookups(
            caller: caller, profiles: profiles, confirmations: confirmations, store: store, sessions: records, clock: clock, metrics: metrics,
            logger: logger)
        let sessions = BridgedSessions(
            caller: caller, signIns: signIns, lookups: lookups, partners: partners, profiles: profiles, confirmations: confirmations,
            store: store, sessions: records, catalogue: catalogue, clock: clock, logger: logger)
        let method = UpstreamMethod(signIns: signIns, sessions: sessions, logouts: logouts, journeys: journeys)
        let degraded = DegradedSessions(
            store: records, clock: clock, random: random, scrambler: environment.scrambler, metrics: metrics)
        var delegates = Delegates()
        delegates.browser = [method]
        delegates.platform = [UpstreamPlatformMethod(partners: partners, degraded: degraded, clock: clock)]
        delegates.trial = [
            UpstreamTrialMethod(trials: BridgedTrials(caller: caller, profiles: profiles, lists: lists, store: store, clock: clock), metrics: metrics)
        ]
        delegates.deciders = [sessions]
        delegates.offers = [lists]
        delegates.resets = [BridgedResets(caller: caller, store: store, clock: clock, logger: logger)]
        self.delegates = delegates
        traces = journeys
        calls = [
            method, lists,
            BridgedDecisions(
                caller: caller, profiles: profiles, reader: sessions, store: store, sessions: records, catalogue: catalogue, clock: clock,
                logger: logger),
            UpstreamCheckers(line: line, slots: slots, catalogue: catalogue, seal: seal, clock: clock, random: random),
            UpstreamOffice(line: line, caller: caller, store: store, catalogue: catalogue, alarms: alarms, clock: clock),
        ]
    }

    package func register(on calls: inout some MethodRegistry) { for owner in self.calls { owner.register(on: &calls) } }

    /// Tells upstreams of logouts that they have not heard of, and of logins that nobody confirmed, until it is cancelled.
    /// - Parameter isMine: True when it is this copy's turn.
    package func tell(isMine: @escaping @Sendable () async -> Bool) async {
        async let logouts: Void = logouts.workOff(isMine: isMine)
        async let logins: Void = signIns.resolve(isMine: isMine)
        _ = await (logouts, logins)
    }
}
