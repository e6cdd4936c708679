internal import AuthenticationCore
internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Sign-in by a platform's login, in the words of REST v1 (rest-v1 §3.12, §3.13).
struct PlatformSignIns: CallRegistration {
    let bearers: BearerCheck
    /// The first that serves an attempt makes it.
    let methods: [any PlatformSignInMethod]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.createProfileRequest) { request, _ in try await create(request) }
        calls.unary(AuthenticationMethods.exchangePlatformProfile) { request, context in
            let (record, catalogue) = try await exchange(request, trace: context.trace)
            return record.contract(in: catalogue)
        }
    }

    /// What the app hands to the platform's framework.
    /// - Throws: As `BearerCheck.client`; `invalid_request` (device type, sign-in by the platform off, not `SUPPORTED`, the MVPD is bypassed
    ///   by a rule), `unknown_integration`.
    func create(_ request: CreateProfileRequestRequest) async throws(Fault) -> ProfileRequest {
        let client = try await bearers.client(request.accessToken, requestor: request.requestor)
        guard !client.isShared else { throw Fault(.insufficientScope, "The call needs a client of the device's own.") }
        _ = try client.catalogue.requireRequestor(request.requestor)
        let attempt = try Self.attempt(
            client, RequestorID(request.requestor), mvpd: request.mvpd, try PlatformSsoRules.platform(deviceType: request.deviceType))
        return try await method(for: attempt).begin(attempt)
    }

    /// Makes a session of what the framework got.
    /// - Throws: As `BearerCheck.device`; `invalid_request` (a parameter, sign-in by the platform off, or an answer that is not accepted),
    ///   `unknown_integration`. Why an answer is not accepted stands in the log.
    func exchange(
        _ request: ExchangePlatformProfileRequest, trace: TraceContext
    ) async throws(Fault) -> (record: SessionRecord, catalogue: Catalogue) {
        let caller = try await bearers.device(request.call, allowsShared: false, mayRequireInformation: false)
        for (name, value) in [("mvpd", request.mvpd), ("SAMLResponse", request.samlResponse)] where value.isEmpty {
            throw Fault(.invalidRequest, "Required '\(name)' is not present")
        }
        let platform = try PlatformSsoRules.platform(deviceType: caller.deviceType)
        let attempt = try Self.attempt(caller.client, caller.requestor, mvpd: request.mvpd, platform)
        let answer = PlatformAnswer(request: request, caller: caller, platform: platform)
        return (try await method(for: attempt).finish(answer, trace: trace), caller.catalogue)
    }

    private static func attempt(
        _ client: AuthenticatedClient, _ requestor: RequestorID, mvpd: String, _ platform: Platform
    ) throws(Fault) -> PlatformAttempt {
        let (integration, mvpd) = try client.catalogue.requireIntegration(requestor: requestor.text, mvpd: mvpd, platform: platform)
        return PlatformAttempt(client: client, requestor: requestor, integration: integration, mvpd: mvpd, platform: platform)
    }

    private func method(for attempt: PlatformAttempt) throws(Fault) -> any PlatformSignInMethod {
        guard let method = methods.first(where: { $0.serves(attempt) }) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by this platform here.")
        }
        return method
    }
}

/// A platform's framework that signs people in at the MVPD itself, by SAML.
struct PlatformSamlMethod: PlatformSignInMethod {
    let requests: ProfileRequests
    let exchanger: PlatformExchanger

    func serves(_ attempt: PlatformAttempt) -> Bool { true }

    func begin(_ attempt: PlatformAttempt) async throws(Fault) -> ProfileRequest {
        try await requests.create(attempt.client, attempt.requestor, (attempt.integration, attempt.mvpd), attempt.platform).request
    }

    func finish(_ answer: PlatformAnswer, trace: TraceContext) async throws(Fault) -> SessionRecord {
        try await exchanger.exchange(answer.request, answer.caller, answer.platform, trace)
    }
}
