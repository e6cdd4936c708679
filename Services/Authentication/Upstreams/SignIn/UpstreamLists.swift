internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import OutboundHttp

/// Upstreams' lists of MVPDs: nobody waits while one is at hand, and one read serves all who ask (bridge §6).
actor UpstreamLists {
    private struct Entry {
        var content: [UInt8]
        var list: BridgedList
        var listedAt: Timestamp
        /// After a read that failed, the next one begins then.
        var nextRead: Timestamp
        var alarmedAt: Timestamp?
        /// When it was told to devices last; `nil`: not yet.
        var toldAt: Timestamp?

        /// - Parameter mvpd: Upstream's name.
        func offers(_ mvpd: String) -> Bool { list.providers.contains { OctetText($0.id) == OctetText(mvpd) } }
    }

    /// After a read that failed.
    private static let pause: Duration = .seconds(10)
    /// A list that could not be read anew for so long is an alarm, once in an hour (bridge §6).
    private static let alarming: Duration = .seconds(900)
    private static let quiet: Duration = .seconds(3600)
    /// A list that nobody has asked for since is nobody's trouble.
    private static let lately: Duration = .seconds(1800)

    private let caller: UpstreamCaller
    private let store: any UpstreamStore
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    private let logger: Logger
    private var entries: [OctetText: Entry] = [:]
    private var reads: [OctetText: Task<Result<Entry, Fault>, Never>] = [:]

    init(caller: UpstreamCaller, store: any UpstreamStore, catalogue: any CatalogueSource, clock: any WallClock, logger: Logger) {
        self.caller = caller
        self.store = store
        self.catalogue = catalogue
        self.clock = clock
        self.logger = logger
    }

    /// - Throws: As the contract says.
    func providers(_ request: ListBridgedProvidersRequest) async throws(Fault) -> BridgedProviders {
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.requestor)
        guard let (upstream, bridge) = catalogue.upstream(of: requestor) else { throw Fault(.notFound, "The requestor has no upstream.") }
        let device = request.device ?? DeviceInformation()
        // Nothing is offered where no client serves.
        guard let place = Place(upstream, bridge, requestor.id, device, request.clientAddress) else { return BridgedProviders() }
        let found = try await list(place)
        return BridgedProviders(
            providers: found.list.providers.map { provider in
                BridgedProviderEntry(
                    id: provider.id, displayName: provider.displayName, logoURL: provider.logoURL, isTemporaryPass: provider.isTemporaryPass,
                    isProxy: provider.isProxy, authPerAggregator: provider.authPerAggregator, authPerBrowserSession: provider.authPerBrowserSession)
            }, listedAtMilliseconds: UInt64(clamping: found.listedAt.milliseconds))
    }

    /// True when upstream offers an MVPD that the catalogue does not name (bridge §6). One that is not in the list at hand is looked for anew where
    /// that list is not fresh any more.
    /// - Parameter waits: Where no list is at hand: whether upstream is asked, or the MVPD is taken for offered.
    /// - Throws: `unknown_integration`; `upstream_unavailable` where there is no list and none can be read.
    func requireOffered(_ way: BridgeWay, to device: DeviceInformation, at address: String, waits: Bool) async throws(Fault) {
        let unknown = Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        guard let place = Place(way.upstream, way.bridge, way.requestor, device, address) else { throw unknown }
        let key = OctetText(place.key)
        if entries[key] == nil { try await recall(place) }
        let now = clock.now()
        let known = entries[key].flatMap { now < $0.listedAt + way.upstream.listStale ? $0 : nil }
        if known == nil, !waits { return }
        if known?.offers(way.theirMvpd) == true { return }
        if let known, now < known.listedAt + way.upstream.listFresh || now < known.nextRead { throw unknown }
        let found: Entry
        do throws(Fault) {
            found = try await read(place)
        } catch {
            throw known == nil ? error : unknown
        }
        guard found.offers(way.theirMvpd) else { throw unknown }
    }

    /// Reads the list anew, as upstream has refused a login that it offers; nobody waits for it.
    func refresh(_ way: BridgeWay, for device: DeviceInformation, at address: String) {
        guard let place = Place(way.upstream, way.bridge, way.requestor, device, address), reads[OctetText(place.key)] == nil else { return }
        Task { _ = try? await read(place) }
    }

    /// The age of the oldest list of each upstream that was told to devices lately, at the moment when it was told.
    func ages(now: Timestamp) -> [OctetText: Duration] {
        var ages: [OctetText: Duration] = [:]
        for (place, entry) in entries {
            guard let told = entry.toldAt, now < told + Self.lately, let upstream = place.text.split(separator: "/").first else { continue }
            let key = OctetText(String(upstream))
            ages[key] = max(ages[key] ?? .zero, told - entry.listedAt)
        }
        return ages
    }

    private struct Place: Sendable {
        let upstream: BridgeUpstream
        let bridge: RequestorBridge
        let client: UpstreamClientAt
        let platform: String
        let device: DeviceInformation
        let address: String

        /// - Returns: `nil` where no client serves the device.
        init?(_ upstream: BridgeUpstream, _ bridge: RequestorBridge, _ requestor: String, _ device: DeviceInformation, _ address: String) {
            guard let entry = upstream.client(requestor: requestor, platform: device.platform) else { return nil }
            (self.upstream, self.bridge, client) = (upstream, bridge, UpstreamClientAt(service: upstream, entry))
            (platform, self.device, self.address) = ("\(device.platform)", device, address)
        }

        var key: String { "\(upstream.id)/\(bridge.serviceProvider)/\(platform)" }
    }

    private func list(_ place: Place) async throws(Fault) -> Entry {
        let key = OctetText(place.key)
        if entries[key] == nil { try await recall(place) }
        let now = clock.now()
        guard let known = entries[key], now < known.listedAt + place.upstream.listStale else { return try await read(place) }
        if now >= known.listedAt + place.upstream.listFresh, now >= known.nextRead, reads[key] == nil { Task { _ = try? await read(place) } }
        entries[key]?.toldAt = now
        // The read before this one failed.
        if known.nextRead > known.listedAt { caller.line.metrics.answeredStale(.list, place.upstream.id) }
        return known
    }

    /// Reads the list that was told before the last restart, or to another copy.
    private func recall(_ place: Place) async throws(Fault) {
        guard let (content, at) = try await store.list(place.key),
            let list = try? BridgedList(OutboundAnswer(status: 200, headers: [], body: content))
        else { return }
        if entries[place.key] == nil { entries[place.key] = Entry(content: content, list: list, listedAt: at, nextRead: at) }
    }

    private func read(_ place: Place) async throws(Fault) -> Entry {
        let key = OctetText(place.key)
        if let reading = reads[key] { return try await reading.value.get() }
        let reading = Task { [self] in await ask(place) }
        reads[key] = reading
        let result = await reading.value
        reads[key] = nil
        switch result {
        case .success(let entry): entries[key] = entry
        case .failure:
            let now = clock.now()
            entries[key]?.nextRead = now + Self.pause
            tellOfAge(place, now)
        }
        return try result.get()
    }

    private func tellOfAge(_ place: Place, _ now: Timestamp) {
        let key = OctetText(place.key)
        guard let known = entries[key], now >= known.listedAt + place.upstream.listFresh + Self.alarming,
            known.alarmedAt.map({ now < $0 || now >= $0 + Self.quiet }) ?? true
        else { return }
        entries[key]?.alarmedAt = now
        let minutes = (now - known.listedAt).components.seconds / 60
        logger.error(
            "bridge.list_stale",
            metadata: [
                "upstream": "\(place.upstream.id)",
                "details": "the list of \(place.bridge.serviceProvider) for \(place.platform) is \(minutes) min old, and cannot be read",
            ])
    }

    private func ask(_ place: Place) async -> Result<Entry, Fault> {
        let device = BridgeDevice(DeviceID(""), place.device, userAgent: place.device.userAgent)
        var anonymous = device
        anonymous.address = place.address
        do throws(UpstreamError) {
            let (list, content) = try await caller.ask(
                .list(place.bridge.serviceProvider), by: place.client, for: anonymous, UpstreamDeadline(place.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in (try BridgedList(answer), answer.body) }
            if !list.dropped.isEmpty {
                logger.warning(
                    "bridge.providers_dropped",
                    metadata: ["upstream": "\(place.upstream.id)", "ids": "\(list.dropped.prefix(10).joined(separator: ","))"])
            }
            let now = clock.now()
            do throws(Fault) {
                try await store.keep(list: content, place.key, at: now)
            } catch {
                logger.warning("bridge.list_not_kept", metadata: ["upstream": "\(place.upstream.id)", "reason": "\(error)"])
            }
            return .success(Entry(content: content, list: list, listedAt: now, nextRead: now))
        } catch {
            logger.warning("bridge.list_not_read", metadata: ["upstream": "\(place.upstream.id)", "reason": "\(error)"])
            return .failure(error.fault(clock.now()))
        }
    }
}

extension UpstreamLists: CallRegistration {
    nonisolated package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.listBridgedProviders) { [self] request, _ in try await providers(request) }
    }
}

extension UpstreamLists: ProviderOffers {
    nonisolated func requireOffered(
        _ mvpd: String, at requestor: String, in catalogue: Catalogue, to device: DeviceInformation, address: String, waits: Bool
    ) async throws(Fault) {
        guard catalogue.isListedOnly(requestor: requestor, mvpd: mvpd), let way = catalogue.bridgeWay(requestor: requestor, mvpd: mvpd) else {
            return
        }
        try await requireOffered(way, to: device, at: address, waits: waits)
    }
}

/// Keeps a confirmed sign-in with the browser in which a person confirmed it, where upstream has the login (bridge §7.2 to §7.4).
///
/// Upstream tells of a device that it is signed in, and not by whom, nor in which browser. The browser that returns to our own page is the one
/// witness. If its cookie does not show the confirmation, its person may only have been sent a link. So what began since such a login, and was not
/// brought back, is nobody's.
struct UpstreamConfirmations: Sendable {
    /// Upstream's clock may be so much behind ours before that is noticed (bridge §5.2).
    private static let tolerance: Duration = .seconds(30)

    let store: any UpstreamStore
    let catalogue: any CatalogueSource

    /// Where a login is: of which device, at which MVPD of which upstream.
    struct Place: Sendable {
        let key: SessionKey
        let upstream: String
        let theirMvpd: String
    }

    /// True when the requestor has sign-ins confirmed, and can have it: only where browsers return to us.
    func isAsked(for requestor: String) throws(Fault) -> Bool {
        guard let requestor = try catalogue.current().requestor(requestor) else { return false }
        return requestor.confirmsSignIn && !requestor.cannotConfirm
    }

    /// The logins that the profile may have come of, and which nobody brought back in the browser that confirmed them.
    /// - Returns: None where a session may be made of it. A trial and a degradation rule are nobody's login.
    func doubts(_ profile: BridgedProfile, at place: Place) async throws(Fault) -> [UpstreamPending] {
        guard profile.kind != .temporary, profile.kind != .degraded, try isAsked(for: place.key.requestor.text) else { return [] }
        return try await store.boundPendings(place.key, upstream: place.upstream, mvpd: place.theirMvpd)
            .filter { Self.mayComeOf($0, profile) }
    }

    /// True when a session may be made of a profile that came without a login in a browser.
    func mayAdopt(_ profile: BridgedProfile, at place: Place, now: Timestamp) async throws(Fault) -> Bool {
        guard try await doubts(profile, at: place).isEmpty else { return false }
        return try await !isLoggingOut(place, now: now)
    }

    /// True when upstream has yet to hear of a logout there: of a profile that is nobody's, or of a person.
    func isLoggingOut(_ place: Place, now: Timestamp) async throws(Fault) -> Bool {
        guard try isAsked(for: place.key.requestor.text) else { return false }
        return try await !store.openLogouts(of: place.key, upstream: place.upstream, mvpd: place.theirMvpd, now: now).isEmpty
    }

    /// Has upstream forget a profile that is nobody's; the logins that it may have come of are done then.
    func dismiss(_ part: UpstreamPart, of pendings: [UpstreamPending], now: Timestamp) async throws(Fault) {
        try await store.remember(logoutOf: part, of: pendings.map(\.handle), now: now)
    }

    static func mayComeOf(_ pending: UpstreamPending, _ profile: BridgedProfile) -> Bool { profile.start > pending.startedAt - tolerance }
}

extension UpstreamPending {
    var place: UpstreamConfirmations.Place { UpstreamConfirmations.Place(key: key, upstream: upstream, theirMvpd: theirMvpd) }
}
