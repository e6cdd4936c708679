internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults

/// Lets a device in on a trial that an upstream gives: its profile is there without a login (bridge §10.1).
struct BridgedTrials: Sendable {
    let caller: BridgeCaller
    let profiles: BridgedProfiles
    let lists: BridgedLists
    let store: any BridgeStore
    let clock: any WallClock

    /// - Throws: `invalid_request` (no trial, or it is over), `unknown_integration`; `unavailable`, `too_many_requests` as upstream says.
    /// - Parameter genericData: As it was sent; a promotional trial needs it.
    func start(_ viewer: DeviceCaller, _ device: BridgeDevice, _ way: BridgeWay, genericData: String) async throws(Fault) -> SessionRecord {
        guard let entry = way.upstream.client(requestor: way.requestor, platform: viewer.information.platform) else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        if viewer.catalogue.isListedOnly(requestor: way.requestor, mvpd: way.mvpd) {
            try await lists.requireOffered(way, to: viewer.information, at: device.address, waits: true)
        }
        let client = BridgeClientAt(way.upstream, entry, of: viewer.device)
        var device = device
        device.temporaryPassIdentity = try BridgedIdentity.temporaryPass(genericData)
        let found: [BridgedProfile]
        do throws(BridgeTrouble) {
            found = try await caller.ask(
                .profile(way.serviceProvider, mvpd: way.theirMvpd), by: client, for: device, BridgePatience(way.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer) }
        } catch {
            throw Self.fault(error, clock.now())
        }
        let now = clock.now()
        guard let profile = found.first(where: { $0.mvpd == way.theirMvpd && $0.kind == .temporary && $0.end > now }) else {
            throw Fault(.invalidRequest, "The MVPD gives no free preview.")
        }
        let holder = BridgedProfiles.Holder(
            key: SessionKey(device: viewer.device, requestor: viewer.requestor), claims: viewer.claims, clientID: viewer.client.id,
            device: viewer.information, userAgent: viewer.userAgent, record: nil, mvpd: MvpdID(way.mvpd), upstream: way.upstream,
            serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: client.name.text,
            identity: BridgedIdentity(temporaryPass: device.temporaryPassIdentity))
        let (session, part) = try profiles.session(of: profile, for: holder, now: now)
        // Without a code there is nothing that somebody else could use first.
        guard try await store.start(session, part, of: nil, now: now) else { throw Fault(.internal, "An internal fault occurred.") }
        return session
    }

    private static func fault(_ trouble: BridgeTrouble, _ now: Timestamp) -> Fault {
        guard let refusal = trouble.refusal else { return trouble.fault(now) }
        switch BridgeMeaning(refusal) {
        case .trial: return FreePreview.usedUp
        case .noTemporaryPassIdentity: return Fault(.invalidRequest, "Required 'generic_data' is not present")
        case .noIntegration: return Fault(.unknownIntegration, "The provider is not available for this channel.")
        default: return refusal.decisionFault.fault
        }
    }
}
