internal import AuthenticationCore
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import SamlExplanation
internal import SamlProfile

/// Makes a session of what a platform's framework got from the MVPD (rest-v1 §3.12, mvpd §2.8).
struct PlatformExchanger: Sendable {
    let saml: any SamlSignIn
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let scrambler: UserIDScrambler
    let degraded: DegradedSessions
    let log: PlatformExchangeLog

    /// - Throws: `invalid_request` (sign-in by the platform off, or an answer that is not accepted), `unknown_integration`. Why an answer is not
    ///   accepted stands in the log.
    func exchange(
        _ request: ExchangePlatformProfileRequest, _ caller: DeviceCaller, _ platform: Platform, _ trace: TraceContext
    ) async throws(Fault) -> SessionRecord {
        var attempt = try attempt(request, caller, platform, trace)
        if let rule = attempt.rule {
            let session = try await degraded.start(caller, integration: attempt.integration, mvpd: attempt.provider.mvpd, rule: rule)
            log.degraded(attempt)
            return session
        }
        let (response, recorded) = try await recorded(request, attempt)
        let finding = try await offEventLoop { [saml, attempt] () throws(Fault) in
            saml.verdict(on: response, to: recorded, from: attempt.provider, now: attempt.now)
        }
        attempt.explanation = finding.explanation
        return try await complete(try accepted(finding, attempt), recorded, attempt)
    }

    /// The checked parameters of a call, and what the catalogue says of them.
    struct Attempt: Sendable {
        let caller: DeviceCaller
        let platform: Platform
        let settings: PlatformSettings
        let integration: Integration
        let provider: SamlProvider
        /// Bypasses the MVPD (rest-v1 §6.1).
        let rule: DegradationRule?
        let now: Timestamp
        let trace: TraceContext
        /// Set once the message was checked.
        var explanation: ResponseExplanation?

        var mvpd: MvpdID { MvpdID(provider.mvpd.id) }
    }

    private func attempt(
        _ request: ExchangePlatformProfileRequest, _ caller: DeviceCaller, _ platform: Platform, _ trace: TraceContext
    ) throws(Fault) -> Attempt {
        let now = clock.now()
        let requestor = caller.requestor.text
        let (integration, mvpd) = try caller.catalogue.requireIntegration(requestor: requestor, mvpd: request.mvpd, platform: platform)
        let settings = try PlatformSsoRules.requireOn(integration, mvpd, platform)
        let rule = caller.catalogue.degradation(requestor: requestor, mvpd: mvpd.id, platform: platform, resource: nil, now: now)
        return Attempt(
            caller: caller, platform: platform, settings: settings, integration: integration,
            provider: try PlatformSsoRules.provider(mvpd, in: caller.catalogue),
            rule: rule, now: now, trace: trace)
    }

    /// The answer, and the request of the same client that it is held against.
    private func recorded(
        _ request: ExchangePlatformProfileRequest, _ attempt: Attempt
    ) async throws(Fault) -> (UnverifiedResponse, ProfileRequestRecord) {
        let response: UnverifiedResponse
        let claimed: SamlRequestID?
        do throws(SamlRejection) {
            response = try UnverifiedResponse(encoded: request.samlResponse)
            claimed = attempt.provider.endpoint.answersAnyRequest ? nil : try saml.claimedRequest(of: response)
        } catch {
            throw log.refused(error, attempt, at: Self.check(of: error))
        }
        let (client, requestor) = (attempt.caller.client.id, attempt.caller.requestor)
        let found =
            if let claimed {
                try await store.profileRequest(claimed, now: attempt.now)
            } else {
                try await store.newestProfileRequest(
                    client: client, requestor: requestor, mvpd: attempt.mvpd, platform: attempt.platform, now: attempt.now)
            }
        guard let found, found.isOf(client, requestor, attempt.mvpd, attempt.platform) else {
            throw log.refused(Self.unknownRequest, attempt, at: .pendingRequest)
        }
        return (response, found)
    }

    private func accepted(_ finding: ResponseFinding, _ attempt: Attempt) throws(Fault) -> VerifiedAssertion {
        switch finding.verdict {
        case .accepted(let assertion):
            let missing = PlatformSsoRules.missingFields(attempt.settings, in: assertion)
            guard missing.isEmpty else { throw log.incomplete(missing, attempt) }
            return assertion
        case .rejected(let rejection): throw log.refused(rejection, attempt)
        case .status(let status) where status.consequence == .notAuthenticated: throw log.declined(["NoPassive"], attempt)
        case .status(let status): throw log.declined(status.codes, attempt)
        }
    }

    private func complete(
        _ assertion: VerifiedAssertion, _ recorded: ProfileRequestRecord, _ attempt: Attempt
    ) async throws(Fault) -> SessionRecord {
        let session = session(assertion, attempt)
        let completion = PlatformCompletion(requestID: recorded.requestID, replay: assertion.replay, session: session)
        switch try await store.complete(completion, now: attempt.now) {
        case .completed:
            log.signedIn(attempt)
            return session
        case .notPending: throw log.refused(Self.unknownRequest, attempt, at: .pendingRequest)
        case .replayed: throw log.refused(SamlRejection(.replay, "The assertion was used before."), attempt, at: .replay)
        }
    }

    /// The lifetime is ours for requestor × MVPD × platform; an end that the MVPD itself names is kept to (decision 0017).
    private func session(_ assertion: VerifiedAssertion, _ attempt: Attempt) -> SessionRecord {
        let (caller, subject) = (attempt.caller, assertion.subject)
        let lifetime =
            subject.isHomeBased
            ? Catalogue.hbaAuthnLifetime(attempt.integration, attempt.provider.mvpd)
            : Catalogue.authnLifetime(attempt.integration, attempt.provider.mvpd)
        let end = attempt.now + lifetime
        return SessionRecord(
            id: SessionID(random.uuid()), key: SessionKey(device: caller.device, requestor: caller.requestor), mvpd: attempt.mvpd, record: nil,
            claims: caller.claims, clientID: caller.client.id, userID: scrambler.scramble(subject.userID, mvpd: attempt.mvpd),
            subject: subject, createdAt: attempt.now, expiresAt: assertion.sessionNotOnOrAfter.map { min($0, end) } ?? end,
            origin: SessionOrigin(kind: .platform, authenticatedAt: attempt.now, identity: caller.identity), updatedAt: attempt.now,
            device: caller.information)
    }

    /// The check behind a message that could not be read.
    private static func check(of rejection: SamlRejection) -> Check {
        switch rejection.reason {
        case .size: .size
        case .base64: .base64
        case .root: .root
        case .unsolicited: .inResponseTo
        default: .form
        }
    }

    private static let unknownRequest = SamlRejection(.unknownState, "No verification token of this client waits for such an answer.")
}

extension PlatformSsoRules {
    /// The metadata fields that the platform must have got from the MVPD, and did not (mvpd §2.8).
    fileprivate static func missingFields(_ settings: PlatformSettings, in assertion: VerifiedAssertion) -> [String] {
        settings.requiredMetadataFields.filter {
            $0 == nameID ? assertion.nameID?.value.rawValue.isEmpty ?? true : !assertion.attributeNames.contains($0)
        }
    }
}

/// Tells how an exchange ended to the log and the metrics, and makes the one fault that apps get. Reasons only, never a value out of the
/// message.
struct PlatformExchangeLog: Sendable {
    let logger: Logger
    let metrics: AuthenticationMetrics
    let reports: any SignInReporting

    func signedIn(_ attempt: PlatformExchanger.Attempt) {
        logger.info("platform_signed_in", metadata: metadata(attempt))
        metrics.platformExchangeEnded("signed_in")
        metrics.countPlatformSignIn(attempt)
        var passed = attempt.explanation
        passed?.note(.replay, .passed)
        keep(.signedIn, "", attempt, passed)
    }

    func degraded(_ attempt: PlatformExchanger.Attempt) {
        logger.info("platform_degraded", metadata: metadata(attempt))
        metrics.platformExchangeEnded("degraded")
    }

    /// - Parameter check: The check that failed, where it is none of the message's own.
    func refused(_ rejection: SamlRejection, _ attempt: PlatformExchanger.Attempt, at check: Check? = nil) -> Fault {
        var failed = attempt.explanation
        if let check {
            if failed == nil { failed = ResponseExplanation(rejection, at: check, hint: "") }
            failed?.fail(check, rejection, hint: "")
        }
        keep(.rejected, rejection.reason.rawValue, attempt, failed)
        return refused(reason: rejection.reason.rawValue, explanation: rejection.explanation, attempt)
    }

    /// The MVPD answered properly, with a status that signs nobody in.
    func declined(_ codes: [String], _ attempt: PlatformExchanger.Attempt) -> Fault {
        keep(.declined, codes.last ?? "", attempt, attempt.explanation)
        return refused(reason: codes.last ?? "status", explanation: "The MVPD's status is \(codes.joined(separator: "/")).", attempt)
    }

    func incomplete(_ missing: [String], _ attempt: PlatformExchanger.Attempt) -> Fault {
        keep(.rejected, "attributes.missing", attempt, attempt.explanation)
        return refused(reason: "attributes.missing", explanation: "The answer lacks \(missing.joined(separator: ", ")).", attempt)
    }

    private func refused(reason: String, explanation: String, _ attempt: PlatformExchanger.Attempt) -> Fault {
        let details: Logger.Metadata = ["reason": "\(reason)", "explanation": "\(explanation)"]
        logger.warning("platform_exchange_refused", metadata: metadata(attempt).merging(details) { $1 })
        metrics.platformExchangeEnded("refused", reason: reason)
        return Fault(.invalidRequest, "The SAMLResponse is not accepted.")
    }

    private func keep(
        _ result: SignInResult, _ reason: String, _ attempt: PlatformExchanger.Attempt, _ explanation: ResponseExplanation?
    ) {
        guard let explanation else { return }
        reports.add(
            SignInRecord(
                trace: attempt.trace.traceID, endedAt: attempt.now, requestor: attempt.caller.requestor.text, mvpd: attempt.mvpd.text, result: result,
                reason: reason, explanation: explanation))
    }

    private func metadata(_ attempt: PlatformExchanger.Attempt) -> Logger.Metadata {
        ["trace_id": "\(attempt.trace.traceID)", "mvpd": "\(attempt.mvpd)", "platform": "\(attempt.caller.deviceType)"]
    }
}
