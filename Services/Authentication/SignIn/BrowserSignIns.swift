internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Sends a person to the login of their MVPD, or straight back when the MVPD is bypassed (rest-v1 §3.7, §6.1).
struct BrowserSignIns: CallRegistration {
    /// A person has this long to sign in, or until the registration code expires (mvpd §2.2).
    static let longestPending: Duration = .seconds(15 * 60)

    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let ends: SignInEnds
    let degraded: DegradedSessions
    /// The first that serves an attempt makes it.
    let methods: [any BrowserSignInMethod]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.startSignIn) { request, context in try await start(request, trace: context.trace) }
    }

    /// - Throws: `invalid_requestor`, `invalid_request` (a parameter is missing), `invalid_registration_code`, `unknown_integration`,
    ///   `invalid_domain`, `invalid_redirect_url`, `unimplemented` (no method serves the MVPD).
    func start(_ request: StartSignInRequest, trace: TraceContext) async throws(Fault) -> SignInStart {
        let catalogue = try catalogue.current()
        let requestor = try catalogue.requireRequestor(request.requestor)
        if request.api != .v2 { try Self.requirePresent(request) }
        let now = clock.now()
        let record = try await usableRecord(request, now)
        let request = request.api == .v2 ? try Self.planned(request, record) : request
        let platform = record.device.platform
        let (integration, mvpd) = try catalogue.requireIntegration(requestor: requestor.id, mvpd: request.mvpd, platform: platform)
        try await requireAddresses(request, requestor, record, catalogue)
        if let rule = catalogue.degradation(requestor: requestor.id, mvpd: mvpd.id, platform: platform, resource: nil, now: now) {
            let session = try await degraded.start(record, integration: integration, mvpd: mvpd, rule: rule)
            guard session != nil else { throw RegistrationCodes.spentCode }
            return SignInStart(url: request.redirectURL)
        }
        let attempt = BrowserAttempt(
            request: request, record: record, requestor: requestor, integration: integration, mvpd: mvpd, catalogue: catalogue, trace: trace,
            now: now)
        guard let method = methods.first(where: { $0.serves(attempt) }) else {
            throw Fault(.unimplemented, "The MVPD signs people in by a way that is not offered here.")
        }
        return try await method.begin(attempt)
    }

    /// With what was gathered for the code.
    /// - Throws: `invalid_request` when something is missing.
    private static func planned(_ request: StartSignInRequest, _ record: RegistrationRecord) throws(Fault) -> StartSignInRequest {
        guard record.lacks.isEmpty else { throw Fault(.invalidRequest, "The sign-in lacks its MVPD, its domain or its redirect URL.") }
        var request = request
        (request.mvpd, request.domainName, request.redirectURL) = (record.mvpd, record.domainName, record.redirectURL)
        return request
    }

    private static func requirePresent(_ request: StartSignInRequest) throws(Fault) {
        let parameters = [
            ("mso_id", request.mvpd), ("reg_code", request.registrationCode), ("domain_name", request.domainName),
            ("redirect_url", request.redirectURL),
        ]
        for (name, value) in parameters where value.isEmpty { throw Fault(.invalidRequest, "Required '\(name)' is not present") }
    }

    private func usableRecord(_ request: StartSignInRequest, _ now: Timestamp) async throws(Fault) -> RegistrationRecord {
        let record = try await store.liveRecord(RegistrationCodeText(typed: request.registrationCode), now: now)
        guard let record, record.requestor.text == request.requestor else { throw RegistrationCodes.unknownCode }
        guard record.deviceID != RegistrationCodes.placeholderDevice else { throw RegistrationCodes.spentCode }
        guard !record.isUsed else { throw RegistrationCodes.spentCode }
        return record
    }

    private func requireAddresses(
        _ request: StartSignInRequest, _ requestor: Requestor, _ record: RegistrationRecord, _ catalogue: Catalogue
    ) async throws(Fault) {
        if request.api != .v2 { try requestor.requireDomain(request.domainName) }
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: catalogue)
        try ends.require(request.redirectURL, at: requestor, of: application, in: catalogue)
    }
}

/// The rule by which an app that begins a sign-in hands it over to another agent.
struct HandOver: Sendable {
    let bearers: BearerCheck

    /// True when the code's maker itself begins the sign-in, to give it to another agent (clients §4.2). A client that many installations share is no
    /// maker here, and where a person has to confirm nothing is handed over.
    func isMade(by attempt: BrowserAttempt) async -> Bool {
        let (request, requestor) = (attempt.request, attempt.requestor)
        guard !request.accessToken.isEmpty, !requestor.confirmsSignIn else { return false }
        let credentials = Credentials(accessToken: request.accessToken, api: request.api)
        guard let client = try? await bearers.client(credentials, requestor: requestor.id) else { return false }
        return attempt.record.isMadeBy(client.id) && !client.isShared
    }
}

/// A person goes here when a sign-in is over: the app's address if it is still registered, else the channel's default (mvpd §2.4).
struct SignInDestination: Sendable {
    let store: SqlAuthenticationStore
    let ends: SignInEnds

    func address(
        _ asked: String, _ record: RegistrationRecord, _ requestor: Requestor, _ catalogue: Catalogue
    ) async throws(Fault) -> String {
        let application = try await ClientDirectory(store: store).application(of: record.clientID, in: catalogue)
        return ends.accepts(asked, at: requestor, of: application, in: catalogue) ? asked : requestor.defaultRedirectURL
    }
}
