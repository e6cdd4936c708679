package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import Identifiers

/// Hands out, shows and withdraws registration codes (rest-v1 §3.4-3.6).
package struct RegistrationCodes: Sendable {
    /// Seconds that a code lives when the app does not say, and at most.
    package static let defaultLifetime: UInt32 = 1800
    static let longestLifetime: UInt32 = 36_000
    /// Stands for "this device has no id"; only good for getting one (rest-v1 §2.5).
    package static let placeholderDevice = DeviceID("dummy")
    /// A fresh code is taken about once in ten thousand draws even with a million live codes; more failures are no accident.
    private static let draws = 8

    package let bearers: BearerCheck
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let userIDs: UserIDScrambler
    package let metrics: AuthenticationMetrics
    /// The MVPDs that are offered beside the catalogue.
    package let offers: [any ProviderOffers]
    /// Those that need the platform's tokens of a code.
    package var tokens: [any PlatformTokenKeeper] = []
    package var limits = CodeLimits(perClient: 100_000, perDevice: 100)

    /// - Throws: Beside faults of the call: `too_many_requests` when client or device has too many codes.
    package func create(_ request: CreateRegistrationCodeRequest) async throws(Fault) -> RegistrationCode {
        let caller = try await bearers.device(request.call, allowsPlaceholder: true)
        let lifetime = try Self.lifetime(request.ttlSeconds)
        try Self.requireShort(request.registrationURL, "registrationURL")
        if !request.mvpd.isEmpty {
            let (requestor, catalogue) = (caller.requestor.text, caller.catalogue)
            _ = try catalogue.requireIntegration(requestor: requestor, mvpd: request.mvpd)
            for offer in offers {
                try await offer.requireOffered(
                    request.mvpd, at: requestor, in: catalogue, to: caller.information, address: request.call?.clientAddress ?? "", waits: false)
            }
        }
        let call = request.call ?? DeviceCall()
        let record = try await make(caller, lifetime: lifetime) { record throws(Fault) in
            record.mvpd = request.mvpd
            record.registrationURL = request.registrationURL
            for keeper in tokens where record.platformTokens.isEmpty {
                record.platformTokens = try keeper.sealed(call, for: record.id, of: record.requestor, in: caller.catalogue)
            }
        }.record
        return record.contract(in: caller.catalogue, application: caller.client.application, device: .plain)
    }

    /// - Throws: `invalid_registration_code` for an unknown, expired or deleted code, or another requestor's; `registration_code_spent`.
    func show(_ request: RegistrationCodeRequest) async throws(Fault) -> RegistrationCode {
        let catalogue = try catalogue.current()
        let client = try await optionalClient(request)
        // The gateway's own activation page asks without a requestor: the person has typed nothing but the code.
        if !request.requestor.isEmpty { _ = try catalogue.requireRequestor(request.requestor) }
        let now = clock.now()
        let record = try await record(request, now)
        try record.requireTold(.record, to: client?.id, now: now)
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: catalogue)
        return record.contract(in: catalogue, application: application, device: shown(of: record, to: client))
    }

    /// An unused code by any client of its requestor (rest-v1 §3.6), a used one by its maker (clients §1.14).
    /// - Throws: `invalid_registration_code` when there is nothing to remove; `registration_code_spent`.
    package func remove(_ request: RegistrationCodeRequest) async throws(Fault) {
        let client = try await bearers.client(request.credentials, requestor: request.requestor)
        let requestor = RequestorID(try client.catalogue.requireRequestor(request.requestor).id)
        let now = clock.now()
        try await record(request, now).requireTold(.record, to: client.id, now: now)
        let removed = try await store.remove(RegistrationCodeText(typed: request.code), requestor: requestor, now: now)
        guard removed else { throw Self.unknownCode }
    }

    /// The code's record, also for a while after its end.
    private func record(_ request: RegistrationCodeRequest, _ now: Timestamp) async throws(Fault) -> RegistrationRecord {
        let record = try await store.liveRecord(RegistrationCodeText(typed: request.code), now: now - RegistrationRecord.remembrance)
        guard let record, request.requestor.isEmpty || record.requestor.text == request.requestor else { throw Self.unknownCode }
        return record
    }

    /// The device's id opens its sessions: its maker alone learns it, and no client that many installations share is one (clients §2).
    private func shown(of record: RegistrationRecord, to client: AuthenticatedClient?) -> RegistrationRecord.ShownDevice {
        guard let client, client.covers(record.requestor) else { return .hidden }
        return record.isMadeBy(client.id) && !client.isShared ? .plain : .hashed(userIDs.hidden(record.deviceID, requestor: record.requestor))
    }

    package static let unknownCode = Fault(.invalidRegistrationCode, "The registration code is not known or has expired.")
    package static let spentCode = Fault(.registrationCodeSpent, "The registration code is not known or has expired.")

    private func optionalClient(_ request: RegistrationCodeRequest) async throws(Fault) -> AuthenticatedClient? {
        guard request.api == .v2 || !request.credentials.isEmpty else { return nil }
        return try await bearers.client(request.credentials, requestor: request.requestor)
    }

    /// A new code.
    package struct Made: Sendable {
        package let record: RegistrationRecord
        /// The plan that it took the place of would have ended at this time.
        package let replacedEnd: Timestamp?
    }

    /// A code for the calling device.
    /// - Parameters:
    ///   - isPlan: True: it ends the one before of the same client's device.
    ///   - fill: Puts in what else is known.
    /// - Throws: `too_many_requests` when client or device has too many codes; `overloaded`; faults of `fill`.
    package func make(
        _ caller: DeviceCaller, lifetime: Duration = .seconds(Int64(defaultLifetime)), isPlan: Bool = false,
        _ fill: (inout RegistrationRecord) throws(Fault) -> Void
    ) async throws(Fault) -> Made {
        let now = clock.now()
        let key = SessionKey(device: caller.device, requestor: caller.requestor)
        let replacedEnd = try limits.enter(
            client: caller.client.isShared ? nil : caller.client.id, device: caller.device == Self.placeholderDevice ? nil : key,
            plan: isPlan ? CodeLimits.PlanOwner(client: caller.client.id, key: key) : nil, endingAt: now + lifetime, now: now)
        for _ in 0..<Self.draws {
            var record = draw(caller, lifetime: lifetime)
            record.isPlan = isPlan
            try fill(&record)
            guard try await store.claim(record, now: record.generatedAt) else { continue }
            metrics.createdCodes.increment()
            return Made(record: record, replacedEnd: replacedEnd)
        }
        throw Fault(.overloaded, "No registration code is free.", retryAfter: .seconds(1))
    }

    private func draw(_ caller: DeviceCaller, lifetime: Duration) -> RegistrationRecord {
        let now = clock.now()
        return RegistrationRecord(
            id: RegistrationRecordID(random.uuid(madeAt: now)), code: .random(from: random), requestor: caller.requestor, mvpd: "",
            generatedAt: now, expiresAt: now + lifetime, deviceID: caller.device, device: caller.information, userAgent: caller.userAgent,
            deviceType: caller.deviceType, claims: caller.claims, registrationURL: "", clientID: caller.client.id,
            identity: caller.identity, serviceIdentity: caller.serviceIdentity)
    }

    private static func lifetime(_ seconds: UInt32) throws(Fault) -> Duration {
        guard seconds <= longestLifetime else { throw Fault(.invalidRequest, "The ttl is larger than \(longestLifetime) seconds.") }
        return .seconds(Int64(seconds == 0 ? defaultLifetime : seconds))
    }

    private static func requireShort(_ text: String, _ name: String) throws(Fault) {
        guard text.utf8.count <= RedirectAddress.longest else { throw Fault(.invalidRequest, "The value of '\(name)' is too long.") }
    }
}

extension RegistrationCodes: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.createRegistrationCode) { request, _ in try await create(request) }
        calls.unary(AuthenticationMethods.getRegistrationCode) { request, _ in try await show(request) }
        calls.unary(AuthenticationMethods.deleteRegistrationCode) { request, _ in
            try await remove(request)
            return DeleteRegistrationCodeResponse()
        }
    }
}
