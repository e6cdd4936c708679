internal import SandboxKit
internal import Clocks

/// Reads profiles (rest-v2 §2.6 to §2.8).
struct ProfileEndpoint: Sendable {
    /// For so long others than the creator of a code may ask about its login.
    private static let othersTime = Duration.seconds(600)

    let memory: VendorMemory

    func all(_ call: VendorCall) throws -> VendorAnswer {
        let body: ProfilesBody = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            let status = PartnerStatus(header: call.header("ap-partner-framework-status"))
            var body = ProfilesBody()
            for mvpd in state.catalogue.offered(by: caller.serviceProvider.id) {
                body.profiles[mvpd.id] = state.profile(caller, mvpd, status, at: call.now)
            }
            return body
        }
        return try .json(body, outcome: body.outcome)
    }

    func one(_ call: VendorCall) throws -> VendorAnswer {
        let body: ProfilesBody = try memory.access { state in
            let caller = try DeviceCaller(call, state)
            let (mvpd, integration) = try caller.integration(call.parameter("mvpd"), state)
            if let terms = mvpd.tempPass {
                let identity = try TempPassIdentity(call, terms)
                return ProfilesBody(profiles: [
                    mvpd.id: try state.temporaryProfile(caller.device, identity, mvpd, terms, of: caller.serviceProvider.id, at: call.now)
                ])
            }
            let status = PartnerStatus(header: call.header("ap-partner-framework-status"))
            let profile =
                state.profile(caller, mvpd, status, at: call.now)
                ?? state.degradedProfile(caller.device, integration.mvpd, of: caller.serviceProvider.id, at: call.now)
            return ProfilesBody(profiles: profile.map { [mvpd.id: $0] } ?? [:])
        }
        return try .json(body, outcome: body.outcome)
    }

    func byCode(_ call: VendorCall) throws -> VendorAnswer {
        let body: ProfilesBody = try memory.access { state in
            let caller = try VendorCaller(call, state)
            let session = try state.sessions.session(call.parameter("code"), of: caller.serviceProvider.id, at: call.now)
            guard let mvpd = session.mvpd else { return ProfilesBody() }
            guard let finishedAt = session.finishedAt else {
                let degraded = state.degradedProfile(session.device, mvpd, of: session.serviceProvider, at: call.now)
                return ProfilesBody(profiles: degraded.map { [mvpd: $0] } ?? [:])
            }
            let isCreator = session.client == caller.client.id
            if !isCreator, call.now - finishedAt > Self.othersTime { throw VendorRefusal(.invalidSession) }
            let owner = ProfileOwner(client: session.client, device: session.device, serviceProvider: session.serviceProvider)
            guard let profile = state.profiles.remembered(owner, mvpd), call.now >= profile.visibleFrom,
                state.catalogue.integration(session.serviceProvider, mvpd)?.isEnabled == true
            else { return ProfilesBody() }
            guard profile.isValid(at: call.now) else { throw VendorRefusal(.invalidSession) }
            return ProfilesBody(profiles: [mvpd: ProfileBody(profile, onlyUserID: !isCreator, state.behaviour)])
        }
        return try .json(body, outcome: body.outcome)
    }
}

extension ProfilesBody {
    /// The types of the profiles, for the log.
    fileprivate var outcome: String {
        profiles.isEmpty ? "empty" : profiles.sorted { $0.key < $1.key }.map(\.value.type.rawValue).joined(separator: ",")
    }
}

extension VendorState {
    /// The profile of a basic login, Apple's platform or an SSO header; the first one found (rest-v2 §2.6, D13).
    func profile(
        _ caller: DeviceCaller, _ mvpd: VendorCatalogue.Mvpd, _ status: PartnerStatus, at now: Timestamp
    ) -> ProfileBody? {
        let owner = ProfileOwner(client: caller.client, device: caller.device, serviceProvider: caller.serviceProvider.id)
        if let own = profiles.own(owner, mvpd.id, at: now) { return ProfileBody(own, behaviour) }
        if let partners = profiles.partners(owner, mvpd.id, at: now), status.fault(for: mvpd, catalogue, at: now) == nil {
            return ProfileBody(partners, behaviour)
        }
        if let (identity, shared) = profiles.shared(caller.identities, mvpd: mvpd.id, at: now) {
            return ProfileBody(shared, as: identity.profileType, behaviour)
        }
        return nil
    }

    /// For everybody while AuthNAll holds (rest-v2 §4, D18).
    func degradedProfile(_ device: DeviceIdentifier, _ mvpd: String, of serviceProvider: String, at now: Timestamp) -> ProfileBody? {
        guard let rule = rule(.authNAll, serviceProvider, mvpd, resource: nil, at: now) else { return nil }
        return ProfileBody(
            .degraded, from: now, to: min(rule.end ?? now + .seconds(60), now + .seconds(60)),
            ["userID": .text("95cf93bcd183214a" + device.hash)])
    }
}
