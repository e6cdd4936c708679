internal import Catalogue
internal import Clocks
internal import Cryptography
internal import Faults
internal import Logging
internal import SamlExplanation
internal import Tokens

extension AuthenticationService {
    /// Who calls: clients, their tokens and signatures, and the codes and ids that they get.
    struct Callers: Sendable {
        let secrets: KeptSecrets
        let clientSecrets: any ClientSecrets
        let bearers: BearerCheck
        let registration: ClientRegistration
        let tokenIssue: AccessTokenIssue
        let revocation: ClientRevocation
        let codes: RegistrationCodes
        let devices: DeviceIdentities
        let serviceTokens: ServiceTokenDesk

        init(_ parts: Parts, _ metrics: AuthenticationMetrics) {
            let (catalogue, store, clock, random) = (parts.catalogue, parts.store, parts.clock, parts.random)
            secrets = KeptSecrets(folder: parts.oauth.secretFolder, store: store, seals: parts.oauth.secretSeals, clock: clock)
            clientSecrets = parts.oauth.secrets ?? secrets
            let recent = RecentSecrets(clientSecrets, clock: clock)
            let serviceTokenCheck = ServiceTokenCheck(keys: parts.serviceTokenKeys, store: store, clock: clock)
            bearers = BearerCheck(
                tokens: parts.verifier, catalogue: catalogue, store: store, clock: clock, metrics: metrics,
                signatures: SignedRequestCheck(secrets: recent, nonces: UsedNonces(store: store), clock: clock, logger: parts.logger),
                serviceTokens: serviceTokenCheck, platforms: PlatformIdentities(clock: clock, secrets: clientSecrets, logger: parts.logger))
            serviceTokens = ServiceTokenDesk(
                bearers: bearers, check: serviceTokenCheck, issuer: ServiceTokenSigner(keys: parts.serviceTokenKeys), store: store,
                scrambler: parts.scrambler, clock: clock, random: random)
            registration = ClientRegistration(catalogue: catalogue, store: store, clock: clock, random: random, metrics: metrics)
            tokenIssue = AccessTokenIssue(
                tokens: parts.issuer, catalogue: catalogue, store: store, clock: clock, secrets: recent, metrics: metrics)
            revocation = ClientRevocation(bearers: bearers, store: store, metrics: metrics)
            codes = RegistrationCodes(
                bearers: bearers, catalogue: catalogue, store: store, clock: clock, random: random, userIDs: parts.scrambler, metrics: metrics,
                limits: parts.codeLimits)
            devices = DeviceIdentities(
                bearers: bearers, seals: parts.storedTokens.seals, userIDs: parts.scrambler, limit: FingerprintLimit(), random: random, clock: clock)
        }
    }

    /// Upstreams, in front of which this cluster stands.
    struct Bridge: Sendable {
        let signIns: BridgedSignIns
        let sessions: BridgedSessions
        let decisions: BridgedDecisions
        let logouts: BridgedLogouts
        let lists: BridgedLists
        let trials: BridgedTrials
        let resets: BridgedResets
        let partners: BridgedPartners
        let profiles: BridgedProfiles
        let journeys: BridgeJourneys
        let checkers: UpstreamCheckers
        let office: UpstreamOffice
        let store: any BridgeStore

        init(_ own: BridgeParts, _ parts: Parts, _ callers: Callers, _ metrics: AuthenticationMetrics) {
            let (catalogue, clock, seal) = (parts.catalogue, parts.clock, parts.oauth.keys.seal)
            let alarms = BridgeAlarms(clock: clock)
            let logger = alarms.watching(parts.logger)
            store = own.store
            let line = BridgeLine(transport: own.transport, via: own.via, clock: clock, logger: logger)
            let slots = BridgeSlots(line: line, store: store, statements: callers.clientSecrets, seal: seal, clock: clock, logger: logger)
            let caller = BridgeCaller(line: line, slots: slots)
            journeys = BridgeJourneys(clock: clock)
            checkers = UpstreamCheckers(line: line, slots: slots, catalogue: catalogue, seal: seal, clock: clock, random: parts.random)
            office = UpstreamOffice(line: line, caller: caller, store: store, catalogue: catalogue, alarms: alarms, clock: clock)
            profiles = BridgedProfiles(seal: seal, scrambler: parts.scrambler, random: parts.random)
            logouts = BridgedLogouts(
                caller: caller, store: store, visits: parts.store, catalogue: catalogue, random: parts.random, clock: clock, logger: logger)
            lists = BridgedLists(caller: caller, store: store, catalogue: catalogue, clock: clock, logger: logger)
            let confirmations = BridgedConfirmations(store: store, catalogue: catalogue)
            signIns = BridgedSignIns(
                caller: caller, profiles: profiles, logouts: logouts, lists: lists, confirmations: confirmations, store: store, codes: parts.store,
                sessions: parts.store,
                catalogue: catalogue, clock: clock, random: parts.random, seal: seal, metrics: metrics, logger: logger, journeys: journeys)
            partners = BridgedPartners(
                caller: caller, profiles: profiles, confirmations: confirmations, store: store, requests: parts.store, clock: clock,
                random: parts.random, seal: seal,
                metrics: metrics, logger: logger)
            let lookups = BridgedLookups(
                caller: caller, profiles: profiles, confirmations: confirmations, store: store, sessions: parts.store, clock: clock,
                metrics: metrics, logger: logger)
            sessions = BridgedSessions(
                caller: caller, signIns: signIns, lookups: lookups, partners: partners, profiles: profiles, confirmations: confirmations,
                store: store, sessions: parts.store,
                catalogue: catalogue, clock: clock, logger: logger)
            decisions = BridgedDecisions(
                caller: caller, profiles: profiles, reader: sessions, store: store, sessions: parts.store, catalogue: catalogue, clock: clock,
                logger: logger)
            trials = BridgedTrials(caller: caller, profiles: profiles, lists: lists, store: store, clock: clock)
            resets = BridgedResets(caller: caller, store: store, clock: clock, logger: logger)
        }
    }

    /// Sessions that are there: how they are found, told, kept by apps, refreshed and ended.
    struct SessionParts: Sendable {
        let lookup: SessionLookup
        let stored: StoredSessions
        let storedTokenKeys: SigningKeys
        let logouts: SingleLogout
        let metadata: UserMetadataAnswer
        let identification: CallerIdentification
        let automatic: AutomaticSessions
        let provider: ProviderClient
        let upstreamTokens: UpstreamTokens
        let profiles: ProfileLookup
        let plans: SignInPlans
        let profileLogout: ProfileLogout
        let support: ViewerSupport
        let people: PersonDesk

        init(_ parts: Parts, _ callers: Callers, _ bridge: Bridge?, _ metrics: AuthenticationMetrics) {
            let (catalogue, store, clock, random, logger) = (parts.catalogue, parts.store, parts.clock, parts.random, parts.logger)
            let bearers = callers.bearers
            storedTokenKeys = parts.storedTokens.keys
            stored = StoredSessions(
                bearers: bearers, catalogue: catalogue, store: store, clock: clock, issuer: StoredTokenIssuer(keys: storedTokenKeys),
                verifier: StoredTokenVerifier(.authentication, keys: storedTokenKeys), seals: parts.storedTokens.seals,
                userIDs: parts.scrambler, metrics: metrics, logger: logger)
            lookup = SessionLookup(
                bearers: bearers, catalogue: catalogue, store: store, clock: clock, metrics: metrics, stored: stored, bridge: bridge?.sessions)
            logouts = SingleLogout(
                bearers: bearers, saml: parts.logout, catalogue: catalogue, store: store, clock: clock, random: random,
                visitAddress: parts.logoutVisitAddress, returnAddress: parts.logoutReturnAddress, seal: parts.oauth.keys.seal, metrics: metrics,
                log: LogoutLog(logger: logger, metrics: metrics), bridge: bridge?.logouts)
            metadata = UserMetadataAnswer(
                bearers: bearers, sessions: lookup,
                trials: TrialPlays(catalogue: catalogue, store: store, clock: clock, random: random, metrics: metrics), store: store, clock: clock,
                logger: logger, bridge: bridge?.sessions)
            profiles = ProfileLookup(
                bearers: bearers, sessions: lookup, store: store, metadata: metadata, scrambler: parts.scrambler, clock: clock)
            plans = SignInPlans(
                bearers: bearers, codes: callers.codes, sessions: lookup, profiles: profiles, store: store, clock: clock, random: random,
                ends: SignInEnds(activationOrigins: parts.activationOrigins))
            profileLogout = ProfileLogout(
                bearers: bearers, logouts: logouts, store: store, sessions: lookup, clock: clock, metrics: metrics,
                ends: SignInEnds(activationOrigins: parts.activationOrigins))
            support = ViewerSupport(catalogue: catalogue, store: store, scrambler: parts.scrambler, clock: clock, metrics: metrics)
            people = PersonDesk(
                store: parts.people, catalogue: catalogue, scrambler: parts.scrambler,
                profiles: BridgedProfiles(seal: parts.oauth.keys.seal, scrambler: parts.scrambler, random: random), clock: clock, metrics: metrics,
                logger: logger)
            identification = CallerIdentification(bearers: bearers, sessions: lookup)
            automatic = AutomaticSessions(
                bearers: bearers, catalogue: catalogue, store: store, seal: parts.oauth.keys.seal, metadata: metadata, clock: clock,
                random: random, metrics: metrics)
            provider = ProviderClient(
                transport: parts.oauth.transport, gate: ProviderGate(), secrets: callers.clientSecrets, metrics: metrics, logger: logger)
            upstreamTokens = UpstreamTokens(
                client: provider, catalogue: catalogue, store: store, seal: parts.oauth.keys.seal, clock: clock, metrics: metrics, logger: logger)
        }
    }

    /// TempPass.
    struct Trials: Sendable {
        let previews: FreePreviews
        let plays: TrialPlays
        let resets: TempPassReset

        init(_ parts: Parts, _ callers: Callers, _ bridge: Bridge?, _ metrics: AuthenticationMetrics) {
            let (catalogue, store, clock, random) = (parts.catalogue, parts.store, parts.clock, parts.random)
            previews = FreePreviews(
                bearers: callers.bearers, store: store, clock: clock, random: random, scrambler: parts.scrambler, metrics: metrics,
                bridge: bridge?.trials)
            plays = TrialPlays(catalogue: catalogue, store: store, clock: clock, random: random, metrics: metrics)
            resets = TempPassReset(bearers: callers.bearers, catalogue: catalogue, store: store, metrics: metrics, bridge: bridge?.resets)
        }
    }

    /// Ways to a session: at an MVPD by SAML or OAuth, or through a platform; and what became of attempts.
    struct SignIns: Sendable {
        let starter: SignInStarter
        let samlFinisher: SamlSignInFinisher
        let oauthFinisher: OAuthSignInFinisher
        let keySets: ProviderKeySets
        let profileRequests: ProfileRequests
        let exchanger: PlatformExchanger
        let partners: PartnerSignIns
        let reports: SignInReports
        let explainer: ResponseExplainer
        let signedMetadata: SignedMetadata
        let tests: TestSignIns
        let scheduled: ScheduledSignIns

        init(
            _ parts: Parts, _ callers: Callers, _ trials: Trials, _ sessions: SessionParts, _ bridge: Bridge?, _ metrics: AuthenticationMetrics
        ) {
            let (catalogue, store, clock, random, logger) = (parts.catalogue, parts.store, parts.clock, parts.random, parts.logger)
            let (bearers, scrambler) = (callers.bearers, parts.scrambler)
            let ends = SignInEnds(activationOrigins: parts.activationOrigins)
            reports = SignInReports(store: store)
            let degraded = DegradedSessions(store: store, clock: clock, random: random, scrambler: scrambler, metrics: metrics)
            let oauth = OAuthSignInStarter(
                store: store, random: random, proofs: parts.oauth.keys.proofs, sharedCallback: parts.oauth.sharedCallback, metrics: metrics)
            starter = SignInStarter(
                saml: parts.saml, oauth: oauth, catalogue: catalogue, store: store, clock: clock, random: random, ends: ends,
                degraded: degraded, previews: trials.previews, bearers: bearers, metrics: metrics, bridge: bridge?.signIns)
            tests = Self.tests(parts, callers, metrics, reports)
            scheduled = ScheduledSignIns(
                tests: tests, store: store, catalogue: catalogue, secrets: callers.clientSecrets,
                transport: parts.testTransport ?? parts.oauth.transport,
                origin: parts.origin, clock: clock, logger: logger)
            samlFinisher = SamlSignInFinisher(
                saml: parts.saml, catalogue: catalogue, store: store, clock: clock, random: random, scrambler: scrambler,
                ends: ends, metrics: metrics, logger: logger, reports: reports, tests: tests)
            keySets = ProviderKeySets(client: sessions.provider, clock: clock)
            let check = OAuthAnswerCheck(
                client: sessions.provider, identification: OAuthIdentification(client: sessions.provider, keySets: keySets),
                proofs: parts.oauth.keys.proofs, sharedCallback: parts.oauth.sharedCallback, sharedRule: parts.oauth.sharedRule,
                announcements: ProviderAnnouncements(client: sessions.provider, store: store, clock: clock))
            oauthFinisher = OAuthSignInFinisher(
                starter: oauth, check: check, tests: tests, seal: parts.oauth.keys.seal, destination: SignInDestination(store: store, ends: ends),
                catalogue: catalogue,
                store: store, clock: clock, random: random, scrambler: scrambler, metrics: metrics, logger: logger, reports: reports)
            profileRequests = ProfileRequests(
                bearers: bearers, saml: parts.saml, store: store, clock: clock, random: random, metrics: metrics, bridge: bridge?.partners)
            exchanger = PlatformExchanger(
                bearers: bearers, saml: parts.saml, store: store, clock: clock, random: random, scrambler: scrambler, degraded: degraded,
                log: PlatformExchangeLog(logger: logger, metrics: metrics, reports: reports), bridge: bridge?.partners)
            partners = PartnerSignIns(
                bearers: bearers, plans: sessions.plans, profiles: sessions.profiles, requests: profileRequests, exchanger: exchanger, clock: clock)
            explainer = ResponseExplainer(catalogue: catalogue, clock: clock) { [saml = parts.saml] in saml.finding(on: $0, from: $1, now: $2) }
            signedMetadata = SignedMetadata(saml: parts.saml, clock: clock)
        }

        /// With a gate of their own: a draft's provider that hangs takes no place of a viewer's.
        private static func tests(_ parts: Parts, _ callers: Callers, _ metrics: AuthenticationMetrics, _ reports: SignInReports) -> TestSignIns {
            let client = ProviderClient(
                transport: parts.oauth.transport, gate: ProviderGate(), secrets: callers.clientSecrets, metrics: metrics, logger: parts.logger)
            let check = OAuthAnswerCheck(
                client: client, identification: OAuthIdentification(client: client, keySets: ProviderKeySets(client: client, clock: parts.clock)),
                proofs: parts.oauth.keys.proofs, sharedCallback: parts.oauth.sharedCallback, sharedRule: parts.oauth.sharedRule,
                announcements: ProviderAnnouncements(client: client, store: nil, clock: parts.clock))
            return TestSignIns(
                saml: parts.saml, oauth: check, store: parts.store, clock: parts.clock, random: parts.random, logger: parts.logger, reports: reports,
                clockDoubt: parts.clockDoubt)
        }
    }
}
