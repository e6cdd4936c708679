internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Logging
internal import Memos

/// Asks upstreams who is signed in on a device without a session of its own, which then takes over that login (bridge §8.1): where a platform's token
/// names a person, and after sessions were lost here, once for each device.
struct UpstreamLookups: Sendable {
    let caller: UpstreamCaller
    let profiles: UpstreamProfiles
    let confirmations: UpstreamConfirmations
    let store: any UpstreamStore
    let sessions: SqlAuthenticationStore
    /// Until then every device that has a client upstream is asked about; `nil`: none is.
    let adoptUntil: Timestamp?
    let clock: any WallClock
    let metrics: AuthenticationMetrics
    let logger: Logger
    private let memory = UpstreamMemory(Memory())

    private struct Memory: Sendable {
        /// When upstream said that nobody is.
        var nobody = BoundedCache<SessionKey, Timestamp>(capacity: 65_536)
        /// Devices without a token about whom upstream was asked, or is not to be.
        var done = BoundedCache<SessionKey, Void>(capacity: 65_536)
        var flights: [SessionKey: Task<Result<Void, Fault>, Never>] = [:]
    }

    /// - Throws: `upstream_unavailable` where upstream cannot be asked.
    func settle(_ viewer: DeviceCaller, _ device: BridgeDevice) async throws(Fault) {
        let isAdopting = !device.namesPerson && adoptUntil.map { clock.now() < $0 } ?? false
        guard device.namesPerson || isAdopting else { return }
        let key = SessionKey(device: viewer.device, requestor: viewer.requestor)
        if isAdopting, memory.withLock({ $0.done[key] != nil }) { return }
        switch SessionState.of(try await sessions.sessions(key), claims: viewer.claims, visibleIn: viewer.catalogue, now: clock.now()) {
        case .valid: return
        case .expired: if isAdopting { return }
        case .missing, .ended: break
        }
        guard let requestor = viewer.catalogue.requestor(viewer.requestor.text), let (upstream, bridge) = viewer.catalogue.upstream(of: requestor),
            let entry = upstream.client(requestor: requestor.id, platform: viewer.information.platform)
        else { return }
        let place = Place(viewer: viewer, device: device, upstream: upstream, serviceProvider: bridge.serviceProvider, entry: entry, key: key)
        if isAdopting {
            guard try await mayBeSignedIn(place) else {
                memory.withLock { $0.done[key] = () }
                return
            }
        }
        let now = clock.now()
        let flight = memory.withLock { memory -> Task<Result<Void, Fault>, Never>? in
            if !isAdopting, let asked = memory.nobody[key], now >= asked, now < asked + upstream.negative { return nil }
            if let known = memory.flights[key] { return known }
            let task = Task { [self] in await look(place) }
            memory.flights[key] = task
            return task
        }
        try await flight?.value.get()
    }

    /// Nobody can be signed in on a device for whom no client of ours is at the upstream. Others are asked about once, whichever copy they call.
    private func mayBeSignedIn(_ place: Place) async throws(Fault) -> Bool {
        let client = UpstreamClientAt(place.upstream, place.entry, of: place.viewer.device)
        guard try await store.bridgeSlot(client.name) != nil else { return false }
        return try await store.list(Self.note(of: place.key)) == nil
    }

    private static func note(of key: SessionKey) -> String { "adopted " + Hex.encode(SHA256.hash("\(key.requestor.text) \(key.device.text)")) }

    private struct Place: Sendable {
        let viewer: DeviceCaller
        let device: BridgeDevice
        let upstream: BridgeUpstream
        let serviceProvider: String
        let entry: BridgeClientEntry
        let key: SessionKey
    }

    private func look(_ place: Place) async -> Result<Void, Fault> {
        defer { memory.withLock { $0.flights[place.key] = nil } }
        do throws(Fault) {
            let isSignedIn = try await adopt(place)
            let now = clock.now()
            guard place.device.namesPerson else {
                // A device that signs out is not asked about again either.
                try await store.keep(list: [], Self.note(of: place.key), at: now)
                memory.withLock { $0.done[place.key] = () }
                return .success(())
            }
            if !isSignedIn { memory.withLock { $0.nobody[place.key] = now } }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// - Returns: False where nobody is signed in.
    private func adopt(_ place: Place) async throws(Fault) -> Bool {
        let client = UpstreamClientAt(place.upstream, place.entry, of: place.viewer.device)
        let found: [BridgedProfile]
        do throws(UpstreamError) {
            found = try await caller.ask(
                .profiles(place.serviceProvider), by: client, for: place.device, UpstreamDeadline(place.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer) }
        } catch {
            // A refusal says nothing of the person, and will not change at once.
            guard error.refusal != nil else { throw error.fault(clock.now()) }
            return false
        }
        let now = clock.now()
        let loggedOutAt = try await sessions.lastLogout(place.key, now: now)
        let usable = found.filter { profile in profile.end > now && loggedOutAt.map { profile.start > $0 } ?? true }
        for profile in usable.sorted(by: { $0.start > $1.start }) {
            let integration = BridgeCall.Integration(place.serviceProvider, profile.mvpd)
            guard let mvpd = place.viewer.catalogue.ourMvpd(requestor: place.key.requestor.text, theirs: profile.mvpd),
                !caller.line.isSuspended(integration, at: place.upstream.id)
            else { continue }
            let login = UpstreamConfirmations.Place(key: place.key, upstream: place.upstream.id, theirMvpd: profile.mvpd)
            guard try await confirmations.mayAdopt(profile, at: login, now: now) else { continue }
            let holder = UpstreamProfiles.Holder(
                key: place.key, claims: place.viewer.claims, clientID: place.viewer.client.id, device: place.viewer.information,
                userAgent: place.viewer.userAgent, record: nil, mvpd: MvpdID(mvpd), upstream: place.upstream, serviceProvider: place.serviceProvider,
                theirMvpd: profile.mvpd, slot: client.name.text)
            let (session, part) = try profiles.session(of: profile, for: holder, now: now)
            guard try await store.start(session, part, of: nil, now: now) else { return false }
            metrics.countTakenOver(part, isPartner: false)
            caller.line.metrics.signInEnded(.takenOver, part.upstream)
            logger.notice(
                "bridge.sign_in_ended",
                metadata: [
                    "result": "taken_over", "upstream": "\(part.upstream)", "requestor": "\(part.key.requestor)", "mvpd": "\(part.mvpd)",
                    "kind": "\(part.kind)",
                ])
            return true
        }
        return false
    }
}
