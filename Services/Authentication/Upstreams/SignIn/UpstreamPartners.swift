internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Logging
internal import Memos

/// Sign-in by a platform's own framework at an upstream (bridge §11). Apps of REST v1 do not pass on the framework's answer. Where
/// `synthesizePartnerStatus` allows it, we state it in their place. Their flow only comes here when the framework has permission and a provider.
struct UpstreamPartners: Sendable {
    /// The one platform that has such a framework.
    private static let partner = "Apple"
    /// A client's device counts for so long. Lists beside it are kept for a week. So it is written with an age that makes it go in time.
    private static let noteLife: Duration = .seconds(86_400)
    private static let listLife: Duration = .seconds(604_800)
    private static let noteRenewal: Duration = .seconds(3600)
    private static let statusLife: Duration = .seconds(3600)

    let caller: UpstreamCaller
    let profiles: UpstreamProfiles
    let confirmations: UpstreamConfirmations
    let store: any UpstreamStore
    let requests: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let seal: TokenSeal
    let metrics: AuthenticationMetrics
    let logger: Logger
    private let noted = UpstreamMemory(BoundedCache<ClientID, (device: DeviceID, at: Timestamp)>(capacity: 16_384))

    // MARK: Which device a client is on

    /// Remembers the device of a client: the call for a request names none (rest-v1 §3.13).
    func note(_ call: DeviceCall, of caller: DeviceCaller) async throws(Fault) {
        let platform = caller.information.platform
        guard platform == .ios || platform == .tvos,
            caller.catalogue.requestor(caller.requestor.text).flatMap(caller.catalogue.upstream(of:))?
                .upstream.synthesizesPartnerStatus == true
        else { return }
        let (now, client) = (clock.now(), caller.client.id)
        let known = noted.withLock { $0[client] }
        if let known, known.device == caller.device, now >= known.at, now < known.at + Self.noteRenewal { return }
        var content: [UInt8] = []
        let place = Self.place(client)
        let earlier = try await note(place, client, now)
        // Where a client has two devices, nobody can say which one asks.
        if earlier == nil || earlier?.deviceID == caller.device.text { content = try sealed(call, client) }
        try await store.keep(list: content, place, at: now - (Self.listLife - Self.noteLife))
        noted.withLock { $0[client] = (caller.device, now) }
    }

    private static func place(_ client: ClientID) -> String { "device " + Hex.encode(SHA256.hash(client.text)) }

    private static func owner(_ client: ClientID) -> SessionID { SessionID("bridge device of \(client.text)") }

    private func sealed(_ call: DeviceCall, _ client: ClientID) throws(Fault) -> [UInt8] {
        let kept = DeviceCall(
            deviceID: call.deviceID, device: call.device, clientAddress: call.clientAddress, userAgent: call.userAgent, clientPort: call.clientPort)
        let octets: [UInt8]
        do { octets = try kept.serialized() } catch { throw Fault.unexpected(error) }
        return try seal.close(ProviderSecret(Base64.standard.encode(octets)), of: Self.owner(client))
    }

    /// - Returns: `nil` for a client of which nothing is known; without an id where it has several devices.
    private func note(_ place: String, _ client: ClientID, _ now: Timestamp) async throws(Fault) -> DeviceCall? {
        guard let (content, at) = try await store.list(place), now < at + Self.listLife else { return nil }
        guard !content.isEmpty else { return DeviceCall() }
        let text = seal.open(content, of: Self.owner(client), as: ProviderSecret.self)?.text
        guard let text, let octets = Base64.standard.decode(text), let call = try? DeviceCall(serialized: octets) else { return nil }
        return call
    }

    // MARK: The two calls

    /// The request that the app hands to the framework.
    /// - Throws: `invalid_request` where the person has to sign in in the usual way; `upstream_unavailable`, `too_many_requests`.
    func request(
        _ client: AuthenticatedClient, _ requestor: Requestor, _ way: BridgeWay, _ settings: PlatformSettings
    ) async throws(Fault) -> ProfileRequest {
        let now = clock.now()
        guard let call = try await note(Self.place(client.id), client.id, now), !call.deviceID.isEmpty else {
            throw Fault(.invalidRequest, "The device of the client is not known.")
        }
        var device = BridgeDevice(call)
        device.partnerStatus = UpstreamIdentity.partnerStatus(settings.platformMappingID, until: now + Self.statusLife)
        let slot = try self.slot(way, settings.platform, DeviceID(call.deviceID))
        let end = UpstreamLogouts.address(after: nil, requestor)
        let asked = BridgeCall.partnerRequest(
            way.serviceProvider, partner: Self.partner, domainName: way.theirDomain(requestor.domains.first?.name ?? ""), redirectURL: end)
        let answer: BridgedSignIn
        do throws(UpstreamError) {
            answer = try await caller.ask(asked, by: slot, for: device, UpstreamDeadline(way.upstream.totalTimeout)) { answer throws(BridgeFailure) in
                try BridgedSignIn(answer)
            }
        } catch {
            throw fault(error, way)
        }
        switch answer {
        case .partner(let request, _):
            let record = ProfileRequestRecord(
                requestID: .random(from: random), clientID: client.id, requestor: RequestorID(requestor.id), mvpd: MvpdID(way.mvpd),
                platform: settings.platform, issuerSent: "", createdAt: now, expiresAt: now + ProfileRequestRecord.lifetime)
            try await requests.add(record)
            metrics.profileRequests.increment()
            return ProfileRequest(verificationToken: request, expiresAtMilliseconds: UInt64(clamping: record.expiresAt.milliseconds))
        case .done:
            // The person is signed in already: the app learns it when it asks next.
            try await adopt(client, requestor, way, settings, call, device, slot)
            throw Self.elsewhere
        case .browser, .incomplete:
            throw Self.elsewhere
        }
    }

    private func adopt(
        _ client: AuthenticatedClient, _ requestor: Requestor, _ way: BridgeWay, _ settings: PlatformSettings, _ call: DeviceCall,
        _ device: BridgeDevice, _ slot: UpstreamClientAt
    ) async throws(Fault) {
        let found = try? await caller.ask(
            .profile(way.serviceProvider, mvpd: way.theirMvpd), by: slot, for: device, UpstreamDeadline(way.upstream.totalTimeout)
        ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer) }
        let now = clock.now()
        guard let profile = found?.first(where: { $0.mvpd == way.theirMvpd && $0.end > now }) else { return }
        let key = SessionKey(device: DeviceID(call.deviceID), requestor: RequestorID(requestor.id))
        let place = UpstreamConfirmations.Place(key: key, upstream: way.upstream.id, theirMvpd: way.theirMvpd)
        guard try await confirmations.mayAdopt(profile, at: place, now: now) else { return }
        let holder = UpstreamProfiles.Holder(
            key: SessionKey(device: DeviceID(call.deviceID), requestor: RequestorID(requestor.id)), claims: DeviceClaims(), clientID: client.id,
            device: call.device ?? DeviceInformation(), userAgent: call.userAgent, record: nil, mvpd: MvpdID(way.mvpd), upstream: way.upstream,
            serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: slot.name.text,
            identity: UpstreamIdentity(partner: settings.platformMappingID))
        let (session, part) = try profiles.session(of: profile, for: holder, now: now)
        if try await store.start(session, part, of: nil, now: now) { caller.line.metrics.signInEnded(.takenOver, part.upstream) }
    }

    /// Makes a session of what the framework got.
    /// - Throws: `invalid_request` for an answer that nobody asked for, or that upstream does not accept; `upstream_unavailable`,
    ///   `too_many_requests`.
    func exchange(
        _ samlResponse: String, _ viewer: DeviceCaller, _ device: BridgeDevice, _ way: BridgeWay, _ settings: PlatformSettings
    ) async throws(Fault) -> SessionRecord {
        let now = clock.now()
        let asked = try await requests.newestProfileRequest(
            client: viewer.client.id, requestor: viewer.requestor, mvpd: MvpdID(way.mvpd), platform: settings.platform, now: now)
        guard let asked else { throw Self.notAccepted }
        var device = device
        device.partnerStatus = UpstreamIdentity.partnerStatus(settings.platformMappingID, until: now + Self.statusLife)
        let slot = try self.slot(way, settings.platform, viewer.device)
        let found: [BridgedProfile]
        do throws(UpstreamError) {
            found = try await caller.ask(
                .partnerProfile(way.serviceProvider, partner: Self.partner, samlResponse: samlResponse), by: slot, for: device,
                UpstreamDeadline(way.upstream.totalTimeout)
            ) { answer throws(BridgeFailure) in try BridgedProfile.all(answer, created: true) }
        } catch {
            throw fault(error, way)
        }
        guard let profile = found.first(where: { $0.mvpd == way.theirMvpd && $0.end > now }), try await store.take(asked.requestID, now: now) else {
            throw Self.notAccepted
        }
        let holder = UpstreamProfiles.Holder(
            key: SessionKey(device: viewer.device, requestor: viewer.requestor), claims: viewer.claims, clientID: viewer.client.id,
            device: viewer.information, userAgent: viewer.userAgent, record: nil, mvpd: MvpdID(way.mvpd), upstream: way.upstream,
            serviceProvider: way.serviceProvider, theirMvpd: way.theirMvpd, slot: slot.name.text,
            identity: UpstreamIdentity(partner: settings.platformMappingID))
        let (session, part) = try profiles.session(of: profile, for: holder, now: now)
        guard try await store.start(session, part, of: nil, now: now) else { throw Self.notAccepted }
        logger.notice(
            "bridge.sign_in_ended",
            metadata: [
                "result": "signed_in", "upstream": "\(part.upstream)", "requestor": "\(part.key.requestor)", "mvpd": "\(part.mvpd)",
                "kind": "\(part.kind)",
            ])
        caller.line.metrics.signInEnded(.takenOver, part.upstream)
        metrics.platformExchangeEnded("signed_in")
        metrics.countTakenOver(part, isPartner: true)
        return session
    }

    private func slot(_ way: BridgeWay, _ platform: Platform, _ device: DeviceID) throws(Fault) -> UpstreamClientAt {
        guard way.upstream.synthesizesPartnerStatus, let entry = way.upstream.client(requestor: way.requestor, platform: platform) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by this platform here.")
        }
        return UpstreamClientAt(way.upstream, entry, of: device)
    }

    private static let elsewhere = Fault(.invalidRequest, "The platform signs nobody in at the MVPD now.")
    private static let notAccepted = Fault(.invalidRequest, "The SAMLResponse is not accepted.")

    private func fault(_ trouble: UpstreamError, _ way: BridgeWay) -> Fault {
        guard let refusal = trouble.refusal else { return trouble.fault(clock.now()) }
        switch BridgeMeaning(refusal) {
        case .badPartnerCall, .session, .decision: return Self.notAccepted
        case .noIntegration: return Fault(.unknownIntegration, "The provider is not available for this channel.")
        default:
            logger.error(
                "bridge.bad_request", metadata: ["upstream": "\(way.upstream.id)", "code": "\(refusal.code)", "trace": "\(refusal.trace)"])
            return Fault(.internal, "The upstream service refused the call.")
        }
    }
}
