internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import SamlExplanation

/// Signs people in at MVPDs by SAML (mvpd §2).
struct SamlMethod: BrowserSignInMethod, CallRegistration {
    let saml: any SamlSignIn
    let store: SqlAuthenticationStore
    let random: any RandomSource
    let metrics: AuthenticationMetrics
    let handOver: HandOver
    let finisher: SamlSignInFinisher

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.completeSamlSignIn) { request, context in try await finish(request, trace: context.trace) }
    }

    func serves(_ attempt: BrowserAttempt) -> Bool { true }

    /// - Throws: `registration_code_spent`; `unimplemented` where the MVPD signs people in by another way.
    func begin(_ attempt: BrowserAttempt) async throws(Fault) -> SignInStart {
        // An MVPD that cannot answer without showing a page counts as not signed in (mvpd §2.6).
        if attempt.request.isPassive, !attempt.mvpd.passiveAuthnEnabled { return SignInStart(url: attempt.request.redirectURL) }
        let isHandedOver = await handOver.isMade(by: attempt)
        let (record, now) = (attempt.record, attempt.now)
        let provider = try SamlProvider(attempt.mvpd, in: attempt.catalogue)
        let relay = RelayHandle.random(from: random)
        let browser = isHandedOver ? nil : BrowserSecret.random(from: random)
        let request = SamlRequest(
            id: .random(from: random), relay: relay, requestor: record.requestor, provider: provider, isPassive: attempt.request.isPassive, now: now)
        let dispatch = try await offEventLoop { [saml] () throws(Fault) in try saml.request(request) }
        let pending = PendingSignIn(
            requestID: request.id, relayState: relay.digest, browserSecret: browser?.digest, record: record.id, code: record.code,
            requestor: record.requestor, mvpd: MvpdID(provider.mvpd.id), issuerSent: dispatch.issuer, redirectURL: attempt.request.redirectURL,
            startedAt: now, expiresAt: min(record.expiresAt, now + BrowserSignIns.longestPending))
        // The code may have been used or deleted since it was read.
        guard try await store.begin(pending, now: now) else { throw RegistrationCodes.spentCode }
        metrics.startedSignIns.increment()
        if !attempt.request.isPassive { metrics.sentPerson(to: pending.mvpd, at: now) }
        metrics.count(.authnAttempt, record, at: pending.mvpd)
        return SignInStart(
            url: dispatch.url, fields: dispatch.fields, browserSecret: browser?.text ?? "",
            expiresInSeconds: UInt32(clamping: (pending.expiresAt - now).components.seconds))
    }

    func finish(_ answer: CompleteSamlSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        try await finisher.finish(answer, trace: trace)
    }
}
