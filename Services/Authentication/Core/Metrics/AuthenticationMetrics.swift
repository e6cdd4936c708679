package import Clocks
package import Contracts
package import CoreMetrics
internal import Memos
package import UsageCounting

/// The service's metrics. Labels are bounded: results and reason codes, never an id.
package struct AuthenticationMetrics: Sendable {
    /// For reports of usage.
    package var usage = UsageCounter()
    /// The dimensions of the sign-in at hand, once they are known.
    package var signIn: UsageDimensions?
    /// By MVPD.
    package var mvpds: MvpdCounter?
    /// For operators: from where people come back; `nil`: nobody is counted, as of tests.
    package var returns: MvpdReturnCounter?
    /// `nil`: the database's clock is the measure.
    package var clock: ClockDoubt?

    let registeredClients = Counter(label: "boxoffice_authentication_registered_clients_total")
    let issuedTokens = Counter(label: "boxoffice_authentication_access_tokens_issued_total")
    let knownTokens = Counter(label: "boxoffice_authentication_access_token_checks_total", dimensions: [("source", "cache")])
    let checkedTokens = Counter(label: "boxoffice_authentication_access_token_checks_total", dimensions: [("source", "signature")])
    let createdCodes = Counter(label: "boxoffice_authentication_registration_codes_total")
    package let startedSignIns = Counter(label: "boxoffice_authentication_sign_ins_started_total")
    package let freePreviews = Counter(label: "boxoffice_authentication_free_previews_total")
    package let resetTrials = Counter(label: "boxoffice_authentication_trials_reset_total")
    let revokedClients = Counter(label: "boxoffice_authentication_clients_revoked_total")
    let degradedSessions = Counter(label: "boxoffice_authentication_degraded_sessions_total")
    package let profileRequests = Counter(label: "boxoffice_authentication_profile_requests_total")
    let sharedSessions = Counter(label: "boxoffice_authentication_shared_sessions_total")
    package let endedSessions = Counter(label: "boxoffice_authentication_sessions_ended_total")

    package let storedTokens = Counter(label: "boxoffice_authentication_stored_tokens_issued_total")
    /// Another house's, or changed ones.
    let foreignTokens = Counter(label: "boxoffice_authentication_foreign_tokens_total")

    package let startedSessions = automaticSessions("started")
    /// The device has what it needs.
    package let keptSessions = automaticSessions("kept")
    /// No login serves.
    package let refusedSessions = automaticSessions("refused")

    private static func automaticSessions(_ result: String) -> Counter {
        Counter(label: "boxoffice_authentication_automatic_sessions_total", dimensions: [("result", result)])
    }

    package let startedLogouts = Counter(label: "boxoffice_authentication_mvpd_logouts_started_total")

    /// - Parameters:
    ///   - result: `complete`, `partial`, `failed`, `rejected`, or `by_mvpd` for one that an MVPD asked for.
    ///   - reason: A reason code of mvpd §2.3, a status, or empty.
    package func logoutEnded(_ result: String, reason: String = "") {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_mvpd_logouts_ended_total", dimensions: labels).increment()
    }

    package let invalidatedSessions = Counter(
        label: "boxoffice_authentication_upstream_sessions_invalidated_total", dimensions: [("reason", "norefreshtoken")])

    /// The MVPD changes refresh tokens on use, as many do (clients §4.20).
    package func rotatedRefreshTokens(_ mvpd: MvpdID) {
        Counter(label: "boxoffice_authentication_refresh_tokens_rotated_total", dimensions: [("mvpd", mvpd.text)]).increment()
    }

    /// - Parameters:
    ///   - endpoint: `token`, `profile` or `jwks`.
    ///   - result: `answered`, `timeout`, `unreachable`, `unusable` or `cancelled`.
    package func providerCall(_ endpoint: String, _ result: String) {
        let labels = [("endpoint", endpoint), ("result", result)]
        Counter(label: "boxoffice_authentication_provider_calls_total", dimensions: labels).increment()
    }

    private let trialPlays = Memo<String, Counter>(capacity: 16)

    package init(
        usage: UsageCounter = UsageCounter(), signIn: UsageDimensions? = nil, mvpds: MvpdCounter? = nil, returns: MvpdReturnCounter? = nil,
        clock: ClockDoubt? = nil
    ) {
        (self.usage, self.signIn, self.mvpds, self.returns, self.clock) = (usage, signIn, mvpds, returns, clock)
    }

    /// A person is sent to an MVPD. A silent attempt is no person's, and is not told here.
    package func sentPerson(to mvpd: MvpdID, at now: Timestamp) {
        mvpds?.count(.begun, mvpd: mvpd.text)
        returns?.sent(to: mvpd.text, at: now)
    }

    /// - Parameter result: `permitted`, `over` or `resources_used_up`.
    func trialPlay(_ result: String) {
        trialPlays.value(result) { Counter(label: "boxoffice_authentication_trial_plays_total", dimensions: [("result", result)]) }.increment()
    }

    /// - Parameters:
    ///   - result: `signed_in`, `declined`, `rejected`, `silent`, `continued` or `unavailable`.
    ///   - reason: A reason code of mvpd §2.3 or of `OAuthRejection`, a status of mvpd §2.6, or empty.
    ///   - mvpd: The MVPD that answered; `nil`: unknown.
    package func signInEnded(_ result: String, reason: String = "", mvpd: MvpdID? = nil) {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_sign_ins_ended_total", dimensions: labels).increment()
        if let mvpd, let verdict = Self.verdict(result, reason) { mvpds?.count(verdict, mvpd: mvpd.text) }
        countSignIn(result, reason)
    }

    /// As the objective counts (Monitoring.md): not a "no" of person or MVPD, not what goes on, not what strangers can send.
    private static func verdict(_ result: String, _ reason: String) -> MvpdCounter.Result? {
        switch result {
        case "signed_in": .good
        case "rejected", "unavailable": reason.hasPrefix("bind.") || ["state.unknown", "oauth.params"].contains(reason) ? nil : .bad
        default: nil
        }
    }

    /// - Parameters:
    ///   - result: `signed_in`, `degraded` or `refused`.
    ///   - reason: A reason code of mvpd §2.3, a status of mvpd §2.6, `attributes.missing` or empty.
    package func platformExchangeEnded(_ result: String, reason: String = "") {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_platform_exchanges_total", dimensions: labels).increment()
    }
}

extension DeviceInformation {
    /// With what the bearer tells beside the device, for whatever the call begins.
    func called(by client: AuthenticatedClient, _ api: ApiVersion) -> DeviceInformation {
        var device = self
        device.registeredApplication = client.application.id
        device.calledApi = api
        return device
    }
}

extension AuthenticationMetrics {
    /// Counts an event in the sign-in of a device.
    package func count(_ event: UsageEvent, _ record: RegistrationRecord, at mvpd: MvpdID) { usage.count(event, Self.dimensions(record, at: mvpd)) }

    package static func dimensions(_ record: RegistrationRecord, at mvpd: MvpdID) -> UsageDimensions {
        var dimensions = UsageDimensions(requestor: record.requestor.text, mvpd: mvpd.text, device: record.device)
        dimensions.clientType = UsageDimensions.short(record.deviceType)
        return dimensions
    }

    /// Counts the end of the sign-in at hand; one that goes on is not over.
    func countSignIn(_ result: String, _ reason: String) {
        guard var dimensions = signIn, result != "continued" else { return }
        guard result != "signed_in" else { return usage.count(.authnSuccessful, dimensions) }
        dimensions.reason = UsageDimensions.short(reason.isEmpty ? result : reason)
        usage.count(.authnFailed, dimensions)
    }
}
