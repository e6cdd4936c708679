package import AuthenticationCore
package import Catalogue
package import Clocks
package import ContractRuntime
package import Contracts
package import Faults
package import Identifiers
package import Logging
internal import SamlExplanation
package import SamlProfile

/// Takes an MVPD's answer and makes a session of it, or not (mvpd §2.3, §2.4, §2.6).
package struct SamlSignInFinisher: Sendable {
    package let saml: any SamlSignIn
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let scrambler: UserIDScrambler
    let ends: SignInEnds
    package let metrics: AuthenticationMetrics
    package let logger: Logger
    package let reports: any SignInReporting
    package let tests: any TestAnswers

    /// A message that fails a check is an outcome, not a fault.
    /// - Throws: Faults of the storage and of a missing catalogue only; the answer may then be sent again.
    package func finish(_ request: CompleteSamlSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        let catalogue = try catalogue.current()
        let now = clock.now()
        var log = SignInLog(logger: logger, metrics: metrics, trace: trace, reports: reports, now: now)
        let response: UnverifiedResponse
        do throws(SamlRejection) {
            response = try UnverifiedResponse(encoded: request.samlResponse)
        } catch {
            // The engineer is told whose sign-in it was; the message is refused whatever the store says.
            let known = try? await store.pending(RelayHandle(request.relayState).digest, now: now)
            log.requestor = known?.requestor
            return log.rejected(error, mvpd: known?.mvpd, at: error.reason == .size ? .size : .base64, hint: Self.encodingHint(error))
        }
        let pending: PendingSignIn
        switch try await resolve(request, catalogue, now) {
        case .pending(let found): pending = found
        case .unknown(let hint, let known):
            log.requestor = known?.requestor
            return log.rejected(Self.unknownState, mvpd: known?.mvpd, at: .pendingRequest, hint: hint)
        case .nobody:
            if let tested = try await tests.finish(request, response, trace: trace) { return tested }
            return log.rejected(Self.unknownState, at: .pendingRequest, hint: Self.foreignHint)
        }
        log.requestor = pending.requestor
        guard let parties = SignInParties(pending, catalogue) else {
            let hint = "The integration was switched off, or the MVPD's endpoint changed, while the person signed in."
            return log.rejected(Self.unknownState, mvpd: pending.mvpd, at: .pendingRequest, hint: hint)
        }
        let finding = try await offEventLoop { [saml] () throws(Fault) in
            saml.verdict(on: response, to: pending.recorded, from: parties.provider, now: now)
        }
        log.explanation = finding.explanation
        let answer = Answer(pending: pending, parties: parties, catalogue: catalogue, now: now, log: log)
        return try await obey(finding, answer)
    }

    /// The sign-in that a verdict is applied to.
    private struct Answer {
        let pending: PendingSignIn
        let parties: SignInParties
        let catalogue: Catalogue
        let now: Timestamp
        var log: SignInLog
    }

    package static let unknownState = SamlRejection(.unknownState, "RelayState and cookie do not lead to a pending sign-in.")
    package static let otherBrowserHint = "The answer came from another browser than the one that started this sign-in."
    private static let foreignHint = "RelayState is not one of ours, was answered before, or the person took more than 15 minutes."

    private static func encodingHint(_ rejection: SamlRejection) -> String {
        rejection.reason == .size
            ? "The MVPD must send less: fewer attributes, or fewer values of one."
            : "The MVPD posts the field SAMLResponse: base64 of the XML (RFC 4648 §4), with or without line breaks, form-encoded once."
    }

    package static let replayHint = "Each login needs an assertion with an ID of its own."
    package static let answeredHint = "The request was answered before, by another post of the same browser."
    private static let codeGoneHint = "The registration code was deleted, used or expired while the person signed in."

    private enum Resolution {
        case pending(PendingSignIn)
        /// The message, and the sign-in that has the RelayState.
        case unknown(String, PendingSignIn?)
        /// No viewer's sign-in has the RelayState.
        case nobody
    }

    /// Step 4: RelayState and cookie lead to exactly one pending request.
    private func resolve(
        _ request: CompleteSamlSignInRequest, _ catalogue: Catalogue, _ now: Timestamp
    ) async throws(Fault) -> Resolution {
        guard request.relayStatePresent, !request.relayState.isEmpty else {
            return .unknown("The MVPD has to return RelayState exactly as it was sent; there was none.", nil)
        }
        guard let pending = try await store.pending(RelayHandle(request.relayState).digest, now: now) else { return .nobody }
        guard pending.way == .saml else { return .unknown(Self.foreignHint, pending) }
        guard pending.browserSecret != nil else {
            return pending.accepts("", isEmbedded: request.isEmbedded, allowsMissing: false)
                ? .pending(pending) : .unknown("A frame brought the answer of a sign-in that an app handed over.", pending)
        }
        if request.browserSecret.isEmpty {
            let isAllowed = SignInParties(pending, catalogue)?.provider.endpoint.allowMissingCookie == true
            return isAllowed
                ? .pending(pending)
                : .unknown(
                    "The browser sent no sign-in cookie: it blocks cookies, or another one than that which started the sign-in posted the answer. "
                        + "For embedded browsers see saml.allowMissingCookie of the MVPD.", pending)
        }
        return pending.accepts(request.browserSecret, isEmbedded: request.isEmbedded, allowsMissing: false)
            ? .pending(pending) : .unknown(Self.otherBrowserHint, pending)
    }

    private func obey(_ finding: ResponseFinding, _ answer: Answer) async throws(Fault) -> SignInOutcome {
        let record = try await store.liveRecord(answer.pending.code, now: answer.now)
        var answer = answer
        answer.log.personReturned(answer.pending, record)
        let (log, mvpd) = (answer.log, answer.pending.mvpd)
        switch finding.verdict {
        case .status(let status) where status.consequence == .misconfigured: return log.misconfigured(status.codes, mvpd: mvpd)
        case .rejected(let rejection): return log.rejected(rejection, mvpd: mvpd)
        case .accepted, .status: break
        }
        guard let record, record.id == answer.pending.record else {
            return log.rejected(Self.unknownState, mvpd: mvpd, at: .pendingRequest, hint: Self.codeGoneHint)
        }
        // Found before anything changes: a failure then leaves the answer good for another attempt.
        let redirect = try await redirect(answer, record)
        if case .accepted(let assertion) = finding.verdict { return try await complete(assertion, record, answer, redirect: redirect) }
        guard try await store.abandon(answer.pending.requestID) else {
            return log.rejected(Self.unknownState, mvpd: mvpd, at: .pendingRequest, hint: Self.answeredHint)
        }
        guard case .status(let status) = finding.verdict, status.consequence == .declined else {
            return log.silent(mvpd: mvpd, redirect: redirect)
        }
        return log.declined(status.codes, mvpd: mvpd, redirect: redirect)
    }

    private func complete(
        _ assertion: VerifiedAssertion, _ record: RegistrationRecord, _ answer: Answer, redirect: String
    ) async throws(Fault) -> SignInOutcome {
        let (pending, log) = (answer.pending, answer.log)
        let completion = SignInCompletion(
            requestID: pending.requestID, record: record.id, replay: assertion.replay, session: session(assertion, record, answer))
        switch try await store.complete(completion, now: answer.now) {
        case .completed: return log.signedIn(mvpd: pending.mvpd, redirect: redirect)
        case .notPending: return log.rejected(Self.unknownState, mvpd: pending.mvpd, at: .pendingRequest, hint: Self.answeredHint)
        case .codeGone: return log.rejected(Self.unknownState, mvpd: pending.mvpd, at: .pendingRequest, hint: Self.codeGoneHint)
        case .replayed:
            let rejection = SamlRejection(.replay, "The assertion was used before.")
            return log.rejected(rejection, mvpd: pending.mvpd, at: .replay, hint: Self.replayHint)
        }
    }

    private func session(_ assertion: VerifiedAssertion, _ record: RegistrationRecord, _ answer: Answer) -> SessionRecord {
        let subject = assertion.subject
        let scope = PlatformScope(record.device.platform)
        let (integration, mvpd) = Catalogue.resolved(answer.parties.integration, answer.parties.provider.mvpd, scope: scope)
        let end = SessionLifetime.end(
            integration, mvpd, isHomeBased: subject.isHomeBased, limit: assertion.sessionNotOnOrAfter, now: answer.now)
        return SessionRecord(
            id: SessionID(random.uuid()), key: SessionKey(device: record.deviceID, requestor: record.requestor), mvpd: MvpdID(mvpd.id),
            record: record.id, claims: record.claims, clientID: record.clientID,
            userID: scrambler.scramble(subject.userID, mvpd: MvpdID(mvpd.id)), subject: subject, createdAt: answer.now, expiresAt: end,
            origin: SessionOrigin(kind: .regular, authenticatedAt: answer.now, identity: record.identity, serviceIdentity: record.serviceIdentity),
            updatedAt: answer.now, device: record.device)
    }

    /// Returns where the person goes: the app's address if it is still registered, else the channel's default (mvpd §2.4).
    private func redirect(_ answer: Answer, _ record: RegistrationRecord) async throws(Fault) -> String {
        try await SignInDestination(store: store, ends: ends)
            .address(answer.pending.redirectURL, record, answer.parties.requestor, answer.catalogue)
    }
}

/// Requestor, integration and MVPD of a pending sign-in, as far as they still belong together.
struct SignInParties: Sendable {
    let requestor: Requestor
    let integration: Integration
    let provider: SamlProvider

    /// - Returns: `nil` when the integration was switched off, or the MVPD changed its ways, during the sign-in.
    init?(_ pending: PendingSignIn, _ catalogue: Catalogue) {
        guard let requestor = catalogue.requestor(pending.requestor.text),
            let (integration, mvpd) = try? catalogue.requireIntegration(requestor: requestor.id, mvpd: pending.mvpd.text),
            let provider = try? SamlProvider(mvpd, in: catalogue)
        else { return nil }
        self.requestor = requestor
        self.integration = integration
        self.provider = provider
    }
}
