internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Tokens

/// Issues service tokens, and keeps the devices of their people (rest-v2 §2.14).
struct ServiceTokenController: Sendable {
    /// The limit of a programmer's name for a person, in octets.
    static let longestName = 512
    static let mostUnlinked = 1000
    /// A fresh code is taken once in ten draws even with a hundred thousand live codes of a programmer; more failures are no accident.
    private static let draws = 16

    let bearers: BearerCheck
    let check: ServiceTokenCheck
    let issuer: ServiceTokenSigner
    let store: SqlAuthenticationStore
    let scrambler: UserIDScrambler
    let clock: any WallClock
    let random: any RandomSource

    // MARK: Tokens

    /// - Throws: As `IssueServiceToken`.
    func issue(_ request: IssueServiceTokenRequest) async throws(Fault) -> ServiceToken {
        let caller = try await bearers.device(request.call)
        guard request.person.isEmpty != request.link.isEmpty else {
            throw Fault(.invalidRequest, "A service token is for a person, or for a link code.")
        }
        let now = clock.now()
        let tie = ServiceTokenTie(
            programmer: caller.programmer, device: caller.device, information: caller.information, now: now, expiresAt: Self.end(of: now),
            newTie: ServiceTieID(random.uuid()))
        guard !request.person.isEmpty else {
            guard ServiceLinkCode.isCode(request.link), let device = try await store.tie(tie, by: request.link) else { throw Self.unknownLink }
            return try await token(of: device, now)
        }
        guard caller.client.application.ssoIssuer else { throw Fault(.insufficientScope, "The application may not say who a person is.") }
        guard request.person.utf8.count <= Self.longestName else { throw Fault(.invalidRequest, "The person's name is too long.") }
        let name = Array(caller.programmer.text.utf8) + [0] + Array(request.person.utf8)
        let person = ServicePersonName(digest: SHA256.hash(name), newID: ServicePersonID(random.uuid()))
        return try await token(of: try await store.tie(tie, to: person), now)
    }

    /// - Throws: As `RefreshServiceToken`.
    func refresh(_ request: RefreshServiceTokenRequest) async throws(Fault) -> ServiceToken {
        let credentials = Credentials(accessToken: request.accessToken, api: request.api)
        let client = try await bearers.client(credentials, requestor: request.requestor)
        _ = try client.catalogue.requireRequestor(request.requestor)
        let device = try await check.device(of: request.serviceToken, for: client, remembrance: ServiceTokens.remembrance)
        let now = clock.now()
        let isTied = try await store.renew(
            device.tie, at: now, until: Self.end(of: now), personUntil: now + ServiceTokenTie.personLifetime)
        guard isTied else { throw Fault(.serviceTokenInvalid, "The service token is not accepted.") }
        return try await token(of: device, now)
    }

    private func token(of device: ServiceTokenDevice, _ now: Timestamp) async throws(Fault) -> ServiceToken {
        let start = Timestamp(seconds: now.seconds)
        let claims = ServiceTokenClaims(
            issuer: ServiceTokens.issuer, subject: device.person.text, tie: device.tie.text, issuedAt: start,
            expiresAt: start + ServiceTokens.lifetime)
        let token = try await offEventLoop { [issuer] () throws(Fault) in try issuer.issue(claims) }
        return ServiceToken(
            token: token, issuedAtMilliseconds: UInt64(clamping: claims.issuedAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: claims.expiresAt.milliseconds))
    }

    /// The end of a tie whose token is made now.
    private static func end(of now: Timestamp) -> Timestamp { now + ServiceTokens.lifetime + ServiceTokens.remembrance }

    static let unknownLink = Fault(.invalidRegistrationCode, "The link code is not known, was used, or is over.")

    // MARK: Devices

    /// - Throws: As `CreateServiceLink`.
    func link(_ request: ServiceTokenCall) async throws(Fault) -> ServiceLink {
        let (_, device) = try await identified(request.call)
        let now = clock.now()
        for _ in 0..<Self.draws {
            let link = ServiceLinkCode(
                code: ServiceLinkCode.random(from: random), person: device.person, programmer: device.programmer,
                expiresAt: now + ServiceLinkCode.lifetime)
            guard try await store.add(link, now: now) else { continue }
            return ServiceLink(
                code: link.code, createdAtMilliseconds: UInt64(clamping: now.milliseconds),
                expiresAtMilliseconds: UInt64(clamping: link.expiresAt.milliseconds))
        }
        throw Fault(.overloaded, "No link code is free.", retryAfter: .seconds(1))
    }

    /// - Throws: As `UnlinkServiceDevices`.
    func unlink(_ request: UnlinkServiceDevicesRequest) async throws(Fault) -> UnlinkedServiceDevices {
        let (caller, own) = try await identified(request.call)
        guard request.devices.count <= Self.mostUnlinked else { throw Fault(.invalidRequest, "More than \(Self.mostUnlinked) devices.") }
        var known: [OctetText: ServiceTokenDevice] = [:]
        for device in try await store.serviceDevices(of: own.person, now: clock.now()) {
            known[device.device.text] = device
            known[scrambler.hidden(device.device, requestor: caller.requestor)] = device
        }
        let found = request.devices.filter { known[$0] != nil }
        try await store.untie(Array(Set(found.compactMap { known[$0] })), of: ServiceIdentity(of: own))
        return UnlinkedServiceDevices(devices: found)
    }

    /// - Throws: As `ListServiceDevices`.
    func list(_ request: ServiceTokenCall) async throws(Fault) -> ServiceDevices {
        let (caller, own) = try await identified(request.call)
        let now = clock.now()
        let devices = try await store.serviceDevices(of: own.person, now: now)
        let logins = Set(try await store.sessions(of: ServiceIdentity(of: own), now: now).filter(\.isLogin).map(\.key.device))
        return ServiceDevices(
            devices: devices.map { device in
                let isTold = device.device == caller.device || caller.client.application.ssoIssuer
                return ServiceDevice(
                    id: isTold ? device.device.text : scrambler.hidden(device.device, requestor: caller.requestor), device: device.information,
                    seenAtMilliseconds: UInt64(clamping: device.seenAt.milliseconds), hasLogin: logins.contains(device.device))
            })
    }

    /// - Throws: The faults of `BearerCheck.device`; `service_token_invalid`, `service_token_expired`.
    private func identified(_ call: DeviceCall?) async throws(Fault) -> (caller: DeviceCaller, device: ServiceTokenDevice) {
        let caller = try await bearers.device(call)
        return (caller, try await check.device(of: call?.serviceToken ?? "", for: caller.client))
    }
}

extension DeviceCaller {
    fileprivate var programmer: ProgrammerID { ProgrammerID(client.application.programmerID) }
}

extension ServiceTokenController: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.issueServiceToken) { request, _ in try await issue(request) }
        calls.unary(AuthenticationMethods.refreshServiceToken) { request, _ in try await refresh(request) }
        calls.unary(AuthenticationMethods.createServiceLink) { request, _ in try await link(request) }
        calls.unary(AuthenticationMethods.unlinkServiceDevices) { request, _ in try await unlink(request) }
        calls.unary(AuthenticationMethods.listServiceDevices) { request, _ in try await list(request) }
    }
}
