package import AuthenticationCore
internal import BridgeClient
internal import Catalogue
package import Clocks
package import ContractRuntime
package import CoreMetrics
internal import Logging
package import OutboundHttp

/// Upstreams, in front of which this cluster stands.
package struct UpstreamServices: CallRegistration {
    /// The upstreams' methods, which come before this cluster's own.
    package let delegates: Delegates
    /// Sign-ins through upstreams, step by step.
    package let traces: any SignInTraces
    let signIns: UpstreamSignIns
    private let logouts: UpstreamLogouts
    let gauges: UpstreamGauges
    private let routes: UpstreamRoutes
    private let catalogue: any CatalogueSource
    private let logger: Logger
    private let calls: [any CallRegistration]

    /// - Parameters:
    ///   - store: The same as the environment's.
    ///   - transport: Reaches upstreams, whose lists are long; its owner shuts it down.
    ///   - certificates: Those that upstreams are shown, by the names that records use.
    ///   - origin: This cluster's public addresses, by which it names itself to another.
    ///   - adoptUntil: Until then devices of whom nothing is known are asked about; `nil`: they are not.
    ///   - factory: Keeps the numbers of the bridge's metrics.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, store: any UpstreamStore, transport: any OutboundTransport,
        certificates: ClientCertificates = ClientCertificates(), origin: String, adoptUntil: Timestamp? = nil, reports: any SignInReporting,
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        let (catalogue, clock, random, seal) = (environment.catalogue, environment.clock, environment.random, environment.keys.seal)
        let (metrics, records) = (environment.metrics, environment.store)
        let alarms = UpstreamAlarms(clock: clock)
        let logger = alarms.watching(environment.logger)
        routes = UpstreamRoutes(certificates: certificates)
        (self.catalogue, self.logger) = (catalogue, logger)
        let line = UpstreamConnection(
            transport: transport, routes: routes, via: BridgeVia(origin: origin), clock: clock, metrics: UpstreamMetrics(factory: factory),
            logger: logger)
        let slots = UpstreamSlots(line: line, store: store, statements: clients.clientSecrets, seal: seal, clock: clock, logger: logger)
        let caller = UpstreamCaller(line: line, slots: slots)
        let journeys = UpstreamJourneys(clock: clock, reports: reports)
        let profiles = UpstreamProfiles(seal: seal, scrambler: environment.scrambler, random: random)
        logouts = UpstreamLogouts(
            caller: caller, store: store, visits: records, catalogue: catalogue, random: random, clock: clock, logger: logger)
        let lists = UpstreamLists(caller: caller, store: store, catalogue: catalogue, clock: clock, logger: logger)
        gauges = UpstreamGauges(line: line, lists: lists, store: store, catalogue: catalogue, clock: clock, logger: logger)
        let confirmations = UpstreamConfirmations(store: store, catalogue: catalogue)
        signIns = UpstreamSignIns(
            caller: caller, profiles: profiles, logouts: logouts, lists: lists, confirmations: confirmations, store: store, codes: records,
            sessions: records, catalogue: catalogue, clock: clock, random: random, seal: seal, metrics: metrics, logger: logger,
            journeys: journeys)
        let partners = UpstreamPartners(
            caller: caller, profiles: profiles, confirmations: confirmations, store: store, requests: records, clock: clock, random: random,
            seal: seal, metrics: metrics, logger: logger)
        let lookups = UpstreamLookups(
            caller: caller, profiles: profiles, confirmations: confirmations, store: store, sessions: records, adoptUntil: adoptUntil, clock: clock,
            metrics: metrics, logger: logger)
        let sessions = UpstreamSessions(
            caller: caller, signIns: signIns, lookups: lookups, partners: partners, profiles: profiles, confirmations: confirmations,
            store: store, sessions: records, catalogue: catalogue, clock: clock, logger: logger)
        let method = UpstreamMethod(signIns: signIns, sessions: sessions, logouts: logouts, journeys: journeys)
        let degraded = DegradedSessions(
            store: records, clock: clock, random: random, scrambler: environment.scrambler, metrics: metrics)
        var delegates = Delegates()
        delegates.browser = [method]
        delegates.platform = [UpstreamPlatformMethod(partners: partners, degraded: degraded, clock: clock)]
        delegates.trial = [
            UpstreamTrialMethod(
                trials: UpstreamTrials(caller: caller, profiles: profiles, lists: lists, store: store, clock: clock), metrics: metrics)
        ]
        delegates.deciders = [sessions]
        let decisions = UpstreamDecisionPoint(
            caller: caller, profiles: profiles, reader: sessions, store: store, sessions: records, catalogue: catalogue, clock: clock,
            logger: logger)
        delegates.plays = [decisions]
        delegates.offers = [lists]
        delegates.tokens = [UpstreamPlatformTokens(seal: seal)]
        delegates.resets = [UpstreamResets(caller: caller, store: store, clock: clock, logger: logger)]
        self.delegates = delegates
        traces = journeys
        calls = [
            method, lists, decisions,
            UpstreamCheckers(line: line, slots: slots, catalogue: catalogue, seal: seal, clock: clock, random: random),
            UpstreamAdministration(line: line, caller: caller, store: store, catalogue: catalogue, alarms: alarms, clock: clock),
        ]
    }

    package func register(on calls: inout some MethodRegistry) { for owner in self.calls { owner.register(on: &calls) } }

    /// Names in the log each upstream whose record says how it is reached, once the catalogue is there. Records had these settings long before they had
    /// an effect: an operator sees what an upgrade may have changed.
    package func nameConnections() async {
        while !Task.isCancelled {
            if let catalogue = try? catalogue.current() { return catalogue.configuration.upstreams.forEach { routes.name($0, logger) } }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Tells upstreams of logouts that they have not heard of, and of logins that nobody confirmed, and metrics how upstreams are; until it is
    /// cancelled.
    /// - Parameter isMine: True when it is this copy's turn.
    package func tell(isMine: @escaping @Sendable () async -> Bool) async {
        async let logouts: Void = logouts.workOff(isMine: isMine)
        async let logins: Void = signIns.resolve(isMine: isMine)
        async let numbers: Void = gauges.keep()
        _ = await (logouts, logins, numbers)
    }
}
